/*
 * Tells the session thread that a pause of the collector is over, so that it looks at once where
 * tracked objects have gone. The sender is the thread that makes the pause and must not wait: it
 * does without when the descriptor is just being opened or closed.
 */
#ifndef JXPERF_AGENT_JVM_GC_WAKE_H
#define JXPERF_AGENT_JVM_GC_WAKE_H

/* Session thread. Opens an eventfd; 0 or -errno. */
int gc_wake_open(void);
void gc_wake_close(void); /* safe when it is not open */

/* Readable once a pause has ended since gc_wake_taken; -1 while closed. */
int gc_wake_fd(void);
void gc_wake_taken(void);

/* Any thread; does nothing while closed. */
void gc_wake_send(void);

#endif
