/*
 * Which loop the blocks around a loop work for.
 *
 * Compilers peel a first turn off, make ready for the turns to come, and test beforehand what no
 * turn needs to test then. All that lies in the loop around, where the machine code has loops, and
 * is the inner loop's by the bytecodes. Of short loops it is much of the time.
 */
#ifndef JXPERF_DAEMON_LOOPS_LOOP_WORK_H
#define JXPERF_DAEMON_LOOPS_LOOP_WORK_H

struct loop_common;
struct loop_mapping;

/* Fills works_for in, of loops that are told. told: by block, what its records and the traps
 * straight behind it have in common. */
void loop_work_find(struct loop_mapping *m, const struct loop_common *told);

#endif
