/*
 * One call of a stack: a method, and where in its bytecodes.
 */
#ifndef JXPERF_AGENT_STACK_CALL_H
#define JXPERF_AGENT_STACK_CALL_H

#include <stdint.h>

/* Bcis that stand for none: of a native method's frame, and of code that belongs to no bytecode
 * that is known. */
#define CALL_BCI_NATIVE  (-3)
#define CALL_BCI_UNKNOWN (-1)

struct call {
	uint32_t method; /* its number (attach/agent/method/method_table.h); 0: it has none */
	int32_t bci;
};

#endif
