/*
 * A method's bytecodes as its class file has them, from the ones that the JVM interprets: it writes
 * others in their places, which are faster (Rewriter, src/hotspot/share/interpreter/).
 *
 * The operands of instructions that name a field, a method or a constant are the JVM's own; they
 * become zero. Where a debugger has a breakpoint there are none.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_METHOD_BYTECODES_H
#define JXPERF_AGENT_METHOD_BYTECODES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/method/method_copy.h"

/* Reads those of a method that was copied; to has code_size bytes of room. False where it has none,
 * is not there any more, or has an instruction that is not known. */
bool bytecodes_read(const struct method_layout *layout, const struct method_copy *copy,
		    uint8_t *to);

/* Restores them in place; false where an instruction is not known. */
bool bytecodes_restore(const uint8_t java_op[256], uint8_t *code, uint32_t size);

/* The same, and tells of each instruction that accesses a field or invokes a method (but
 * invokedynamic) what its operand was: 16 bits as the JVM keeps them. */
typedef void bytecodes_operand(void *arg, uint32_t bci, uint8_t op, uint16_t operand);
bool bytecodes_restore_each(const uint8_t java_op[256], uint8_t *code, uint32_t size,
			    bytecodes_operand *visit, void *arg);

/* The code of the instruction in class files that is, as this JVM calls it, an instruction of its
 * own ("fast_igetfield"); METHOD_OP_UNKNOWN where it is none. */
uint8_t bytecodes_op_of(const char *name);

#endif
