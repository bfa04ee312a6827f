/*
 * Are two values of a memory location the same, in the sense of silent stores and loads (JXPerf
 * section 4)? Integers exactly; floating point within 1% of the larger magnitude, NaN never.
 */
#ifndef JXPERF_AGENT_CODE_VALUE_H
#define JXPERF_AGENT_CODE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/insn.h"

#define VALUE_FLOAT_TOLERANCE 0.01

/* Compares size bytes, 1 to 8. Floating point needs whole elements; a part of one is compared
 * exactly, as integers are. */
bool value_same(const void *a, const void *b, unsigned size, enum insn_element element);

#endif
