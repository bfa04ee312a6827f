/*
 * Tells what a method is called and where its source is, copied from the JVM's memory: Method,
 * ConstMethod, ConstantPool, its holder's Klass, and Symbols (src/hotspot/share/oops/). Nothing is
 * asked of the JVM, and no id is made.
 *
 * Who asks has met the method in a frame on this thread's stack, or in code that is there, so that
 * it should be there as well. That is not relied upon: every read is one that fails instead of
 * faulting and is of bounded size; what was copied counts only if it looks like names, and if all
 * that led to it still leads there afterwards, to the same texts. So memory that is given back, and
 * has become something else, meanwhile is noticed. Of a class that was unloaded before, what is
 * left in memory may pass for a method as long as no other uses its name's place: unloading gives
 * up the name, so mostly it does not.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_METHOD_METHOD_COPY_H
#define JXPERF_AGENT_METHOD_METHOD_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/agent/method/method_layout.h"

enum method_part { METHOD_CLASS, METHOD_NAME, METHOD_DESCRIPTOR, METHOD_FILE, METHOD_PARTS };

/* The longest text; a longer one is cut. */
#define METHOD_TEXT_MAX 4096u

/* The longest line table; a longer one is left out. */
#define METHOD_LINES_MAX 65536u

/* Where a method's parts lie, and how long they are. */
struct method_look {
	uint64_t method;
	uint64_t const_method;
	uint64_t constants;
	uint64_t holder;
	uint64_t symbols[METHOD_PARTS]; /* 0 for a file that is not known */
	uint32_t lines_size;            /* bytes, with the one that ends it; 0: there is none */
	uint16_t entries[METHOD_PARTS]; /* in the constant pool; 0: not by it */
	uint16_t lengths[METHOD_PARTS]; /* bytes, modified UTF-8 */
	uint16_t flags;                 /* Java's, as in the class file */
	uint16_t code_size;             /* bytes */
};

/* This was copied. The texts end with a NUL each. */
struct method_copy {
	struct method_look look;
	uint8_t bytes[]; /* the texts, one after the other, and the lines */
};

/* Looks at the method at an address; false where there is none. */
bool method_look(const struct method_layout *layout, uint64_t method, struct method_look *out);

/* Is it a method of the class with this name, and has it that one (NULL: any)? Of less than 64
 * bytes each. False where it cannot be read. */
bool method_is(const struct method_layout *layout, uint64_t method, const char *class_name,
	       const char *name);

/* Bytes that a copy takes. */
size_t method_copy_bytes(const struct method_look *look);

/* Copies what was looked at; to has method_copy_bytes of room. False where it is not what it was.
 */
bool method_copy(const struct method_layout *layout, const struct method_look *look,
		 struct method_copy *to);

/* Is the method at the address still the one that was copied? Of texts longer than 256 bytes, and
 * of such lines, their begins tell. With one system call. */
bool method_is_still(const struct method_layout *layout, const struct method_copy *copy);

/* Do two copies say the same? */
bool method_copies_are_same(const struct method_copy *a, const struct method_copy *b);

/* A text of a copy; NULL for a file that is not known. */
const char *method_copy_text(const struct method_copy *copy, enum method_part part);

/* Its line table, lines_size bytes. */
const uint8_t *method_copy_lines(const struct method_copy *copy);

/* Has no bytecodes, and is compiled by hand or in a library. */
bool method_copy_is_native(const struct method_copy *copy);

bool method_copy_is_static(const struct method_copy *copy);

#endif
