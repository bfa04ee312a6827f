/*
 * profile.proto, gzipped or not (https://github.com/google/pprof/blob/main/proto/profile.proto).
 *
 * Strings, functions and locations may come behind the samples that mean them, so the file is gone
 * through twice: for these, and for the samples. No sample is kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/utf8.h"
#include "subsume/import/import.h"
#include "subsume/import/pprof_tables.h"
#include "subsume/import/sink.h"
#include "export/protobuf/wire.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
};

#define SAMPLE_TYPES_MAX 64u

#define NO_TYPE SIZE_MAX

/* From so many samples on it is not waited for the rest to see that most are none. */
#define SAMPLES_JUDGED 65536u

struct pprof {
	struct import_sink *sink;
	const uint8_t *bytes; /* of the file */
	struct pprof_tables tables;
	struct {
		uint64_t type, unit; /* strings */
	} types[SAMPLE_TYPES_MAX];
	size_t type_count;
	uint64_t default_type; /* a string; 0: not said */
	size_t cost_type;      /* the one whose values are taken */
	size_t count_type;     /* the one that counts samples, or NO_TYPE */
	/* The current sample's frames, the outermost last: filled from the end. */
	uint32_t path[SUBSUME_DEPTH_MAX];
	size_t depth; /* may be larger: then it is too deep */
	uint64_t values[SAMPLE_TYPES_MAX];
	size_t value_count;
	uint64_t number;                   /* of the sample, from 1 */
	bool has_cost[SAMPLE_TYPES_MAX];   /* by type: some sample */
	uint64_t first_cost, first_counts; /* of the first sample with both, */
	bool in_proportion;                /* and all others have as much for each */
};

static int fail_message(struct pprof *p, uint64_t offset, const struct wire *w)
{
	return import_fail(p->sink, EBADMSG, offset + (uint64_t)(w->at - w->begin), "%s", w->wrong);
}

/* ---------------------------------------------------------------- fields of the whole */

static int add_sample_type(struct pprof *p, uint64_t offset, struct wire message)
{
	struct wire_field field;

	if (p->type_count == SAMPLE_TYPES_MAX)
		return import_fail(p->sink, EFBIG, offset, "more than %u sample types",
				   SAMPLE_TYPES_MAX);
	p->types[p->type_count].type = p->types[p->type_count].unit = 0;
	while (wire_next(&message, &field))
		if (field.number == VALUE_TYPE && field.type == WIRE_VARINT)
			p->types[p->type_count].type = field.value;
		else if (field.number == VALUE_UNIT && field.type == WIRE_VARINT)
			p->types[p->type_count].unit = field.value;
	if (message.wrong)
		return fail_message(p, offset, &message);
	p->type_count++;
	return 0;
}

/* The first time: all but the samples. A damaged function or location is one that is not there. */
static int take_table_field(struct pprof *p, const struct wire_field *field)
{
	uint64_t offset = (uint64_t)(field->bytes - p->bytes);
	struct wire message = wire_of(field->bytes, (size_t)field->value);
	int r = 0;

	if (field->number == PROFILE_STRING)
		return pprof_add_string(&p->tables, offset, field->bytes, field->value);
	if (field->number == PROFILE_SAMPLE_TYPE)
		return add_sample_type(p, offset, message);
	if (field->number == PROFILE_LOCATION)
		r = pprof_add_location(&p->tables, offset, message);
	else if (field->number == PROFILE_FUNCTION)
		r = pprof_add_function(&p->tables, offset, message);
	return r == -EBADMSG ? 0 : r;
}

/* ---------------------------------------------------------------- samples */

static void push(struct pprof *p, uint32_t method)
{
	if (p->depth < SUBSUME_DEPTH_MAX)
		p->path[SUBSUME_DEPTH_MAX - 1 - p->depth] = method;
	p->depth++;
}

/* The frames of a location, of which the first is the innermost of those that are inlined. */
static int add_frames(struct pprof *p, uint64_t offset, uint64_t id)
{
	struct pprof_location *location = pprof_location(&p->tables, id);
	uint32_t method, count;
	int r;

	if (!location)
		return import_fail(
		    p->sink, EBADMSG, offset,
		    "a sample is of location %" PRIu64 ", which the profile does not have", id);
	if (location->method) {
		push(p, location->method);
		return 0;
	}
	count = location->count > 0 ? location->count : 1;
	for (uint32_t i = 0; i < count && p->depth <= SUBSUME_DEPTH_MAX; i++) {
		r = pprof_line_method(&p->tables, offset, location, i, &method);
		if (r < 0)
			return r;
		push(p, method);
	}
	return 0;
}

static int add_value(struct pprof *p, uint64_t offset, uint64_t value)
{
	if (p->value_count == p->type_count)
		return import_fail(p->sink, EBADMSG, offset,
				   "a sample with more values than there are sample types, %zu",
				   p->type_count);
	p->values[p->value_count++] = value;
	return 0;
}

/* A field with one number, or with many in its bytes. */
static int take_numbers(struct pprof *p, uint64_t offset, const struct wire_field *field,
			int (*take)(struct pprof *p, uint64_t offset, uint64_t number))
{
	struct wire packed;
	int r = 0;

	if (field->type == WIRE_VARINT)
		return take(p, offset, field->value);
	if (field->type != WIRE_BYTES)
		return import_fail(p->sink, EBADMSG, offset, "a sample's field is not of numbers");
	packed = wire_of(field->bytes, (size_t)field->value);
	while (r == 0 && packed.at < packed.end && !packed.wrong) {
		uint64_t number = wire_varint(&packed);

		if (!packed.wrong)
			r = take(p, offset, number);
	}
	return packed.wrong ? fail_message(p, offset, &packed) : r;
}

static const struct import_reason no_stack = {"sample", "has no stack", "have no stack"};
static const struct import_reason is_negative = {"sample", "has a negative value",
						 "have a negative value"};
static const struct import_reason unreadable = {"sample", "cannot be read", "cannot be read"};

/* Intervals by the number of samples are those of the cost only where each has as much of it, but
 * for what rounding takes. */
static void compare_proportion(struct pprof *p, uint64_t cost, uint64_t samples)
{
	unsigned __int128 here, first;

	if (cost == 0 && samples == 0)
		return;
	if (p->first_cost == 0 && p->first_counts == 0) {
		p->first_cost = cost;
		p->first_counts = samples;
		p->in_proportion = cost > 0 && samples > 0;
		return;
	}
	here = (unsigned __int128)cost * p->first_counts;
	first = (unsigned __int128)p->first_cost * samples;
	if ((here > first ? here - first : first - here) > first / 100)
		p->in_proportion = false;
}

/* Counts the sample whose frames and values are there. */
static int count_sample(struct pprof *p, uint64_t offset)
{
	uint64_t cost = p->values[p->cost_type], samples = 0;
	int r;

	if (p->count_type != NO_TYPE)
		samples = p->values[p->count_type];
	if (cost > INT64_MAX || samples > INT64_MAX) {
		import_notes_leave_out(p->sink->notes, &is_negative, p->number, 1, 0, "");
		return 0;
	}
	if (p->depth == 0) {
		import_notes_leave_out(p->sink->notes, &no_stack, p->number, 1, cost, "");
		return 0;
	}
	for (size_t i = 0; i < p->type_count; i++)
		p->has_cost[i] |= p->values[i] > 0;
	if (p->depth > SUBSUME_DEPTH_MAX)
		return import_truncated(p->sink, offset, cost, samples);
	compare_proportion(p, cost, samples);
	r = import_stack(p->sink, offset, p->path + SUBSUME_DEPTH_MAX - p->depth, p->depth, cost);
	if (r == 0 && samples > SUBSUME_COST_MAX - p->sink->samples)
		return import_fail(p->sink, EBADMSG, offset, "samples add up to 2^63 or more");
	if (r == 0)
		p->sink->samples += samples;
	return r;
}

static int read_sample(struct pprof *p, uint64_t offset, struct wire message)
{
	struct wire_field field;
	int r = 0;

	p->depth = p->value_count = 0;
	while (r == 0 && wire_next(&message, &field)) {
		uint64_t at = offset + (uint64_t)(message.at - message.begin);

		if (field.number == SAMPLE_LOCATION)
			r = take_numbers(p, at, &field, add_frames);
		else if (field.number == SAMPLE_VALUE)
			r = take_numbers(p, at, &field, add_value);
	}
	if (r < 0)
		return r;
	if (message.wrong)
		return fail_message(p, offset, &message);
	if (p->value_count != p->type_count)
		return import_fail(p->sink, EBADMSG, offset,
				   "a sample with %zu values, and there are %zu sample types",
				   p->value_count, p->type_count);
	return 0;
}

static int check_unreadable(struct pprof *p)
{
	uint64_t bad = import_notes_count(p->sink->notes, &unreadable);

	if (bad <= p->number - bad)
		return 0;
	return err_set(p->sink->err, EBADMSG,
		       "most samples, %" PRIu64 " of %" PRIu64
		       ", cannot be read: %s; is the file cut?",
		       bad, p->number, import_notes_why(p->sink->notes, &unreadable));
}

/* What is wrong with one sample is no fault of the others, unless it is wrong with most of many. */
static int take_sample(struct pprof *p, const struct wire_field *field)
{
	uint64_t offset = (uint64_t)(field->bytes - p->bytes);
	struct err *err = p->sink->err;
	struct err why;
	int r;

	if (field->number != PROFILE_SAMPLE)
		return 0;
	p->number++;
	p->sink->err = &why;
	r = read_sample(p, offset, wire_of(field->bytes, (size_t)field->value));
	p->sink->err = err;
	if (r == 0)
		return count_sample(p, offset);
	if (r != -EBADMSG)
		return err_set(err, -r, "%s", why.message);
	import_notes_leave_out(p->sink->notes, &unreadable, p->number, 1, 0, why.message);
	return p->number >= SAMPLES_JUDGED ? check_unreadable(p) : 0;
}

/* ---------------------------------------------------------------- the two passes */

static int pass(struct pprof *p, size_t size,
		int (*take)(struct pprof *p, const struct wire_field *field))
{
	struct wire in = wire_of(p->bytes, size);
	struct wire_field field = {0};
	int r = 0;

	while (r == 0 && wire_next(&in, &field))
		if (field.type == WIRE_BYTES)
			r = take(p, &field);
		else if (field.number == PROFILE_DEFAULT_SAMPLE_TYPE && field.type == WIRE_VARINT)
			p->default_type = field.value;
	if (r == 0 && in.wrong)
		return import_fail(p->sink, EBADMSG, (uint64_t)(in.at - in.begin),
				   "%s: the file is cut or damaged, get it anew", in.wrong);
	return r == -EEXIST ? -EBADMSG : r;
}

static bool is_called(const struct pprof *p, uint64_t string, const char *what)
{
	size_t length;
	const char *text = pprof_string(&p->tables, string, &length);

	return length == strlen(what) && memcmp(text, what, length) == 0;
}

/* Names of those types that are to be shown, all for NULL, with commas between them. */
static void name_types(const struct pprof *p, const bool *shown, char *to, size_t size)
{
	char names[ERR_MESSAGE_MAX / 2] = "";
	size_t used = 0, length;

	for (size_t i = 0; i < p->type_count && used < sizeof(names); i++) {
		const char *name = pprof_string(&p->tables, p->types[i].type, &length);

		if (!shown || shown[i])
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.*s",
						 used > 0 ? ", " : "", (int)length, name);
	}
	(void)utf8_sanitize(to, size, names);
}

static int fail_type(const struct pprof *p, const char *wanted)
{
	char names[ERR_MESSAGE_MAX / 2];

	name_types(p, NULL, names, sizeof(names));
	return err_set(p->sink->err, EINVAL, "the profile has no sample type '%s': it has %s",
		       wanted, names);
}

/* Nothing has a cost of the type that was taken. */
static int fail_without_cost(const struct pprof *p)
{
	char names[ERR_MESSAGE_MAX / 2], taken[ERR_MESSAGE_MAX / 4];
	bool is_taken[SAMPLE_TYPES_MAX] = {false}, others = false;

	is_taken[p->cost_type] = true;
	for (size_t i = 0; i < p->type_count; i++)
		others |= p->has_cost[i];
	name_types(p, p->has_cost, names, sizeof(names));
	name_types(p, is_taken, taken, sizeof(taken));
	if (others)
		return err_set(
		    p->sink->err, ENODATA,
		    "all values of its sample type '%s' are zero: use --sample-type with "
		    "one that has a cost (%s)",
		    taken, names);
	return err_set(p->sink->err, ENODATA,
		       "none of its %" PRIu64 " samples has a stack and a cost", p->number);
}

/* The type that the user or else the file wants, or the last. */
static int choose_type(struct pprof *p)
{
	const char *wanted = p->sink->options->sample_type;

	if (p->type_count == 0)
		return err_set(p->sink->err, EBADMSG, "the profile has no sample type");
	p->cost_type = wanted ? NO_TYPE : p->type_count - 1;
	p->count_type = NO_TYPE;
	for (size_t i = 0; i < p->type_count; i++) {
		if (wanted ? is_called(p, p->types[i].type, wanted)
			   : p->default_type && p->types[i].type == p->default_type)
			p->cost_type = i;
		if (is_called(p, p->types[i].unit, "count") &&
		    is_called(p, p->types[i].type, "samples"))
			p->count_type = i;
	}
	return p->cost_type == NO_TYPE ? fail_type(p, wanted) : 0;
}

/* "nanoseconds"; where it is but "count", of what: "samples". */
static void choose_unit(struct pprof *p)
{
	uint64_t unit = p->types[p->cost_type].unit;
	size_t length;
	const char *text;

	if (is_called(p, unit, "count") || is_called(p, unit, ""))
		unit = p->types[p->cost_type].type;
	text = pprof_string(&p->tables, unit, &length);
	import_unit(p->sink, text, length);
}

/* Whether what was read is what the file is about, in words where it is not. */
static int check_samples(struct pprof *p)
{
	const struct import_notes *notes = p->sink->notes;
	uint64_t negative = import_notes_count(notes, &is_negative);
	int r;

	if (negative > 0 && negative > p->number - negative)
		return err_set(
		    p->sink->err, EBADMSG,
		    "most samples, %" PRIu64 " of %" PRIu64 ", have negative values: a "
		    "difference of two profiles, which has no shares; give one of the two",
		    negative, p->number);
	r = check_unreadable(p);
	if (r < 0)
		return r;
	if (p->sink->total == 0)
		return fail_without_cost(p);
	if (!p->in_proportion)
		p->sink->samples = 0;
	return 0;
}

static void free_pprof(struct pprof **p)
{
	if (*p)
		pprof_tables_release(&(*p)->tables);
	free(*p);
}

int import_pprof(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	_cleanup_(free_pprof) struct pprof *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return err_set(s->err, ENOMEM, "no memory for the profile");
	p->sink = p->tables.sink = s;
	p->bytes = bytes;
	r = pass(p, size, take_table_field);
	if (r == 0)
		r = choose_type(p);
	if (r < 0)
		return r;
	pprof_link(&p->tables);
	choose_unit(p);
	r = pass(p, size, take_sample);
	return r < 0 ? r : check_samples(p);
}
