/*
 * In which epoch it is, read where the JVM itself keeps it: two looks that find the same number had
 * no pause between them, and objects move, die and are replaced in pauses alone, or behind one.
 *
 * HotSpot adds to a counter of its performance data (sun.rt.safepointSyncTime: the time until all
 * threads had stopped) once for each pause, while they are stopped: behind the last instruction
 * that a thread runs in Java code before the pause, and before the first one after it. The number
 * of pauses would not do: it is counted before threads stop, so code that runs in between sees it,
 * and after the pause it is the same. docs/agent.md has the argument, collector by collector.
 */
#ifndef JXPERF_AGENT_EPOCH_PAUSES_H
#define JXPERF_AGENT_EPOCH_PAUSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pauses {
	const _Atomic uint64_t *stopping_ns; /* NULL: not known */
};

/* Session thread, at the window's begin: finds the counter in the JVM's performance data, which
 * begins at start and stays there while the JVM lives. False, with pauses that are not known, when
 * the JVM keeps none (start is 0), or they are not as we know them. */
bool pauses_find(struct pauses *pauses, uint64_t start, uint64_t size_bytes);

static inline bool pauses_are_known(const struct pauses *pauses)
{
	return pauses->stopping_ns != NULL;
}

/* The present epoch, where they are known: two loads, async-signal-safe. Of a thread that runs Java
 * code, the same until the next pause. */
static inline uint32_t pauses_epoch(const struct pauses *pauses)
{
	/* All of a pause's stopping, to the nanosecond, a multiple of 2^32: that is not feared. */
	return (uint32_t)atomic_load_explicit(pauses->stopping_ns, memory_order_acquire);
}

#endif
