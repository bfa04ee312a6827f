/*
 * What a signal handler tells the drain thread: one transition of one debug register, one memory
 * access, one tick, one burst, one reading, or a part of one trace. Fixed size, so that a ring of
 * them never fragments; the JVM's and the code's state are captured by value, because both may
 * change before the record is read.
 */
#ifndef JXPERF_AGENT_RECORD_RECORD_H
#define JXPERF_AGENT_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/insn.h"
#include "attach/agent/place/place.h"
#include "proto/limits.h"

enum record_type { /* values of Transition.Type */
		   RECORD_ARMED = 1,
		   RECORD_REPLACED = 2,
		   RECORD_TRAPPED = 3,
		   RECORD_EXPIRED_GC = 4,
		   RECORD_EXPIRED_WINDOW = 5,
		   RECORD_ABANDONED = 6,
		   RECORD_ACCESS = 100,  /* a MemoryAccess, no transition */
		   RECORD_CPU = 101,     /* a CpuSample */
		   RECORD_BURST = 102,   /* a LoopBurst */
		   RECORD_TRACE = 103,   /* a part of a LoopTrace */
		   RECORD_READING = 104, /* a LoopReading */
};

/* An instruction's bytes; the drain thread formats and deduplicates them. */
struct code_bytes {
	uint8_t length;
	uint8_t bytes[INSN_MAX_BYTES];
};

/* What a trace has read: LoopTrace (jxperf.proto). */
struct trace_told {
	uint32_t plan;
	uint8_t load;
	uint8_t turn_values;      /* 0: of instances */
	uint8_t counts[2];        /* of values, in the first instance and in the second */
	uint8_t scalar_counts[2]; /* in either */
	bool cut[2];
	uint64_t elapsed_ns;
	uint32_t scalars[2][LIMIT_PLAN_SCALARS];
	uint8_t places[LIMIT_TRACE_VALUES];     /* of turns */
	uint32_t values[2][LIMIT_TRACE_VALUES]; /* of either instance; of turns the first ones */
};

/* A trace goes through the ring in parts, one behind the other, each with so many of its bytes. */
#define RECORD_TRACE_BYTES 96u
#define RECORD_TRACE_PARTS \
	((sizeof(struct trace_told) + RECORD_TRACE_BYTES - 1) / RECORD_TRACE_BYTES)

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
				struct {               /* RECORD_CPU */
					uint8_t state; /* CpuSample.State */
					bool truncated;
					bool called;          /* as CpuSample.called */
					uint32_t code_offset; /* in compiled code, */
					uint64_t code; /* whose number this is in the code map; 0:
							* none */
					uint64_t tick_ns; /* of CPU time that it stands for */
				};
				struct {                /* RECORD_BURST */
					uint8_t others; /* counted beside the header */
					bool left;
					uint8_t places[2]; /* by index in the plan */
					uint32_t plan;
					uint32_t headers;
					uint32_t counts[2];
				};
				struct { /* RECORD_READING */
					uint8_t end;
					bool unended;
					uint32_t read_plan;
					int32_t stepped;
				};
			};
		};
	};
};

#endif
