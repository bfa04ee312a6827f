#include "tests/unit/support/test.h"

#include <string.h>

#include "profile/container/hash.h"

TEST(equal_bytes_hash_equal)
{
	char a[] = "java.lang.String", b[] = "java.lang.String";

	assert_int_equal(hash_bytes(a, sizeof(a)), hash_bytes(b, sizeof(b)));
}

TEST(length_and_every_byte_count)
{
	uint8_t bytes[16] = {0};
	uint32_t whole = hash_bytes(bytes, sizeof(bytes));

	assert_int_not_equal(whole, hash_bytes(bytes, sizeof(bytes) - 1));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_int_not_equal(whole, hash_bytes(bytes, sizeof(bytes)));
		bytes[i] = 0;
	}
}

TEST(low_bits_spread_over_consecutive_ids)
{
	unsigned buckets[64] = {0};

	for (uint32_t i = 0; i < 64 * 1000; i++)
		buckets[hash_bytes(&i, sizeof(i)) % 64]++;
	/* Six standard deviations of a binomial with mean 1000. */
	for (int i = 0; i < 64; i++)
		assert_in_range(buckets[i], 810, 1190);
}

TEST(every_byte_and_place_of_ids_counts)
{
	uint32_t ids[HASH_IDS_MAX] = {0}, swapped[] = {2, 1}, pair[] = {1, 2};
	uint32_t whole = hash_ids(ids, HASH_IDS_MAX);

	assert_int_equal(whole, hash_ids(ids, HASH_IDS_MAX));
	assert_int_not_equal(hash_ids(pair, 2), hash_ids(swapped, 2));
	for (size_t i = 0; i < sizeof(ids); i++) {
		((uint8_t *)ids)[i] = 1;
		assert_int_not_equal(whole, hash_ids(ids, HASH_IDS_MAX));
		((uint8_t *)ids)[i] = 0;
	}
}

TEST(low_bits_spread_over_pairs_of_ids)
{
	unsigned buckets[64] = {0};

	for (uint32_t i = 0; i < 64 * 1000; i++) {
		uint32_t pair[] = {i / 300, i % 300 << 8};

		buckets[hash_ids(pair, 2) % 64]++;
	}
	/* Tabulation is not random altogether, so twice of six standard deviations. */
	for (int i = 0; i < 64; i++)
		assert_in_range(buckets[i], 620, 1380);
}
