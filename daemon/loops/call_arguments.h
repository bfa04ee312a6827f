/*
 * Which registers a call in compiled code hands over. No record of it is kept: told by what was put
 * into them on all ways to the call and not looked at since, but as an address, shortly before, as
 * that of a call's receiver is.
 */
#ifndef JXPERF_DAEMON_LOOPS_CALL_ARGUMENTS_H
#define JXPERF_DAEMON_LOOPS_CALL_ARGUMENTS_H

#include <stdint.h>

#include "daemon/loops/native_code.h"

/* Of both conventions, Java's and C's: rcx, rdx, rsi, rdi, r8, r9; xmm0 to xmm7. */
#define CALL_ARGUMENTS        UINT64_C(0x3c6)
#define CALL_VECTOR_ARGUMENTS (UINT64_C(0xff) << 16)

/* Of the k-th instruction, which is a call at the end of block b: a set of registers. */
uint64_t call_arguments(const struct native_code *n, uint16_t b, uint32_t k);

#endif
