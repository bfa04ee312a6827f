/*
 * The numbers of registers: those of general ones in encoding order, in which instructions, plans
 * and walks over code name them, and sets of them with vectors, masks and flags. -1 is no register.
 *
 * The kernel hands registers over in another order, which register_value alone knows. Pure;
 * async-signal-safe.
 */
#ifndef JXPERF_COMMON_CODE_REGISTERS_H
#define JXPERF_COMMON_CODE_REGISTERS_H

#include <stdint.h>
#include <ucontext.h>

#define GENERAL_REGISTERS 16

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, XMM0 };

/* Sets of registers, vectors behind the general ones and whatever their width. */
#define REGISTER_GENERAL(i) (UINT64_C(1) << (i))
#define REGISTER_VECTOR(i)  (UINT64_C(1) << (16 + (i)))
#define REGISTER_MASK(i)    (UINT64_C(1) << (48 + (i)))
#define REGISTER_FLAGS      (UINT64_C(1) << 56)
#define REGISTER_GENERALS   UINT64_C(0xffff)
#define REGISTER_VECTORS    (UINT64_C(0xffffffff) << 16)
#define REGISTER_MASKS      (UINT64_C(0xfe) << 48) /* k0 masks nothing */

/* gregset_t index of each general register (sys/ucontext.h). */
extern const int8_t register_gregs[GENERAL_REGISTERS];

static inline uint64_t register_value(const gregset_t regs, int reg)
{
	return (uint64_t)regs[register_gregs[reg]];
}

static inline void register_set(gregset_t regs, int reg, uint64_t value)
{
	regs[register_gregs[reg]] = (greg_t)value;
}

#endif
