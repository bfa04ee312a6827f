/*
 * The loops of a method's bytecodes, as compilers of languages lay them out: whichever of its ends
 * the condition is at.
 *
 * A loop is called by the lowest target of the jumps back in it. Exception handlers are not known,
 * since their table is not: code that nothing else leads to is in the loops it lies among.
 *
 * The bytecodes are hostile input: bounded in time and memory. Pure functions, any thread.
 */
#ifndef JXPERF_PROFILE_LOOPS_BYTECODES_BYTECODE_H
#define JXPERF_PROFILE_LOOPS_BYTECODES_BYTECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTECODE_BYTES_MAX 65535u
#define BYTECODE_LOOPS_MAX 256u
#define BYTECODE_DEPTH_MAX 24u
#define BYTECODE_STEPS_MAX 4u

#define BYTECODE_NO_LOOP UINT32_MAX

#define BYTECODE_NO_VARIABLE    (-1)
#define BYTECODE_MANY_VARIABLES (-2)

struct bytecode_loop {
	uint32_t parent; /* the loop around it, before this one, or BYTECODE_NO_LOOP */
	int32_t header_bci;
	int32_t latch_bci; /* of the last jump back to it */
	bool stores;       /* or calls, which may */
	bool fills;        /* stores to an array in each turn */
	bool up, down;     /* a turn may add a constant to a variable, or subtract one */
	bool calls;
	int32_t variable; /* the only one that turns may change, or one of the two below */
	/* What the variables that each turn adds a constant to are stepped by, as sizes. */
	int32_t steps[BYTECODE_STEPS_MAX];
	unsigned step_count; /* different ones, BYTECODE_STEPS_MAX at most */
};

struct bytecode {
	struct bytecode_loop *loops; /* outer ones before those in them */
	uint32_t *loop_at;           /* by bci: the innermost, or BYTECODE_NO_LOOP */
	bool *leaves;                /* by bci: the instruction may lead out of that */
	uint8_t *begins;             /* by bci: an instruction does */
	size_t loop_count, size;
};

/* 0; -EBADMSG where it is no code, -E2BIG for too many loops, -ENOMEM; then b is empty. */
int bytecode_read(struct bytecode *b, const uint8_t *code, size_t size);
void bytecode_release(struct bytecode *b);

/* The innermost loop at a bci, or BYTECODE_NO_LOOP. */
uint32_t bytecode_loop_at(const struct bytecode *b, int32_t bci);

/* Does the branch at bci lead out of the innermost loop there, on one of its ways: at once, or as
 * soon as the loop's condition is come to, since a flag was set? code: that b was read from. */
bool bytecode_branch_leaves(const struct bytecode *b, const uint8_t *code, int32_t bci);

/* May what is invoked at bci be what has the innermost loop there left, and not by the only way out
 * that the loop has? It may where the next branch leads out, and what it tests is what was invoked,
 * as far as a few instructions tell. */
bool bytecode_invoked_leaves(const struct bytecode *b, const uint8_t *code, int32_t bci);

/* Does what the bytecode at bci invokes? */
typedef bool bytecode_invoked_reads(void *context, uint32_t bci);

/* Does what a method gives depend on more than what it is handed? It does where its bytecodes load
 * what may be another value the next time, a field or an element, or lock, or invoke what does.
 * Constants, classes and the lengths of arrays stay. True also for what is no code. */
bool bytecode_reads(const uint8_t *code, size_t size, bytecode_invoked_reads *invoked,
		    void *context);

#endif
