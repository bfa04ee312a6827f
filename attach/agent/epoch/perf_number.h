/*
 * Numbers that the JVM keeps up to date in its performance data, read where they are.
 */
#ifndef JXPERF_AGENT_EPOCH_PERF_NUMBER_H
#define JXPERF_AGENT_EPOCH_PERF_NUMBER_H

#include <stdatomic.h>
#include <stdint.h>

/* Session thread: the number of that name in the performance data, which begins at start and stays
 * there while the JVM lives. NULL when the JVM keeps none (start is 0), or they are not as we know
 * them. To be read by plain loads: where one would fault the JVM is about to. */
const _Atomic uint64_t *perf_number_find(uint64_t start, uint64_t size_bytes, const char *name);

#endif
