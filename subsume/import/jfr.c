/*
 * Recordings of the JDK Flight Recorder, version 2 (JDK 9 and later): chunks, each whole in itself,
 * with its metadata, its constants and its events. The JDK's own reader is
 * jdk.jfr.internal.consumer.ChunkParser, with ChunkHeader.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "subsume/import/import.h"
#include "subsume/import/jfr_input.h"
#include "subsume/import/jfr_pools.h"
#include "subsume/import/jfr_types.h"
#include "subsume/import/sink.h"

#define DEFAULT_EVENT "jdk.ExecutionSample"

/* Bytes of the metadata event: those of the JDK's 170 types of events take some 150,000. */
#define METADATA_MAX (UINT32_C(16) << 20)

/* A chunk's header. */
enum {
	HEADER_MAJOR = 4,
	HEADER_SIZE = 8,
	HEADER_CHECKPOINT = 16,
	HEADER_METADATA = 24,
	HEADER_FEATURES = 64,
	HEADER_BYTES = 68,
};
#define VERSION_READ        2u
#define FEATURES_COMPRESSED 1u

/* How many events have a stack. */
struct stack_count {
	uint64_t id;
	uint64_t count;
};

struct jfr {
	struct import_sink *sink;
	const uint8_t *file;
	const char *event_name;
	bool event_seen; /* in some chunk's metadata */
	struct jfr_types types;
	struct jfr_pools pools;
	struct stack_count *stacks;
	size_t stack_count, stack_room;
	struct ids stack_numbers; /* from ids to numbers + 1 */
};

/* ---------------------------------------------------------------- a chunk's parts */

struct chunk {
	const uint8_t *begin, *end;
	uint64_t offset; /* in the file */
	uint64_t metadata, checkpoint;
};

static int read_header(struct jfr *j, const uint8_t *begin, const uint8_t *end, struct chunk *chunk)
{
	uint64_t offset = (uint64_t)(begin - j->file), left = (uint64_t)(end - begin), size;
	unsigned major;

	chunk->begin = chunk->end = begin;
	chunk->offset = offset;
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
	size = jfr_fixed(begin + HEADER_SIZE, 8);
	chunk->metadata = jfr_fixed(begin + HEADER_METADATA, 8);
	chunk->checkpoint = jfr_fixed(begin + HEADER_CHECKPOINT, 8);
	if (size == 0 || chunk->metadata == 0 || chunk->checkpoint == 0)
		return import_fail(j->sink, EBADMSG, offset,
				   "the chunk is not finished: is the recording still running?");
	if (!(begin[HEADER_FEATURES + 3] & FEATURES_COMPRESSED))
		return import_fail(j->sink, EBADMSG, offset,
				   "the chunk's numbers are not compressed");
	if (size < HEADER_BYTES || size > left)
		return import_fail(j->sink, EBADMSG, offset,
				   "a chunk of %" PRIu64 " bytes, and there are %" PRIu64, size,
				   left);
	if (chunk->metadata < HEADER_BYTES || chunk->metadata >= size ||
	    chunk->checkpoint < HEADER_BYTES || chunk->checkpoint >= size)
		return import_fail(j->sink, EBADMSG, offset,
				   "the chunk's metadata or constants are not in it");
	chunk->end = begin + size;
	return 0;
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
static int count_stack(struct jfr *j, uint64_t id, uint64_t offset)
{
	uint64_t number = ids_get(&j->stack_numbers, id);
	int r;

	if (number > 0) {
		j->stacks[number - 1].count++;
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
	j->stacks[j->stack_count++] = (struct stack_count){.id = id, .count = 1};
	return 0;
}

/* Of the events of the wanted type; of all others only the size is looked at. */
static int read_events(struct jfr *j, const struct chunk *chunk)
{
	const struct jfr_layout *l = &j->pools.layout;
	const uint8_t *event = chunk->begin + HEADER_BYTES;
	int r;

	while (event < chunk->end) {
		struct jfr_cursor c = {.at = event, .end = chunk->end};
		uint64_t size = jfr_varint(&c), type = jfr_varint(&c), id;
		uint64_t offset = (uint64_t)(event - j->file);

		if (c.wrong || size < (uint64_t)(c.at - event) ||
		    size > (uint64_t)(chunk->end - event))
			return import_fail(j->sink, EBADMSG, offset,
					   "an event of %" PRIu64 " bytes, and there are %" PRIu64
					   " in its chunk",
					   size, (uint64_t)(chunk->end - event));
		c.end = event + size;
		event = c.end;
		if (type != l->event->id)
			continue;
		jfr_skip_to(&j->types, l->event, l->event_trace, &c);
		id = jfr_varint(&c);
		if (c.wrong)
			return jfr_fail(&j->pools, &c, "an event");
		if ((r = count_stack(j, id, offset)) < 0)
			return r;
	}
	return 0;
}

static int read_chunk(struct jfr *j, const struct chunk *chunk)
{
	const struct jfr_type *event;
	int r;

	j->pools.begin = chunk->begin;
	j->pools.end = chunk->end;
	j->stack_count = 0;
	ids_clear(&j->stack_numbers);
	r = read_metadata(j, chunk);
	if (r < 0)
		return r;
	event = jfr_type_by_name(&j->types, j->event_name);
	if (!event)
		return 0;
	j->event_seen = true;
	if ((r = jfr_layout_find(&j->pools, event)) < 0 || (r = read_events(j, chunk)) < 0)
		return r;
	if (j->stack_count > 0)
		r = jfr_pools_read(&j->pools, chunk->checkpoint);
	for (size_t i = 0; i < j->stack_count && r == 0; i++)
		r = jfr_pools_add_stack(&j->pools, j->stacks[i].id, j->stacks[i].count);
	return r;
}

static void free_jfr(struct jfr **j)
{
	if (!*j)
		return;
	jfr_types_release(&(*j)->types);
	jfr_pools_release(&(*j)->pools);
	ids_release(&(*j)->stack_numbers);
	free((*j)->stacks);
	free(*j);
}

int import_jfr(const uint8_t *bytes, size_t size, struct import_sink *s)
{
	_cleanup_(free_jfr) struct jfr *j = calloc(1, sizeof(*j));
	const char *wanted = s->options->sample_type;
	struct chunk chunk = {.end = bytes};
	int r = 0;

	if (!j)
		return err_set(s->err, ENOMEM, "no memory for the recording");
	j->sink = j->pools.sink = s;
	j->file = j->pools.file = bytes;
	j->pools.types = &j->types;
	j->event_name = wanted ? wanted : DEFAULT_EVENT;
	while (r == 0 && chunk.end < bytes + size) {
		r = read_header(j, chunk.end, bytes + size, &chunk);
		if (r == 0)
			r = read_chunk(j, &chunk);
	}
	if (r == 0 && !j->event_seen)
		return err_set(s->err, wanted ? EINVAL : ENODATA,
			       "the recording knows no events of the type '%s'", j->event_name);
	return r;
}
