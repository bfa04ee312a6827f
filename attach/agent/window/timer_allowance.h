/*
 * How many CPU timers we may take. Each is one of the signals that the target's user may have
 * queued (RLIMIT_SIGPENDING), in all processes: where none is left, sigqueue and timer_create fail
 * in any.
 */
#ifndef JXPERF_AGENT_WINDOW_TIMER_ALLOWANCE_H
#define JXPERF_AGENT_WINDOW_TIMER_ALLOWANCE_H

/* Half of what is left below the soft limit at this moment; 0 when it cannot be told. */
unsigned timer_allowance(void);

/* The same, of the text of /proc/PID/status. */
unsigned timer_allowance_of(const char *status);

#endif
