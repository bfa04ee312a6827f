/*
 * Which loop of the bytecodes each loop of the machine code is.
 *
 * A place that the JVM's debug information tells of lies in loops of its method and of those that
 * it was inlined into, from the outermost on: its path. A loop of the machine code is the innermost
 * that all its places have in common. Where there are no places in it, the uncommon traps that it
 * is left by tell, then the loops in and around it, then what other loops there are to choose from.
 * What is still not known stays unknown.
 */
#ifndef JXPERF_DAEMON_LOOPS_LOOP_MAPPING_H
#define JXPERF_DAEMON_LOOPS_LOOP_MAPPING_H

#include "daemon/loops/loop_path.h"

/* hints: by loop of the graph. They stay. 0; -ENOMEM. */
int loop_mapping_make(struct loop_mapping *m, const struct native_code *n,
		      const struct loop_hint *hints);
void loop_mapping_release(struct loop_mapping *m);

#endif
