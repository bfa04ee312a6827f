#include "tests/unit/support/test.h"

#include <errno.h>
#include <sys/stat.h>

#include "daemon/inspector/zip_entry.h"
#include "tests/unit/support/zip_file.h"

#define NAME "META-INF/MANIFEST.MF"
#define TEXT "Manifest-Version: 1.0\r\nImplementation-Version: 1.2\r\n\r\n"

static struct zip_file zip;
static char text[64 << 10];
static bool whole;

static int set_up(void **state)
{
	(void)state;
	zip_file_init(&zip);
	memset(text, '-', sizeof(text));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	zip_file_release(&zip);
	return 0;
}

/* Of its first size bytes, with so much room. */
static ssize_t read_of(size_t size, size_t room)
{
	int fd = zip_file_open(&zip, size);
	ssize_t n = zip_entry_read(fd, NAME, text, room, &whole);

	(void)close(fd);
	return n;
}

static ssize_t read_it(void)
{
	return read_of(zip.size, sizeof(text));
}

static void assert_is_read(void)
{
	whole = false;
	assert_int_equal(read_it(), strlen(TEXT));
	assert_memory_equal(text, TEXT, strlen(TEXT));
	assert_true(whole);
}

TEST(a_stored_entry_is_read, set_up, tear_down)
{
	zip_file_store(&zip, NAME, TEXT);
	zip_file_finish(&zip, "");
	assert_is_read();
}

TEST(a_packed_entry_is_unpacked, set_up, tear_down)
{
	zip_file_deflate(&zip, NAME, TEXT, strlen(TEXT));
	zip_file_finish(&zip, "");
	assert_is_read();
}

TEST(it_is_found_behind_others_and_whatever_its_case, set_up, tear_down)
{
	zip_file_store(&zip, "META-INF/", "");
	zip_file_store(&zip, NAME "X", "another");
	zip_file_deflate(&zip, "meta-inf/Manifest.mf", TEXT, strlen(TEXT));
	zip_file_store(&zip, NAME, "a second one");
	zip_file_finish(&zip, "");
	assert_is_read();
}

TEST(a_comment_behind_the_archive_is_passed_over, set_up, tear_down)
{
	zip_file_store(&zip, NAME, TEXT);
	zip_file_finish(&zip, "PK\5\6 is how its end begins, which this is not");
	assert_is_read();
}

TEST(a_script_in_front_of_the_archive_is_passed_over, set_up, tear_down)
{
	static const char script[] = "#!/bin/sh\nexec java -jar \"$0\"\n";

	zip_file_append(&zip, script, sizeof(script) - 1);
	zip.base = zip.size;
	zip_file_store(&zip, NAME, TEXT);
	zip_file_finish(&zip, "");
	assert_is_read();
}

TEST(an_archive_without_the_entry_has_none, set_up, tear_down)
{
	zip_file_store(&zip, "Main.class", "x");
	zip_file_finish(&zip, "");
	assert_int_equal(read_it(), -ENOENT);
}

TEST(what_is_no_zip_file_is_told, set_up, tear_down)
{
	assert_int_equal(read_it(), -EBADMSG); /* Nothing at all. */
	for (int i = 0; i < 100000; i++)
		zip_file_append(&zip, "PK", 2);
	assert_int_equal(read_it(), -EBADMSG);
}

TEST(a_file_that_is_cut_anywhere_is_told, set_up, tear_down)
{
	zip_file_deflate(&zip, NAME, TEXT, strlen(TEXT));
	zip_file_finish(&zip, "");
	for (size_t size = 0; size < zip.size; size++)
		assert_int_equal(read_of(size, sizeof(text)), -EBADMSG);
}

/* Whatever it says then, no byte of it is taken for more room than there is. */
TEST(any_byte_may_be_another, set_up, tear_down)
{
	zip_file_deflate(&zip, NAME, TEXT, strlen(TEXT));
	zip_file_finish(&zip, "");
	for (size_t i = 0; i < zip.size; i++)
		for (unsigned flip = 1; flip < 256; flip <<= 1) {
			zip.bytes[i] ^= (uint8_t)flip;
			assert_in_range(read_of(zip.size, 16) + 4096, 0, 4096 + 16);
			assert_int_equal(text[16], '-');
			zip.bytes[i] ^= (uint8_t)flip;
		}
}

TEST(no_more_is_unpacked_than_there_is_room_for, set_up, tear_down)
{
	size_t size = (size_t)64 << 20; /* A thousandth of that packed. */
	char *zeros = calloc(1, size);

	zip_file_deflate(&zip, NAME, zeros, size);
	zip_file_finish(&zip, "");
	free(zeros);
	assert_true(zip.size < 100000);
	whole = true;
	assert_int_equal(read_it(), sizeof(text));
	assert_false(whole);
}

TEST(a_long_stored_entry_is_read_as_far_as_there_is_room, set_up, tear_down)
{
	zip_file_store(&zip, NAME, TEXT);
	zip_file_finish(&zip, "");
	whole = true;
	assert_int_equal(read_of(zip.size, 8), 8);
	assert_memory_equal(text, "Manifest", 8);
	assert_int_equal(text[8], '-');
	assert_false(whole);
}

/* Blocks of no bytes: there is no end of them. */
TEST(what_unpacks_to_nothing_is_given_up, set_up, tear_down)
{
	static uint8_t packed[(size_t)3 * ZIP_PACKED_MAX];

	for (size_t i = 0; i + 5 <= sizeof(packed); i += 5) {
		packed[i + 3] = 0xff;
		packed[i + 4] = 0xff;
	}
	zip_file_add_packed(&zip, NAME, 0, 8, packed, sizeof(packed), 1000);
	zip_file_finish(&zip, "");
	whole = true;
	assert_int_equal(read_it(), 0);
	assert_false(whole);
}

TEST(damaged_bytes_are_told, set_up, tear_down)
{
	zip_file_add_packed(&zip, NAME, 0, 8, "\xff\xff\xff\xff", 4, 100);
	zip_file_finish(&zip, "");
	assert_int_equal(read_it(), -EBADMSG);
}

TEST(what_cannot_be_unpacked_here_is_told, set_up, tear_down)
{
	zip_file_add_packed(&zip, NAME, 0, 14, "lzma", 4, 100);
	zip_file_finish(&zip, "");
	assert_int_equal(read_it(), -ENOTSUP);
	zip.size = zip.directory_size = zip.entries = 0;
	zip_file_add_packed(&zip, NAME, 1, 0, "secret", 6, 6);
	zip_file_finish(&zip, "");
	assert_int_equal(read_it(), -ENOTSUP);
}

/* Of a file that is mostly hole only its ends are read. */
TEST(a_file_of_any_size_is_read_at_once, set_up, tear_down)
{
	int fd = zip_file_open(&zip, 0);
	struct stat st;

	zip.base = 0;
	zip_file_store(&zip, NAME, TEXT);
	zip_file_finish(&zip, "");
	assert_int_equal(ftruncate(fd, (off_t)8 << 30), 0);
	assert_int_equal(pwrite(fd, zip.bytes, zip.size, (off_t)8 << 30), zip.size);
	assert_int_equal(zip_entry_read(fd, NAME, text, sizeof(text), &whole), strlen(TEXT));
	assert_memory_equal(text, TEXT, strlen(TEXT));
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_blocks < 1000);
	(void)close(fd);
}
