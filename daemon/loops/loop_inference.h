/*
 * Loops that no debug information tells of: what is left for them to be, by what lies around them,
 * beside them and in them. And which loop the blocks around a loop work for.
 */
#ifndef JXPERF_DAEMON_LOOPS_LOOP_INFERENCE_H
#define JXPERF_DAEMON_LOOPS_LOOP_INFERENCE_H

struct loop_common;
struct loop_mapping;

void loop_inference_run(struct loop_mapping *m);

/* Fills works_for in, of loops that are told. Compilers peel a first turn off, make ready for the
 * turns to come, and test beforehand what no turn needs to test then. All that lies in the loop
 * around, where the machine code has loops, and is the inner loop's by the bytecodes; of short
 * loops it is much of the time. told: by block, what its records and the traps straight behind it
 * have in common. */
void loop_inference_work(struct loop_mapping *m, const struct loop_common *told);

#endif
