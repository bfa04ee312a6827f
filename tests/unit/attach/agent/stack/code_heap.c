/* A code heap that is made up: blocks of nmethods and of other blobs, in segments of 128 bytes. The
 * real ones are read in tests/e2e/installed_code.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/code_heap.h"

#define SEGMENT_SHIFT 7u
#define SEGMENTS      32u
#define BLOCK_BYTES   16u
#define USED          8u

/* Offsets in a blob. */
enum {
	NAME = 0,
	METHOD = 8,
	CODE_BEGIN = 16,
	CODE_END = 24,
	ID = 32,
	STATE = 36,
	NMETHOD_BYTES = 40
};

static const char compiled_name[] = "nmethod", native_name[] = "native nmethod",
		  stub_name[] = "nmethods";

static _Alignas(128) uint8_t memory[SEGMENTS << SEGMENT_SHIFT];
static uint8_t segments[SEGMENTS];
static uint64_t segments_end, committed_end;
static struct code_layout layout;

struct seen {
	struct code_heap_nmethod nmethods[SEGMENTS];
	unsigned count, most;
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
	for (unsigned i = 0; i < count; i++)
		segments[segment + i] = (uint8_t)i;
	memory[(segment << SEGMENT_SHIFT) + USED] = 1;
}

/* A method whose instructions fill the block behind its fields. */
static void nmethod(unsigned segment, unsigned count, const char *name, uint64_t method,
		    uint32_t id)
{
	uint64_t blob = blob_at(segment);

	block(segment, count);
	put(blob + NAME, (uintptr_t)name);
	put(blob + METHOD, method);
	put(blob + CODE_BEGIN, blob + NMETHOD_BYTES);
	put(blob + CODE_END, blob_at(segment + count) - BLOCK_BYTES);
	put(blob + ID, id); /* and state 0 */
}

static int setup(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memset(segments, 0xff, sizeof(segments));
	segments_end = (uintptr_t)(segments + SEGMENTS);
	committed_end = (uintptr_t)(memory + sizeof(memory));
	layout = (struct code_layout){.heap_count = 1,
				      .block_bytes = BLOCK_BYTES,
				      .block_used = USED,
				      .code_begin = CODE_BEGIN,
				      .compile_id = ID,
				      .nmethods_known = true,
				      .nmethod_bytes = NMETHOD_BYTES,
				      .name = NAME,
				      .code_end = CODE_END,
				      .method = METHOD,
				      .state = STATE};
	layout.heaps[0] = (struct code_heap){.low = (uintptr_t)memory,
					     .high = (uintptr_t)(memory + sizeof(memory)),
					     .segments = (uintptr_t)segments,
					     .segments_end = &segments_end,
					     .committed_end = &committed_end,
					     .segment_shift = SEGMENT_SHIFT};
	nmethod(0, 2, compiled_name, 1000, 7);
	nmethod(2, 1, stub_name, 2000, 8);
	nmethod(5, 4, native_name, 3000, 9); /* Segments 3 and 4 are nobody's. */
	nmethod(9, 1, compiled_name, 4000, 10);
	return safe_read_init();
}

static bool see(void *arg, const struct code_heap_nmethod *n)
{
	struct seen *seen = arg;

	seen->nmethods[seen->count++] = *n;
	return seen->count < seen->most;
}

static struct seen see_all(void)
{
	struct seen seen = {.most = SEGMENTS};

	assert_true(code_heap_nmethods(&layout, see, &seen));
	return seen;
}

static void nmethods_are_found_among_other_blobs(void **state)
{
	struct seen seen = see_all();

	(void)state;
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.nmethods[0].blob, blob_at(0));
	assert_int_equal(seen.nmethods[0].method, 1000);
	assert_int_equal(seen.nmethods[0].id, 7);
	assert_false(seen.nmethods[0].native);
	assert_int_equal(seen.nmethods[0].end, (uintptr_t)memory + (2u << SEGMENT_SHIFT));
	assert_int_equal(code_heap_size(&layout, &seen.nmethods[0]),
			 (2u << SEGMENT_SHIFT) - BLOCK_BYTES - NMETHOD_BYTES);
	assert_true(seen.nmethods[1].native);
	assert_int_equal(seen.nmethods[2].method, 4000);
	seen = (struct seen){.most = 2};
	assert_false(code_heap_nmethods(&layout, see, &seen));
	assert_int_equal(seen.count, 2);
	layout.nmethods_known = false;
	assert_false(code_heap_nmethods(&layout, see, &seen));
}

static void what_may_not_run_is_none(void **state)
{
	(void)state;
	memory[(0u << SEGMENT_SHIFT) + USED] = 0;              /* free */
	memory[blob_at(5) - (uintptr_t)memory + STATE] = 0xff; /* not installed */
	memory[blob_at(9) - (uintptr_t)memory + STATE] = 3;    /* dead */
	assert_int_equal(see_all().count, 0);
	memory[blob_at(9) - (uintptr_t)memory + STATE] = 1; /* not entered any more */
	assert_int_equal(see_all().count, 1);
	put(blob_at(9) + METHOD, 0); /* its class is gone */
	assert_int_equal(see_all().count, 0);
}

static void names_that_cannot_be_read_are_none(void **state)
{
	(void)state;
	put(blob_at(0) + NAME, 64);
	put(blob_at(9) + NAME, 0);
	assert_int_equal(see_all().count, 1);
}

/* The map is committed in pages, and its zeros reach beyond the code's memory. */
static void nothing_is_read_that_is_not_committed(void **state)
{
	struct seen seen;

	(void)state;
	memset(segments + 10, 0, SEGMENTS - 10);
	committed_end = (uintptr_t)memory + (10u << SEGMENT_SHIFT);
	for (unsigned i = 10; i < SEGMENTS; i++)
		nmethod(i, 1, compiled_name, 5000, 11);
	seen = see_all();
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.nmethods[2].end, committed_end);
}

static void an_nmethod_is_still_there_or_not(void **state)
{
	struct seen seen = see_all();

	(void)state;
	assert_true(code_heap_is_still(&layout, &seen.nmethods[0]));
	nmethod(0, 2, compiled_name, 1000, 12); /* compiled again, at the same place */
	assert_false(code_heap_is_still(&layout, &seen.nmethods[0]));
	memory[(9u << SEGMENT_SHIFT) + USED] = 0;
	assert_false(code_heap_is_still(&layout, &seen.nmethods[2]));
}

static void instructions_lie_within(void **state)
{
	struct seen seen = see_all();

	(void)state;
	put(blob_at(0) + CODE_END, seen.nmethods[0].end + 1);
	assert_int_equal(code_heap_size(&layout, &seen.nmethods[0]), 0);
	put(blob_at(0) + CODE_END, blob_at(0) + NMETHOD_BYTES);
	assert_int_equal(code_heap_size(&layout, &seen.nmethods[0]), 0);
	put(blob_at(9) + CODE_BEGIN, blob_at(5));
	assert_int_equal(code_heap_size(&layout, &seen.nmethods[2]), 0);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(nmethods_are_found_among_other_blobs), TEST(what_may_not_run_is_none),
	    TEST(names_that_cannot_be_read_are_none),   TEST(nothing_is_read_that_is_not_committed),
	    TEST(an_nmethod_is_still_there_or_not),     TEST(instructions_lie_within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
