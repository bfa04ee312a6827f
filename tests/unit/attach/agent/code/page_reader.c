/* Reads by the page of memory that may be gone. */
#include "tests/unit/support/test.h"
#include <string.h>
#include <sys/mman.h>

#include "attach/agent/code/page_reader.h"
#include "attach/agent/code/safe_read.h"

#define PAGE PAGE_READER_PAGE_BYTES

static struct page_reader reader;
static struct page_set sets[2];
static uint8_t *pages; /* two, and a third that cannot be read */

static int setup(void **state)
{
	(void)state;
	if (!pages)
		pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	if (pages == MAP_FAILED || mprotect(pages + 2 * PAGE, PAGE, PROT_NONE) < 0)
		return -1;
	for (unsigned i = 0; i < 2 * PAGE; i++)
		pages[i] = (uint8_t)(i % 251);
	reader = (struct page_reader){0};
	return safe_read_init();
}

static int setup_with_sets(void **state)
{
	int r = setup(state);

	memset(sets, 0, sizeof(sets));
	reader.sets = sets;
	reader.set_count = 2;
	return r;
}

TEST(bytes_across_pages_come_in_one_piece, setup)
{
	uint8_t to[100];

	(void)state;
	assert_true(page_read(&reader, (uintptr_t)pages + PAGE - 40, to, sizeof(to)));
	assert_memory_equal(to, pages + PAGE - 40, sizeof(to));
}

TEST(what_cannot_be_read_ends_it, setup)
{
	uint8_t to[100];

	(void)state;
	assert_int_equal(page_read_some(&reader, (uintptr_t)pages + 2 * PAGE - 40, to, sizeof(to)),
			 40);
	assert_memory_equal(to, pages + 2 * PAGE - 40, 40);
	assert_false(page_read(&reader, (uintptr_t)pages + 2 * PAGE - 40, to, sizeof(to)));
	assert_false(page_read(&reader, 8, to, 1));
}

TEST(copies_stay_until_they_are_forgotten, setup)
{
	uint8_t byte;

	(void)state;
	assert_true(page_read(&reader, (uintptr_t)pages, &byte, 1));
	pages[0] = 77;
	assert_true(page_read(&reader, (uintptr_t)pages, &byte, 1));
	assert_int_equal(byte, 0);
	page_reader_forget(&reader);
	assert_true(page_read(&reader, (uintptr_t)pages, &byte, 1));
	assert_int_equal(byte, 77);
}

/* There are more parts than places. */
TEST(a_set_gives_up_its_oldest, setup_with_sets)
{
	uint8_t byte;

	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (unsigned at = 0; at < 2 * PAGE; at += PAGE_PART_BYTES / 2) {
			assert_true(page_read(&reader, (uintptr_t)pages + at, &byte, 1));
			assert_int_equal(byte, pages[at]);
		}
}

TEST(with_sets_bytes_across_pages_come_in_one_piece, setup_with_sets)
{
	bytes_across_pages_come_in_one_piece(state);
}

TEST(with_sets_what_cannot_be_read_ends_it, setup_with_sets)
{
	what_cannot_be_read_ends_it(state);
}

TEST(with_sets_copies_stay_until_they_are_forgotten, setup_with_sets)
{
	copies_stay_until_they_are_forgotten(state);
}
