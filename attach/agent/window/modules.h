/*
 * The modules that keep something of a window beyond it, because handlers and callbacks that are
 * late may still look there: one row each in the table in modules.c, which says how a module is
 * made ready, emptied and given back, and what it may take of the target's memory. The build fails
 * when that comes to more than proto/footprint.h allows.
 *
 * Session thread, while no event is open.
 */
#ifndef JXPERF_AGENT_WINDOW_MODULES_H
#define JXPERF_AGENT_WINDOW_MODULES_H

#include "common/err.h"

/* Before a window: every module is ready, and nothing of an earlier window is left in it. 0 or
 * -errno. */
int modules_prepare(struct err *err);

/* After the JVMTI environment is gone: gives the modules' memory back, as far as it can be. */
void modules_release(void);

#endif
