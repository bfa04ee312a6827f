/*
 * Wakes the session thread for what cannot wait until it looks again by itself: a pause of the
 * collector is over, and tracked objects have gone elsewhere; sampled allocations turn out to cost
 * more than expected; a handler asks for something (handlers_ask, which does its own writing). The
 * sender is a thread of the JVM and must not wait: it does without when the descriptor is just
 * being opened or closed.
 */
#ifndef JXPERF_AGENT_JVM_SESSION_WAKE_H
#define JXPERF_AGENT_JVM_SESSION_WAKE_H

/* Session thread. Opens an eventfd, unless an earlier window had to leave it; 0 or -errno. */
int session_wake_open(void);
void session_wake_close(void); /* safe when it is not open */

/* Readable once something was sent since session_wake_taken; -1 while closed. */
int session_wake_fd(void);
void session_wake_taken(void);

/* Any thread; does nothing while closed. */
void session_wake_send(void);

#endif
