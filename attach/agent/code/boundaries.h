/*
 * Where the instructions of compiled code begin, told for what lies before a place: decoding goes
 * forward alone.
 *
 * It begins at the block that a place lies in (loops.h), mostly a few instructions before it. Where
 * that is not known (a method whose loops cannot be told, or data in the code), or the block is
 * longer than BOUNDARIES_BLOCK_BYTES, at an instruction that the JVM has named (debug_pcs of
 * codemap.h), or the method's start, no more than BOUNDARIES_STEP_BYTES before it.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_BOUNDARIES_H
#define JXPERF_AGENT_CODE_BOUNDARIES_H

#include <stddef.h>
#include <stdint.h>

struct code_blob;

/* Decoding in a handler, some 20 ns an instruction. */
#define BOUNDARIES_STEP_BYTES  1024u
#define BOUNDARIES_BLOCK_BYTES 4096u

#define BOUNDARIES_BEFORE_MAX 128u

/* The length of the instruction that ends at after, inside the blob; 0 when it cannot be told. */
unsigned boundaries_length(const struct code_blob *blob, uint64_t after);

/* The starts of up to max (at most BOUNDARIES_BEFORE_MAX) instructions before ip in the blob,
 * nearest first, by address; returns how many. */
size_t boundaries_before(const struct code_blob *blob, uint64_t ip, uint64_t *starts, size_t max);

#endif
