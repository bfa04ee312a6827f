/*
 * Does what a method gives depend on more than what it is handed? It does where its bytecodes load
 * what may be another value the next time, a field or an element, or lock, or invoke what does.
 * Constants, classes and the lengths of arrays stay.
 *
 * The bytecodes are hostile input. Pure; any thread.
 */
#ifndef JXPERF_DAEMON_LOOPS_BYTECODES_READS_H
#define JXPERF_DAEMON_LOOPS_BYTECODES_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does what the bytecode at bci invokes? */
typedef bool bytecode_invoked_reads(void *context, uint32_t bci);

/* True also for what is no code. */
bool bytecode_reads(const uint8_t *code, size_t size, bytecode_invoked_reads *invoked,
		    void *context);

#endif
