/*
 * Where this JVM has what a method is known by: offsets in its structures, all of which come from
 * its own tables (attach/agent/jvm/method_facts.h).
 */
#ifndef JXPERF_AGENT_METHOD_METHOD_LAYOUT_H
#define JXPERF_AGENT_METHOD_METHOD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/method/pool_layout.h"

/* So much is read of one structure at once; a JVM whose is longer is not known. */
#define METHOD_HEAD_BYTES_MAX 128u

/* Stands for no instruction (JVMS 6.2: impdep2). */
#define METHOD_OP_UNKNOWN 0xffu

struct method_layout {
	bool known;        /* of bytecodes: code_known, too */
	uint8_t byte_base; /* what is taken from each byte of a compressed number */
	/* In a Method. */
	uint32_t method_bytes; /* that have both */
	uint32_t method_const;
	uint32_t method_flags; /* u2, of Java's own */
	/* In a ConstMethod, which its bytecodes follow. */
	uint32_t const_bytes;
	uint32_t const_constants;
	uint32_t const_words; /* int: its size with all that follows, 8 bytes each */
	uint32_t const_flags; /* u2 */
	uint16_t has_lines;   /* of these */
	uint32_t const_code_size;
	uint32_t const_name;      /* u2: in the constant pool, */
	uint32_t const_signature; /* as is this */
	/* In a ConstantPool, which its entries follow. */
	uint32_t pool_bytes;
	uint32_t pool_holder;
	uint32_t pool_length; /* int: entries */
	uint32_t pool_file;   /* u2, unless file_in_class */
	/* In a class. */
	uint32_t class_name;
	/* Before JDK 15 it says the file, in its own constant pool. */
	bool file_in_class;
	uint32_t class_constants;
	uint32_t class_file; /* u2 */
	/* In a Symbol. */
	uint32_t symbol_users;  /* u2: who uses it; 0: nobody, it was given back */
	uint32_t symbol_length; /* u2 */
	uint32_t symbol_body;
	/* By the code of an instruction as it is interpreted, that in class files. */
	bool code_known;
	uint8_t java_op[256];
	struct pool_layout pools; /* what bytecodes name */
};

#endif
