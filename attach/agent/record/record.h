/*
 * Holds what a signal handler tells the drain thread: one transition of one debug register, one
 * memory access, one tick, one burst, one reading, or a part of one trace. Fixed size, so that a
 * ring of them never fragments; the JVM's and the code's state are captured by value, because both
 * may change before the record is read.
 */
#ifndef JXPERF_AGENT_RECORD_RECORD_H
#define JXPERF_AGENT_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/insn.h"
#include "attach/agent/place/place.h"
#include "proto/events.h"

enum record_type { /* values of Transition.Type */
		   RECORD_ARMED = 1,
		   RECORD_REPLACED = 2,
		   RECORD_TRAPPED = 3,
		   RECORD_EXPIRED_GC = 4,
		   RECORD_EXPIRED_WINDOW = 5,
		   RECORD_ABANDONED = 6,
		   RECORD_ACCESS = 100, /* an access, no transition */
		   RECORD_CPU = 101,    /* this and the next three are whole but for the tid */
		   RECORD_BURST = 102,
		   RECORD_TRACE = 103, /* a part of an event_trace */
		   RECORD_READING = 104,
};

/* An instruction's bytes; the drain thread formats and deduplicates them. */
struct code_bytes {
	uint8_t length;
	uint8_t bytes[INSN_MAX_BYTES];
};

/* A trace goes through the ring in parts, one behind the other, each with so many of its bytes. */
#define RECORD_TRACE_BYTES 96u
#define RECORD_TRACE_PARTS \
	((sizeof(struct event_trace) + RECORD_TRACE_BYTES - 1) / RECORD_TRACE_BYTES)

/* Who does something, and where. */
struct sample_maker {
	uint32_t context;
	uint32_t at;   /* codemap_place */
	uint8_t calls; /* of its compiled code, at most UINT8_MAX: the context's innermost ones */
};

struct record {
	uint64_t time_ns;
	uint8_t type;
	uint8_t length;         /* bytes watched, or accessed */
	uint8_t region;         /* Region */
	uint8_t part;           /* of RECORD_TRACE */
	uint32_t watch_context; /* context_table ids */
	union {
		uint8_t bytes[RECORD_TRACE_BYTES]; /* RECORD_TRACE */
		struct event_tick tick;            /* RECORD_CPU */
		struct event_burst burst;          /* RECORD_BURST */
		struct event_reading reading;      /* RECORD_READING */
		struct {
			uint64_t address;
			struct code_bytes watch_code;
			struct place place; /* of what is watched, or was accessed */
			union {
				struct {                     /* transitions */
					uint8_t kind;        /* Kind */
					uint8_t watch_calls; /* struct sample_maker */
					uint8_t trap_calls;
					uint32_t trap_context;
					/* That the pair stands for: 1 to LIMIT_PAIR_BYTES. */
					uint32_t checked_bytes;
					struct code_bytes trap_code;
					/* Where they lie: codemap_place. */
					uint32_t watch_at;
					/* That the pair stands for; 0: not known. */
					uint64_t cpu_ns;
					uint8_t reg;
					/* Is the pair wasteful if what lies there are values of
					 * this type? Bit enum insn_element; the place decides, and
					 * is named later. */
					uint8_t wasteful_as;
					uint8_t element; /* what the instructions say of the type */
					/* The second access was made outside Java code. */
					bool jvm_access;
					uint32_t trap_at;
				};
				struct { /* RECORD_ACCESS */
					bool store;
					uint8_t access_calls; /* struct sample_maker */
					uint16_t cpu;
					uint32_t access_at;
					uint32_t epoch;
					uint64_t weight;
				};
			};
		};
	};
};

#endif
