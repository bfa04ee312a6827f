/* Debug information as HotSpot's compilers write it: scopes of compressed numbers. */
#ifndef TESTS_UNIT_AGENT_FAKE_SCOPES_H
#define TESTS_UNIT_AGENT_FAKE_SCOPES_H

#include <stdint.h>

/* A number of two bytes where it needs them (UNSIGNED5). base: what each byte has more. Returns
 * where the next one goes. */
static inline uint8_t *fake_number(uint8_t *to, uint32_t value, uint8_t base)
{
	if (value < 192u - base) {
		*to++ = (uint8_t)(value + base);
		return to;
	}
	value -= 192u - base;
	*to++ = (uint8_t)(192 + value % 64);
	*to++ = (uint8_t)(value / 64 + base);
	return to;
}

/* sender: offset of the caller's scope, 0: none; method: its number among the nmethod's. */
static inline uint8_t *fake_scope(uint8_t *to, uint32_t sender, uint32_t method, int32_t bci,
				  uint8_t base)
{
	to = fake_number(to, sender, base);
	to = fake_number(to, method, base);
	return fake_number(to, (uint32_t)(bci + 1), base);
}

#endif
