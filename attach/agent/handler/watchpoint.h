/*
 * The life of one debug register: free → (seeking) → pending → armed → free (JXPerf section 5.1).
 *
 * - Seeking: an execution breakpoint on the way to the access to sample, or another register's that
 *   is at the same place; run by the clock sampler.
 * - Pending: the data watchpoint is set, the sampled access itself has not run yet; it is next, or
 *   it is foretold.
 * - Armed: the sampled access ran and left its value V1; the next trap is the second access.
 *
 * A sample may be for two kinds (pair_turn): where the pair of the first one is complete, the
 * register is armed for the second. Every time that a register was armed is closed exactly once, by
 * a transition and a counter of the same name: trapped, replaced, expired (collection, window) or
 * abandoned. Registers that were never armed go back to free in silence, their reason counted; so
 * does one whose search ends in a pair that is foretold (foretell.h).
 *
 * Everything here runs in the SIGTRAP handler of the thread that owns the registers.
 */
#ifndef JXPERF_AGENT_HANDLER_WATCHPOINT_H
#define JXPERF_AGENT_HANDLER_WATCHPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/extent.h"
#include "common/code/insn.h"
#include "attach/agent/code/search.h"
#include "attach/agent/handler/debug_register.h"
#include "attach/agent/record/record.h"
#include "attach/agent/handler/sample.h"
#include "common/random.h"

struct thread;

/* A load that is waited for may be preceded by stores, which trap too (x86 has no load-only
 * watchpoint), a store by compare-and-swaps that fail, and any by masked moves that leave the
 * watched bytes out. More than this many and the sample is given up: each costs a trap. */
#define WATCHPOINT_MAX_IGNORED 8u

/* Puts an execution breakpoint at ip into a register, unless another one has it: then it waits for
 * that one's. False (and the register free) on error. */
bool watchpoint_seek(struct thread *t, unsigned reg, uint64_t ip);

/* The registers that wait for reg's breakpoint, which was hit, a bit each. Those of a breakpoint
 * that is given up meanwhile are left to the next tick. */
unsigned watchpoint_riders(const struct thread *t, unsigned reg);

/* The same for a search that has its hops counted. When it has been at ip before or has used them
 * up, the first access of its loop stands for the sample (walk.h); a search that has none frees the
 * register and counts as failed. It would otherwise cost a trap each time round. */
void watchpoint_hop(struct thread *t, unsigned reg, uint64_t ip);

/* Turns a register into a watchpoint on a part of the sampled access. On any failure the register
 * is free and the reason counted. */
void watchpoint_arm(struct thread *t, unsigned reg, uint8_t kind, const struct sample *sample,
		    const ucontext_t *uc);

/* The same for an access that is known to come, and not to be preceded by another of the bytes that
 * the register's watchpoint names already (pair_choose_bytes): all else is found out when it traps.
 */
void watchpoint_foretell(struct thread *t, unsigned reg, const struct walk_access *access);

/* A register in state pending or armed trapped, and with it what the same instruction touched. */
void watchpoint_trapped(struct thread *t, unsigned reg, const ucontext_t *uc);

/* Frees a register; an armed watchpoint is recorded with the given type (RECORD_*). */
void watchpoint_drop(struct thread *t, unsigned reg, enum record_type why);

/* Is a register in use? */
bool watchpoint_in_use(const struct thread *t);

/* Is one for pairs in use that was not looked at? */
bool watchpoint_is_undecided(const struct thread *t);

/* Looks at what is armed and was not looked at: the thread is patient, or it is given up. */
void watchpoint_look(struct thread *t);

/* A tick: the thread may turn patient or impatient. */
void watchpoint_tick(struct thread *t);

/* Frees all registers, as watchpoint_drop does: a new epoch has begun. */
void watchpoint_drop_all(struct thread *t, enum record_type why);

/* What was armed when the events were closed will not see its second access, and is recorded with
 * the given type. Session thread, when no breakpoint of the thread is open and no handler of it
 * runs. */
void watchpoint_expire(struct thread *t, enum record_type why);

#endif
