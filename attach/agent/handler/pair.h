/*
 * A pair of accesses: what is known of the first, and what is made of both.
 *
 * The same whether the second access trapped (watchpoint.h) or was foretold (foretell.h). Handler
 * only.
 */
#ifndef JXPERF_AGENT_HANDLER_PAIR_H
#define JXPERF_AGENT_HANDLER_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/extent.h"
#include "attach/agent/code/trap.h"
#include "attach/agent/handler/debug_register.h"
#include "attach/agent/handler/sample.h"
#include "attach/agent/record/record.h"
#include "proto/kinds.h"

struct thread;

/* A watchpoint's kind; only kinds of pairs are armed: the window refuses others when it begins. */
const struct pair_kind *pair_kind_of(const struct watchpoint *w);

/* Turns to the next kind that the sample is for: the pair of the one before is complete. False when
 * there is none. */
bool pair_turn(struct watchpoint *w);

/* Is an access like this of a type that the pair ends with? */
bool pair_ends(const struct watchpoint *w, bool reads, bool writes);

/* A record of a register's transition; a pair that had no register has PERF_DEBUG_REGISTERS. */
void pair_fill_record(struct record *r, const struct watchpoint *w, unsigned reg,
		      enum record_type type);

/* Chooses which bytes of a sampled access the pair is of. False, counted, when it has none. */
bool pair_choose_bytes(struct thread *t, struct watchpoint *w, uint8_t kind, const struct insn *in,
		       const struct extent *extent);

/* Fills in what the sampled access tells of itself: context, place, type. regs as they were at it,
 * or behind it if it has run; uc gives the calling context. False, counted, when there is none. */
bool pair_describe(struct thread *t, struct watchpoint *w, const struct sample *s,
		   const gregset_t regs, const ucontext_t *uc);

/* The second access. */
struct pair_end {
	const struct trap_access *access;
	const uint8_t *now;        /* the watched bytes after it: 8, of which w->length count */
	const greg_t *regs;        /* behind it */
	unsigned reg;              /* the register that watched, or PERF_DEBUG_REGISTERS */
	double kept;               /* inverse of the probability that the sample got and kept it */
	struct sample_maker maker; /* of pair_describe_end */
	bool jvm_access;           /* no Java frame made it: its context is 0 */
};

/* Fills in what the second access tells of itself, and of the place where the first did not. False
 * when it has no calling context, which is counted. */
bool pair_describe_end(struct thread *t, struct watchpoint *w, struct pair_end *end,
		       const ucontext_t *uc);

/* Records the complete pair of w's kind. */
void pair_complete(struct thread *t, const struct watchpoint *w, const struct pair_end *end);

#endif
