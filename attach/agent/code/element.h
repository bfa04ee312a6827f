/*
 * Tells what kind of values an access moves: integers, floats or doubles.
 *
 * Most instructions say so. Plain moves of vector registers (vmovdqu, vmovups, movq, ...) do not:
 * C2 moves the elements of float and double arrays with the same instructions as those of int and
 * long arrays. There, the code around the access tells: what a load loads is looked for forward,
 * along the straight line of execution, in the operands of an arithmetic instruction; for what a
 * store stores its producer is looked for backward, too. Moves, logic and shuffles are looked
 * through. Bounded, and remembered per instruction.
 *
 * Evidence that is not found means integers, compared exactly: that is so for copies, which move
 * whatever the array holds (System.arraycopy, memcpy), and for values that were spilled or produced
 * beyond a jump or a call.
 *
 * Async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_ELEMENT_H
#define JXPERF_AGENT_CODE_ELEMENT_H

#include <stdint.h>

#include "common/code/insn.h"

/* For 4,096 remembered answers. */
#define ELEMENT_BYTES (4096u * sizeof(uint64_t))

/* The explicit memory operand of an instruction, whose ip counts, moves these; ELEMENT_INTEGER
 * without one.
 */
enum insn_element element_of_access(const struct insn *insn);

/* Forgets what was remembered. */
void element_clear(void);

#endif
