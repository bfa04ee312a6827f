/*
 * Puts what an agent says of objects into the order in which it happened, across threads.
 *
 * Allocations and accesses come from rings of many threads, positions from the session thread, so
 * they arrive out of order by up to a batch or two. Addresses mean something only together with
 * their epoch (docs/agent.md, "Objects"). The order is: the pass that settles epoch e, then the
 * allocations and accesses of e by time. An event leaves when its epoch is settled and nothing
 * earlier can come any more (object_order_settled_until); a pass leaves when all events of earlier
 * epochs have left. Events of an epoch that was overtaken before it could be settled leave as
 * ORDER_UNSETTLED. As long as no object is tracked there is nothing whose position could have
 * changed, so every epoch counts as settled.
 *
 * Allocations without an address only announce an object; they leave before the pass of their own
 * epoch, which may tell where it is.
 *
 * Bounded: at most ORDER_EVENTS_MAX events, ORDER_PASSES_MAX passes that wait and limit positions
 * in each wait; beyond that, the caller takes events out early (object_order_evict) and passes stop
 * waiting. Nothing an agent says is asserted on: times and epochs may be absurd.
 */
#ifndef JXPERF_PROFILE_INTAKE_OBJECT_ORDER_H
#define JXPERF_PROFILE_INTAKE_OBJECT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/events.h"

/* A quarter of a second of a JVM that sends a million a second; 10 MiB. */
#define ORDER_EVENTS_MAX (1u << 17)
#define ORDER_PASSES_MAX 8

enum object_event_type {
	OBJECT_ALLOCATION,
	OBJECT_ACCESS,
};

/* One event, checked, with the agent's ids translated to the window's. */
struct object_event {
	uint64_t time_ns;
	uint64_t address; /* 0: not known (allocations only) */
	uint64_t code;    /* access: the compiled code that it was made in, 0: none, */
	uint32_t offset;  /* and of its instruction */
	uint32_t calls;   /* as in struct attribution_query */
	uint32_t epoch;
	uint32_t node; /* calling context */
	uint32_t tid;
	uint32_t cpu;
	uint8_t type; /* enum object_event_type */
	uint8_t region;
	uint8_t length_bytes; /* of the access */
	bool store;
	union {
		uint32_t object;   /* allocation: the agent's number */
		uint32_t location; /* access: of the profile, 0: not known */
	};
	uint32_t
	    class_name; /* a string of the profile; of an access only as it tells itself, or 0 */
	uint64_t size_bytes; /* of the object; 0: not known (accesses only) */
	union {
		double object_weight;   /* allocation */
		uint64_t access_weight; /* access: in the unit of the metric */
	};
};

struct object_move {
	uint64_t address;
	uint32_t object;
};

/* What one pass over all tracked objects found. Of several moves of an object the last one counts.
 */
struct object_pass {
	uint32_t epoch;
	uint64_t ready_ns; /* everything of earlier epochs happened before */
	struct object_move *moves;
	size_t move_count;
	size_t move_capacity;
	uint32_t *dead;
	size_t dead_count;
	size_t dead_capacity;
};

struct order_entry {
	uint64_t time_ns; /* 0: before the pass of its epoch */
	uint32_t epoch;
	uint32_t event;
};

/* Private but for reading. object_order_init; object_order_release. */
struct object_order {
	struct object_event *events; /* a pool; the free ones are linked through `node` */
	size_t event_count;          /* ever used */
	size_t event_capacity;
	uint32_t free; /* position + 1 */
	struct order_entry *heap;
	size_t heap_count;
	size_t heap_capacity;
	struct object_pass passes[ORDER_PASSES_MAX + 1]; /* oldest first; the last one is partial */
	size_t pass_count;                               /* complete ones */
	bool taken;                                      /* passes[0] has been handed out */
	size_t limit;                                    /* of positions in a pass */
	uint32_t epoch;                                  /* the one settled last */
	uint64_t settled_ns;
};

enum order_item {
	ORDER_NOTHING,   /* until more arrives */
	ORDER_SETTLED,   /* an event, in order */
	ORDER_UNSETTLED, /* an event whose addresses mean nothing */
	ORDER_PASS,
};

/* limit: positions in one pass. Allocates nothing. */
void object_order_init(struct object_order *o, size_t limit);
void object_order_release(struct object_order *o);

/* 0; -ENOSPC when ORDER_EVENTS_MAX wait: evict one; -ENOMEM. */
int object_order_add(struct object_order *o, const struct object_event *event);

/* Takes one position of a pass. ready_ns: a time after its epoch began. *taken is false where it
 * was late or beyond the limit. Those of a pass that was overtaken belong to the next one: what
 * moved then and is not mentioned again has not moved since. 0 or -ENOMEM. */
int object_order_position(struct object_order *o, const struct event_position *p, uint64_t ready_ns,
			  bool *taken);

/* The pass of this epoch is complete. False where that comes late, or as many as may wait do. */
bool object_order_settle(struct object_order *o, uint32_t epoch, uint64_t ready_ns);

/* No event of an earlier time will be added. A time before an earlier call's changes nothing. */
void object_order_settled_until(struct object_order *o, uint64_t settled_ns);

/* The next item, in *event or, borrowed until the next call, in *pass. tracking: is any object
 * tracked? Call until ORDER_NOTHING. */
enum order_item object_order_next(struct object_order *o, bool tracking, struct object_event *event,
				  const struct object_pass **pass);

/* Takes out the earliest event, which nobody can place any more. False when there is none. */
bool object_order_evict(struct object_order *o, struct object_event *event);

size_t object_order_memory_bytes(const struct object_order *o);

#endif
