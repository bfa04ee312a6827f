/*
 * Flight recordings made by hand: chunks with the types that stacks are made of, constants and
 * samples, and nothing else. What is wrong with them is then a byte or two.
 */
#ifndef JXPERF_TESTS_JFR_FILE_H
#define JXPERF_TESTS_JFR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids of types in the metadata. */
enum {
	JFR_FILE_TRACE = 20,
	JFR_FILE_FRAME = 21,
	JFR_FILE_METHOD = 22,
	JFR_FILE_CLASS = 23,
	JFR_FILE_SYMBOL = 24,
	JFR_FILE_SAMPLE = 30,
	JFR_FILE_OTHER = 31, /* an event without a stack: "jdk.Other" */
	JFR_FILE_WEIGHED = 32,
};

/* All zero is an empty file. Places are offsets in the file; the file is free(bytes)d. */
struct jfr_file {
	uint8_t *bytes;
	size_t size, capacity;
	size_t chunk;      /* the current one's begin */
	size_t metadata;   /* its last metadata event */
	size_t checkpoint; /* its last one, or 0 */
	/* Names of a type of events with a stack, and of their field; NULL: there is none. */
	const char *weighed_name, *weight_name;
};

struct jfr_file_stack {
	uint64_t id;
	bool truncated;
	const uint32_t *methods; /* by number, the innermost first */
	size_t depth;
};

void jfr_file_begin(struct jfr_file *f);
void jfr_file_end(struct jfr_file *f);
void jfr_file_metadata(struct jfr_file *f);
void jfr_file_sample(struct jfr_file *f, uint64_t stack);
void jfr_file_weighed(struct jfr_file *f, uint64_t stack, uint64_t weight);

/* Methods 0 to count - 1, "pkg/ClassN.mN(I)V", and stacks, linked to the checkpoint before it. */
void jfr_file_checkpoint(struct jfr_file *f, size_t methods, const struct jfr_file_stack *stacks,
			 size_t stack_count);

/* Parts. An event's size, of four bytes, is filled in by jfr_file_close, which takes what
 * jfr_file_open gave. */
void jfr_file_byte(struct jfr_file *f, uint8_t byte);
void jfr_file_varint(struct jfr_file *f, uint64_t value);
void jfr_file_text(struct jfr_file *f, const char *text);
size_t jfr_file_open(struct jfr_file *f, uint64_t type);
void jfr_file_close(struct jfr_file *f, size_t event);

/* Big-endian, at a place that is there. */
void jfr_file_set(struct jfr_file *f, size_t place, uint64_t value, size_t bytes);

#endif
