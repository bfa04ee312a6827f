/*
 * What one debug register of a thread is used for at the moment: plain data, of which every thread
 * has PERF_DEBUG_REGISTERS. attach/agent/handler/watchpoint.h says how it changes.
 */
#ifndef JXPERF_AGENT_HANDLER_DEBUG_REGISTER_H
#define JXPERF_AGENT_HANDLER_DEBUG_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/code/insn.h"
#include "attach/agent/record/record.h"
#include "attach/agent/path/plans.h"
#include "attach/agent/path/walk.h"
#include "attach/agent/place/place.h"
#include "common/perf/events.h"

/* Execution breakpoints spent on following control flow to one access. */
#define WATCHPOINT_MAX_HOPS 8u

enum watch_state { WATCH_FREE, WATCH_SEEKING, WATCH_PENDING, WATCH_ARMED };

struct watchpoint {
	uint8_t state; /* enum watch_state */
	uint8_t kind;  /* Kind */
	uint8_t region;
	uint8_t length; /* bytes watched, a power of two */
	uint8_t width;  /* bytes of the sampled access, of which length are watched */
	uint8_t hops;
	uint8_t ignored;
	bool value_taken;    /* value was read before the access ran */
	bool swaps;          /* the sampled store is a compare-and-swap, which may fail */
	bool foretold_first; /* pending, for an access that was not reached yet when it was set */
	bool looked_at;      /* it waits as long as patience lasts (attach/agent/reservoir) */
	bool rides;          /* seeking, where the breakpoint is another register's */
	uint8_t then;        /* Kind: the next one that the same sample is for, or KIND_NONE */
	uint32_t rivals;     /* samples of the same bytes since it was set, itself included */
	enum insn_element element; /* that the instruction moves, where the place does not tell */
	struct place place;        /* of the watched bytes */
	enum place_result placed;
	uint64_t address;
	/* Instruction pointers at which the sampled access itself traps: behind it; of a repeated
	 * string instruction also on it. */
	uint64_t after;
	uint64_t again;
	struct sample_maker maker; /* of the sampled access, as its place and instruction are */
	struct code_bytes code;
	uint8_t value[8];      /* V1: what the sampled access stored or loaded */
	uint8_t last_value[8]; /* what the location held after its latest access */
	uint64_t sought;       /* where it waits for execution to come to, seeking */
	uint64_t hop[WATCHPOINT_MAX_HOPS];
	uint8_t hop_skip[WATCHPOINT_MAX_HOPS]; /* skip when that hop was made */
	struct walk_scope scope;               /* what a search looks for */
	uint64_t weight; /* CPU time in ns that the sample stands for (clock sampler, else 0) */
	/* The access to sample, when it is waited for behind it, or foretold; else 0. */
	uint64_t first_ip;
	uint64_t first_address;   /* which it touches, if foretold */
	uint64_t foretold_second; /* the second access, of a pair that checks what was foretold;
				     else 0 */
};

/* What is counted beside the header at a time. */
#define BURST_OTHERS_MAX 2u

/* What a thread's registers that are kept for bursts count (attach/agent/handler/burst.h). */
struct burst {
	bool active;
	bool seeks;                       /* the header is not reached yet */
	uint8_t others;                   /* counted beside the header, */
	uint8_t places[BURST_OTHERS_MAX]; /* indices in the plan */
	uint32_t plan;
	uint64_t code;   /* number in the code map, */
	uint64_t start;  /* of what is there */
	uint64_t header; /* address */
	uint64_t others_at[BURST_OTHERS_MAX];
	uint64_t since_ns;
	uint64_t seen; /* what the header's event had counted at the last look */
	uint64_t before[PERF_DEBUG_REGISTERS]; /* what each event had counted at the beginning */
};

/* A trace of a thread, in the same registers, when there is no burst
 * (attach/agent/handler/trace.h). */
struct trace {
	bool active;
	bool turns;     /* of turns; else of instances */
	bool recursion; /* turns are calls: there is no frame that all are in */
	bool on;        /* the events of inputs are */
	bool framed;    /* stack_pointer is known */
	bool deeper;    /* another activation was entered since that of the trace was */
	/* Instances: 0 before the first one begins, then 1 and 2. Turns: 1 from the first one on.
	 */
	uint8_t begun;
	uint8_t most;      /* values of an instance */
	uint8_t registers; /* in use: the first one waits at entry, those of inputs follow; of turns
			    * the first one is an input's, too, once entry was reached */
	uint8_t input_count, scalar_count;
	uint32_t signals, signals_max;
	uint32_t epoch; /* of its values */
	uint64_t code;  /* number in the code map, */
	uint64_t start; /* of what is there */
	uint64_t header, entry;
	uint64_t since_ns;
	uint64_t first_cpu_ns; /* of the thread at the first value */
	uint64_t
	    entry_pointer; /* the stack pointer at entry, in the trace's activation of the code, */
	uint64_t stack_pointer;                           /* and in the loop */
	struct plan_input inputs[LIMIT_PLAN_TURN_INPUTS]; /* of instances one, the load */
	struct plan_scalar scalars[LIMIT_PLAN_SCALARS];
	struct event_trace told;
};

/* A reading, in the same registers as well (attach/agent/handler/reading.h). */
struct register_reading {
	bool active;
	bool begun;        /* value and stack_pointer are known, and the ends' events are on */
	uint8_t registers; /* in use: the first one waits at begin, those of ends follow */
	uint8_t end_count;
	uint16_t signals;
	uint32_t plan;
	uint32_t value; /* of the counter, where the instance began */
	uint64_t code;  /* number in the code map, */
	uint64_t start; /* of what is there */
	uint64_t since_ns;
	uint64_t stack_pointer;
	struct plan_counter_place begin, ends[LIMIT_PLAN_ENDS];
};

#endif
