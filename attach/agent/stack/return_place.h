/*
 * Where the return address is in code of the JVM's that has no frame, or none yet, or no longer:
 * adapters between compiled and interpreted code, the interpreter's entries of methods and ends of
 * returns. Told from that code itself, exactly: by what its instructions up to here have taken from
 * the stack and put there, or by what those up to the jump still will. Code that is in none of the
 * forms that are known tells nothing.
 *
 * Both kinds of code are entered with the return address on top of the stack, and keep the caller's
 * stack pointer in r13 where they move it (sharedRuntime_x86_64.cpp, templateInterpreterGenerator).
 *
 * Async-signal-safe: reads the code that is given.
 */
#ifndef JXPERF_AGENT_STACK_RETURN_PLACE_H
#define JXPERF_AGENT_STACK_RETURN_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum return_at {
	RETURN_LOST,     /* nobody knows */
	RETURN_ON_TOP,   /* of the stack */
	RETURN_SECOND,   /* behind the caller's rbp, which is on top */
	RETURN_IN_RAX,   /* or another register */
	RETURN_BY_FRAME, /* the frame pointer is the interpreted frame's own */
};

/* Registers in encoding order. */
struct return_place {
	enum return_at at;
	int8_t reg;     /* that has the return address, of RETURN_IN_RAX */
	int8_t sender;  /* that has the caller's stack pointer; -1: it is that behind the address */
	uint8_t pushed; /* words below the saved frame pointer, of RETURN_BY_FRAME */
};

/* pc in code [begin, end), an adapter's. */
struct return_place return_place_in_adapter(uint64_t begin, uint64_t end, uint64_t pc);

/* ... an interpreter's entry of methods. */
struct return_place return_place_in_entry(uint64_t begin, uint64_t end, uint64_t pc);

/* ... an interpreter's code that returns: RETURN_LOST while the frame stands. */
struct return_place return_place_at_exit(uint64_t end, uint64_t pc);

#endif
