/*
 * Which memory access a thread was busy with when a tick interrupted it.
 *
 * A processor takes an interrupt between two instructions in program order, after the oldest one
 * that has not retired. While a load waits for memory, that is the load: a thread that waited is
 * interrupted at the instruction behind it (measured: docs/statistics.md, "One population"). So the
 * access is that of the instruction before the interrupted one, if it has one, and else the next
 * one.
 *
 * The instruction before is the one executed before only where control cannot have come from
 * elsewhere: within a block (loops.h). Jumps through registers (switches) are not looked for, and
 * where a method has no loops that are told, nothing is.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_INTERRUPTED_H
#define JXPERF_AGENT_CODE_INTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "common/code/insn.h"

/* The instruction that ends at ip, if it accesses memory through an operand and was executed just
 * before. */
bool interrupted_access(uint64_t ip, struct insn *out);

/* The memory that an instruction accessed, or will access, with these registers: the address its
 * operand names, and what it does there. For one that has been executed, false when it has
 * overwritten the registers that told. String instructions are those at ip, between two iterations.
 */
bool interrupted_operand(const struct insn *in, bool executed, const gregset_t regs,
			 uint64_t *address, uint32_t *size, bool *store);

#endif
