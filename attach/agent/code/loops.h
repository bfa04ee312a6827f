/*
 * The loops of compiled code: which innermost loop an instruction lies in, and what that loop does
 * itself, outside of the loops in it. And its blocks of straight code.
 *
 * Natural loops of the method's flow graph (common/code/flow_graph.h). The copies that C2 makes of
 * a loop are loops of their own here; each makes what the loop makes.
 *
 * A nest is made when it is first asked for, in the handler, once for each compiled method: about
 * 12 ns a byte. Later windows find it again, and hold it against the code, which takes a fiftieth
 * of that. Async-signal-safe.
 */
#ifndef JXPERF_AGENT_CODE_LOOPS_H
#define JXPERF_AGENT_CODE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/code/codemap.h"
#include "common/code/opcode.h"
#include "attach/agent/code/search.h"

/* Its tables: nests, and room for making one. */
#define LOOPS_NESTS_BYTES   (1536u * 1024u)
#define LOOPS_SCRATCH_BYTES (416u * 1024u)
#define LOOPS_BYTES         (LOOPS_NESTS_BYTES + LOOPS_SCRATCH_BYTES)

/* No loop. Loops are numbered from 1. */
#define LOOP_NONE 0u

struct loop_nest;

/* Before a window: reserves the tables, once per process, and takes back what was lent. 0 or
 * -ENOMEM. */
int loops_init(void);

/* After a window: gives back what making a nest takes, and the nests where they fill more than half
 * of their room. The others are lent: they stay as long as the kernel has no other use for their
 * pages (MADV_FREE), and count for the next window if all of them are still what they were. A
 * handler that is late is left with what it works on. */
void loops_release(void);

/* The loops of a compiled method or stub. NULL when they cannot be told: the method is too large,
 * the tables are full, or another thread's handler is making one at this moment. */
const struct loop_nest *loops_of(const struct code_blob *blob);

/* The innermost loop that ip lies in. */
unsigned loop_at(const struct loop_nest *nest, uint64_t ip);

/* Where the straight code begins that ip lies in, from which each instruction up to ip runs if the
 * first one does: jumps lead to such places alone. 0 outside of the code. */
uint64_t loop_block(const struct loop_nest *nest, uint64_t ip);

/* Where it is entered: its identity. 0 for LOOP_NONE. */
uint64_t loop_header(const struct loop_nest *nest, unsigned loop);

/* Is it, or is it at any depth in, the loop that is entered at header? */
bool loop_has_around(const struct loop_nest *nest, unsigned loop, uint64_t header);

/* Does ip lie in the code, and there in the loop that is entered at header? */
bool loop_covers(const struct code_blob *blob, uint64_t header, uint64_t ip);

/* The first access of the type, by address, of the loop's own, to its frame only where it makes no
 * others; 0 when it makes none at all. */
uint64_t loop_access(const struct loop_nest *nest, unsigned loop, enum access_type type);

/* Does the loop itself make accesses of the type to its frame, and no others? */
bool loop_is_framed(const struct loop_nest *nest, unsigned loop, enum access_type type);

/* Does any loop of the method make accesses of the type? */
bool loops_make(const struct loop_nest *nest, enum access_type type);

/* Does the loop itself call what returns? */
bool loop_calls(const struct loop_nest *nest, unsigned loop);

/* Is this instruction an access of the type that is the program's own? The JVM's are not: polls for
 * safepoints, which read the first word of a page (SafepointMechanism), probes of the stack far
 * below its pointer (bang_stack_with_offset), and what compiled code keeps in the JavaThread, to
 * which r15 points. */
bool loop_counts(const struct insn *in, enum access_type type);

/* The same of the instruction at ip, taken apart; it is decoded as a whole only where that is not
 * enough. */
bool loop_counts_at(uint64_t ip, const struct opcode *o, enum access_type type);

/* Is the access to the frame? Compiled code keeps there what it has no register for. */
bool loop_is_spill(const struct insn *in);
bool loop_is_spill_at(const struct opcode *o);

/* Does a call not come back? Of a callee that is not known, a trap request in its block tells. */
bool loop_call_ends(uint64_t callee, bool trap_request);

#endif
