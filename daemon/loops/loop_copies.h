/*
 * Loops that come one after the other, in one or in none.
 *
 * Compilers make copies of a loop: before, main, after. Only the first sets the counter, the others
 * go on with it; so what tells of one copy tells of all. Where there are as many rows of copies as
 * there are loops of the bytecodes, these are what they are in the order in which they run, if what
 * they do does not speak against it.
 */
#ifndef JXPERF_DAEMON_LOOPS_LOOP_COPIES_H
#define JXPERF_DAEMON_LOOPS_LOOP_COPIES_H

#include <stdbool.h>

struct loop_mapping;

/* Of the loops straight inside one of the graph, or in none (FLOW_NO_LOOP), which is told already:
 * tells those that are not. */
void loop_copies_find(struct loop_mapping *m, unsigned around);

/* Does a loop beside this one set the counter that both go on with? Then it goes on with that, and
 * not with the loop's around them. */
bool loop_copies_anew(const struct loop_mapping *m, unsigned loop);

#endif
