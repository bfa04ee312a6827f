/*
 * The instructions of Java bytecode (JVMS 6.5) that others ask about, and how long they are. Pure.
 */
#ifndef JXPERF_COMMON_CODE_JAVA_OP_H
#define JXPERF_COMMON_CODE_JAVA_OP_H

#include <stdbool.h>
#include <stdint.h>

enum {
	JAVA_LDC = 0x12,
	JAVA_LDC_W = 0x13,
	JAVA_ILOAD = 0x15,
	JAVA_ALOAD = 0x19,
	JAVA_ALOAD_0 = 0x2a,
	JAVA_ALOAD_3 = 0x2d,
	JAVA_IALOAD = 0x2e,
	JAVA_AALOAD = 0x32,
	JAVA_SALOAD = 0x35,
	JAVA_ISTORE = 0x36,
	JAVA_ASTORE = 0x3a,
	JAVA_ISTORE_0 = 0x3b,
	JAVA_ASTORE_0 = 0x4b,
	JAVA_ASTORE_3 = 0x4e,
	JAVA_IASTORE = 0x4f,
	JAVA_LASTORE = 0x50,
	JAVA_DASTORE = 0x52,
	JAVA_AASTORE = 0x53,
	JAVA_SASTORE = 0x56,
	JAVA_DUP = 0x59,
	JAVA_SWAP = 0x5f,
	JAVA_IADD = 0x60,
	JAVA_IINC = 0x84,
	JAVA_I2S = 0x93,
	JAVA_LCMP = 0x94,
	JAVA_DCMPG = 0x98,
	JAVA_IFEQ = 0x99,
	JAVA_IFNE = 0x9a,
	JAVA_IF_ACMPNE = 0xa6,
	JAVA_GOTO = 0xa7,
	JAVA_JSR = 0xa8,
	JAVA_RET = 0xa9,
	JAVA_TABLESWITCH = 0xaa,
	JAVA_LOOKUPSWITCH = 0xab,
	JAVA_IRETURN = 0xac,
	JAVA_RETURN = 0xb1,
	JAVA_GETSTATIC = 0xb2,
	JAVA_PUTSTATIC = 0xb3,
	JAVA_GETFIELD = 0xb4,
	JAVA_PUTFIELD = 0xb5,
	JAVA_INVOKEVIRTUAL = 0xb6,
	JAVA_INVOKESPECIAL = 0xb7,
	JAVA_INVOKESTATIC = 0xb8,
	JAVA_INVOKEINTERFACE = 0xb9,
	JAVA_INVOKEDYNAMIC = 0xba,
	JAVA_NEW = 0xbb,
	JAVA_NEWARRAY = 0xbc,
	JAVA_ANEWARRAY = 0xbd,
	JAVA_ARRAYLENGTH = 0xbe,
	JAVA_ATHROW = 0xbf,
	JAVA_CHECKCAST = 0xc0,
	JAVA_INSTANCEOF = 0xc1,
	JAVA_MONITORENTER = 0xc2,
	JAVA_MONITOREXIT = 0xc3,
	JAVA_WIDE = 0xc4,
	JAVA_MULTIANEWARRAY = 0xc5,
	JAVA_IFNULL = 0xc6,
	JAVA_IFNONNULL = 0xc7,
	JAVA_GOTO_W = 0xc8,
	JAVA_JSR_W = 0xc9,
	JAVA_OPS = 0xca, /* that there are, from 0 on */
};

static inline bool java_op_loads_element(uint8_t op)
{
	return op >= JAVA_IALOAD && op <= JAVA_SALOAD;
}

static inline bool java_op_stores_element(uint8_t op)
{
	return op >= JAVA_IASTORE && op <= JAVA_SASTORE;
}

static inline bool java_op_calls(uint8_t op)
{
	return op >= JAVA_INVOKEVIRTUAL && op <= JAVA_INVOKEDYNAMIC;
}

/* Calls a part of the method, in class files of before Java 6. Execution comes back behind it. */
static inline bool java_op_is_jsr(uint8_t op)
{
	return op == JAVA_JSR || op == JAVA_JSR_W;
}

/* Does execution never go on with what follows? Behind a jsr it does so later. */
static inline bool java_op_ends(uint8_t op)
{
	return op == JAVA_GOTO || op == JAVA_GOTO_W || (op >= JAVA_RET && op <= JAVA_RETURN) ||
	       op == JAVA_ATHROW;
}

static inline int32_t java_s16(const uint8_t *p)
{
	return (int16_t)(p[0] << 8 | p[1]);
}

static inline int32_t java_s32(const uint8_t *p)
{
	return (int32_t)((uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]);
}

/* Where a switch's operands begin, from its own beginning. */
static inline uint32_t java_switch_pad(uint32_t bci)
{
	return 4 - bci % 4;
}

/* Targets of the switch at bci besides its default; -1 where it does not fit. */
int64_t java_switch_cases(const uint8_t *code, uint32_t size, uint32_t bci);

/* Bytes of the instruction at bci; 0 where there is none, or it does not fit. */
uint32_t java_op_length(const uint8_t *code, uint32_t size, uint32_t bci);

/* To how many places the instruction at bci leads besides the next one: of a branch, a switch or a
 * jsr. It fits. */
uint32_t java_op_targets(const uint8_t *code, uint32_t size, uint32_t bci);

/* One of these, the default of a switch first. Nobody vouches for its being one of the code. */
int64_t java_op_target(const uint8_t *code, uint32_t bci, uint32_t which);

#endif
