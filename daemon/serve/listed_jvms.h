/*
 * An inspector's list of JVMs, made ready for the user who asked for it: what only the engine knows
 * is added, and what only the engine is to know is taken out.
 */
#ifndef JXPERF_DAEMON_SERVE_LISTED_JVMS_H
#define JXPERF_DAEMON_SERVE_LISTED_JVMS_H

#include <sys/types.h>

#include "proto/jxperf.pb-c.h"

struct engine;
struct scheduler;

/* Changes list, which is one that was unpacked. scheduler: NULL where there are no schedules.
 * Without memory it says less. */
void listed_jvms_complete(Jxp__JvmList *list, const struct engine *engine,
			  const struct scheduler *scheduler);

#endif
