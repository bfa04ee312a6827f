#include "tests/unit/support/test.h"

#include "profile/container/hash_index.h"

#define KEYS 10000u

/* Keys, by position. */
static bool matches(const void *table, uint32_t position, const void *key)
{
	return ((const uint32_t *)table)[position] == *(const uint32_t *)key;
}

/* One of ways hashes, so that keys collide. */
static uint32_t hash_of(uint32_t key, uint32_t ways)
{
	return key % ways * 2654435761u;
}

static void fill(struct hash_index *index, uint32_t *keys, uint32_t ways)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		keys[i] = 7 * i + 1;
		assert_int_equal(hash_index_insert(index, hash_of(keys[i], ways), i), 0);
		/* Probes stay short, and come to an end. */
		assert_true(index->used * 2 <= index->capacity);
	}
}

static void expect_all(const struct hash_index *index, const uint32_t *keys, uint32_t ways)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t position = KEYS, absent = keys[i] + 1;

		assert_true(hash_index_find(index, hash_of(keys[i], ways), matches, keys, &keys[i],
					    &position));
		assert_int_equal(position, i);
		position = KEYS;
		assert_false(hash_index_find(index, hash_of(absent, ways), matches, keys, &absent,
					     &position));
		assert_int_equal(position, KEYS); /* Nothing is written. */
	}
}

TEST(an_empty_one_has_nothing)
{
	struct hash_index index = {0};
	uint32_t key = 1, position;

	assert_false(hash_index_find(&index, 0, matches, NULL, &key, &position));
	hash_index_release(&index);
}

TEST(what_was_inserted_is_found_as_it_grows)
{
	static uint32_t keys[KEYS];
	struct hash_index index = {0};

	fill(&index, keys, UINT32_MAX);
	expect_all(&index, keys, UINT32_MAX);
	hash_index_release(&index);
	assert_int_equal(index.capacity, 0);
}

TEST(keys_of_one_hash_are_told_apart)
{
	static uint32_t keys[KEYS];
	struct hash_index index = {0};

	fill(&index, keys, 100);
	expect_all(&index, keys, 100);
	hash_index_release(&index);
}

TEST(a_copy_is_on_its_own)
{
	static uint32_t keys[KEYS];
	struct hash_index index = {0}, copy;
	uint32_t one = 2, position;

	fill(&index, keys, UINT32_MAX);
	assert_int_equal(hash_index_copy(&copy, &index), 0);
	hash_index_release(&index);
	expect_all(&copy, keys, UINT32_MAX);
	assert_int_equal(hash_index_copy(&index, &copy), 0);
	keys[0] = one;
	assert_int_equal(hash_index_insert(&copy, hash_of(one, UINT32_MAX), 0), 0);
	assert_false(
	    hash_index_find(&index, hash_of(one, UINT32_MAX), matches, keys, &one, &position));
	hash_index_release(&copy);
	hash_index_release(&index);
}
