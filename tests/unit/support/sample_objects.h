/*
 * The object part of a batch, for tests: two classes, and allocations, accesses and positions as
 * they are added.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_OBJECTS_H
#define JXPERF_TESTS_UNIT_SUPPORT_SAMPLE_OBJECTS_H

#include <string.h>

#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/sample_events.h"

#define SAMPLE_OBJECTS 64

struct sample_objects {
	Jxp__Batch *batch;
	Jxp__ObjectClass classes[2];
	Jxp__ObjectClass *class_pointers[2];
	struct sample_events events;
	Jxp__Location locations[SAMPLE_OBJECTS];
	Jxp__Location *location_pointers[SAMPLE_OBJECTS];
};

/* The batch then points into *s: class 1 is float[], class 2 java.lang.Object. */
static inline void sample_objects_init(struct sample_objects *s, Jxp__Batch *batch)
{
	static const char *const names[] = {"float[]", "java.lang.Object"};

	*s = (struct sample_objects){.batch = batch};
	for (uint32_t i = 0; i < 2; i++) {
		jxp__object_class__init(&s->classes[i]);
		s->classes[i].id = i + 1;
		s->classes[i].name = (char *)names[i];
		s->class_pointers[i] = &s->classes[i];
	}
	batch->classes = s->class_pointers;
	batch->n_classes = 2;
}

/* One more location, behind those of the batch: what lies in an object of the class. */
static inline uint32_t sample_objects_location(struct sample_objects *s, Jxp__Location__Kind kind,
					       const char *class_name, const char *field,
					       const char *type)
{
	size_t i = s->batch->n_locations;
	Jxp__Location *l = &s->locations[i];

	jxp__location__init(l);
	l->id = (uint32_t)i + 1;
	l->kind = kind;
	l->class_name = (char *)class_name;
	l->field = (char *)field;
	l->declared_in = (char *)(field[0] ? class_name : "");
	l->type = (char *)type;
	if (s->batch->locations != s->location_pointers && i > 0)
		memcpy(s->location_pointers, s->batch->locations,
		       i * sizeof(*s->location_pointers));
	s->location_pointers[i] = l;
	s->batch->locations = s->location_pointers;
	s->batch->n_locations++;
	return l->id;
}

/* The next batch of the same session: nothing is in it yet. */
static inline void sample_objects_next(struct sample_objects *s)
{
	s->batch->n_classes = s->batch->n_locations = 0;
	s->batch->events.len = 0;
}

/* An object of class 1 and 100 bytes, for itself alone, allocated in context 2. */
static inline struct event_allocation *sample_allocation(struct sample_objects *s, uint32_t object,
							 uint32_t epoch, uint64_t time_ns,
							 uint64_t address)
{
	struct event_allocation *a = sample_event(&s->events, s->batch, EVENT_ALLOCATION);

	a->object = object;
	a->tid = 100;
	a->epoch = epoch;
	a->time_ns = time_ns;
	a->address = address;
	a->size_bytes = 100;
	a->weight = 1;
	a->class_id = 1;
	a->node = 2;
	return a;
}

/* A load of 8 bytes from the heap in context 3, of weight 10. */
static inline struct event_access *sample_access(struct sample_objects *s, uint32_t epoch,
						 uint64_t time_ns, uint64_t address)
{
	struct event_access *a = sample_event(&s->events, s->batch, EVENT_ACCESS);

	a->tid = 100;
	a->epoch = epoch;
	a->time_ns = time_ns;
	a->address = address;
	a->length = 8;
	a->region = JXP__REGION__REGION_HEAP;
	a->node = 3;
	a->weight = 10;
	return a;
}

/* A whole pass that settles an epoch; one object moved and one died, 0 for none. */
static inline void sample_pass(struct sample_objects *s, uint32_t epoch, uint32_t moved,
			       uint64_t address, uint32_t dead)
{
	struct event_settled *settled;

	for (unsigned died = 0; died < 2; died++) {
		struct event_position *p;

		if (!(died ? dead : moved))
			continue;
		p = sample_event(&s->events, s->batch, EVENT_POSITION);
		p->epoch = epoch;
		p->object = died ? dead : moved;
		p->address = died ? 0 : address;
	}
	settled = sample_event(&s->events, s->batch, EVENT_SETTLED);
	settled->epoch = epoch;
}

#endif
