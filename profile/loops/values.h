/*
 * What the registers and the frame hold at each place of a loop's turn, as functions of what they
 * held when the turn began.
 *
 * Abstract interpretation of the loop's blocks, bounded. Values that a turn goes on from by a
 * constant, by something that the loop does not change, or by a load through itself, are progress:
 * they say how far the loop is. All others are a mixture of what went into them.
 */
#ifndef JXPERF_PROFILE_LOOPS_VALUES_H
#define JXPERF_PROFILE_LOOPS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/loops/native_code.h"

#define VALUE_BLOCKS_MAX 1500u /* of a loop */

/* A set of locations. */
struct location_set {
	uint64_t registers;
	uint64_t slots;
};

enum value_kind {
	VALUE_NONE,  /* not come to yet */
	VALUE_STEP,  /* what was in location, and step */
	VALUE_CHAIN, /* what location leads to, by loads, constants and what does not change */
	VALUE_LED,   /* one of several such, each by a load, that not one location leads to */
	VALUE_MIX,   /* anything made of what is in from */
};

enum value_flag {
	VALUE_VARIES = 1,  /* not told by from alone: loads, calls */
	VALUE_STEADY = 2,  /* ... but from an address that does not change */
	VALUE_FRESH = 4,   /* points to memory that this turn has allocated */
	VALUE_CALLED = 8,  /* came from the JVM's run time */
	VALUE_CARD = 16,   /* an address, shifted as for the card table */
	VALUE_CHOSEN = 32, /* by a conditional move */
	VALUE_LOADED = 64, /* from the heap, on its way */
	VALUE_STAYS = 128, /* a chain that may not have gone on */
	VALUE_LATER = 256, /* ... by how much, depends on the way */
};

struct value {
	struct location_set from;
	int32_t
	    step; /* of a chain: the last load's offset + 1, or 0 where it may be one of several */
	uint16_t flags;
	uint8_t location;
	uint8_t kind : 7;
	bool scaled : 1; /* by more than sums, since it was last loaded */
};

struct value_state {
	struct value at[NATIVE_LOCATIONS];
};

struct loop_values {
	const struct native_code *native;
	unsigned loop;
	uint16_t *blocks; /* of the loop, in reverse postorder: the header first */
	unsigned block_count;
	struct value_state *leaving; /* by index of blocks: at its end */
	struct location_set written; /* in the loop */
	struct value_state latch;    /* when the next turn begins */
};

/* Of the whole code for FLOW_NO_LOOP, whose one turn it is. Blocks to be looked at are taken from
 * *budget. 0; -E2BIG when the loop is too large, or the
 * budget too small, -ENOMEM; then v is empty. */
int loop_values_make(struct loop_values *v, const struct native_code *n, unsigned loop,
		     unsigned *budget);
void loop_values_release(struct loop_values *v);

/* What holds at the beginning of the i-th of the blocks. */
void loop_values_enter(const struct loop_values *v, unsigned i, struct value_state *state);

/* ... and behind an instruction. */
void loop_values_pass(const struct loop_values *v, const struct native_insn *insn,
		      struct value_state *state);

/* Index of a block in blocks, or UINT_MAX. */
unsigned loop_values_index(const struct loop_values *v, uint16_t block);

/* Is it the same in all turns? */
bool loop_value_invariant(const struct loop_values *v, const struct value *value);

/* ... or left as it was, though it goes through other registers or words of the frame? */
bool loop_value_same(const struct loop_values *v, const struct value *value);

/* Does it say how far the loop is? */
bool loop_value_progress(const struct loop_values *v, const struct value *value);

/* Does each turn leave in the location what was there? */
bool loop_location_stays(const struct loop_values *v, unsigned location);

/* Does each turn step the location by the same constant, or lead it on along a list? */
bool loop_location_counts(const struct loop_values *v, unsigned location);
bool loop_location_leads_on(const struct loop_values *v, unsigned location);

static inline bool locations_meet(struct location_set a, struct location_set b)
{
	return (a.registers & b.registers) || (a.slots & b.slots);
}

static inline bool locations_have(struct location_set a, unsigned location)
{
	return location < NATIVE_REGISTERS ? a.registers >> location & 1
					   : a.slots >> (location - NATIVE_REGISTERS) & 1;
}

static inline void locations_add(struct location_set *a, unsigned location)
{
	if (location < NATIVE_REGISTERS)
		a->registers |= UINT64_C(1) << location;
	else
		a->slots |= UINT64_C(1) << (location - NATIVE_REGISTERS);
}

static inline struct location_set locations_both(struct location_set a, struct location_set b)
{
	return (struct location_set){a.registers | b.registers, a.slots | b.slots};
}

#define LOCATIONS_REGISTERS ((UINT64_C(1) << NATIVE_REGISTERS) - 1)

/* What the instruction reads and writes, frame included. */
struct location_set native_reads(const struct native_insn *insn);
struct location_set native_writes(const struct native_insn *insn);

/* The location whose value a copy or a step leaves, with its immediate; UINT_MAX: it is neither, or
 * what it copies is in memory. */
unsigned native_source(const struct native_insn *insn);

#endif
