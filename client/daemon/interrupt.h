/*
 * SIGINT, SIGTERM and SIGHUP as a descriptor to poll, so that a signal is an event among others: it
 * ends a window early, and a private daemon is stopped on every way out.
 *
 * One per process, before anything is started; single thread.
 */
#ifndef JXPERF_CLIENT_DAEMON_INTERRUPT_H
#define JXPERF_CLIENT_DAEMON_INTERRUPT_H

#include <signal.h>

#include "common/err.h"

struct interrupt {
	int fd; /* readable while a signal waits; -1 when not in use */
	sigset_t previous;
};

/* Blocks the signals. 0 or -errno. */
int interrupt_init(struct interrupt *in, struct err *err);

/* Takes one waiting signal: its number, or 0 when none waits. */
int interrupt_take(struct interrupt *in);

/* Gives the signals their previous action back; a waiting one takes effect now. */
void interrupt_release(struct interrupt *in);

#endif
