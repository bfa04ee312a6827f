/*
 * Is a JVM being profiled? Told from outside, by the name that the agent's thread has while a
 * session lasts, whichever daemon's it is. What a thread is called is the process's own word: one
 * that lies is not profiled, and nobody else's.
 *
 * Waits for nobody. No state; any thread may call.
 */
#ifndef JXPERF_ATTACH_PROCESS_SESSION_H
#define JXPERF_ATTACH_PROCESS_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

/* False also where its threads cannot be seen. */
bool session_runs(pid_t pid);

#endif
