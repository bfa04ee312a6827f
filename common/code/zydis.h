/*
 * Zydis, set up for the code that HotSpot makes: 64-bit mode. Async-signal-safe: it neither
 * allocates nor keeps state.
 */
#ifndef JXPERF_COMMON_CODE_ZYDIS_H
#define JXPERF_COMMON_CODE_ZYDIS_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/code/opcode.h"

bool zydis_init(ZydisDecoder *decoder);

/* The instruction at bytes[0..available), with all of its operands, hidden ones too:
 * ops[ZYDIS_MAX_OPERAND_COUNT]. False when there is none. */
bool zydis_decode(const uint8_t *bytes, size_t available, ZydisDecodedInstruction *in,
		  ZydisDecodedOperand *ops);

/* The number of a general purpose register, or of the one that it is a part of, in encoding order;
 * -1: it is none. */
int zydis_general(ZydisRegister reg);

/* The memory operand's registers, displacement and size. */
void zydis_take_operand(const ZydisDecodedOperand *op, struct operand *out);

/* Prefetches, cache control and multi-byte nops name memory and do not access it; fences and
 * XSAVE-like instructions are never what we look for. */
bool zydis_names_memory_only(const ZydisDecodedInstruction *in);

#endif
