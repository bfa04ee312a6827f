/*
 * Names of classes and fields, read from HotSpot's own structures: Klass, ConstantPool, Symbol, and
 * the list of a class's fields, which is an array of 16-bit numbers before JDK 21 (FieldInfo) and a
 * stream of compressed ones since (FieldInfoStream, fieldInfo.hpp; unsigned5.hpp).
 *
 * No Java code runs, and no reference is made. A class may be unloaded meanwhile: reads then fail,
 * or give nonsense that is bounded; whoever wants to rely on an answer asks afterwards whether the
 * class is still there (klass_vouches).
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_JVM_KLASS_FIELDS_H
#define JXPERF_AGENT_JVM_KLASS_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

struct klass_field {
	char *name;      /* to be freed, */
	char *signature; /* as is this: "I", "[Ljava/lang/String;" */
	uint32_t offset;
	uint32_t bytes;
};

/* Looks up where this JVM has what is read. False, and nothing can be read, when it does not say.
 */
bool klass_fields_init(void);

/* What was read is kept, by the page: forgets it. Before anything is named. */
void klass_fields_look_anew(void);

/* A class's name as the JVM keeps it ("java/lang/String", "[I"), to be freed; NULL when it cannot
 * be read. */
char *klass_symbol(uint64_t klass);

/* 0: none. */
uint64_t klass_super(uint64_t klass);

/* The field that the class itself declares and that lies at offset, in its objects or, static, in
 * its mirror. reference_bytes: how long a reference in a field is. False where there is none, or
 * it cannot be read. */
bool klass_field_at(uint64_t klass, uint32_t offset, bool is_static, unsigned reference_bytes,
		    struct klass_field *out);

void klass_field_release(struct klass_field *f);

#endif
