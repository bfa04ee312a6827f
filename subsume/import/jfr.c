/*
 * Recordings of the JDK Flight Recorder, version 2 (JDK 9 and later): chunks, each whole in itself,
 * with its metadata, its constants and its events. The JDK's own reader is
 * jdk.jfr.internal.consumer.ChunkParser, with ChunkHeader.
 *
 * All chunks are gone through twice: to see which types of events have a stack, and for the stacks
 * of one. What cannot be read of a chunk, as what a JVM left that was killed or is still running,
 * loses nothing of the others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "subsume/import/import.h"
#include "subsume/import/jfr_events.h"
#include "subsume/import/jfr_input.h"
#include "subsume/import/jfr_pools.h"
#include "subsume/import/jfr_types.h"
#include "subsume/import/sink.h"

/* Bytes of the metadata event: those of the JDK's 170 types of events take some 150,000. */
#define METADATA_MAX (UINT32_C(16) << 20)

/* A chunk's header. */
enum {
	HEADER_MAJOR = 4,
	HEADER_SIZE = 8,
	HEADER_CHECKPOINT = 16,
	HEADER_METADATA = 24,
	HEADER_TIME = 32,
	HEADER_TICKS = 56, /* a second */
	HEADER_FEATURES = 64,
	HEADER_BYTES = 68,
};
#define VERSION_READ        2u
#define FEATURES_COMPRESSED 1u

/* The events that have one stack. */
struct stack_count {
	uint64_t id;
	uint64_t count, weight;
	uint64_t first; /* number of the first, of all of its type in the file */
};

struct chunk {
	const uint8_t *begin, *end;
	uint64_t offset; /* in the file */
	uint64_t number; /* from 1 */
	uint64_t metadata, checkpoint;
	uint64_t ticks; /* a second */
};

struct jfr {
	struct import_sink *sink;
	const uint8_t *file, *file_end;
	struct jfr_types types;
	struct jfr_pools pools;
	struct jfr_seen seen;
	const struct jfr_seen_type *taken; /* NULL the first time */
	uint64_t events;                   /* of that type so far */
	bool are_samples;
	struct stack_count *stacks;
	size_t stack_count, stack_room;
	struct ids stack_numbers; /* from ids to numbers + 1 */
	struct jfr_stack stack;
};

static const struct import_reason unreadable = {"chunk", "cannot be read", "cannot be read"};
static const struct import_reason damaged = {"chunk", "is damaged", "are damaged"};
static const struct import_reason no_stack = {"sample", "has no stack", "have no stack"};
static const struct import_reason lost_stack = {"sample", "has a stack that cannot be read",
						"have a stack that cannot be read"};
static const struct import_reason is_negative = {"sample", "has a negative value",
						 "have a negative value"};

/* ---------------------------------------------------------------- a chunk's parts */

/* Where the next chunk begins, or NULL. Versions have small numbers, and nothing else is so. */
static const uint8_t *find_chunk(const uint8_t *from, const uint8_t *end)
{
	static const uint8_t begin[] = {'F', 'L', 'R', 0, 0, VERSION_READ, 0};

	return from < end ? memmem(from, (size_t)(end - from), begin, sizeof(begin)) : NULL;
}

/* Is it a copy of the header of the chunk that begins there? JDKs write one, as an array of bytes,
 * at the end of all that they have flushed: a chunk as it was then. */
static bool is_copy(const uint8_t *at, const uint8_t *begin, const uint8_t *end)
{
	return at[-1] == HEADER_BYTES && end - at >= HEADER_BYTES &&
	       memcmp(at + HEADER_TIME, begin + HEADER_TIME, sizeof(uint64_t)) == 0;
}

/* Where another chunk begins behind this one's header, or NULL; *copy gets the last of its copies
 * before that that says where it stands, or stays. */
static const uint8_t *next_chunk(const uint8_t *begin, const uint8_t *end, const uint8_t **copy)
{
	const uint8_t *at = begin + HEADER_BYTES;

	while ((at = find_chunk(at, end)) && is_copy(at, begin, end)) {
		if (jfr_fixed(at + HEADER_SIZE, 8) == (uint64_t)(at - begin) + HEADER_BYTES)
			*copy = at;
		at++;
	}
	return at;
}

static int check_header(struct jfr *j, const uint8_t *begin, uint64_t left)
{
	uint64_t offset = (uint64_t)(begin - j->file);
	unsigned major;

	if (left < HEADER_BYTES)
		return import_fail(j->sink, EBADMSG, offset,
				   "a chunk's header is cut off: %" PRIu64 " bytes", left);
	if (memcmp(begin, "FLR", 4) != 0)
		return import_fail(j->sink, EBADMSG, offset, "not the begin of a chunk");
	major = (unsigned)jfr_fixed(begin + HEADER_MAJOR, 2);
	if (major != VERSION_READ)
		return import_fail(j->sink, EBADMSG, offset,
				   "a recording of version %u: version %u is read, of JDK 9 and "
				   "later",
				   major, VERSION_READ);
	if (!(begin[HEADER_FEATURES + 3] & FEATURES_COMPRESSED))
		return import_fail(j->sink, EBADMSG, offset,
				   "the chunk's numbers are not compressed");
	return 0;
}

/* The chunk is as this header says, which is the one at its begin, or a copy. */
static int take_header(struct jfr *j, const uint8_t *header, struct chunk *chunk)
{
	uint64_t size = jfr_fixed(header + HEADER_SIZE, 8);

	chunk->ticks = jfr_fixed(header + HEADER_TICKS, 8);
	chunk->metadata = jfr_fixed(header + HEADER_METADATA, 8);
	chunk->checkpoint = jfr_fixed(header + HEADER_CHECKPOINT, 8);
	if (size < HEADER_BYTES || chunk->metadata < HEADER_BYTES || chunk->metadata >= size ||
	    chunk->checkpoint < HEADER_BYTES || chunk->checkpoint >= size)
		return import_fail(j->sink, EBADMSG, chunk->offset,
				   "the chunk's metadata or constants are not in it");
	chunk->end = chunk->begin + size;
	return 0;
}

/* Where a chunk cannot be read, end is where the next one begins, or begin where that is not
 * known. One that is cut is read as far as it was flushed, where it says so. */
static int read_header(struct jfr *j, const uint8_t *begin, struct chunk *chunk)
{
	uint64_t left = (uint64_t)(j->file_end - begin), size;
	const uint8_t *copy = NULL, *next;
	int r;

	chunk->begin = chunk->end = begin;
	chunk->offset = (uint64_t)(begin - j->file);
	r = check_header(j, begin, left);
	if (r < 0)
		return r;
	size = jfr_fixed(begin + HEADER_SIZE, 8);
	next = next_chunk(begin, size > left || size == 0 ? j->file_end : begin + size, &copy);
	if (!next && size > 0 && size <= left)
		return take_header(j, begin, chunk);
	if (copy)
		return take_header(j, copy, chunk);
	if (next)
		chunk->end = next;
	if (size == 0)
		return import_fail(
		    j->sink, EBADMSG, chunk->offset,
		    "the chunk is not finished: of a recording that is still running, "
		    "'jcmd PID JFR.dump' makes a whole one");
	if (size > left)
		return import_fail(j->sink, EBADMSG, chunk->offset,
				   "a chunk of %" PRIu64 " bytes, and there are %" PRIu64, size,
				   left);
	return import_fail(j->sink, EBADMSG, chunk->offset,
			   "a chunk of %" PRIu64 " bytes, and the next one begins after %td", size,
			   next - begin);
}

static int read_metadata(struct jfr *j, const struct chunk *chunk)
{
	struct jfr_cursor c = {.at = chunk->begin + chunk->metadata, .end = chunk->end};
	struct jfr_cursor head = c;
	uint64_t size = jfr_varint(&head);
	int r;

	if (head.wrong || size > (uint64_t)(c.end - c.at) || size > METADATA_MAX)
		return import_fail(j->sink, EBADMSG, chunk->offset + chunk->metadata,
				   "the metadata have %" PRIu64 " bytes: at most %u, and what is "
				   "in the chunk, are read",
				   size, METADATA_MAX);
	c.end = c.at + size;
	r = jfr_types_read(&j->types, &c);
	if (c.wrong)
		return jfr_fail(&j->pools, &c, "the metadata");
	return r < 0 ? err_set(j->sink->err, ENOMEM, "no memory for the metadata") : 0;
}

/* One more event with the stack of that id. */
static int count_stack(struct jfr *j, uint64_t id, uint64_t weight, uint64_t offset)
{
	uint64_t number = ids_get(&j->stack_numbers, id);
	struct stack_count *stack;
	int r;

	if (number > 0) {
		stack = &j->stacks[number - 1];
		stack->count++;
		if (weight > SUBSUME_COST_MAX - stack->weight)
			return import_fail(j->sink, ERANGE, offset,
					   "counts add up to 2^63 or more");
		stack->weight += weight;
		return 0;
	}
	r = array_reserve_within(&j->stacks, &j->stack_room, j->stack_count + 1, IDS_MAX,
				 sizeof(*j->stacks));
	if (r == 0)
		r = ids_put(&j->stack_numbers, id, j->stack_count + 1);
	if (r == -ENOSPC)
		return import_fail(j->sink, EFBIG, offset, "more than %" PRIu32 " stacks", IDS_MAX);
	if (r < 0)
		return err_set(j->sink->err, ENOMEM, "no memory for stacks");
	j->stacks[j->stack_count++] =
	    (struct stack_count){.id = id, .count = 1, .weight = weight, .first = j->events};
	return 0;
}

/* An event of the type that is taken. */
static int take_event(struct jfr *j, uint64_t id, uint64_t weight, uint64_t offset)
{
	j->events++;
	if (!j->taken->weighs)
		weight = 1;
	if (weight > SUBSUME_COST_MAX)
		import_notes_leave_out(j->sink->notes, &is_negative, j->events, 1, 0, "");
	else if (id == 0)
		import_notes_leave_out(j->sink->notes, &no_stack, j->events, 1, weight, "");
	else
		return count_stack(j, id, weight, offset);
	return 0;
}

/* How the events of each type of a chunk are read. */
struct readers {
	struct jfr_event *events; /* by the type's number; type NULL: they are not looked at */
	struct jfr_seen_type **seen;
};

static void release_readers(struct readers *r)
{
	free(r->events);
	free(r->seen);
}

static int find_readers(struct jfr *j, const struct chunk *chunk, struct readers *out)
{
	size_t count = j->types.type_count;

	out->events = calloc(count + 1, sizeof(*out->events));
	out->seen = calloc(count + 1, sizeof(*out->seen));
	if (!out->events || !out->seen)
		return err_set(j->sink->err, ENOMEM, "no memory for the metadata");
	for (size_t i = 0; i < count; i++) {
		const struct jfr_type *type = &j->types.types[i];

		if (j->taken && strcmp(type->name, j->taken->name) != 0)
			continue;
		if (!jfr_event_find(&j->types, type, chunk->ticks, &out->events[i]))
			continue;
		out->seen[i] = jfr_seen_type(&j->seen, type->name);
		if (!out->seen[i])
			return import_fail(j->sink, EFBIG, chunk->offset,
					   "more than %u types of events with a stack",
					   JFR_SEEN_MAX);
	}
	return 0;
}

/* One event, whose fields are at the cursor. */
static int read_event(struct jfr *j, const struct readers *readers, uint64_t type_id,
		      struct jfr_cursor *c, uint64_t offset)
{
	const struct jfr_type *type = jfr_type_by_id(&j->types, type_id);
	size_t number = type ? (size_t)(type - j->types.types) : j->types.type_count;
	const struct jfr_event *event = &readers->events[number];
	uint64_t id, weight;

	if (!event->type)
		return 0;
	jfr_event_read(&j->types, event, c, &id, &weight);
	if (c->wrong)
		return jfr_fail(&j->pools, c, "an event");
	if (j->taken)
		return take_event(j, id, weight, offset);
	readers->seen[number]->events += id != 0;
	readers->seen[number]->weighs |= event->weight && id != 0 && weight > 0;
	return 0;
}

static int read_events(struct jfr *j, const struct chunk *chunk, const struct readers *readers)
{
	const uint8_t *event = chunk->begin + HEADER_BYTES;
	int r = 0;

	while (event < chunk->end && r == 0) {
		struct jfr_cursor c = {.at = event, .end = chunk->end};
		uint64_t size = jfr_varint(&c), type = jfr_varint(&c);
		uint64_t offset = (uint64_t)(event - j->file);

		if (c.wrong || size < (uint64_t)(c.at - event) ||
		    size > (uint64_t)(chunk->end - event))
			return import_fail(j->sink, EBADMSG, offset,
					   "an event of %" PRIu64 " bytes, and there are %" PRIu64
					   " in its chunk",
					   size, (uint64_t)(chunk->end - event));
		c.end = event + size;
		event = c.end;
		r = read_event(j, readers, type, &c, offset);
	}
	return r;
}

/* ---------------------------------------------------------------- stacks into the tree */

static int add_stack(struct jfr *j, const struct stack_count *counted)
{
	struct import_sink *s = j->sink;
	struct jfr_stack *stack = &j->stack;
	uint64_t offset = (uint64_t)(j->pools.begin - j->file);
	struct err *err = s->err;
	struct err why;
	int r;

	s->err = &why;
	r = jfr_pools_stack(&j->pools, counted->id, stack);
	s->err = err;
	if (r == -EBADMSG) {
		import_notes_leave_out(s->notes, &lost_stack, counted->first, counted->count,
				       counted->weight, why.message);
		return 0;
	}
	if (r < 0)
		return err_set(err, -r, "%s", why.message);
	if (stack->truncated)
		return import_truncated(s, offset, counted->weight,
					j->are_samples ? counted->weight : counted->count);
	if (stack->depth == 0) {
		import_notes_leave_out(s->notes, &no_stack, counted->first, counted->count,
				       counted->weight, "");
		return 0;
	}
	r = import_stack(s, offset, stack->path + SUBSUME_DEPTH_MAX - stack->depth, stack->depth,
			 counted->weight);
	if (r == 0 && j->are_samples)
		s->samples += counted->weight;
	return r;
}

/* What is wrong with a chunk is said the second time, and loses no other; where it is true what
 * else is wrong ends the whole. */
static int forgive(struct jfr *j, int r, const struct import_reason *reason,
		   const struct chunk *chunk, struct err *err, const struct err *why)
{
	j->sink->err = err;
	if (r == 0 || r == -EBADMSG) {
		if (r < 0 && j->taken)
			import_notes_leave_out(j->sink->notes, reason, chunk->number, 1, 0,
					       why->message);
		return 0;
	}
	return err_set(err, -r, "%s", why->message);
}

static int add_stacks(struct jfr *j, const struct chunk *chunk, const struct jfr_event *event)
{
	struct err *err = j->sink->err;
	struct err why;
	int r;

	j->sink->err = &why;
	r = jfr_layout_find(&j->pools, event->trace);
	if (r < 0)
		return forgive(j, r, &unreadable, chunk, err, &why);
	r = jfr_pools_read(&j->pools, chunk->checkpoint);
	r = forgive(j, r, &damaged, chunk, err, &why);
	for (size_t i = 0; i < j->stack_count && r == 0; i++)
		r = add_stack(j, &j->stacks[i]);
	return r;
}

/* Says what costs are, by the type that is taken. */
static void choose_unit(struct jfr *j, const struct jfr_event *event)
{
	const char *unit = j->taken->weighs ? event->unit : "samples";

	if (!j->taken->weighs && !strstr(j->taken->name, "Sample"))
		unit = "events";
	j->are_samples = strcmp(unit, "samples") == 0;
	import_unit(j->sink, unit, strlen(unit));
}

static int read_chunk(struct jfr *j, const struct chunk *chunk)
{
	_cleanup_(release_readers) struct readers readers = {NULL, NULL};
	const struct jfr_type *type;
	struct err *err = j->sink->err;
	struct err why;
	int r;

	j->pools.begin = chunk->begin;
	j->pools.end = chunk->end;
	j->stack_count = 0;
	ids_clear(&j->stack_numbers);
	j->sink->err = &why;
	r = read_metadata(j, chunk);
	if (r < 0)
		return forgive(j, r, &unreadable, chunk, err, &why);
	r = find_readers(j, chunk, &readers);
	if (r == 0)
		r = read_events(j, chunk, &readers);
	r = forgive(j, r, &damaged, chunk, err, &why);
	type = j->taken ? jfr_type_by_name(&j->types, j->taken->name) : NULL;
	if (r < 0 || !type || !readers.events[type - j->types.types].type)
		return r;
	choose_unit(j, &readers.events[type - j->types.types]);
	return j->stack_count > 0 ? add_stacks(j, chunk, &readers.events[type - j->types.types])
				  : 0;
}

/* ---------------------------------------------------------------- all chunks */

/* Where one begins behind what is none, or is cut. */
static const uint8_t *behind_chunk(const struct jfr *j, const uint8_t *at)
{
	bool begins = j->file_end - at > HEADER_BYTES && find_chunk(at, at + HEADER_BYTES) == at;
	const uint8_t *copy;

	return begins ? next_chunk(at, j->file_end, &copy) : find_chunk(at + 1, j->file_end);
}

/* The number of chunks that can be read, or a negative code; why gets what is wrong with the last
 * of the others. */
static int read_chunks(struct jfr *j, struct err *why)
{
	struct chunk chunk = {.end = j->file};
	struct err *err = j->sink->err;
	int r = 0, readable = 0;

	while (r == 0 && chunk.end && chunk.end < j->file_end) {
		chunk.number++;
		j->sink->err = why;
		r = read_header(j, chunk.end, &chunk);
		j->sink->err = err;
		if (r == 0) {
			readable++;
			r = read_chunk(j, &chunk);
			continue;
		}
		r = forgive(j, r, &unreadable, &chunk, err, why);
		if (chunk.end == chunk.begin)
			chunk.end = behind_chunk(j, chunk.begin);
	}
	return r < 0 ? r : readable;
}

static void free_jfr(struct jfr **j)
{
	if (!*j)
		return;
	jfr_types_release(&(*j)->types);
	jfr_pools_release(&(*j)->pools);
	jfr_seen_release(&(*j)->seen);
	ids_release(&(*j)->stack_numbers);
	free((*j)->stacks);
	free(*j);
}

int import_jfr(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	_cleanup_(free_jfr) struct jfr *j = calloc(1, sizeof(*j));
	struct err why = {.message = ""};
	int r, code = 0;

	if (!j)
		return err_set(s->err, ENOMEM, "no memory for the recording");
	j->sink = j->pools.sink = s;
	j->file = j->pools.file = bytes;
	j->file_end = bytes + size;
	j->pools.types = &j->types;
	r = read_chunks(j, &why);
	if (r == 0)
		return err_set(s->err, EBADMSG, "%s", why.message);
	if (r > 0)
		j->taken = jfr_choose(&j->seen, s->options->sample_type, s->notes, s->err, &code);
	if (r < 0 || !j->taken)
		return r < 0 ? r : -code;
	r = read_chunks(j, &why);
	if (r == -ERANGE)
		return -EBADMSG;
	return r < 0 ? r : 0;
}
