/* Flight recordings made by hand. */
#include "tests/unit/support/jfr_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 68u

void jfr_file_byte(struct jfr_file *f, uint8_t byte)
{
	if (f->size == f->capacity) {
		uint8_t *moved;

		f->capacity = f->capacity ? 2 * f->capacity : 4096;
		moved = realloc(f->bytes, f->capacity);
		if (!moved)
			abort();
		f->bytes = moved;
	}
	f->bytes[f->size++] = byte;
}

void jfr_file_varint(struct jfr_file *f, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++, value >>= 7) {
		if (value < 0x80) {
			jfr_file_byte(f, (uint8_t)value);
			return;
		}
		jfr_file_byte(f, (uint8_t)(value | 0x80));
	}
	jfr_file_byte(f, (uint8_t)value);
}

void jfr_file_text(struct jfr_file *f, const char *text)
{
	size_t length = strlen(text);

	jfr_file_byte(f, 3);
	jfr_file_varint(f, length);
	for (size_t i = 0; i < length; i++)
		jfr_file_byte(f, (uint8_t)text[i]);
}

void jfr_file_set(struct jfr_file *f, size_t place, uint64_t value, size_t bytes)
{
	while (bytes-- > 0) {
		f->bytes[place + bytes] = (uint8_t)value;
		value >>= 8;
	}
}

size_t jfr_file_open(struct jfr_file *f, uint64_t type)
{
	size_t event = f->size;

	for (unsigned i = 0; i < 4; i++)
		jfr_file_byte(f, 0);
	jfr_file_varint(f, type);
	return event;
}

void jfr_file_close(struct jfr_file *f, size_t event)
{
	size_t size = f->size - event;

	for (unsigned i = 0; i < 4; i++, size >>= 7)
		f->bytes[event + i] = (uint8_t)((size & 0x7f) | (i < 3 ? 0x80 : 0));
}

void jfr_file_begin(struct jfr_file *f)
{
	f->chunk = f->size;
	f->metadata = f->checkpoint = 0;
	for (unsigned i = 0; i < HEADER_BYTES; i++)
		jfr_file_byte(f, 0);
	memcpy(f->bytes + f->chunk, "FLR", 4);
	jfr_file_set(f, f->chunk + 4, 2, 2);
	jfr_file_set(f, f->chunk + 6, 1, 2);
	jfr_file_set(f, f->chunk + 64, 1, 4);
}

void jfr_file_end(struct jfr_file *f)
{
	jfr_file_set(f, f->chunk + 8, f->size - f->chunk, 8);
	jfr_file_set(f, f->chunk + 16, f->checkpoint ? f->checkpoint - f->chunk : 0, 8);
	jfr_file_set(f, f->chunk + 24, f->metadata ? f->metadata - f->chunk : 0, 8);
}

/* ---------------------------------------------------------------- metadata */

static const struct {
	uint64_t id;
	const char *name;
	struct {
		const char *name;
		uint64_t type;
		const char *how; /* "constantPool", "dimension" or NULL */
	} fields[6];
} types[] = {
    {4, "boolean", {{0}}},
    {10, "int", {{0}}},
    {11, "long", {{0}}},
    {13, "java.lang.String", {{0}}},
    {14, "float", {{0}}},
    {JFR_FILE_TRACE,
     "jdk.types.StackTrace",
     {{"truncated", 4, NULL}, {"frames", JFR_FILE_FRAME, "dimension"}}},
    {JFR_FILE_FRAME,
     "jdk.types.StackFrame",
     {{"method", JFR_FILE_METHOD, "constantPool"}, {"lineNumber", 10, NULL}}},
    {JFR_FILE_METHOD,
     "jdk.types.Method",
     {{"type", JFR_FILE_CLASS, "constantPool"},
      {"name", JFR_FILE_SYMBOL, "constantPool"},
      {"descriptor", JFR_FILE_SYMBOL, "constantPool"},
      {"hidden", 4, NULL}}},
    {JFR_FILE_CLASS,
     "java.lang.Class",
     {{"weight", 14, NULL}, {"name", JFR_FILE_SYMBOL, "constantPool"}}},
    {JFR_FILE_SYMBOL, "jdk.types.Symbol", {{"string", 13, NULL}}},
    {JFR_FILE_SAMPLE,
     "jdk.ExecutionSample",
     {{"startTime", 11, NULL}, {"stackTrace", JFR_FILE_TRACE, "constantPool"}}},
    {JFR_FILE_OTHER, "jdk.Other", {{"startTime", 11, NULL}}},
    /* The last: its names are the file's. */
    {JFR_FILE_WEIGHED, NULL, {{"stackTrace", JFR_FILE_TRACE, "constantPool"}, {"", 11, NULL}}},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

/* The strings of the metadata: each where it is first needed. */
struct strings {
	const char *text[128];
	size_t count;
	char ids[TYPES][8];
};

static uint64_t number(struct strings *s, const char *text)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->text[i], text) == 0)
			return i;
	s->text[s->count] = text;
	return s->count++;
}

static const char *id_text(struct strings *s, uint64_t id)
{
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].id == id) {
			(void)snprintf(s->ids[i], sizeof(s->ids[i]), "%u", (unsigned)id);
			return s->ids[i];
		}
	abort();
}

static void attribute(struct jfr_file *f, struct strings *s, const char *key, const char *value)
{
	jfr_file_varint(f, number(s, key));
	jfr_file_varint(f, number(s, value));
}

static void type_element(struct jfr_file *f, struct strings *s, size_t i)
{
	size_t fields = 0;

	while (types[i].fields[fields].name)
		fields++;
	jfr_file_varint(f, number(s, "class"));
	jfr_file_varint(f, 2);
	attribute(f, s, "id", id_text(s, types[i].id));
	attribute(f, s, "name", types[i].name ? types[i].name : f->weighed_name);
	jfr_file_varint(f, fields);
	for (size_t k = 0; k < fields; k++) {
		const char *how = types[i].fields[k].how;

		jfr_file_varint(f, number(s, "field"));
		jfr_file_varint(f, how ? 3 : 2);
		attribute(f, s, "name",
			  types[i].fields[k].name[0] ? types[i].fields[k].name : f->weight_name);
		attribute(f, s, "class", id_text(s, types[i].fields[k].type));
		if (how)
			attribute(f, s, how, strcmp(how, "dimension") == 0 ? "1" : "true");
		jfr_file_varint(f, 0);
	}
}

static size_t types_of(const struct jfr_file *f)
{
	return f->weighed_name ? TYPES : TYPES - 1;
}

static void elements(struct jfr_file *f, struct strings *s)
{
	jfr_file_varint(f, number(s, "root"));
	jfr_file_varint(f, 0);
	jfr_file_varint(f, 1);
	jfr_file_varint(f, number(s, "metadata"));
	jfr_file_varint(f, 0);
	jfr_file_varint(f, types_of(f));
	for (size_t i = 0; i < types_of(f); i++)
		type_element(f, s, i);
}

void jfr_file_metadata(struct jfr_file *f)
{
	struct strings s = {.count = 0};
	struct jfr_file trial = {.weighed_name = f->weighed_name, .weight_name = f->weight_name};
	size_t event;

	elements(&trial, &s); /* to know the strings, which come first */
	free(trial.bytes);
	f->metadata = event = jfr_file_open(f, 0);
	for (unsigned i = 0; i < 3; i++)
		jfr_file_varint(f, 1);
	jfr_file_varint(f, s.count);
	for (size_t i = 0; i < s.count; i++)
		jfr_file_text(f, s.text[i]);
	elements(f, &s);
	jfr_file_close(f, event);
}

/* ---------------------------------------------------------------- events */

void jfr_file_sample(struct jfr_file *f, uint64_t stack)
{
	size_t event = jfr_file_open(f, JFR_FILE_SAMPLE);

	jfr_file_varint(f, UINT64_C(123456789012));
	jfr_file_varint(f, stack);
	jfr_file_close(f, event);
}

void jfr_file_weighed(struct jfr_file *f, uint64_t stack, uint64_t weight)
{
	size_t event = jfr_file_open(f, JFR_FILE_WEIGHED);

	jfr_file_varint(f, stack);
	jfr_file_varint(f, weight);
	jfr_file_close(f, event);
}

static void symbol(struct jfr_file *f, uint64_t id, const char *format, size_t n)
{
	char text[64];

	(void)snprintf(text, sizeof(text), format,
		       n); /* NOLINT(clang-diagnostic-format-nonliteral) */
	jfr_file_varint(f, id);
	jfr_file_text(f, text);
}

/* Method n: class 2n + 1; its symbols 2n + 2 and 2n + 3; the descriptor is symbol 1. */
static void method_pools(struct jfr_file *f, size_t methods)
{
	jfr_file_varint(f, JFR_FILE_METHOD);
	jfr_file_varint(f, methods);
	for (size_t n = 0; n < methods; n++) {
		jfr_file_varint(f, n + 1);
		jfr_file_varint(f, 2 * n + 1);
		jfr_file_varint(f, 2 * n + 3);
		jfr_file_varint(f, 1);
		jfr_file_byte(f, 0);
	}
	jfr_file_varint(f, JFR_FILE_CLASS);
	jfr_file_varint(f, methods);
	for (size_t n = 0; n < methods; n++) {
		jfr_file_varint(f, 2 * n + 1);
		for (unsigned i = 0; i < 4; i++)
			jfr_file_byte(f, 0);
		jfr_file_varint(f, 2 * n + 2);
	}
	jfr_file_varint(f, JFR_FILE_SYMBOL);
	jfr_file_varint(f, 2 * methods + 1);
	symbol(f, 1, "(I)V", 0);
	for (size_t n = 0; n < methods; n++) {
		symbol(f, 2 * n + 2, "pkg/Class%zu", n);
		symbol(f, 2 * n + 3, "m%zu", n);
	}
}

void jfr_file_checkpoint(struct jfr_file *f, size_t methods, const struct jfr_file_stack *stacks,
			 size_t stack_count)
{
	size_t event = jfr_file_open(f, 1);

	jfr_file_varint(f, 5);
	jfr_file_varint(f, 0);
	jfr_file_varint(f, f->checkpoint ? (uint64_t)f->checkpoint - event : 0);
	jfr_file_byte(f, 0);
	jfr_file_varint(f, (methods ? 3 : 0) + (stack_count ? 1 : 0));
	if (methods)
		method_pools(f, methods);
	if (stack_count) {
		jfr_file_varint(f, JFR_FILE_TRACE);
		jfr_file_varint(f, stack_count);
	}
	for (size_t i = 0; i < stack_count; i++) {
		jfr_file_varint(f, stacks[i].id);
		jfr_file_byte(f, stacks[i].truncated);
		jfr_file_varint(f, stacks[i].depth);
		for (size_t k = 0; k < stacks[i].depth; k++) {
			jfr_file_varint(f, stacks[i].methods[k] + UINT64_C(1));
			jfr_file_varint(f, 42);
		}
	}
	jfr_file_close(f, event);
	f->checkpoint = event;
}
