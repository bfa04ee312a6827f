/*
 * Accesses that nothing but the object tells apart: in one block, between the same calls, to the
 * same word of different objects. They are of different bytecodes, and compilers keep the order of
 * what is told apart by nothing else more often than not.
 *
 * Pure functions, any thread.
 */
#ifndef JXPERF_DAEMON_ATTRIBUTION_TWINS_H
#define JXPERF_DAEMON_ATTRIBUTION_TWINS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/loops/native_code.h"

#define TWINS_STEPS_MAX 64u /* instructions that are looked at, each way */

struct twins {
	uint8_t before; /* so many others come before it */
	uint8_t count;  /* with itself; 1: it has none */
};

/* Of the instruction at index at. */
struct twins twins_find(const struct native_code *n, size_t at);

#endif
