/*
 * News of threads, from the JVM's threads to the session thread: who started, who ended, whether
 * the JVM died. A bounded queue under a mutex that is held for a few instructions; an eventfd wakes
 * the reader. What does not fit the queue is not lost: the reader is told to enumerate anew. Where
 * threads come and go by the thousand the reader does not listen, and finds those that stay when it
 * looks by itself: then a start and an end cost a thread a look at a word each.
 */
#ifndef JXPERF_AGENT_JVM_ROSTER_H
#define JXPERF_AGENT_JVM_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Opens the eventfd; 0 or -errno. The queue is empty afterwards. */
int roster_open(void);
void roster_close(void);
int roster_fd(void); /* readable when there is news */

/* Session thread: are threads that start to be told of one by one? Yes when it is opened. */
void roster_listen(bool listening);

void roster_add(pid_t tid);    /* any thread; a no-op while closed, or nobody listens */
void roster_remove(pid_t tid); /* it ended before it was taken */
void roster_vm_died(void);

/* Takes up to count started tids; *overflowed when some were dropped since the last call. */
size_t roster_take(pid_t *tids, size_t count, bool *overflowed);
bool roster_vm_is_dead(void);

#endif
