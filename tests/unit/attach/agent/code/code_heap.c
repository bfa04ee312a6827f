/* A code heap that is made up: blocks of blobs, in segments of 128 bytes. The
 * real ones are read in tests/e2e/installed_code.py. */
#include "tests/unit/support/test.h"
#include <string.h>

#include "attach/agent/code/code_heap.h"
#include "tests/unit/support/agent/code_segments.h"

#define SEGMENTS 32u

/* Offsets in a blob. */
enum { NAME = 0, CODE_BEGIN = 8, CODE_END = 16, SIZE = 20, ID = 24, BLOB_BYTES = 32 };

#define COMPILED 1000u
#define STUB     2000u

static _Alignas(128) uint8_t memory[SEGMENTS << SEGMENT_SHIFT];
static struct code_layout layout;

struct seen {
	uint64_t blobs[SEGMENTS];
	unsigned count;
};

static uint64_t blob_at(unsigned segment)
{
	return (uintptr_t)memory + (segment << SEGMENT_SHIFT) + BLOCK_BYTES;
}

static void put(uint64_t address, uint64_t value)
{
	memcpy((void *)(uintptr_t)address, &value, sizeof(value));
}

static void block(unsigned segment, unsigned count)
{
	code_segments_take(segment, count);
	memory[(segment << SEGMENT_SHIFT) + BLOCK_USED] = 1;
}

/* A blob whose instructions fill the block behind its fields. */
static void put_blob(unsigned segment, unsigned count, uint64_t name, uint32_t id)
{
	uint64_t blob = blob_at(segment), bytes = (count << SEGMENT_SHIFT) - BLOCK_BYTES;

	block(segment, count);
	put(blob + NAME, name);
	put(blob + CODE_BEGIN, blob + BLOB_BYTES);
	put(blob + CODE_END, bytes << 32 | bytes); /* and the size */
	put(blob + ID, id);
}

static int setup(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	layout = (struct code_layout){.heap_count = 1,
				      .heaps = {code_segments_init(memory, sizeof(memory))},
				      .block_bytes = BLOCK_BYTES,
				      .block_used = BLOCK_USED,
				      .code_begin = CODE_BEGIN,
				      .compile_id = ID,
				      .blob_bytes = BLOB_BYTES,
				      .name = NAME,
				      .size = SIZE,
				      .code_end = CODE_END};
	put_blob(0, 2, COMPILED, 7);
	put_blob(2, 1, STUB, 8);
	put_blob(5, 4, COMPILED, 9); /* Segments 3 and 4 are nobody's. */
	put_blob(9, 1, COMPILED, 10);
	return 0;
}

static void see(void *arg, uint64_t blob)
{
	struct seen *seen = arg;

	seen->blobs[seen->count++] = blob;
}

static struct seen see_all(void)
{
	struct seen seen = {0};

	code_heap_each(&layout, see, &seen);
	return seen;
}

TEST(blobs_are_found_one_after_the_other, setup)
{
	struct seen seen = see_all();

	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.blobs[0], blob_at(0));
	assert_int_equal(seen.blobs[2], blob_at(5));
	memory[(5u << SEGMENT_SHIFT) + BLOCK_USED] = 0; /* free */
	assert_int_equal(see_all().count, 3);
}

TEST(a_place_finds_its_blob, setup)
{
	struct code_heap_blob found;

	assert_true(code_heap_find(&layout, blob_at(8) + 5, &found));
	assert_int_equal(found.start, blob_at(5));
	assert_int_equal(found.id, 9);
	assert_false(code_heap_find(&layout, blob_at(3), &found));
	assert_false(code_heap_find(&layout, (uintptr_t)(memory + sizeof(memory)), &found));
	memory[(5u << SEGMENT_SHIFT) + BLOCK_USED] = 0;
	assert_false(code_heap_find(&layout, blob_at(8) + 5, &found));
}

/* The map is committed in pages, and its zeros reach beyond the code's memory. */
TEST(nothing_is_read_that_is_not_committed, setup)
{
	struct code_heap_content content;
	struct code_heap_blob found;

	memset(segments + 10, 0, SEGMENTS - 10);
	for (unsigned i = 10; i < SEGMENTS; i++)
		put_blob(i, 1, COMPILED, 11);
	committed_end = (uintptr_t)memory + (10u << SEGMENT_SHIFT);
	assert_int_equal(see_all().count, 4);
	assert_true(code_heap_read(&layout, blob_at(9), &content));
	assert_true(code_heap_find(&layout, blob_at(9) + 5, &found));
	assert_false(code_heap_find(&layout, blob_at(20) + 5, &found));
	committed_end -= 8;
	assert_false(code_heap_read(&layout, blob_at(9), &content));
	assert_false(code_heap_read(&layout, blob_at(20), &content));
	assert_false(code_heap_read(&layout, 64, &content));
}

TEST(a_blob_that_takes_anothers_place_has_another_tie, setup)
{
	uint64_t tie = code_heap_tie(&layout, blob_at(0), true);

	put_blob(0, 2, COMPILED, 7);
	assert_int_equal(code_heap_tie(&layout, blob_at(0), true), tie);
	put_blob(0, 2, COMPILED, 12); /* compiled again */
	assert_int_not_equal(code_heap_tie(&layout, blob_at(0), true), tie);
	put_blob(0, 2, STUB, 7);
	assert_int_not_equal(code_heap_tie(&layout, blob_at(0), true), tie);
	/* Where a stub has something else. */
	tie = code_heap_tie(&layout, blob_at(2), false);
	put(blob_at(2) + ID, 13);
	assert_int_equal(code_heap_tie(&layout, blob_at(2), false), tie);
}

TEST(instructions_lie_within, setup)
{
	struct code_heap_content content;

	assert_true(code_heap_read(&layout, blob_at(0), &content));
	assert_int_equal(content.name, COMPILED);
	assert_int_equal(content.begin, blob_at(0) + BLOB_BYTES);
	assert_int_equal(content.begin + content.size, content.end);
	assert_int_equal(content.end, (uintptr_t)memory + (2u << SEGMENT_SHIFT));
	put(blob_at(0) + CODE_END, (uint64_t)100 << 32 | 101);
	assert_false(code_heap_read(&layout, blob_at(0), &content));
	put(blob_at(0) + CODE_END, (uint64_t)100 << 32 | BLOB_BYTES);
	assert_false(code_heap_read(&layout, blob_at(0), &content));
	put(blob_at(9) + CODE_BEGIN, blob_at(5));
	assert_false(code_heap_read(&layout, blob_at(9), &content));
	put(blob_at(5) + CODE_END, UINT64_MAX);
	assert_false(code_heap_read(&layout, blob_at(5), &content));
}
