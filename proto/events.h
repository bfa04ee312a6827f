/*
 * Describes what an agent tells of a window's events: plain records in a batch (Batch.events,
 * jxperf.proto), one behind the other, in the order in which the session thread took them.
 *
 * A record is a struct of fixed size, little-endian as x86-64 has it, and begins with its type and
 * its size. The agent writes it once, the engine reads it where it lies. Sizes are multiples of 8,
 * so that each record of a batch is aligned where the first one is; no bytes are between members,
 * so that whatever is sent was written.
 *
 * An agent is not trusted. event_next holds type and size against the table; everything else is the
 * reader's to check before it is used. Flags and enums are therefore bytes, which may hold
 * anything. What ids, times and "none" are is said in jxperf.proto. Records are only ever added,
 * and members put where spare bytes are; PROTOCOL_VERSION (limits.h) changes when an older peer
 * would misread.
 */
#ifndef JXPERF_PROTO_EVENTS_H
#define JXPERF_PROTO_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"

struct event_head {
	uint16_t type; /* enum event_type */
	uint16_t size; /* of the whole record, bytes */
};

/* A change of one debug register of one thread. */
struct event_transition {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t address;
	/* The rest of the numbers up to location, but watch_node, are of TRAPPED alone.
	 *
	 * CPU time that the pair stands for (clock sampler, else 0): the period of its tick, times
	 * the inverse of the probability that the sample had and kept a register until now, times
	 * the part of the watched bytes that both accesses share. */
	uint64_t cpu_ns;
	/* The compiled code that each access was made in, 0: none; and the instruction's offset
	 * from its beginning, or, where a stub that the code called made the access, that of the
	 * call's last byte. The context's innermost frames are those of a place nearby that the JVM
	 * knows. */
	uint64_t watch_code;
	uint64_t trap_code;
	uint32_t watch_offset;
	uint32_t trap_offset;
	uint32_t watch_node;
	uint32_t trap_node;
	uint32_t watch_instruction;
	uint32_t trap_instruction;
	/* Bytes that the pair stands for: those that both accesses share, times the watched
	 * access's width over the length watched, times the inverse of that probability. */
	uint32_t checked_bytes;
	uint32_t location; /* of the watched bytes; 0: not told */
	uint8_t type;      /* Transition.Type */
	uint8_t reg;    /* 0..3; 4, of TRAPPED alone: the pair had no register, and was not ARMED */
	uint8_t kind;   /* Kind */
	uint8_t region; /* Region */
	uint8_t length; /* bytes watched, 1..8 */
	uint8_t wasteful;    /* flag */
	uint8_t jvm_access;  /* flag: the second access was made by the virtual machine itself */
	uint8_t watch_calls; /* of the context's innermost calls, those of compiled code, whose
				method */
	uint8_t trap_calls;  /* is the last of them; 0: it was none */
	uint8_t spare[7];
};

/* A sampled allocation (KIND_OBJECTS, KIND_NUMA), whose object the agent keeps track of from now on
 * unless it is too small. Addresses are those
 * of one epoch: a collection, or a pause of a concurrent one, ends an epoch, and objects move only
 * between two. Even epochs are those in which application threads run. */
struct event_allocation {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t address; /* 0: not known in this epoch, the next position tells it */
	uint64_t size_bytes;
	double weight; /* inverse of the probability with which it was sampled and tracked, >= 1 */
	uint32_t object; /* from 1, never used again in this window; 0: not tracked, no address */
	uint32_t epoch;
	uint32_t class_id; /* ObjectClass */
	uint32_t node;     /* calling context of the allocation */
	uint32_t cpu;
	uint32_t spare;
};

/* Where a tracked object is in an epoch. Those that moved or died since the epoch that was settled
 * last come in one pass, which EVENT_SETTLED ends. */
struct event_position {
	struct event_head head;
	uint32_t epoch;
	uint64_t address; /* 0: it has died */
	uint32_t object;
	uint32_t spare;
};

/* The pass of this epoch is complete. */
struct event_settled {
	struct event_head head;
	uint32_t epoch;
};

/* A sampled memory access. */
struct event_access {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t address;
	uint64_t weight; /* what it stands for, in the unit of the window's metric: CPU time in ns
			  * (clock) or operations (events) */
	uint64_t object_bytes; /* size of the object that was accessed; 0: not known */
	uint64_t code;         /* as in event_transition */
	uint32_t offset;
	uint32_t epoch;
	uint32_t node;     /* calling context of the access */
	uint32_t location; /* 0: not told */
	uint16_t cpu;
	uint8_t length; /* bytes, 1..64 */
	uint8_t store;  /* flag */
	uint8_t region; /* Region */
	uint8_t calls;  /* as in event_transition */
	uint8_t spare[2];
};

/* A tick of the clock in a thread of the JVM's, wherever it came (KIND_CPU). */
struct event_tick {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t cpu_ns;   /* CPU time that it stands for */
	uint64_t code;     /* the compiled code that it came in, 0: none. Never the same for two */
	uint32_t offset;   /* of the instruction, from the code's beginning */
	uint32_t node;     /* calling context, or 0 */
	uint8_t state;     /* CpuSample.State */
	uint8_t truncated; /* flag: root frames are missing from the context */
	uint8_t called; /* flag: it came in a stub that the code called, and offset is that of the
			 * call's last byte */
	uint8_t spare[5];
};

/* Places of a plan that one burst counts beside the header. */
#define EVENT_BURST_PLACES 2u

/* This came of one burst (LoopPlan). */
struct event_burst {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint32_t plan;
	uint32_t headers;                    /* times that the header was come to */
	uint32_t counts[EVENT_BURST_PLACES]; /* and each of others places, */
	uint8_t places[EVENT_BURST_PLACES];  /* which are the plan's, by index */
	uint8_t others;
	uint8_t left; /* flag: the thread left the loop before all were counted */
	uint8_t spare[4];
};

/* One trace read this (LoopPlan): of each value a hash, whose key is drawn for the window and stays
 * in the target; equal values have equal hashes. Either of two instances of the loop, one behind
 * the other, where turn_values is 0; or of turns, one behind the other. */
struct event_trace {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint64_t elapsed_ns; /* of turns: from the first value to the last */
	uint32_t plan;
	uint8_t load;        /* of the plan's loads, by index: the one whose values these are, */
	uint8_t turn_values; /* of turns: how many; */
	uint8_t counts[2];   /* how many of either instance, at most LIMIT_TRACE_VALUES, */
	uint8_t cut[2];      /* flags: and there were more; */
	uint8_t scalar_counts[2];                /* and how many scalars; none where no load came */
	uint32_t scalars[2][LIMIT_PLAN_SCALARS]; /* in the plan's order */
	uint8_t places[LIMIT_TRACE_VALUES];      /* of turns: which inputs of the plan, in order */
	uint32_t values[2][LIMIT_TRACE_VALUES];  /* in order; those of turns are the first ones */
	uint32_t spare;
};

/* How far a loop's counter went in one instance (LoopPlan): a difference, never the values. */
struct event_reading {
	struct event_head head;
	uint32_t tid;
	uint64_t time_ns;
	uint32_t plan;
	int32_t stepped;
	uint8_t end;  /* of the plan's ends, by index, where the instance was left */
	uint8_t left; /* flag: it had begun, and its end was not seen */
	uint8_t spare[6];
};

/* Every type of record there is, and its struct. */
#define EVENTS(X)                       \
	X(TRANSITION, event_transition) \
	X(ALLOCATION, event_allocation) \
	X(POSITION, event_position)     \
	X(SETTLED, event_settled)       \
	X(ACCESS, event_access)         \
	X(TICK, event_tick)             \
	X(BURST, event_burst)           \
	X(TRACE, event_trace)           \
	X(READING, event_reading)

enum event_type {
	EVENT_NONE,
#define EVENT_VALUE(name, record) EVENT_##name,
	EVENTS(EVENT_VALUE)
#undef EVENT_VALUE
	    EVENT_TYPES,
};

#define EVENT_SIZE(name, record) sizeof(struct record),
/* In the order of the types, none first. */
static const uint16_t event_sizes[EVENT_TYPES] = {0, EVENTS(EVENT_SIZE)};
#undef EVENT_SIZE

#define EVENT_ALIGNED(name, record) \
	_Static_assert(sizeof(struct record) % 8 == 0, "the record behind it is aligned");
EVENTS(EVENT_ALIGNED)
#undef EVENT_ALIGNED

/* The beginning of a record of a type. */
static inline struct event_head event_head_of(enum event_type type)
{
	return (struct event_head){.type = (uint16_t)type, .size = event_sizes[type]};
}

/* The record that begins at *at, which moves behind it; bytes are aligned to 8. NULL at the end,
 * and where no whole record of the table begins: *at is below size then. */
static inline const struct event_head *event_next(const uint8_t *bytes, size_t size, size_t *at)
{
	const struct event_head *head;
	size_t left = size - *at;

	if (left < sizeof(*head))
		return NULL;
	head = (const void *)(bytes + *at);
	if (head->type == EVENT_NONE || head->type >= EVENT_TYPES ||
	    head->size != event_sizes[head->type] || left < head->size)
		return NULL;
	*at += head->size;
	return head;
}

#endif
