#include "attach/process/agent_note.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

#define NOTE_PART_ALIGNMENT 4u

/* ---------------------------------------------------------------- what is in the bytes */

static void take_version(struct agent_identity *out, const uint8_t *description, size_t size)
{
	static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz.~+-";
	struct agent_note note;

	if (size != sizeof(note))
		return;
	memcpy(&note, description, sizeof(note));
	note.version[sizeof(note.version) - 1] = '\0';
	if (note.version[0] && !note.version[strspn(note.version, allowed)])
		out->note = note;
}

static void take_build_id(struct agent_identity *out, const uint8_t *description, size_t size)
{
	if (size > sizeof(out->build_id))
		return;
	memcpy(out->build_id, description, size);
	out->build_id_bytes = size;
}

static void take_note(struct agent_identity *out, const Elf64_Nhdr *note, const uint8_t *name,
		      const uint8_t *description)
{
	if (note->n_namesz == sizeof(AGENT_NOTE_NAME) &&
	    memcmp(name, AGENT_NOTE_NAME, sizeof(AGENT_NOTE_NAME)) == 0 &&
	    note->n_type == AGENT_NOTE_TYPE)
		take_version(out, description, note->n_descsz);
	else if (note->n_namesz == sizeof(ELF_NOTE_GNU) &&
		 memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
		 note->n_type == NT_GNU_BUILD_ID)
		take_build_id(out, description, note->n_descsz);
}

static uint64_t padded(uint64_t size)
{
	return (size + NOTE_PART_ALIGNMENT - 1) / NOTE_PART_ALIGNMENT * NOTE_PART_ALIGNMENT;
}

/* Sizes in a note are of 32 bits, so sums of them do not overflow. */
static void take_notes(struct agent_identity *out, const uint8_t *bytes, uint64_t size)
{
	Elf64_Nhdr note;

	while (size >= sizeof(note)) {
		uint64_t name = sizeof(note), description, end;

		memcpy(&note, bytes, sizeof(note));
		description = name + padded(note.n_namesz);
		end = description + padded(note.n_descsz);
		if (end > size)
			return;
		take_note(out, &note, bytes + name, bytes + description);
		bytes += end;
		size -= end;
	}
}

void agent_identity_parse(struct agent_identity *out, const uint8_t *bytes, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	*out = (struct agent_identity){0};
	if (size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segment))
		return;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (header.e_phoff > size || size - header.e_phoff < (i + 1) * sizeof(segment))
			return;
		memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type == PT_NOTE && segment.p_offset <= size &&
		    segment.p_filesz <= size - segment.p_offset)
			take_notes(out, bytes + segment.p_offset, segment.p_filesz);
	}
}

/* ---------------------------------------------------------------- in a process */

bool agent_identity_read(struct agent_identity *out, pid_t pid, uint64_t address)
{
	uint8_t bytes[AGENT_HEAD_BYTES];
	const struct iovec ours = {bytes, sizeof(bytes)};
	const struct iovec theirs = {
	    (void *)(uintptr_t)address, // NOLINT(performance-no-int-to-ptr)
	    sizeof(bytes)};
	ssize_t n = process_vm_readv(pid, &ours, 1, &theirs, 1, 0);

	if (n < 0)
		return false;
	agent_identity_parse(out, bytes, (size_t)n);
	return true;
}

bool agent_identity_equal(const struct agent_identity *a, const struct agent_identity *b)
{
	return a->build_id_bytes > 0 && a->build_id_bytes == b->build_id_bytes &&
	       memcmp(a->build_id, b->build_id, a->build_id_bytes) == 0;
}
