/*
 * What an access touches (attach/agent/place/place.h), as handlers ask: by region, and counted when
 * it cannot be told. Async-signal-safe.
 */
#ifndef JXPERF_AGENT_HANDLER_PLACING_H
#define JXPERF_AGENT_HANDLER_PLACING_H

#include <stdint.h>
#include <ucontext.h>

#include "common/code/insn.h"
#include "attach/agent/place/place.h"

struct thread;

/* The place of an access to address by an instruction, with the registers before it, or after it
 * where it overwrote none of its operand's. region: Region of jxperf.proto. Where nothing is known
 * out is a place of kind PLACE_NONE. Gives what placing_count wants to hear. */
enum place_result placing_find(struct thread *t, int region, uint64_t address,
			       const struct insn *in, const gregset_t regs, struct place *out);

/* Counts an access to the heap, once. */
void placing_count(struct thread *t, int region, enum place_result result);

#endif
