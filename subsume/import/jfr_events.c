/* Events with a stack. */
#include "subsume/import/jfr_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- one type */

/* Fields that say what an event stands for, the best first. */
static const struct {
	const char *field, *unit;
} weights[] = {
    {"samples", "samples"},      /* async-profiler's, of a thread that waits */
    {"weight", "bytes"},         /* jdk.ObjectAllocationSample */
    {"tlabSize", "bytes"},       /* jdk.ObjectAllocationInNewTLAB: what it is a sample of */
    {"allocationSize", "bytes"}, /* jdk.ObjectAllocationOutsideTLAB */
    {"objectSize", "bytes"},     /* jdk.OldObjectSample */
    {"duration", "nanoseconds"}, {"size", "bytes"},
};

/* Finds what a duration's value has to be multiplied with; without a word it is in ticks, as all of
 * the JDK's. */
static void scale_duration(struct jfr_event *e, uint64_t ticks)
{
	switch (e->weight->unit) {
	case JFR_NANOSECONDS:
		break;
	case JFR_MICROSECONDS:
		e->factor = 1000;
		break;
	case JFR_MILLISECONDS:
		e->factor = 1000000;
		break;
	case JFR_SECONDS:
		e->factor = 1000000000;
		break;
	default:
		if (ticks == 0) {
			e->unit = "ticks";
			break;
		}
		e->factor = 1000000000;
		e->divisor = ticks;
	}
}

static bool is_number(const struct jfr_types *t, const struct jfr_field *f)
{
	return !f->pooled && !f->array && t->types[f->type].kind == JFR_VARINT;
}

bool jfr_event_find(const struct jfr_types *types, const struct jfr_type *type, uint64_t ticks,
		    struct jfr_event *out)
{
	struct jfr_event e = {.type = type, .factor = 1, .divisor = 1};

	e.trace = jfr_field_by_name(types, type, "stackTrace");
	if (!e.trace || !e.trace->pooled || e.trace->array)
		return false;
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]) && !e.weight; i++) {
		const struct jfr_field *f = jfr_field_by_name(types, type, weights[i].field);

		if (!f || !is_number(types, f))
			continue;
		e.weight = f;
		e.unit = weights[i].unit;
	}
	if (e.weight && strcmp(e.weight->name, "duration") == 0)
		scale_duration(&e, ticks);
	*out = e;
	return true;
}

void jfr_event_read(const struct jfr_types *types, const struct jfr_event *event,
		    struct jfr_cursor *c, uint64_t *stack, uint64_t *weight)
{
	const struct jfr_field *f = &types->fields[event->type->first_field];
	const struct jfr_field *end = f + event->type->field_count;
	unsigned left = event->weight ? 2 : 1;
	unsigned __int128 scaled;

	*stack = 0;
	*weight = 1;
	for (; f < end && left > 0 && !c->wrong; f++)
		if (f == event->trace || f == event->weight) {
			*(f == event->trace ? stack : weight) = jfr_varint(c);
			left--;
		} else {
			jfr_skip_field(types, f, c);
		}
	if (!event->weight || *weight > INT64_MAX)
		return;
	scaled = (unsigned __int128)*weight * event->factor / event->divisor;
	*weight = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* ---------------------------------------------------------------- which there are */

struct jfr_seen_type *jfr_seen_type(struct jfr_seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->count; i++)
		if (strcmp(seen->types[i].name, name) == 0)
			return &seen->types[i];
	if (seen->count == JFR_SEEN_MAX)
		return NULL;
	seen->types[seen->count].name = strdup(name);
	return seen->types[seen->count].name ? &seen->types[seen->count++] : NULL;
}

void jfr_seen_release(struct jfr_seen *seen)
{
	for (size_t i = 0; i < seen->count; i++)
		free(seen->types[i].name);
	*seen = (struct jfr_seen){.count = 0};
}

/* Types that are about where time goes, those of running threads first. */
static const char *const profiles[] = {"jdk.ExecutionSample", "jdk.CPUTimeSample",
				       "profiler.WallClockSample", "jdk.NativeMethodSample"};

/* So many samples are a profile, whatever else there is. */
#define PROFILE_EVENTS_MIN 20u

static const struct jfr_seen_type *find(const struct jfr_seen *seen, const char *name)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->types[i].events > 0 && strcmp(seen->types[i].name, name) == 0)
			return &seen->types[i];
	return NULL;
}

/* The first with enough events, else the one with most; else the only type that there is. */
static const struct jfr_seen_type *obvious(const struct jfr_seen *seen)
{
	const struct jfr_seen_type *best = NULL, *only = NULL;
	size_t others = 0;

	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		const struct jfr_seen_type *type = find(seen, profiles[i]);

		if (type && type->events >= PROFILE_EVENTS_MIN)
			return type;
		if (type && (!best || type->events > best->events))
			best = type;
	}
	for (size_t i = 0; i < seen->count; i++)
		if (seen->types[i].events > 0) {
			only = &seen->types[i];
			others++;
		}
	if (best)
		return best;
	return others == 1 ? only : NULL;
}

/* "jdk.NativeMethodSample (297), jdk.ExecutionSample (1)", in no order; what has no room is left
 * out. */
static void name_types(const struct jfr_seen *seen, char *to, size_t size)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < seen->count; i++) {
		const struct jfr_seen_type *type = &seen->types[i];
		char one[128];
		int length = snprintf(one, sizeof(one), "%s%.90s (%" PRIu64 ")", used ? ", " : "",
				      type->name, type->events);

		if (type->events == 0 || used + (size_t)length >= size)
			continue;
		memcpy(to + used, one, (size_t)length + 1);
		used += (size_t)length;
	}
}

const struct jfr_seen_type *jfr_choose(const struct jfr_seen *seen, const char *wanted,
				       struct import_notes *notes, struct err *err, int *code)
{
	const struct jfr_seen_type *found = wanted ? find(seen, wanted) : obvious(seen);
	char names[ERR_MESSAGE_MAX / 2];

	name_types(seen, names, sizeof(names));
	if (!found && !names[0]) {
		*code = ENODATA;
		(void)err_set(err, ENODATA, "no event in the recording has a stack");
	} else if (!found && wanted) {
		*code = EINVAL;
		(void)err_set(
		    err, EINVAL,
		    "the recording has no events of the type '%.90s' that have a stack: it "
		    "has %s",
		    wanted, names);
	} else if (!found) {
		*code = ENODATA;
		(void)err_set(err, ENODATA,
			      "the recording has no samples of what runs: use --sample-type with a "
			      "type of events that have a stack (%s)",
			      names);
	} else if (!wanted && strcmp(found->name, profiles[0]) != 0) {
		import_notes_remark(notes,
				    "events with a stack are %s: %s is taken (--sample-type "
				    "for another)",
				    names, found->name);
	}
	return found;
}
