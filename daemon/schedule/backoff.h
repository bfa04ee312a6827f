/*
 * How long something is left alone that went wrong: twice as long each time in a row, up to a limit
 * that it is tried again after in any case. By a clock that does not jump.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_BACKOFF_H
#define JXPERF_DAEMON_SCHEDULE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* The limit, unless even one unit is longer. */
#define BACKOFF_MOST_NS (86400 * UINT64_C(1000000000))

/* All zero: nothing went wrong. */
struct backoff {
	unsigned in_a_row;
	uint64_t until_ns;
};

/* It went wrong again: it is left alone for two units, then four, and so on. */
static inline void backoff_extend(struct backoff *b, uint64_t now_ns, uint64_t unit_ns)
{
	uint64_t most = unit_ns > BACKOFF_MOST_NS ? unit_ns : BACKOFF_MOST_NS;
	uint64_t ns = unit_ns;

	b->in_a_row++;
	for (unsigned i = 0; i < b->in_a_row && ns < most; i++)
		ns *= 2; /* Less than two limits, so it fits. */
	b->until_ns = now_ns + (ns < most ? ns : most);
}

static inline bool backoff_lasts(const struct backoff *b, uint64_t now_ns)
{
	return now_ns < b->until_ns;
}

#endif
