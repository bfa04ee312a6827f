#include "tests/unit/support/test.h"

#include "common/siphash.h"

/* Every byte, the length and both halves of the key count, at every length around a word. */
TEST(everything_counts)
{
	const uint64_t key[2] = {1, 2}, other_key[2] = {1, 3};
	uint8_t bytes[25] = {0};

	for (size_t size = 0; size < sizeof(bytes); size++) {
		uint64_t digest = siphash(key, bytes, size);

		assert_true(digest == siphash(key, bytes, size));
		assert_true(digest != siphash(key, bytes, size + 1));
		assert_true(digest != siphash(other_key, bytes, size));
		for (size_t i = 0; i < size; i++) {
			bytes[i] = 1;
			assert_true(digest != siphash(key, bytes, size));
			bytes[i] = 0;
		}
	}
}

/* The same on every machine and in every version: draws of a fleet depend on it. */
TEST(values_never_change)
{
	const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
	uint8_t bytes[15];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	assert_true(siphash(key, bytes, 0) == UINT64_C(0xabac0158050fc4dc));
	assert_true(siphash(key, bytes, 8) == UINT64_C(0x369095118d299a8e));
	assert_true(siphash(key, bytes, 15) == UINT64_C(0xd320d86d2a519956));
}
