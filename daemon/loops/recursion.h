/*
 * A method whose compiled code calls itself: where that begins, and by which arguments one call
 * differs from another.
 *
 * Where a method begins no debug information says; its own calls lead there. One by an inline cache
 * leads to the check before it. Arguments are the registers of Java's calling convention (x86_64:
 * rsi, rdx, rcx, r8, r9, rdi) that are read before they are written: what is only handed on to
 * another call where it came is missed.
 */
#ifndef JXPERF_DAEMON_LOOPS_RECURSION_H
#define JXPERF_DAEMON_LOOPS_RECURSION_H

#include <stdint.h>

#include "daemon/loops/loop_kind.h"
#include "daemon/loops/native_code.h"
#include "proto/limits.h"

struct recursion {
	uint32_t entry; /* offset of its first instruction */
	unsigned turn_input_count;
	struct loop_input turn_inputs[LIMIT_PLAN_TURN_INPUTS];
};

/* 1 where it calls itself, 0 where not, -ENOMEM. */
int recursion_find(struct recursion *r, const struct native_code *n);

#endif
