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
struct window_asker;
struct window_request;

/* Changes list, which is one that was unpacked. scheduler: NULL where there are no schedules.
 * Without memory it says less. */
void listed_jvms_complete(Jxp__JvmList *list, const struct engine *engine,
			  const struct scheduler *scheduler);

/* The name that the rules gave the JVM when it was looked at last goes into asked, so that whoever
 * asks for a window of it adds to the same figures; unless it was another one that had the pid, or
 * is somebody's that asker may not see. Without schedules, and so without looks, the window has
 * the name that it has without rules. */
void listed_jvms_name(struct window_request *asked, pid_t pid, const struct window_asker *asker,
		      const struct scheduler *scheduler);

#endif
