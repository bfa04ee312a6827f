#include "tests/unit/support/test.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/agent_note.h"

/* A library's head: the ELF header, one segment, and the notes in it. */
struct head {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	struct {
		Elf64_Nhdr note;
		char name[8];
		struct agent_note description;
	} version;
	struct {
		Elf64_Nhdr note;
		char name[4];
		uint8_t description[20];
	} build;
};

static struct head library(uint32_t protocol, const char *version)
{
	struct head h = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phoff = offsetof(struct head, segment),
				    .e_phnum = 1},
			 .segment = {.p_type = PT_NOTE,
				     .p_offset = offsetof(struct head, version),
				     .p_filesz = sizeof(h) - offsetof(struct head, version)},
			 .version = {.note = {sizeof(AGENT_NOTE_NAME), sizeof(struct agent_note),
					      AGENT_NOTE_TYPE},
				     .name = AGENT_NOTE_NAME,
				     .description = {.protocol = protocol}},
			 .build = {.note = {sizeof(ELF_NOTE_GNU), 20, NT_GNU_BUILD_ID},
				   .name = ELF_NOTE_GNU,
				   .description = {1, 2, 3}}};

	memcpy(h.version.description.version, version, strlen(version));
	return h;
}

static struct agent_identity parse(const struct head *h, size_t size)
{
	struct agent_identity identity;

	agent_identity_parse(&identity, (const uint8_t *)h, size);
	return identity;
}

TEST(a_library_says_version_protocol_and_build)
{
	struct head h = library(7, "0.3.0~rc1");
	struct agent_identity got = parse(&h, sizeof(h));

	assert_int_equal(got.note.protocol, 7);
	assert_string_equal(got.note.version, "0.3.0~rc1");
	assert_int_equal(got.build_id_bytes, 20);
	assert_true(agent_identity_equal(&got, &got));
}

TEST(another_build_is_another_library_and_none_is_equal_to_none)
{
	struct head h = library(7, "0.3.0");
	struct agent_identity a = parse(&h, sizeof(h)), b, none = {0};

	h.build.description[19] = 1;
	b = parse(&h, sizeof(h));
	assert_false(agent_identity_equal(&a, &b));
	assert_false(agent_identity_equal(&none, &none));
}

/* Whatever is cut or made up: nothing beyond the bytes is read (the sanitizers look), and no text
 * that could forge a label or a line. */
TEST(what_is_not_whole_is_not_there)
{
	struct head h = library(7, "0.3.0"), bad;

	for (size_t size = 0; size < offsetof(struct head, build); size++)
		assert_string_equal(parse(&h, size).note.version, "");
	bad = h;
	bad.version.note.n_namesz = UINT32_MAX;
	assert_string_equal(parse(&bad, sizeof(bad)).note.version, "");
	bad = h;
	bad.version.note.n_descsz = UINT32_MAX;
	assert_string_equal(parse(&bad, sizeof(bad)).note.version, "");
	bad = h;
	bad.header.e_phoff = UINT64_MAX - 8;
	assert_string_equal(parse(&bad, sizeof(bad)).note.version, "");
	bad = h;
	bad.segment.p_offset = UINT64_MAX - 8;
	assert_string_equal(parse(&bad, sizeof(bad)).note.version, "");
	bad = h;
	bad.header.e_phnum = UINT16_MAX; /* Those that there are count. */
	assert_string_equal(parse(&bad, sizeof(bad)).note.version, "0.3.0");
	bad = h;
	bad.build.note.n_descsz = 2000;
	assert_int_equal(parse(&bad, sizeof(bad)).build_id_bytes, 0);
	bad = h;
	memset(bad.version.description.version, '"', sizeof(bad.version.description.version));
	assert_string_equal(parse(&bad, sizeof(bad)).note.version, "");
}

TEST(a_process_that_is_mapped_is_read_like_a_file)
{
	struct head h = library(7, "0.3.0");
	struct agent_identity got;

	assert_true(agent_identity_read(&got, getpid(), (uint64_t)(uintptr_t)&h));
	assert_string_equal(got.note.version, "0.3.0");
	assert_false(agent_identity_read(&got, getpid(), 0));
}
