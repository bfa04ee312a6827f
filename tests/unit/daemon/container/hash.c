#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/container/hash.h"

static void equal_bytes_hash_equal(void **state)
{
	char a[] = "java.lang.String", b[] = "java.lang.String";

	(void)state;
	assert_int_equal(hash_bytes(a, sizeof(a)), hash_bytes(b, sizeof(b)));
}

static void length_and_every_byte_count(void **state)
{
	uint8_t bytes[16] = {0};
	uint32_t whole = hash_bytes(bytes, sizeof(bytes));

	(void)state;
	assert_int_not_equal(whole, hash_bytes(bytes, sizeof(bytes) - 1));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_int_not_equal(whole, hash_bytes(bytes, sizeof(bytes)));
		bytes[i] = 0;
	}
}

static void low_bits_spread_over_consecutive_ids(void **state)
{
	unsigned buckets[64] = {0};

	(void)state;
	for (uint32_t i = 0; i < 64 * 1000; i++)
		buckets[hash_bytes(&i, sizeof(i)) % 64]++;
	/* Six standard deviations of a binomial with mean 1000. */
	for (int i = 0; i < 64; i++)
		assert_in_range(buckets[i], 810, 1190);
}

static void every_byte_and_place_of_ids_counts(void **state)
{
	uint32_t ids[HASH_IDS_MAX] = {0}, swapped[] = {2, 1}, pair[] = {1, 2};
	uint32_t whole = hash_ids(ids, HASH_IDS_MAX);

	(void)state;
	assert_int_equal(whole, hash_ids(ids, HASH_IDS_MAX));
	assert_int_not_equal(hash_ids(pair, 2), hash_ids(swapped, 2));
	for (size_t i = 0; i < sizeof(ids); i++) {
		((uint8_t *)ids)[i] = 1;
		assert_int_not_equal(whole, hash_ids(ids, HASH_IDS_MAX));
		((uint8_t *)ids)[i] = 0;
	}
}

static void low_bits_spread_over_pairs_of_ids(void **state)
{
	unsigned buckets[64] = {0};

	(void)state;
	for (uint32_t i = 0; i < 64 * 1000; i++) {
		uint32_t pair[] = {i / 300, i % 300 << 8};

		buckets[hash_ids(pair, 2) % 64]++;
	}
	/* Tabulation is not random altogether, so twice of six standard deviations. */
	for (int i = 0; i < 64; i++)
		assert_in_range(buckets[i], 620, 1380);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_bytes_hash_equal),
	    cmocka_unit_test(length_and_every_byte_count),
	    cmocka_unit_test(low_bits_spread_over_consecutive_ids),
	    cmocka_unit_test(every_byte_and_place_of_ids_counts),
	    cmocka_unit_test(low_bits_spread_over_pairs_of_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
