/*
 * By which access an instruction is told that makes none itself: the nearest in its block, with no
 * call between them.
 *
 * A tick comes behind the instruction that took the time, so each instruction counts for the one
 * before it. Pure functions, any thread.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_SPANS_H
#define JXPERF_PROFILE_ATTRIBUTION_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/loops/native_code.h"

#define SPAN_NO_PLACE UINT32_MAX

/* An instruction does this itself. */
struct span_anchor {
	uint32_t place; /* index of the access, or SPAN_NO_PLACE */
	bool of_object; /* that tells more than any other */
};

/* Instructions from an offset on, to where the next span begins. */
struct code_span {
	uint32_t first;
	uint32_t place; /* or SPAN_NO_PLACE */
};

struct spans {
	struct code_span *list; /* ascending */
	size_t count, capacity;
};

/* anchors: by instruction. 0 or -ENOMEM, with an empty s. */
int spans_make(struct spans *s, const struct native_code *n, const struct span_anchor *anchors);
void spans_release(struct spans *s);

/* The place that tells of a tick at an offset, or SPAN_NO_PLACE. */
uint32_t spans_at(const struct spans *s, uint32_t offset);

#endif
