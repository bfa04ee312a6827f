/*
 * May windows be deleted for their age, by the clock as it is? A clock that is wrong for once (a
 * battery that is empty, a time server that is wrong, a machine that comes back from a snapshot)
 * would take all that is kept with it.
 *
 * So the time of day is compared with the time since the machine's start, which nobody sets, and
 * with where the last daemon left it: once it is another one than these say, by more than
 * CLOCK_SET_NS, it has to go on evenly for CLOCK_EVEN_NS before it is trusted. What is known goes
 * into the database with each batch, so that a new daemon does not begin anew. While the machine is
 * off nothing tells how much time passes: after such a gap the clock is doubted, too.
 *
 * One thread at a time.
 */
#ifndef JXPERF_DAEMON_STORE_CLOCK_TRUST_H
#define JXPERF_DAEMON_STORE_CLOCK_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"

#define CLOCK_SET_NS  (3600 * NS_PER_S)
#define CLOCK_EVEN_NS (86400 * NS_PER_S)

/* A window that begins later than so much from now was timed by another clock than that of now. */
#define CLOCK_FUTURE_NS (60 * NS_PER_S)

#define CLOCK_BOOT_ID_BYTES 40
#define CLOCK_NOTE_BYTES    128

struct clock_trust {
	bool known;                        /* the rest was read or taken */
	char boot_id[CLOCK_BOOT_ID_BYTES]; /* which start of the machine the times since are of */
	int64_t offset_ns;     /* the time of day less that since the start, as trusted */
	uint64_t last_unix_ns; /* what the two were at the last look */
	uint64_t last_boot_ns;
	uint64_t even_ns; /* for so long it has gone on evenly, CLOCK_EVEN_NS at most */
};

enum clock_verdict {
	CLOCK_EVEN,    /* nothing new */
	CLOCK_TRUSTED, /* from now on, again */
	CLOCK_WAS_SET, /* by *set_ns, or the machine was off for so long: doubted from now on */
	CLOCK_UNKNOWN, /* there are windows, and nothing is known of their clock: likewise */
};

/* What an earlier daemon left, a text of clock_trust_note; false where it is none. */
bool clock_trust_restore(struct clock_trust *t, const char *note, size_t size);

/* The clock is looked at, before each batch. windows: are there any kept? */
enum clock_verdict clock_trust_look(struct clock_trust *t, bool windows, int64_t *set_ns);

/* May windows go for their age? */
static inline bool clock_trust_is_trusted(const struct clock_trust *t)
{
	return t->known && t->even_ns >= CLOCK_EVEN_NS;
}

/* What begins then or later, of all time, was timed by another clock than that of now. */
static inline uint64_t clock_future_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME) + CLOCK_FUTURE_NS;
}

/* What is to be kept of it; returns its length. */
size_t clock_trust_note(const struct clock_trust *t, char note[CLOCK_NOTE_BYTES]);

#endif
