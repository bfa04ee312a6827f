/* Events as an agent would send them, for tests: each is added behind those that a batch has. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_EVENTS_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_EVENTS_H

#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "proto/events.h"
#include "proto/jxperf.pb-c.h"

/* What the events of one batch are in; it outlives the batch. */
struct sample_events {
	alignas(8) uint8_t bytes[1u << 17];
};

/* A zeroed record of the type but for its head, which stays where it is: behind the batch's last
 * one, whoever has added that. */
static inline void *sample_event(struct sample_events *s, Jxp__Batch *batch, enum event_type type)
{
	struct event_head *event;

	if (!batch->events.data)
		batch->events.data = s->bytes;
	event = (void *)(batch->events.data + batch->events.len);
	assert(batch->events.len + event_sizes[type] <= sizeof(s->bytes));
	memset(event, 0, event_sizes[type]);
	*event = event_head_of(type);
	batch->events.len += event_sizes[type];
	return event;
}

/* How many records of the type a batch has. */
static inline size_t sample_events_count(const Jxp__Batch *batch, enum event_type type)
{
	const struct event_head *event;
	size_t at = 0, count = 0;

	while ((event = event_next(batch->events.data, batch->events.len, &at)))
		count += event->type == type;
	return count;
}

/* The record of the type that comes so many of them after the first, or NULL. */
static inline const void *sample_events_get(const Jxp__Batch *batch, enum event_type type,
					    size_t index)
{
	const struct event_head *event;
	size_t at = 0;

	while ((event = event_next(batch->events.data, batch->events.len, &at)))
		if (event->type == type && index-- == 0)
			return event;
	return NULL;
}

#endif
