/*
 * How many descriptors we may take from the target: its limit is the application's, and an
 * application that cannot open a socket because of its profiler has been broken by it.
 */
#ifndef JXPERF_AGENT_WINDOW_FD_ALLOWANCE_H
#define JXPERF_AGENT_WINDOW_FD_ALLOWANCE_H

/* Half of what is left below the soft RLIMIT_NOFILE at this moment; 0 when it cannot be told. */
unsigned fd_allowance(void);

/* The same as a pure function. */
unsigned fd_allowance_of(unsigned long limit, unsigned long open);

#endif
