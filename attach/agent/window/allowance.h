/*
 * How much we may take of what has a limit that is the application's.
 *
 * Descriptors of the target: an application that cannot open a socket because of its profiler has
 * been broken by it. CPU timers: each is one of the signals that the target's user may have queued
 * (RLIMIT_SIGPENDING), in all processes; where none is left, sigqueue and timer_create fail in any.
 *
 * Half of what is left below the soft limit at this moment; 0 when it cannot be told.
 */
#ifndef JXPERF_AGENT_WINDOW_ALLOWANCE_H
#define JXPERF_AGENT_WINDOW_ALLOWANCE_H

unsigned fd_allowance(void);
unsigned timer_allowance(void);

/* The same as pure functions; status: the text of /proc/PID/status. */
unsigned fd_allowance_of(unsigned long limit, unsigned long open);
unsigned timer_allowance_of(const char *status);

#endif
