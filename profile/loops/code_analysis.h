/*
 * The loops of a compiled method: which loop of the source each is, and what each turn of it comes
 * to (LDoctor, section 3.1: its resultless checker, on machine code).
 *
 * A natural loop of the machine code (common/code/flow_graph.h) is mapped to one of the bytecodes
 * by the debug information in it; the copies that a compiler makes of a loop, and an on-stack
 * replacement's, have the same identity: the method and the bytecode index of the header.
 *
 * A turn has a result when it changes what can be seen after the loop: a store to the heap, a call
 * that may, a value that is used behind the loop. What only says how far the loop is (a counter, a
 * pointer along a list) is none.
 *
 * The code is hostile input. Bounded in time and memory, whatever it is; pure functions, any
 * thread.
 */
#ifndef JXPERF_PROFILE_LOOPS_CODE_ANALYSIS_H
#define JXPERF_PROFILE_LOOPS_CODE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/loops/code_image.h"
#include "profile/loops/loop_kind.h"

/* An instruction that makes a result when it runs, in each copy of the loop's body. */
struct loop_site {
	uint32_t offset;
	enum loop_result result;
	uint32_t method; /* index of the image's methods, + 1; 0: not known */
	int32_t bci;
};

/* Code, [start, end), that is in the loop and in none inside it, or works for it alone: a first
 * turn that was peeled off, and what makes ready for it. */
struct loop_part {
	uint32_t start, end;
	uint32_t loop; /* index */
};

#define LOOP_NO_PARENT UINT32_MAX
#define LOOP_NO_ROW    UINT32_MAX

struct code_loop {
	uint32_t header; /* offset of its first instruction */
	uint32_t parent; /* index of the loop around it, or LOOP_NO_PARENT; behind this one */
	bool mapped;
	uint32_t method;               /* index of the image's methods: whose loop it is */
	int32_t header_bci, latch_bci; /* of the loop of its bytecodes */
	enum loop_type type;
	unsigned doubts;
	uint32_t unroll; /* turns of the bytecodes' loop for each time the header is come to */
	bool waits;      /* it spins until another thread does something */
	uint32_t first_site, site_count;
	uint32_t first_entry, entry_count; /* of entries: instructions that run once for each time
					    * the loop is entered */
	/* For cross-loop redundancy; no loads where it is not looked at. */
	uint32_t first_load, load_count;
	uint32_t first_scalar, scalar_count; /* where they are at all loads */
	/* For cross-iteration redundancy; none where what counts the turns is an input. */
	uint32_t first_turn_input, turn_input_count;
	uint32_t reading; /* of readings, + 1; 0: its counter does not tell its turns */
	enum loop_effect effect;
	bool recursion; /* no loop, but the method, which calls itself: header is its entry. Parent
			 * of none, and in no part */
	/* What ticks say of it (profile/intake/loop_session.h): */
	uint32_t row;     /* of the window's profile; LOOP_NO_ROW: none yet */
	uint64_t samples; /* ticks in it, and in none inside it, */
	uint64_t within;  /* and with those */
	bool calls;       /* much CPU time is in what it calls */
	bool considered;  /* it was hot: its places are known, and there is a plan where it needs
			   * one */
};

struct code_analysis {
	struct code_loop *loops; /* inner ones before those around them */
	struct loop_part *parts; /* ascending, with none where there is no loop */
	struct loop_site *sites;
	uint32_t *entries;
	struct loop_input *inputs;   /* loads and turn inputs */
	struct plan_scalar *scalars; /* what is alike in all turns of an instance, and is compared
				      * or computed with; not how far the loop goes */
	struct loop_reading *readings;
	size_t loop_count, part_count, site_count, entry_count, input_count, scalar_count,
	    reading_count;
};

/* The image may go afterwards. 0; -E2BIG where it is too large or too tangled to be told, -ENOMEM;
 * then a is empty. */
int code_analysis_make(struct code_analysis *a, const struct code_image *image);
void code_analysis_release(struct code_analysis *a);

/* The innermost loop that an offset lies in: an index, or LOOP_NO_PARENT. */
uint32_t code_analysis_loop_at(const struct code_analysis *a, uint32_t offset);

/* Heap bytes held. */
size_t code_analysis_memory_bytes(const struct code_analysis *a);

#endif
