/*
 * The hot loops of a window (KIND_LOOPS): what CPU time they take, from where they are called, and
 * what was counted of their turns.
 *
 * A loop is one of the bytecodes: its method and the index of its header, whatever a compiler made
 * of it; its native copies are one row. Where the machine code could not be mapped, it is the
 * method that was compiled, with the header's offset. A tick is of the innermost loop that it came
 * in (own), and of those around it in the same code (within).
 *
 * Turns are counted in bursts (LoopBurst), each a cluster: of these only what a ratio of sums and
 * its variance need is kept (Cochran, "Sampling Techniques", section 6.5). A burst counts some of a
 * loop's places, drawn at random: what they counted is multiplied by the inverse of the part of
 * the places that they are (Horvitz and Thompson 1952).
 *
 * Instances whose counter was read (LoopReading) have their turns told one by one.
 *
 * What is done again is compared in traces (LoopTrace): two instances by what they go by, its loads
 * (copies of one that a compiler made are one) and scalars, and turns, of which the different ones
 * are estimated (profile/repeats/).
 *
 * A method that calls itself is a loop whose turns are its calls; own then are ticks in its code
 * and in no loop of it, within all in its code.
 *
 * Bounded by LIMIT_LOOPS, LIMIT_LOOP_CONTEXTS, LIMIT_LOOP_PLACES and LIMIT_LOOP_INPUTS; what is
 * beyond them is counted in refused.
 */
#ifndef JXPERF_PROFILE_LOOP_PROFILE_H
#define JXPERF_PROFILE_LOOP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "profile/loops/loop_kind.h"
#include "profile/cpu_profile.h"
#include "profile/repeats/repeat_rate.h"
#include "profile/repeats/turn_tuples.h"

/* Events (results, or entries) by turns, over bursts. */
struct loop_counts {
	uint64_t bursts; /* in which such events were counted, if there were any */
	double turns, events;
	double turns_squares, events_squares, products;
	double seen; /* turns, each times the part of the places that were counted in it */
};

/* Instances whose turns a counter has told. Between the least and the most that an instance may
 * have had is its middle, in turns, and half of the difference, in unsure. */
struct loop_lengths {
	uint64_t read;
	double turns, squares, unsure;
	uint64_t empty; /* that made no turn: nobody entered the loop */
	uint64_t left;  /* whose end was not seen: perhaps the longest */
};

struct loop_key {
	uint32_t method; /* of the window's tree */
	uint32_t header; /* bytecode index; not mapped: offset in the machine code */
	int32_t line;    /* of the header, or -1: overloads of a method have the same names */
	bool mapped;
	bool recursion; /* no loop, but the method, which calls itself */
	uint16_t zero;  /* a key has no padding */
};

/* A loop of the source; its copies in machine code (struct code_loop) know its position, and
 * reports (struct report_loop) point at it. */
struct loop {
	struct loop_key key;
	int32_t latch_bci;     /* -1: not known */
	struct cpu_sum own;    /* ticks in it and in no loop inside it, */
	struct cpu_sum within; /* and with these */
	/* The parts of within that are in code whose loop is of each type, has a doubt, waits. */
	double type_ns[LOOP_TYPES];
	double doubt_ns[LOOP_DOUBTS];
	double waits_ns;
	double effect_ns[LOOP_EFFECTS]; /* likewise, by what an instance leaves behind */
	uint32_t unroll;                /* of its copies, the most */
	uint64_t bursts, bursts_left;
	uint64_t bursts_least; /* in which there were at least as many turns as were counted */
	struct loop_counts results, entries;
	struct loop_lengths lengths;
	uint64_t pairs, pairs_cut;  /* of instances that were compared; only their first turns */
	struct repeat_sum together; /* of pairs, the part of their scalars that were the same */
	uint32_t first_input;       /* + 1: of inputs, the others by next; 0: none */
	struct turn_sums turns;
};

/* From where a loop is called. */
struct loop_context {
	uint32_t loop; /* position of its row */
	uint32_t node; /* of the caller, 0: its method is a thread's first */
	struct cpu_sum sum;
};

/* Where a loop has results. */
struct loop_place {
	uint32_t loop;
	uint32_t method; /* of the window's tree, or 0 */
	int32_t bci, line;
	enum loop_result result;
	uint64_t counted; /* results in bursts that counted it */
	uint64_t bursts;
};

/* Counts what its instances go by: of pairs that compared it, how much was there again. */
struct loop_compared {
	uint32_t loop;
	uint32_t method; /* of a load: of the window's tree, or 0 */
	int32_t bci, line;
	uint32_t at; /* a scalar's number; of a load whose bytecode is not known, its offset, or 0
		      * for all that are copies of one */
	bool scalar;
	uint8_t zero[3]; /* so far it is the key, which has no padding */
	struct repeat_sum same;
	uint32_t next; /* + 1: of the same loop; 0: none */
};

/* Is some of what instances go by another one each time? */
enum loop_sameness {
	LOOP_SAME,          /* of no input there was less than a half again, */
	LOOP_SAME_NOT_SURE, /* of one less, but it has few pairs, */
	LOOP_SAME_NOT,      /* clearly less */
};

/* All zero is an empty profile. */
struct loop_profile {
	TABLE_OF(struct loop, rows, row_count, row_table);
	TABLE_OF(struct loop_context, contexts, context_count, context_table);
	TABLE_OF(struct loop_place, places, place_count, place_table);
	TABLE_OF(struct loop_compared, inputs, input_count, input_table);
	struct cpu_sum compiled;  /* ticks in compiled code: all, */
	struct cpu_sum looked_at; /* in code that was looked at, */
	struct cpu_sum in_loops;  /* in a loop there, */
	struct cpu_sum mapped;    /* whose bytecodes are known */
	uint64_t refused;
};

/* The last is of sums over all ticks, which are one row. */
extern const struct table_layout loop_row_layout, loop_context_layout, loop_place_layout,
    loop_input_layout, loop_sums_layout;

void loop_profile_release(struct loop_profile *p);

/* Positions of what is new or known. 0; -ENOSPC beyond the limit, counted; -ENOMEM. */
int loop_profile_row(struct loop_profile *p, const struct loop_key *key, uint32_t *position);
int loop_profile_context(struct loop_profile *p, uint32_t loop, uint32_t node, uint32_t *position);
int loop_profile_place(struct loop_profile *p, const struct loop_place *like, uint32_t *position);
int loop_profile_input(struct loop_profile *p, const struct loop_compared *like,
		       uint32_t *position);

/* One burst: so many turns, and counted events at some of all places. */
void loop_counts_burst(struct loop_counts *c, double turns, double counted, unsigned counted_places,
		       unsigned all_places);

/* How much of what an instance computes the one before has computed, were there times as many
 * pairs. Loads that hardly any are of are left out. */
struct repeat_rate loop_profile_instances(const struct loop_profile *p, const struct loop *row,
					  double times);

/* Each input of those by itself. */
enum loop_sameness loop_profile_sameness(const struct loop_profile *p, const struct loop *row);

/* Links inputs that come from a file and are of one loop. */
void loop_profile_link(struct loop_profile *p);

#endif
