/*
 * Guests: of threads that live too short to be taken on one by one, a share is sampled from its
 * start.
 *
 * Where threads come and go at that rate, guests are taken in spans that are drawn at random
 * (census.c). In one every thread that starts sets a CPU timer on itself, with an entry out of a
 * pool that is prepared, and deletes it when it ends. The timer comes at each tick of the scheduler
 * that finds the thread running: such a tick stands for what lies between two, in all threads that
 * start in the time that the span stands for. It takes a sample of kind cpu, nothing else. How much
 * all of them used is known better, by their clocks, and the ticks together stand for that.
 *
 * Guests tell of a thread's first CPU time, GUEST_CPU_NS, alone. One that goes on, or waits for
 * long, is dismissed and taken on like any other; what it, and whoever was no guest, uses later is
 * told by its own ticks.
 *
 * An entry is with one party at a time, by its state (guests.c): moving it on makes it that one's.
 * Starting and ending threads neither wait nor allocate: whoever finds no entry is no guest, and
 * counted.
 */
#ifndef JXPERF_AGENT_WINDOW_GUESTS_H
#define JXPERF_AGENT_WINDOW_GUESTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct drain;
struct thread;

/* Session thread: a window begins. */
void guests_start(unsigned max_frames);

/* Session thread: threads that start before until_ns, monotonic, are guests; a tick of one stands
 * for tick_ns of CPU time. The first call of a window takes the pool from the thread table, or as
 * much as there is room for. */
void guests_open(uint64_t until_ns, uint64_t tick_ns);

/* In the thread, when it starts, and when it ends: was it a guest? */
void guests_begin(pid_t tid);
bool guests_end(pid_t tid);

/* Session thread: sends the records of a guest's entry, and gives it back to the pool when the
 * guest has ended or is to go; its counters are added to totals. *stays is the thread of one whose
 * first CPU time is over, else 0. 0, or -errno when the session cannot go on. */
int guests_follow(struct drain *drain, struct thread *t, uint64_t *totals, pid_t *stays);

/* Session thread, after handlers.stopping was set: no guest has a timer from now on, and none
 * comes. guests_follow once more for each, and the entries are like any others. */
void guests_stop(void);

/* Session thread. What guests have cost their threads, beside being told of and signals. */
uint64_t guests_cost_ns(void);
void guests_counters(uint64_t *counters);

/* From which CPU time on a thread is told that was no guest from its start and is taken on from
 * from_ns on: where there are guests, not before these tell no more. */
uint64_t guests_told_ns(uint64_t from_ns);

#endif
