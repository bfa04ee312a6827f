/*
 * The line numbers of a method as the JVM keeps them: pairs of a bytecode index and a line, each by
 * how much it is more than in the pair before, in one byte where both are small, else in two
 * compressed numbers (CompressedLineNumberReadStream, src/hotspot/share/code/compressedStream.hpp).
 *
 * Pure, async-signal-safe.
 */
#ifndef JXPERF_AGENT_METHOD_LINE_TABLE_H
#define JXPERF_AGENT_METHOD_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Finds where a table ends while its bytes are read one after the other. All zero at its
 * beginning. */
struct line_scan {
	uint8_t numbers; /* compressed ones to come */
	uint8_t bytes;   /* of the one that is read */
};

/* The next byte; true when the table ends with it. */
bool line_scan_byte(struct line_scan *s, uint8_t byte);

struct line_table {
	const uint8_t *bytes;
	size_t size;
	size_t position;
	uint8_t byte_base; /* method_layout.h */
	int32_t bci;       /* of the pair that was read last, */
	int32_t line;      /* as is this */
};

/* At the beginning. bytes: outlive it, NULL if size is 0. */
struct line_table line_table_of(const uint8_t *bytes, size_t size, uint8_t byte_base);

/* Reads the next pair; false after the last, or where the bytes end. */
bool line_table_next(struct line_table *t);

#endif
