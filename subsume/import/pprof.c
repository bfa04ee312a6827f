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
#include "subsume/import/stream.h"
#include "subsume/import/wire.h"

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

/* Bytes that a gzipped profile is kept uncompressed in, rather than decompressed twice. */
#define UNPACKED_MAX (UINT32_C(64) << 20)

#define NO_TYPE SIZE_MAX

/* A tag and a length. */
#define FIELD_HEAD_MAX 20u

struct pprof {
	struct import_sink *sink;
	struct stream in;
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
};

static int fail_message(struct pprof *p, uint64_t offset, const struct wire *w)
{
	return import_fail(p->sink, EBADMSG, offset + (uint64_t)(w->at - w->begin), "%s", w->wrong);
}

/* ---------------------------------------------------------------- fields of the whole */

/* The next field's head; of BYTES the bytes are still to be taken. 1, 0 at the end. */
static int next_head(struct pprof *p, struct wire_field *field)
{
	int64_t have = stream_fill(&p->in, FIELD_HEAD_MAX);
	struct wire head;

	if (have <= 0)
		return (int)have;
	head = wire_of(p->in.at, have < (int64_t)FIELD_HEAD_MAX ? (size_t)have : FIELD_HEAD_MAX);
	field->value = wire_varint(&head);
	field->number = (uint32_t)(field->value >> 3);
	field->type = (enum wire_type)(field->value & 7);
	if (!head.wrong && (field->value >> 3 == 0 || field->value >> 32 != 0))
		head.wrong = "not a field of a profile";
	if (field->type == WIRE_VARINT || field->type == WIRE_BYTES)
		field->value = wire_varint(&head);
	else if (!head.wrong)
		head.wrong = "a field of a type that profiles do not have";
	if (head.wrong)
		return fail_message(p, p->in.offset, &head);
	stream_take(&p->in, (size_t)(head.at - head.begin));
	return 1;
}

/* Has the field's bytes in one piece. */
static int whole(struct pprof *p, const struct wire_field *field, struct wire *message)
{
	int64_t have;

	if (field->value > STREAM_PIECE_MAX)
		return import_fail(p->sink, EFBIG, p->in.offset,
				   "a field of %" PRIu64 " bytes: at most %u are taken",
				   field->value, STREAM_PIECE_MAX);
	have = stream_fill(&p->in, (size_t)field->value);
	if (have < 0)
		return (int)have;
	if ((uint64_t)have < field->value)
		return import_fail(p->sink, EBADMSG, p->in.offset,
				   "a field of %" PRIu64 " bytes, and there are %" PRId64,
				   field->value, have);
	*message = wire_of(p->in.at, (size_t)field->value);
	return 0;
}

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

/* The first time: all but the samples. */
static int take_table_field(struct pprof *p, const struct wire_field *field)
{
	bool is_string = field->number == PROFILE_STRING;
	uint64_t offset = p->in.offset;
	struct wire message = {0};
	int r;

	if (!is_string && field->number != PROFILE_SAMPLE_TYPE &&
	    field->number != PROFILE_LOCATION && field->number != PROFILE_FUNCTION)
		return stream_skip(&p->in, field->value);
	if (is_string && field->value > SUBSUME_NAME_MAX) {
		r = pprof_add_string(&p->tables, offset, NULL, field->value);
		return r < 0 ? r : stream_skip(&p->in, field->value);
	}
	r = whole(p, field, &message);
	if (r < 0)
		return r;
	if (is_string)
		r = pprof_add_string(&p->tables, offset, message.at, field->value);
	else if (field->number == PROFILE_SAMPLE_TYPE)
		r = add_sample_type(p, offset, message);
	else if (field->number == PROFILE_LOCATION)
		r = pprof_add_location(&p->tables, offset, message);
	else
		r = pprof_add_function(&p->tables, offset, message);
	stream_take(&p->in, (size_t)field->value);
	return r;
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

/* Of the sample whose frames and values are there. */
static int count_sample(struct pprof *p, uint64_t offset)
{
	uint64_t cost, samples = 0;
	int r;

	if (p->value_count != p->type_count)
		return import_fail(p->sink, EBADMSG, offset,
				   "a sample with %zu values, and there are %zu sample types",
				   p->value_count, p->type_count);
	cost = p->values[p->cost_type];
	if (p->count_type != NO_TYPE)
		samples = p->values[p->count_type];
	if (cost > INT64_MAX || samples > INT64_MAX)
		return import_fail(p->sink, EBADMSG, offset, "a negative value");
	if (p->depth > SUBSUME_DEPTH_MAX)
		return import_truncated(p->sink, offset, cost, samples);
	r = import_stack(p->sink, offset, p->path + SUBSUME_DEPTH_MAX - p->depth, p->depth, cost);
	if (r == 0 && samples > SUBSUME_COST_MAX - p->sink->samples)
		return import_fail(p->sink, EBADMSG, offset, "samples add up to 2^63 or more");
	if (r == 0)
		p->sink->samples += samples;
	return r;
}

static int take_sample(struct pprof *p, const struct wire_field *profile_field)
{
	uint64_t offset = p->in.offset;
	struct wire_field field;
	struct wire message = {0};
	int r;

	if (profile_field->number != PROFILE_SAMPLE)
		return stream_skip(&p->in, profile_field->value);
	r = whole(p, profile_field, &message);
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
	stream_take(&p->in, (size_t)profile_field->value);
	return count_sample(p, offset);
}

/* ---------------------------------------------------------------- the two passes */

static int pass(struct pprof *p, const uint8_t *bytes, size_t size,
		int (*take)(struct pprof *p, const struct wire_field *field))
{
	struct wire_field field = {0};
	int r = stream_open(&p->in, bytes, size, p->sink);

	while (r == 0 && (r = next_head(p, &field)) > 0) {
		r = 0;
		if (field.type == WIRE_BYTES)
			r = take(p, &field);
		else if (field.number == PROFILE_DEFAULT_SAMPLE_TYPE)
			p->default_type = field.value;
	}
	stream_release(&p->in);
	return r;
}

/* What a gzipped profile decompresses to, if that is not much, so that it is decompressed but once.
 * The caller's to free; NULL when it is too much. */
static int unpack(struct pprof *p, const uint8_t *bytes, size_t size, uint8_t **unpacked,
		  size_t *length)
{
	_cleanup_free_ uint8_t *found = NULL;
	size_t used = 0, room = 0;
	int64_t have;
	int r;

	if (size < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
		return 0;
	r = stream_open(&p->in, bytes, size, p->sink);
	while (r == 0 && (have = stream_fill(&p->in, STREAM_PIECE_MAX)) != 0) {
		if (have > 0)
			r = array_reserve_within(&found, &room, used + (size_t)have, UNPACKED_MAX,
						 1);
		if (have < 0 || r < 0) {
			r = have < 0 ? (int)have : r;
			break;
		}
		memcpy(found + used, p->in.at, (size_t)have);
		used += (size_t)have;
		stream_take(&p->in, (size_t)have);
	}
	stream_release(&p->in);
	if (r == -ENOSPC || r == -ENOMEM)
		return 0;
	if (r == 0) {
		*unpacked = TAKE_PTR(found);
		*length = used;
	}
	return r;
}

static bool is_called(const struct pprof *p, uint64_t string, const char *what)
{
	size_t length;
	const char *text = pprof_string(&p->tables, string, &length);

	return length == strlen(what) && memcmp(text, what, length) == 0;
}

/* "the profile has no sample type ...", and which it has. */
static int fail_type(struct pprof *p, const char *wanted)
{
	char names[ERR_MESSAGE_MAX / 2] = "", clean[sizeof(names)];
	size_t used = 0, length;

	for (size_t i = 0; i < p->type_count && used < sizeof(names); i++) {
		const char *name = pprof_string(&p->tables, p->types[i].type, &length);
		int n = snprintf(names + used, sizeof(names) - used, "%s%.*s", i > 0 ? ", " : "",
				 (int)length, name);

		used += (size_t)n;
	}
	(void)utf8_sanitize(clean, sizeof(clean), names);
	return err_set(p->sink->err, EINVAL, "the profile has no sample type '%s': it has %s",
		       wanted, clean);
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

static void free_pprof(struct pprof **p)
{
	if (*p)
		pprof_tables_release(&(*p)->tables);
	free(*p);
}

int import_pprof(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	_cleanup_(free_pprof) struct pprof *p = calloc(1, sizeof(*p));
	_cleanup_free_ uint8_t *unpacked = NULL;
	int r;

	if (!p)
		return err_set(s->err, ENOMEM, "no memory for the profile");
	p->sink = p->tables.sink = s;
	r = unpack(p, bytes, size, &unpacked, &size);
	if (r < 0)
		return r;
	if (unpacked)
		bytes = unpacked;
	r = pass(p, bytes, size, take_table_field);
	if (r == 0)
		r = choose_type(p);
	if (r < 0)
		return r;
	pprof_link(&p->tables);
	choose_unit(p);
	return pass(p, bytes, size, take_sample);
}
