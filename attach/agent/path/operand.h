/*
 * What the thread of a signal holds where it stands: its registers, and memory that they lead to,
 * as the instruction that it is about to run finds it.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_PATH_OPERAND_H
#define JXPERF_AGENT_PATH_OPERAND_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/path/machine.h"
#include "attach/agent/path/plans.h"

/* Numbered as in machine code. */
uint64_t operand_register(const ucontext_t *uc, unsigned reg);

/* False where it cannot be read. */
bool operand_memory(const struct machine_view *view, const ucontext_t *uc, uint64_t address,
		    void *to, unsigned size);

/* A register, or a word of the stack that the thread is on: of its bytes those that count are the
 * low ones, the others are whatever is there, or nothing. False where it is not in the stack. */
bool operand_scalar(const struct machine_view *view, const struct plan_scalar *s,
		    const ucontext_t *uc, uint64_t *value);

#endif
