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

bool zydis_init(ZydisDecoder *decoder);

/* The instruction at bytes[0..available), with all of its operands, hidden ones too:
 * ops[ZYDIS_MAX_OPERAND_COUNT]. False when there is none. */
bool zydis_decode(const uint8_t *bytes, size_t available, ZydisDecodedInstruction *in,
		  ZydisDecodedOperand *ops);

#endif
