/*
 * Which registers a call in compiled code hands over, and which a method was handed. No record of
 * either is kept.
 *
 * A call's are told by what was put into them on all ways to it and not looked at since, but as an
 * address, shortly before, as that of a call's receiver is. A method's are those that it reads
 * before it writes them: what it only hands on to another call where it came is missed.
 */
#ifndef JXPERF_PROFILE_LOOPS_ARGUMENTS_H
#define JXPERF_PROFILE_LOOPS_ARGUMENTS_H

#include <stdint.h>

#include "profile/loops/native_code.h"

/* The registers of both conventions, Java's and C's: rcx, rdx, rsi, rdi, r8, r9; xmm0 to xmm7. */
#define ARGUMENTS_GENERAL UINT64_C(0x3c6)
#define ARGUMENTS_VECTOR  (UINT64_C(0xff) << 16)

/* The arguments of the k-th instruction, which is a call at the end of block b: a set of registers.
 */
uint64_t call_arguments(const struct native_code *n, uint16_t b, uint32_t k);

/* The arguments of the method that begins at an instruction, at an offset. 0; -ENOMEM. */
int method_arguments(const struct native_code *n, uint32_t entry, uint64_t *registers);

#endif
