/*
 * What is known of a thread that goes on from a point of execution: an interpreter of the
 * instructions that decide where compiled code goes. What it does not model makes what is written
 * unknown; nothing is guessed.
 *
 * It reads memory and writes none: stores go to a list of its own that later loads look at first.
 * What other threads store meanwhile, it does not see: whoever relies on a path that it took has to
 * notice when the thread takes another. Async-signal-safe.
 */
#ifndef JXPERF_AGENT_PATH_MACHINE_H
#define JXPERF_AGENT_PATH_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "attach/agent/code/region.h"

/* Bits of the flags register. */
#define MACHINE_CARRY    0x001u
#define MACHINE_PARITY   0x004u
#define MACHINE_ZERO     0x040u
#define MACHINE_SIGN     0x080u
#define MACHINE_OVERFLOW 0x800u
#define MACHINE_FLAGS \
	(MACHINE_CARRY | MACHINE_PARITY | MACHINE_ZERO | MACHINE_SIGN | MACHINE_OVERFLOW)

/* Stores remembered. More make all memory unknown. */
#define MACHINE_STORES 16u

/* Memory that may be read as it is: the thread's stack from its pointer on, the heap, the thread's
 * own structure and the code cache. What compiled code is about to load from there is there. All
 * else is read through the kernel; so is what a watchpoint of the thread is on, which would trap.
 */
#define MACHINE_WATCHED_MAX 4u

struct machine_view {
	const struct region_map *regions;
	uint64_t
	    stack_high; /* end of the stack that the thread is on; 0: of one that is not known */
	struct {
		uint64_t address;
		uint32_t length;
	} watched[MACHINE_WATCHED_MAX];
	unsigned watched_count;
};

struct machine_value {
	uint64_t bits;
	bool known;
};

struct machine_store {
	uint64_t address;
	uint32_t size;
	struct machine_value value;
};

struct machine {
	const struct machine_view *view;
	uint64_t ip;
	uint64_t stack_low; /* stack pointer at the beginning */
	uint64_t thread; /* r15 at the beginning: the JavaThread, in compiled code; 0: not known */
	struct machine_value regs[16]; /* in encoding order: rax, rcx, rdx, rbx, rsp, ... */
	uint32_t flags;
	uint32_t flags_known; /* of MACHINE_FLAGS */
	struct machine_store stores[MACHINE_STORES];
	unsigned store_count;
	bool memory_unknown; /* a store to an unknown place was passed, or too many */
	bool faulted;        /* memory that it would load from cannot be read */
};

enum machine_step {
	MACHINE_PASSED,    /* ip is at the instruction that runs next */
	MACHINE_UNDECIDED, /* ip is where it was: which one runs next is not known */
	MACHINE_STOPPED,   /* likewise, and never will be: no instruction, or one that leaves */
};

/* What an instruction did besides. */
struct machine_effect {
	bool loads; /* through an explicit memory operand, or by a string instruction */
	bool stores;
	bool address_known; /* of a plain operand of size bytes at address */
	uint64_t address;
	uint32_t size;
	uint8_t length; /* of the instruction, when it was a call */
	bool called;    /* it was a call, and ip is in the callee now */
	bool returned;  /* ip is where a return address led to */
};

/* view may be NULL: everything is read through the kernel. */
void machine_init(struct machine *m, const struct machine_view *view, uint64_t ip,
		  const gregset_t regs);

/* What lies at an address now, with what was stored on the way; size at most 8. */
struct machine_value machine_memory(struct machine *m, uint64_t address, unsigned size);

/* What lies at an address now, whatever was stored on the way. The machine has made no step: what
 * is read is what the instruction at ip is about to load. False when it is not there. */
bool machine_read(const struct machine *m, uint64_t address, void *to, unsigned size);

/* Registers as they are now; those that are not known are 0. */
void machine_registers(const struct machine *m, gregset_t regs);

/* The stack pointer. */
static inline struct machine_value machine_stack(const struct machine *m)
{
	return m->regs[4];
}

/* Passes the instruction at ip, whose bytes the caller has found. */
enum machine_step machine_pass(struct machine *m, const uint8_t *bytes, size_t available,
			       struct machine_effect *effect);

#endif
