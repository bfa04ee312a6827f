/*
 * How long the instructions of Java bytecode are (JVMS 6.5). Pure.
 */
#ifndef JXPERF_COMMON_CODE_JAVA_OP_H
#define JXPERF_COMMON_CODE_JAVA_OP_H

#include <stdint.h>

enum {
	JAVA_LDC = 0x12,
	JAVA_LDC_W = 0x13,
	JAVA_ILOAD = 0x15,
	JAVA_ALOAD_0 = 0x2a,
	JAVA_IINC = 0x84,
	JAVA_TABLESWITCH = 0xaa,
	JAVA_LOOKUPSWITCH = 0xab,
	JAVA_RETURN = 0xb1,
	JAVA_GETSTATIC = 0xb2,
	JAVA_GETFIELD = 0xb4,
	JAVA_PUTFIELD = 0xb5,
	JAVA_INVOKEVIRTUAL = 0xb6,
	JAVA_INVOKESPECIAL = 0xb7,
	JAVA_INVOKESTATIC = 0xb8,
	JAVA_INVOKEINTERFACE = 0xb9,
	JAVA_INVOKEDYNAMIC = 0xba,
	JAVA_WIDE = 0xc4,
	JAVA_OPS = 0xca, /* that there are, from 0 on */
};

/* Where a switch's operands begin, from its own beginning. */
static inline uint32_t java_switch_pad(uint32_t bci)
{
	return 4 - bci % 4;
}

/* Targets of the switch at bci besides its default; -1 where it does not fit. */
int64_t java_switch_cases(const uint8_t *code, uint32_t size, uint32_t bci);

/* Bytes of the instruction at bci; 0 where there is none, or it does not fit. */
uint32_t java_op_length(const uint8_t *code, uint32_t size, uint32_t bci);

#endif
