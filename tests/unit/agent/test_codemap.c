/* Which code an address belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "attach/agent/codemap.h"

#define LOW  UINT64_C(0x7f0000000000)
#define HIGH (LOW + (UINT64_C(64) << 20))

static int fresh_map(void **state)
{
	(void)state;
	return codemap_init(LOW, HIGH);
}

static void an_address_finds_its_method(void **state)
{
	struct code_blob blob;

	(void)state;
	codemap_add_compiled(LOW + 0x1000, 300, 42, NULL, 0);
	assert_true(codemap_find(LOW + 0x1000, &blob));
	assert_int_equal(blob.start, LOW + 0x1000);
	assert_int_equal(blob.size, 300);
	assert_int_equal(blob.method, 42);
	assert_int_equal(blob.type, CODE_COMPILED);
	assert_true(codemap_find(LOW + 0x1000 + 299, &blob));
	assert_false(codemap_find(LOW + 0x1000 + 300, &blob));
	assert_false(codemap_find(LOW + 0xfff, &blob));
}

static void addresses_outside_the_cache_belong_to_nothing(void **state)
{
	struct code_blob blob;

	(void)state;
	codemap_add_compiled(HIGH + 0x1000, 64, 1, NULL, 0); /* ignored */
	assert_false(codemap_find(HIGH + 0x1000, &blob));
	assert_false(codemap_find(0, &blob));
	assert_false(codemap_find(UINT64_MAX, &blob));
	assert_false(codemap_covers(HIGH));
	assert_true(codemap_covers(LOW));
}

static void a_blob_that_overruns_the_cache_is_cut(void **state)
{
	struct code_blob blob;

	(void)state;
	codemap_add_compiled(HIGH - 64, 4096, 1, NULL, 0);
	assert_true(codemap_find(HIGH - 1, &blob));
	assert_false(codemap_find(HIGH, &blob));
}

static void removed_code_is_forgotten_and_its_place_used_again(void **state)
{
	struct code_blob blob;

	(void)state;
	codemap_add_compiled(LOW + 0x2000, 128, 1, NULL, 0);
	codemap_remove(LOW + 0x2000);
	assert_false(codemap_find(LOW + 0x2000, &blob));
	codemap_add_compiled(LOW + 0x2000, 256, 2, NULL, 0);
	assert_true(codemap_find(LOW + 0x2000 + 200, &blob));
	assert_int_equal(blob.method, 2);
}

static void a_buffer_does_not_hide_the_stubs_in_it(void **state)
{
	struct code_blob blob;

	(void)state;
	codemap_add_stub(LOW + 0x4080, 64, CODE_STUB);
	codemap_add_stub(LOW + 0x4000, 4096, CODE_STUB);
	assert_true(codemap_find(LOW + 0x4090, &blob));
	assert_int_equal(blob.start, LOW + 0x4080);
	assert_true(codemap_find(LOW + 0x4200, &blob));
	assert_int_equal(blob.start, LOW + 0x4000);
}

static void a_cache_larger_than_hotspot_allows_is_refused(void **state)
{
	(void)state;
	assert_true(codemap_init(LOW, LOW + (UINT64_C(3) << 30)) < 0);
	assert_true(codemap_init(HIGH, LOW) < 0);
}

static void stubs_that_lie_close_together_are_told_apart(void **state)
{
	struct code_blob blob;

	(void)state;
	for (uint64_t a = LOW + 0x6000; a < LOW + 0x6000 + 4096; a += 32)
		codemap_add_stub(a, 24, CODE_STUB);
	for (uint64_t a = LOW + 0x6000; a < LOW + 0x6000 + 4096; a += 32) {
		assert_true(codemap_find(a + 23, &blob));
		assert_int_equal(blob.start, a);
		assert_false(codemap_find(a + 24, &blob));
	}
	assert_int_equal(codemap_dropped(), 0);
}

static void a_method_replaces_the_stubs_whose_space_it_uses(void **state)
{
	struct code_blob blob;

	(void)state;
	codemap_add_stub(LOW + 0x8000, 64, CODE_STUB);
	codemap_add_stub(LOW + 0x9ff0, 64, CODE_STUB);
	codemap_add_compiled(LOW + 0x7f00, 3 * 4096, 5, NULL, 0);
	assert_true(codemap_find(LOW + 0x8010, &blob));
	assert_int_equal(blob.method, 5);
	assert_true(codemap_find(LOW + 0x9ff8, &blob));
	assert_int_equal(blob.method, 5);
}

static void the_largest_code_cache_is_covered_to_its_end(void **state)
{
	uint64_t high = LOW + (UINT64_C(2) << 30);
	struct code_blob blob;

	(void)state;
	assert_int_equal(codemap_init(LOW, high), 0);
	codemap_add_compiled(high - 100000, 100000, 7, NULL, 0);
	assert_true(codemap_find(high - 1, &blob));
	assert_int_equal(blob.method, 7);
	codemap_remove(high - 100000);
	assert_false(codemap_find(high - 1, &blob));
}

static void debug_information_beyond_64_kib_of_a_method_is_counted(void **state)
{
	const uint32_t pcs[] = {70000, 8, 65535, 4};
	struct code_blob blob;

	(void)state;
	codemap_add_compiled(LOW, 80000, 1, pcs, 4);
	assert_true(codemap_find(LOW + 79999, &blob));
	assert_int_equal(blob.debug_pc_count, 3);
	assert_int_equal(blob.debug_pcs[0], 4);
	assert_int_equal(blob.debug_pcs[2], 65535);
	assert_int_equal(codemap_dropped(), 1);
}

static void blobs_beyond_the_table_are_counted(void **state)
{
	struct code_blob blob;

	(void)state;
	for (uint64_t i = 0; i < CODEMAP_BLOBS_MAX + 10; i++)
		codemap_add_stub(LOW + i * 64, 64, CODE_STUB);
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
			codemap_add_compiled(LOW + m * 4096, m, m, NULL, 0);
		for (uint32_t m = 100; m < 400; m++)
			codemap_remove(LOW + m * 4096);
	}
	return NULL;
}

static void readers_never_see_a_mixture(void **state)
{
	struct code_blob blob;
	pthread_t writer;
	uint64_t found = 0;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(an_address_finds_its_method, fresh_map),
	    cmocka_unit_test_setup(addresses_outside_the_cache_belong_to_nothing, fresh_map),
	    cmocka_unit_test_setup(a_blob_that_overruns_the_cache_is_cut, fresh_map),
	    cmocka_unit_test_setup(removed_code_is_forgotten_and_its_place_used_again, fresh_map),
	    cmocka_unit_test_setup(a_buffer_does_not_hide_the_stubs_in_it, fresh_map),
	    cmocka_unit_test_setup(stubs_that_lie_close_together_are_told_apart, fresh_map),
	    cmocka_unit_test_setup(a_method_replaces_the_stubs_whose_space_it_uses, fresh_map),
	    cmocka_unit_test(the_largest_code_cache_is_covered_to_its_end),
	    cmocka_unit_test_setup(debug_information_beyond_64_kib_of_a_method_is_counted,
				   fresh_map),
	    cmocka_unit_test_setup(blobs_beyond_the_table_are_counted, fresh_map),
	    cmocka_unit_test_setup(readers_never_see_a_mixture, fresh_map),
	    cmocka_unit_test(a_cache_larger_than_hotspot_allows_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
