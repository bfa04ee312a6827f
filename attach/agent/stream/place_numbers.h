/*
 * Numbers for the places that a window's records touch, each told to the engine by name, once,
 * before the first record that has its number.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_STREAM_PLACE_NUMBERS_H
#define JXPERF_AGENT_STREAM_PLACE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/place/place.h"
#include "attach/agent/stream/batch.h"
#include "attach/agent/stream/numbering.h"

/* This is remembered of a number. */
struct place_type {
	bool typed; /* the values that lie there are of this type */
	uint8_t element;
};

struct place_numbers {
	struct numbering numbers;
	struct place_type *types; /* by number */
	size_t type_capacity;
	uint64_t lost; /* places that could not be named, or were one too many */
};

void place_numbers_init(struct place_numbers *p);
void place_numbers_release(struct place_numbers *p);

/* The number of a place, its name sent if it is new; 0 for one that is not told, or cannot be
 * named. *type is what lies there, unchanged with 0. b->failed when memory is short. */
uint32_t place_numbers_of(struct place_numbers *p, struct batch *b, const struct place *place,
			  struct place_type *type);

#endif
