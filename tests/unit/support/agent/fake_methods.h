/* Methods in memory that looks like a JVM's, of no release: the layout says where what is. */
#ifndef TESTS_UNIT_AGENT_FAKE_METHODS_H
#define TESTS_UNIT_AGENT_FAKE_METHODS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/method/method_table.h"

struct fake_text {
	uint16_t users, length;
	char body[METHOD_TEXT_MAX + 12];
};
struct fake_class {
	uint64_t ignored;
	const struct fake_text *name;
};
struct fake_constants {
	uint64_t ignored;
	const struct fake_class *holder;
	uint32_t length;
	uint16_t file, more;
	const struct fake_text *entries[8];
};
struct fake_const_method {
	const struct fake_constants *constants;
	uint32_t words;
	uint16_t flags, code_size, name, signature;
	uint32_t more;
	uint8_t bytes[64];
};
struct fake_method {
	uint64_t ignored;
	const struct fake_const_method *_Atomic const_method;
	uint16_t flags, more[3];
};

#define FAKE_METHOD_LAYOUT                                                                 \
	{                                                                                  \
		.known = true, .byte_base = 1, .method_bytes = sizeof(struct fake_method), \
		.method_const = offsetof(struct fake_method, const_method),                \
		.method_flags = offsetof(struct fake_method, flags),                       \
		.const_bytes = offsetof(struct fake_const_method, bytes),                  \
		.const_constants = offsetof(struct fake_const_method, constants),          \
		.const_words = offsetof(struct fake_const_method, words),                  \
		.const_flags = offsetof(struct fake_const_method, flags), .has_lines = 4,  \
		.const_code_size = offsetof(struct fake_const_method, code_size),          \
		.const_name = offsetof(struct fake_const_method, name),                    \
		.const_signature = offsetof(struct fake_const_method, signature),          \
		.pool_bytes = offsetof(struct fake_constants, entries),                    \
		.pool_holder = offsetof(struct fake_constants, holder),                    \
		.pool_length = offsetof(struct fake_constants, length),                    \
		.pool_file = offsetof(struct fake_constants, file),                        \
		.class_name = offsetof(struct fake_class, name),                           \
		.symbol_users = offsetof(struct fake_text, users),                         \
		.symbol_length = offsetof(struct fake_text, length),                       \
		.symbol_body = offsetof(struct fake_text, body),                           \
	}

static const struct method_layout fake_method_layout = FAKE_METHOD_LAYOUT;

/* What its flags are beside ACC_PUBLIC: JVMS table 4.6-A. */
#define FAKE_STATIC 0x9u
#define FAKE_NATIVE 0x109u

/* Of its bytecodes, one for each byte, line 7 begins at 5. */
#define FAKE_CODE_SIZE 5u

/* One class with one method. */
struct fake_world {
	_Alignas(8) struct fake_text class, name, descriptor, file;
	_Alignas(8) struct fake_class klass;
	_Alignas(8) struct fake_constants pool;
	_Alignas(8) struct fake_const_method const_method;
	_Alignas(8) struct fake_method method;
};

static inline void fake_set(struct fake_text *s, const char *text)
{
	s->users = 1;
	s->length = (uint16_t)strlen(text);
	memcpy(s->body, text, s->length);
}

/* Its method is static, void of an int, and in A.java. */
static inline void fake_world_init(struct fake_world *w, const char *class, const char *name)
{
	memset(w, 0, sizeof(*w));
	fake_set(&w->class, class);
	fake_set(&w->name, name);
	fake_set(&w->descriptor, "(I)V");
	fake_set(&w->file, "A.java");
	w->klass.name = &w->class;
	w->pool = (struct fake_constants){.holder = &w->klass,
					  .length = 8,
					  .file = 3,
					  .entries = {NULL, &w->name, &w->descriptor, &w->file}};
	w->const_method = (struct fake_const_method){.constants = &w->pool,
						     .words = sizeof(struct fake_const_method) / 8,
						     .flags = 4,
						     .code_size = FAKE_CODE_SIZE,
						     .name = 1,
						     .signature = 2,
						     .bytes = {1, 2, 3, 4, 5, 1 << 3 | 7, 0}};
	w->method = (struct fake_method){.const_method = &w->const_method, .flags = FAKE_STATIC};
}

/* The address of its Method. */
static inline uint64_t fake_address(const struct fake_world *w)
{
	return (uintptr_t)&w->method;
}

/* Where its bytecode at an index lies. */
static inline uint64_t fake_bytecode(const struct fake_world *w, unsigned bci)
{
	return (uintptr_t)&w->const_method.bytes[bci];
}

#endif
