/*
 * The dynamically next memory access after a point of execution, for samples of objects; pairs have
 * a search that knows more (path/walk.h).
 *
 * Given an instruction pointer and the registers that are exact there, the walk follows the one
 * path that execution will take, as far as it can be known: straight-line code, direct jumps and
 * calls, and branches whose flags no instruction in between has changed. Where it cannot be known,
 * the caller puts an execution breakpoint on the undecided instruction and walks again from there
 * with real registers. No branch is ever guessed.
 *
 * An access is a load or store through an explicit memory operand, or by a string instruction, in
 * compiled Java code or a stub. Async-signal-safe; no state.
 */
#ifndef JXPERF_AGENT_CODE_SEARCH_H
#define JXPERF_AGENT_CODE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/code/insn.h"

enum access_type {
	ACCESS_LOAD,
	ACCESS_STORE,
};

enum search_result {
	SEARCH_HERE,  /* the instruction at ip is the access; registers are exact for it */
	SEARCH_BREAK, /* continue from *stop_ip, once execution is there */
	SEARCH_FAILED,
};

/* Instructions looked at in one walk; longer straight-line code without an access is rare enough to
 * be counted as failed. */
#define SEARCH_MAX_INSNS 128u

/* Does the instruction make an access of the type? Of a masked or repeated one only the registers
 * tell (extent.h). */
static inline bool search_is_access(const struct insn *in, enum access_type type)
{
	return in->flow == FLOW_NEXT && (type == ACCESS_LOAD ? in->loads : in->stores);
}

/* The next access of either type, string instructions included. SEARCH_HERE also when execution has
 * not come to it yet and cannot but come: its operand names the same address now as then, and the
 * stack is the same, so its calling context can be taken now. */
enum search_result search_access(uint64_t ip, const gregset_t regs, struct insn *found,
				 uint64_t *stop_ip);

/* Is there compiled Java code or a stub that works for it (array copies and fills) at ip? */
bool search_is_java_code(uint64_t ip);

/* Decodes the instruction at ip from live memory. The test of a store barrier (barrier.h) is an
 * instruction that accesses nothing. False when it cannot be read or decoded. */
bool search_fetch(uint64_t ip, struct insn *out);

#endif
