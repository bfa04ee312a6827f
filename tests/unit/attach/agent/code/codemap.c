/* Which code an address belongs to. */
#include "tests/unit/support/test.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "attach/agent/code/codemap.h"
#include "tests/unit/support/agent/blobs.h"

#define LOW  UINT64_C(0x7f0000000000)
#define HIGH (LOW + (UINT64_C(64) << 20))

static int fresh_map(void **state)
{
	(void)state;
	return codemap_init(LOW, HIGH, NULL);
}

TEST(an_address_finds_its_method, fresh_map)
{
	struct code_blob blob;

	add_compiled(LOW + 0x1000, 300, 42, NULL, 0);
	assert_true(codemap_find(LOW + 0x1000, &blob));
	assert_int_equal(blob.start, LOW + 0x1000);
	assert_int_equal(blob.size, 300);
	assert_int_equal(blob.method, 42);
	assert_int_equal(blob.type, CODE_COMPILED);
	assert_true(codemap_find(LOW + 0x1000 + 299, &blob));
	assert_false(codemap_find(LOW + 0x1000 + 300, &blob));
	assert_false(codemap_find(LOW + 0xfff, &blob));
}

TEST(addresses_outside_the_cache_belong_to_nothing, fresh_map)
{
	struct code_blob blob;

	add_compiled(HIGH + 0x1000, 64, 1, NULL, 0); /* ignored */
	assert_false(codemap_find(HIGH + 0x1000, &blob));
	assert_false(codemap_find(0, &blob));
	assert_false(codemap_find(UINT64_MAX, &blob));
	assert_false(codemap_covers(HIGH));
	assert_true(codemap_covers(LOW));
}

TEST(a_blob_that_overruns_the_cache_is_cut, fresh_map)
{
	struct code_blob blob;

	add_compiled(HIGH - 64, 4096, 1, NULL, 0);
	assert_true(codemap_find(HIGH - 1, &blob));
	assert_false(codemap_find(HIGH, &blob));
}

TEST(removed_code_is_forgotten_and_its_place_used_again, fresh_map)
{
	struct code_blob blob;

	add_compiled(LOW + 0x2000, 128, 1, NULL, 0);
	remove_code(LOW + 0x2000);
	assert_false(codemap_find(LOW + 0x2000, &blob));
	add_compiled(LOW + 0x2000, 256, 2, NULL, 0);
	assert_true(codemap_find(LOW + 0x2000 + 200, &blob));
	assert_int_equal(blob.method, 2);
}

TEST(code_takes_the_place_of_what_it_overlaps, fresh_map)
{
	static const uint32_t places[] = {4, 20, 300};
	struct code_blob blob;

	add_compiled(LOW + 0x3000, 8192, 1, NULL, 0);
	add_compiled(LOW + 0x6000, 64, 2, NULL, 0);
	add_dense(LOW + 0x3080, 400, 4, places, 3); /* in the midst of it */
	assert_false(codemap_find(LOW + 0x3000, &blob));
	assert_false(codemap_find(LOW + 0x4800, &blob));
	assert_true(codemap_find(LOW + 0x3080, &blob));
	assert_int_equal(blob.method, 4);
	assert_true(blob.dense);
	assert_int_equal(blob.debug_pc_count, 3);
	assert_int_equal(blob.debug_pcs[2], 300);
	add_stub(LOW + 0x2000, 4096 + 0x90, CODE_STUB); /* over its beginning */
	assert_true(codemap_find(LOW + 0x3080, &blob));
	assert_int_equal(blob.start, LOW + 0x2000);
	assert_false(codemap_find(LOW + 0x3100, &blob));
	assert_true(codemap_find(LOW + 0x6000, &blob));
}

/* A code heap: blocks of 128 bytes, each with a header of 16 and, in a blob of nothing else, its
 * name and the number of its compilation. */
#define BLOCKS      4096u
#define BLOCK_BYTES 128u

static struct {
	_Alignas(128) uint8_t memory[BLOCKS * BLOCK_BYTES];
	uint8_t segments[BLOCKS];
	uint64_t segments_end, committed_end;
	struct code_layout layout;
} heap;

static uint64_t blob_of(unsigned block)
{
	return (uintptr_t)heap.memory + block * BLOCK_BYTES + 16;
}

static void put_blob(unsigned block, uint64_t name, uint32_t id)
{
	uint64_t *words = (uint64_t *)(void *)(heap.memory + block * BLOCK_BYTES);

	words[1] = 1; /* in use */
	words[2] = name;
	words[3] = id;
}

static int fresh_heap(void **state)
{
	uint64_t low = (uintptr_t)heap.memory, high = low + sizeof(heap.memory);

	(void)state;
	memset(heap.memory, 0, sizeof(heap.memory));
	heap.segments_end = (uintptr_t)(heap.segments + BLOCKS);
	heap.committed_end = high;
	heap.layout = (struct code_layout){
	    .heap_count = 1, .block_bytes = 16, .block_used = 8, .name = 0, .compile_id = 8};
	heap.layout.heaps[0] = (struct code_heap){.low = low,
						  .high = high,
						  .segments = (uintptr_t)heap.segments,
						  .segments_end = &heap.segments_end,
						  .committed_end = &heap.committed_end,
						  .segment_shift = 7};
	return codemap_init(low, high, &heap.layout);
}

static void add_from_heap(unsigned block, uint64_t method)
{
	const struct code_blob blob = {.start = blob_of(block) + 32,
				       .size = 64,
				       .type = CODE_COMPILED,
				       .method = method,
				       .nmethod = true};

	codemap_add(&blob, code_heap_tie(&heap.layout, blob_of(block), true), NULL, 0);
}

TEST(what_the_heap_has_not_is_unknown_and_noted, fresh_heap)
{
	uint64_t met[CODEMAP_MET_MAX], serial;
	struct code_blob blob;

	put_blob(3, 1000, 7);
	assert_false(codemap_find(blob_of(3) + 40, &blob));
	assert_false(codemap_find(blob_of(3) + 48, &blob));
	assert_false(codemap_find(blob_of(4) + 40, &blob)); /* not even a blob */
	assert_true(codemap_has_news());
	assert_false(codemap_has_news());
	assert_int_equal(codemap_take_met(met), 1);
	assert_int_equal(met[0], blob_of(3));
	assert_false(codemap_has(blob_of(3) + 32));
	add_from_heap(3, 42);
	assert_true(codemap_has(blob_of(3) + 32));
	assert_false(codemap_has(blob_of(3) + 40));
	assert_true(codemap_find(blob_of(3) + 40, &blob));
	assert_int_equal(blob.method, 42);
	serial = blob.serial;
	assert_int_equal(codemap_take_met(met), 0);
	put_blob(3, 1000, 8); /* compiled again, at the same place */
	assert_false(codemap_has(blob_of(3) + 32));
	assert_false(codemap_find(blob_of(3) + 40, &blob));
	assert_false(codemap_find_serial(serial, &blob));
	assert_false(codemap_find_method(42, &blob));
	assert_int_equal(codemap_take_met(met), 1);
	add_from_heap(3, 42);
	assert_true(codemap_find(blob_of(3) + 40, &blob));
	assert_true(blob.serial > serial);
	heap.memory[3 * BLOCK_BYTES + 8] = 0; /* gone */
	assert_false(codemap_find(blob_of(3) + 40, &blob));
	assert_int_equal(codemap_take_met(met), 0);
}

/* What lies where an nmethod has its number may be what is left of another one. */
TEST(one_name_is_not_enough_for_an_nmethod, fresh_heap)
{
	struct code_blob blob;

	put_blob(5, 1000, 7);
	add_from_heap(5, 42);
	put_blob(5, 2000, 7);
	assert_false(codemap_find(blob_of(5) + 40, &blob));
}

TEST(slots_of_code_that_went_are_used_again, fresh_heap)
{
	struct code_blob blob;

	for (unsigned i = 0; i < CODEMAP_BLOBS_MAX; i++) {
		unsigned block = i % BLOCKS;

		put_blob(block, 1000, i + 1);
		heap.memory[(block + BLOCKS / 2) % BLOCKS * BLOCK_BYTES + 8] = 0;
		add_from_heap(block, i + 1);
		assert_true(codemap_find(blob_of(block) + 40, &blob));
		assert_int_equal(blob.method, i + 1);
	}
	assert_int_equal(codemap_dropped(), 0);
}

TEST(what_is_met_is_noted_once_and_counted_when_full, fresh_heap)
{
	uint64_t met[CODEMAP_MET_MAX], lost;
	struct code_blob blob;
	unsigned taken;

	for (unsigned i = 0; i < BLOCKS; i++) {
		put_blob(i, 1000, i);
		assert_false(codemap_find(blob_of(i) + 40, &blob));
	}
	taken = codemap_take_met(met);
	lost = codemap_dropped();
	assert_true(taken > CODEMAP_MET_MAX / 2);
	assert_int_equal(taken + lost, BLOCKS);
	assert_int_equal(codemap_take_met(met), 0);
}

TEST(a_cache_larger_than_hotspot_allows_is_refused)
{
	assert_true(codemap_init(LOW, LOW + (UINT64_C(3) << 30), NULL) < 0);
	assert_true(codemap_init(HIGH, LOW, NULL) < 0);
}

TEST(stubs_that_lie_close_together_are_told_apart, fresh_map)
{
	struct code_blob blob;

	for (uint64_t a = LOW + 0x6000; a < LOW + 0x6000 + 4096; a += 32)
		add_stub(a, 24, CODE_STUB);
	for (uint64_t a = LOW + 0x6000; a < LOW + 0x6000 + 4096; a += 32) {
		assert_true(codemap_find(a + 23, &blob));
		assert_int_equal(blob.start, a);
		assert_false(codemap_find(a + 24, &blob));
	}
	assert_int_equal(codemap_dropped(), 0);
}

TEST(a_method_replaces_the_stubs_whose_space_it_uses, fresh_map)
{
	struct code_blob blob;

	add_stub(LOW + 0x8000, 64, CODE_STUB);
	add_stub(LOW + 0x9ff0, 64, CODE_STUB);
	add_compiled(LOW + 0x7f00, 3 * 4096, 5, NULL, 0);
	assert_true(codemap_find(LOW + 0x8010, &blob));
	assert_int_equal(blob.method, 5);
	assert_true(codemap_find(LOW + 0x9ff8, &blob));
	assert_int_equal(blob.method, 5);
}

TEST(the_largest_code_cache_is_covered_to_its_end)
{
	uint64_t high = LOW + (UINT64_C(2) << 30);
	struct code_blob blob;

	assert_int_equal(codemap_init(LOW, high, NULL), 0);
	add_compiled(high - 100000, 100000, 7, NULL, 0);
	assert_true(codemap_find(high - 1, &blob));
	assert_int_equal(blob.method, 7);
	remove_code(high - 100000);
	assert_false(codemap_find(high - 1, &blob));
}

TEST(debug_information_beyond_64_kib_of_a_method_is_counted, fresh_map)
{
	const uint32_t pcs[] = {70000, 8, 65535, 4};
	struct code_blob blob;

	add_compiled(LOW, 80000, 1, pcs, 4);
	assert_true(codemap_find(LOW + 79999, &blob));
	assert_int_equal(blob.debug_pc_count, 3);
	assert_int_equal(blob.debug_pcs[0], 4);
	assert_int_equal(blob.debug_pcs[2], 65535);
	assert_int_equal(codemap_dropped(), 1);
}

TEST(where_debug_information_is_dense_is_kept, fresh_map)
{
	const uint32_t pcs[] = {8, 4};
	struct code_blob blob;

	add_dense(LOW, 64, 1, pcs, 2);
	add_compiled(LOW + 64, 64, 2, pcs, 2);
	assert_true(codemap_find(LOW + 1, &blob));
	assert_true(blob.dense);
	assert_int_equal(blob.type, CODE_COMPILED);
	assert_int_equal(blob.size, 64);
	assert_int_equal(blob.debug_pc_count, 2);
	assert_true(codemap_find(LOW + 65, &blob));
	assert_false(blob.dense);
}

TEST(blobs_beyond_the_table_are_counted, fresh_map)
{
	struct code_blob blob;

	for (uint64_t i = 0; i < CODEMAP_BLOBS_MAX + 10; i++)
		add_stub(LOW + i * 64, 64, CODE_STUB);
	assert_int_equal(codemap_dropped(), 10);
	assert_true(codemap_find(LOW + (CODEMAP_BLOBS_MAX - 1) * UINT64_C(64), &blob));
	assert_false(codemap_find(LOW + CODEMAP_BLOBS_MAX * UINT64_C(64), &blob));
}

/* A reader never sees a blob that was not added: method m always starts at LOW + m * 4096 and is m
 * bytes long. */
static atomic_bool done;

static void *churn(void *arg)
{
	(void)arg;
	while (!atomic_load(&done)) {
		for (uint32_t m = 100; m < 400; m++)
			add_compiled(LOW + m * 4096, m, m, NULL, 0);
		for (uint32_t m = 100; m < 400; m++)
			remove_code(LOW + m * 4096);
	}
	return NULL;
}

TEST(readers_never_see_a_mixture, fresh_map)
{
	struct code_blob blob;
	pthread_t writer;
	uint64_t found = 0;

	atomic_store(&done, false);
	assert_int_equal(pthread_create(&writer, NULL, churn, NULL), 0);
	while (found < 100000) {
		for (uint32_t m = 100; m < 400; m++) {
			if (!codemap_find(LOW + m * 4096 + 50, &blob))
				continue;
			found++;
			assert_int_equal(blob.start, LOW + m * 4096);
			assert_int_equal(blob.size, m);
			assert_int_equal(blob.method, m);
		}
	}
	atomic_store(&done, true);
	assert_int_equal(pthread_join(writer, NULL), 0);
}

/* ---------------------------------------------------------------- reader and writer step by step
 * Both are coroutines of this thread. The reader runs instruction by instruction (the trap flag) to
 * where it is to wait. The writer waits in the middle of its work, where it reads the offsets that
 * it was given: their page cannot be read yet. */

#define TRAP_FLAG   0x100
#define STACK_BYTES (256u << 10)
#define PAGE_BYTES  4096u
#define STEPS_LEAST 20u /* of a search that finds something */
#define OLD_METHOD  100u
#define NEW_METHOD  200u
#define ADDRESS     (LOW + 4096)

struct routine {
	ucontext_t context;
	char stack[STACK_BYTES];
	unsigned steps; /* until it waits; reader only */
	bool finished;
};

static ucontext_t main_context;
static struct routine reader, writer;
static uint32_t *offsets; /* a page: one of the old method, two of the new */
static struct code_blob seen;
static bool was_found;

/* The reader is done with one instruction. */
static void on_step(int number, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)number;
	(void)info;
	if (reader.steps-- > 0)
		return;
	(void)swapcontext(&reader.context, &main_context); /* Back when it may go on. */
	if (reader.steps == 0)
		*flags &= ~TRAP_FLAG;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
	(void)swapcontext(&writer.context, &main_context);
}

#define CHANGE_FLAGS(operation, operand)                                                     \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" operation " %0, (%%rsp)\n\t" \
			 "popfq\n\tlea 128(%%rsp), %%rsp" ::"i"(operand)                     \
			 : "memory", "cc")

static void read_blob(void)
{
	CHANGE_FLAGS("orq", TRAP_FLAG);
	was_found = codemap_find(ADDRESS + 50, &seen);
	CHANGE_FLAGS("andq", ~TRAP_FLAG);
	reader.finished = true;
}

static void replace_blob(void)
{
	add_compiled(ADDRESS, NEW_METHOD, NEW_METHOD, offsets, 2);
	writer.finished = true;
}

static void start(struct routine *r, void (*run)(void))
{
	r->finished = false;
	assert_int_equal(getcontext(&r->context), 0);
	r->context.uc_stack.ss_sp = r->stack;
	r->context.uc_stack.ss_size = sizeof(r->stack);
	r->context.uc_link = &main_context;
	makecontext(&r->context, run, 0);
	assert_int_equal(swapcontext(&main_context, &r->context), 0);
}

static void go_on(struct routine *r)
{
	if (!r->finished)
		assert_int_equal(swapcontext(&main_context, &r->context), 0);
}

/* The writer does its first half when the reader has made so many steps, and its second half after
 * some more. False when the reader needed less. */
static bool read_and_replace(unsigned first, unsigned second)
{
	bool waited;

	assert_int_equal(mprotect(offsets, PAGE_BYTES, PROT_READ), 0);
	add_compiled(ADDRESS, OLD_METHOD, OLD_METHOD, offsets, 1);
	assert_int_equal(mprotect(offsets, PAGE_BYTES, PROT_NONE), 0);
	reader.steps = first;
	start(&reader, read_blob);
	start(&writer, replace_blob);
	assert_false(writer.finished);
	reader.steps = second;
	go_on(&reader);
	waited = !reader.finished;
	assert_int_equal(mprotect(offsets, PAGE_BYTES, PROT_READ), 0);
	go_on(&writer);
	reader.steps = 0;
	go_on(&reader);
	assert_true(reader.finished && writer.finished);
	if (was_found) {
		assert_int_equal(seen.size, seen.method);
		assert_int_equal(seen.debug_pc_count, seen.method == OLD_METHOD ? 1 : 2);
	}
	return waited;
}

/* Code that is compiled again may come to lie where it was, and in the map, too: everything changes
 * but the start. */
TEST(a_reader_that_waits_anywhere_never_mixes_old_and_new, fresh_map)
{
	struct sigaction step = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct sigaction old_step, old_fault;
	unsigned first = 0, second;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	skip(); /* They know nothing of such stacks. */
#endif
	offsets = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(offsets, MAP_FAILED);
	assert_int_equal(sigaction(SIGTRAP, &step, &old_step), 0);
	assert_int_equal(sigaction(SIGSEGV, &fault, &old_fault), 0);
	do {
		for (second = 1; read_and_replace(first, second); second++)
			;
		first++;
	} while (second > 1);
	assert_true(first > STEPS_LEAST);
	assert_int_equal(sigaction(SIGTRAP, &old_step, NULL), 0);
	assert_int_equal(sigaction(SIGSEGV, &old_fault, NULL), 0);
	assert_int_equal(munmap(offsets, PAGE_BYTES), 0);
}

TEST(debug_information_is_found_from_any_offset_on, fresh_map)
{
	const uint32_t pcs[] = {0x40, 0x10, 0x80};
	struct code_blob blob;

	add_compiled(LOW, 0x100, 1, pcs, 3);
	add_compiled(LOW + 0x1000, 0x100, 2, NULL, 0);
	assert_true(codemap_find(LOW, &blob));
	assert_int_equal(codemap_debug_pc_from(&blob, 0), 0);
	assert_int_equal(codemap_debug_pc_from(&blob, 0x10), 0);
	assert_int_equal(codemap_debug_pc_from(&blob, 0x11), 1);
	assert_int_equal(codemap_debug_pc_from(&blob, 0x80), 2);
	assert_int_equal(codemap_debug_pc_from(&blob, 0x81), 3);
	assert_int_equal(codemap_debug_pc_from(&blob, UINT64_C(1) << 32), 3);
	assert_true(codemap_find(LOW + 0x1000, &blob));
	assert_int_equal(codemap_debug_pc_from(&blob, 0), 0);
}

TEST(the_code_of_a_method_that_likely_runs_is_found, fresh_map)
{
	struct code_blob blob;

	add_compiled(LOW + 0x3000, 128, 42, NULL, 0);
	add_compiled(LOW + 0x1000, 64, 42, NULL, 0);
	add_compiled(LOW + 0x2000, 64, 43, NULL, 0);
	assert_true(codemap_find_method(42, &blob));
	assert_int_equal(blob.start, LOW + 0x3000);
	remove_code(LOW + 0x3000);
	assert_true(codemap_find_method(42, &blob));
	assert_int_equal(blob.start, LOW + 0x1000);
	remove_code(LOW + 0x1000);
	assert_false(codemap_find_method(42, &blob));
	assert_false(codemap_find_method(44, &blob));
}
