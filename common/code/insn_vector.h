/*
 * What an instruction does with vector registers: which it reads and writes, and what their
 * elements are. For finding out what a plain vector move moves (element.h). Pure;
 * async-signal-safe.
 */
#ifndef JXPERF_COMMON_CODE_INSN_VECTOR_H
#define JXPERF_COMMON_CODE_INSN_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/insn.h"

/* Sets of registers: bit i is xmm, ymm and zmm i. */
struct insn_vector {
	uint8_t length;
	enum insn_flow flow;
	bool reads_memory;
	bool zeroes; /* xor of a register with itself: reads nothing, really */
	uint32_t reads;
	uint32_t writes;
	/* As operands of arithmetic, conversions, comparisons and broadcasts that say what their
	 * elements are. Moves, logic, shuffles and blends do not: compilers use those of the
	 * integers for floats and the other way round. */
	uint32_t float32;
	uint32_t float64;
	uint32_t integer;
};

/* Decodes the instruction at bytes[0..available). False when there is none. */
bool insn_vector_decode(const uint8_t *bytes, size_t available, struct insn_vector *out);

#endif
