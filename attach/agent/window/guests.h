/*
 * Guests: threads that have no ticks of their own, because they live too short to be taken on, have
 * not been met yet, or hardly run.
 *
 * A timer on the process's CPU clock comes to whoever runs when it expires (Linux 6.4 on). A tick
 * that finds a thread with ticks of its own, or one that is none of Java's, is for nothing. Any
 * other thread is a guest for as long as the handler works: it is lent an entry out of a pool, in
 * which the sample stays until the session thread has sent it. Where the CPU time of such threads
 * goes is told by these ticks; how much it is by clocks: what the process used and nobody's own
 * ticks told (guests_steer). For the tick that comes first after the timer has expired gets it, and
 * processors whose ticks have another distance from those of others get more of them or less.
 *
 * An entry is with one party at a time, by its state (guests.c). Nobody waits or allocates in a
 * handler: who finds no entry is counted, and stood for by the next.
 *
 * Windows with ticks as a profile have them, where the kernel brings them to who runs.
 */
#ifndef JXPERF_AGENT_WINDOW_GUESTS_H
#define JXPERF_AGENT_WINDOW_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

struct drain;
struct thread;

/* Session thread: a window begins; ticks are so far apart by the process's CPU time, 0: there are
 * none. Without ticks also where something that they take cannot be had. */
void guests_start(unsigned max_frames, uint64_t apart_ns);

/* Are there ticks? Then the CPU time of a thread is told by its own from when it is taken on. */
bool guests_are_on(void);

/* Session thread: sends the sample in an entry, if there is one, and gives it back to the pool; its
 * counters are added to totals. 0, or -errno when the session cannot go on. */
int guests_follow(struct drain *drain, struct thread *t, uint64_t *totals);

/* Session thread, now and then: of the CPU time of the process since guests_start so much was told
 * by ticks of all kinds, and so much is that of threads that are none of Java's. */
void guests_steer(uint64_t process_ns, uint64_t told_ns, uint64_t strangers_ns);

/* Session thread, after handlers.stopping was set: no tick comes any more. guests_follow once more
 * for each, and the entries are like any others. */
void guests_stop(void);

/* Session thread. What ticks have cost that were for nothing, where one that the kernel sends takes
 * signal_ns. */
uint64_t guests_cost_ns(uint64_t signal_ns);
void guests_counters(uint64_t *counters);

#endif
