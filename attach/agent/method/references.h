/*
 * Tells what a method's bytecodes name, as the constant pool has it: the fields that they access
 * and the methods that they call. The operands of these are the JVM's own, once the class is
 * linked: places in a list of what was resolved, which lead to the constant pool.
 *
 * All is read through a reader of pages, safely; what it says is of one method that is asked about
 * again behind all reads (method_is_still). Nothing is asked of the JVM.
 */
#ifndef JXPERF_AGENT_METHOD_REFERENCES_H
#define JXPERF_AGENT_METHOD_REFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/agent/code/page_reader.h"
#include "attach/agent/method/method_copy.h"

struct pool_reader {
	const struct method_layout *layout;
	struct page_reader *pages;
};

/* A bytecode and what it names. */
struct reference {
	uint32_t bci;
	uint8_t op;      /* JAVA_GETSTATIC to JAVA_INVOKEINTERFACE */
	uint16_t entry;  /* of the constant pool */
	uint64_t klass;  /* of a field that was resolved: the class that declares it; or 0 */
	uint64_t method; /* of a call that was resolved: a Method, by what this JVM keeps; or 0 */
	int32_t index;   /* of a virtual one: its place in tables of virtual methods; or -1 */
};

/* An entry of a constant pool says this. */
struct member_look {
	uint64_t class_name, name, descriptor; /* Symbols */
	uint64_t klass;                        /* that it names; 0: it was not resolved */
};

/* Reads a method's bytecodes, as class files have them (bytecodes.h), into code, which has
 * code_size bytes of room, and of at most max of them what they name, ascending. False where
 * bytecodes_read is. Where the constant pool cannot be read there are none. */
bool references_read(const struct pool_reader *r, const struct method_copy *copy, uint8_t *code,
		     struct reference *out, size_t max, size_t *count);

bool reference_look(const struct pool_reader *r, uint64_t pool, uint16_t entry,
		    struct member_look *out);

/* The name of a class: its Symbol, or 0. */
uint64_t reference_class_name(const struct pool_reader *r, uint64_t klass);

/* The text of a Symbol, at most max - 1 bytes and a zero. Its length; 0: it cannot be read. */
size_t reference_text(const struct pool_reader *r, uint64_t symbol, char *to, size_t max);

static inline bool reference_is_call(uint8_t op)
{
	return op >= 0xb6; /* JAVA_INVOKEVIRTUAL */
}

#endif
