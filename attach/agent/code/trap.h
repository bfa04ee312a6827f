/*
 * Which instruction made a data watchpoint trap.
 *
 * x86 reports the instruction pointer after the access (Intel SDM volume 3, 18.2.5), except for
 * rep-prefixed string instructions, which trap between iterations with it still on themselves. The
 * instruction before it is looked up in the map of its method (boundaries.h); in code that has
 * none, candidates are decoded backward and one is accepted only if its operand names the watched
 * bytes. An instruction that overwrote a register of its own operand (mov rax, [rax]) no longer
 * tells its address: where Java aligns its accesses, the value it left in the register does, and if
 * that leaves a choice, the trap is not explained. A compare-and-swap that failed is a load: the
 * old value that x86 writes back is no store of the program's. After call, ret and indirect jumps
 * the instruction pointer is elsewhere; implicit stack traffic is recognised by the stack pointer.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_TRAP_H
#define JXPERF_AGENT_CODE_TRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/extent.h"
#include "common/code/insn.h"

struct trap_access {
	struct insn insn; /* insn.ip is the trapping instruction */
	bool reads;       /* it loads the watched bytes (before it stores, if it does both) */
	bool writes;
	/* May be none of the watched bytes: processors also report masked moves whose operand holds
	 * them in lanes that are not active (measured on AMD). Then it neither reads nor writes. */
	struct extent extent;
};

/* uc is the trap's context. False when no instruction explains the trap. */
bool trap_decode(const ucontext_t *uc, uint64_t watched, unsigned length, struct trap_access *out);

/* Which of the length bytes at watched an access touches: bit i is watched + i. */
unsigned trap_shared(const struct extent *extent, uint64_t watched, unsigned length);

#endif
