/*
 * Events of a flight recording that have a stack: how they are read, what they weigh, how many of
 * which type there are, and which of them a profile is made of.
 *
 * An event that says how much it stands for (bytes, nanoseconds, samples) is counted by that, any
 * other as one.
 *
 * One import, one thread.
 */
#ifndef JXPERF_SUBSUME_IMPORT_JFR_EVENTS_H
#define JXPERF_SUBSUME_IMPORT_JFR_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "subsume/import/jfr_types.h"
#include "subsume/import/notes.h"

/* How the events of a type are read, in one chunk. */
struct jfr_event {
	const struct jfr_type *type;
	const struct jfr_field *trace;
	const struct jfr_field *weight; /* NULL: each is one */
	const char *unit;               /* of weights, a literal */
	uint64_t factor, divisor;       /* from the field's value to the unit */
};

/* False when events of the type have no stack. ticks is how many the chunk has a second. */
bool jfr_event_find(const struct jfr_types *types, const struct jfr_type *type, uint64_t ticks,
		    struct jfr_event *out);

/* Reads the id of the stack, 0 for none, and the weight of the event whose fields are at the
 * cursor. A weight beyond INT64_MAX is negative, or too large. */
void jfr_event_read(const struct jfr_types *types, const struct jfr_event *event,
		    struct jfr_cursor *c, uint64_t *stack, uint64_t *weight);

/* Types of events that are told apart; no JDK has as many. */
#define JFR_SEEN_MAX 512u

struct jfr_seen_type {
	char *name;
	uint64_t events; /* that have a stack */
	bool weighs;     /* one of them weighs something */
};

/* All zero is none. */
struct jfr_seen {
	struct jfr_seen_type types[JFR_SEEN_MAX];
	size_t count;
};

/* The one of that name, new or known. NULL without memory, or room. */
struct jfr_seen_type *jfr_seen_type(struct jfr_seen *seen, const char *name);

/* The type that a profile is made of: the one that is wanted, or, for NULL, the obvious one, with a
 * remark where it is not jdk.ExecutionSample. NULL with the error set where there is none: *code is
 * EINVAL, or ENODATA. */
const struct jfr_seen_type *jfr_choose(const struct jfr_seen *seen, const char *wanted,
				       struct import_notes *notes, struct err *err, int *code);

void jfr_seen_release(struct jfr_seen *seen);

#endif
