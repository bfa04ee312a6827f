/* What the turns of a loop come to, and what they go by. */
#ifndef JXPERF_PROFILE_LOOPS_LOOP_KIND_H
#define JXPERF_PROFILE_LOOPS_LOOP_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/loop_plan.h"

/* By which turns have results (LDoctor, section 2.1.1); the better finding is the larger. */
enum loop_type {
	LOOP_TYPE_UNKNOWN,
	LOOP_EVERY, /* 1*: all turns */
	LOOP_SOME,  /* [0|1]*: some, by a branch */
	LOOP_LAST,  /* 0*1?: the last one at most: a search */
	LOOP_NEVER, /* 0*: none */
	LOOP_TYPES,
};

/* What makes a result. */
enum loop_result {
	LOOP_RESULT_STORE, /* to the heap */
	LOOP_RESULT_CALL,  /* of what may have one */
	LOOP_RESULT_VALUE, /* of a register or the frame, used behind the loop */
	LOOP_RESULT_EXIT,  /* the loop is left early */
	LOOP_RESULTS,
};

/* Why a type is not certain, or a loop cannot be counted; bits. */
enum loop_doubt {
	LOOP_DOUBT_CONDITIONAL_MOVE =
	    1 << 0,                 /* a result by cmov: whether it moved cannot be counted */
	LOOP_DOUBT_UNROLL = 1 << 1, /* turns for each time the header is come to: not known */
	LOOP_DOUBT_SITES = 1 << 2,  /* there were too many places with results */
	LOOP_DOUBT_CODE = 1 << 3,   /* something in it was not understood */
	LOOP_DOUBT_ENTRY = 1 << 4,  /* where it is entered cannot be counted */
	LOOP_DOUBT_FOLDED = 1 << 5, /* what it adds up may have been made of its counter */
	LOOP_DOUBT_READS = 1 << 6,  /* it, or what it calls, goes by more than is compared */
	LOOP_DOUBTS_END = 1 << 7,
};

#define LOOP_DOUBTS __builtin_ctz(LOOP_DOUBTS_END) /* their number */

/* What a turn goes by: a value that is loaded from the heap, or is handed to a call that is not
 * inlined. Neither what only leads to other values (the address of an object whose fields are
 * loaded) nor what says how far the loop is. */
struct loop_input {
	struct plan_input use;
	uint32_t method; /* index of the image's methods, + 1; 0: not known */
	int32_t bci;
};

/* Where the loop is left: what holds its counter there, and how many turns are made that are not in
 * it. */
struct loop_reading_end {
	struct plan_counter_place place;
	int32_t low, high;
};

/* How many turns an instance has is told by its counter (profile/loops/loop_reading.h): what that
 * is when an instruction in front of the loop is come to, and where the loop is left. */
struct loop_reading {
	struct plan_counter_place begin;
	int32_t step; /* of the counter, for one turn; not 0 */
	unsigned end_count;
	struct loop_reading_end ends[LIMIT_PLAN_ENDS];
};

/* What an instance leaves behind. */
enum loop_effect {
	LOOP_EFFECT_CONSTANT, /* it updates as many locations, however many turns it makes */
	LOOP_EFFECT_GROWS,    /* ... more, the more turns it makes, or it is not known */
	LOOP_EFFECT_IO,       /* nothing but input and output, by the same calls in each turn */
	LOOP_EFFECTS,
};

/* "0*", "0*1?", "[0|1]*", "1*"; "" for LOOP_TYPE_UNKNOWN. */
const char *loop_type_name(enum loop_type type);

#endif
