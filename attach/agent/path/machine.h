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

/* Of the flags register. */
#define MACHINE_CARRY    0x001u
#define MACHINE_PARITY   0x004u
#define MACHINE_ZERO     0x040u
#define MACHINE_SIGN     0x080u
#define MACHINE_OVERFLOW 0x800u
#define MACHINE_FLAGS \
	(MACHINE_CARRY | MACHINE_PARITY | MACHINE_ZERO | MACHINE_SIGN | MACHINE_OVERFLOW)

/* Stores remembered. More make all memory unknown. */
#define MACHINE_STORES 16u

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
	uint64_t ip;
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
	bool called;   /* it was a call, and ip is in the callee now */
	bool returned; /* ip is where a return address led to */
};

void machine_init(struct machine *m, uint64_t ip, const gregset_t regs);

/* Passes the instruction at ip, whose bytes the caller has found. */
enum machine_step machine_pass(struct machine *m, const uint8_t *bytes, size_t available,
			       struct machine_effect *effect);

#endif
