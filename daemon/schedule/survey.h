/*
 * Which JVMs there are, told to the planner: by rounds and looks of inspectors, and by what the
 * broker says unasked.
 *
 * An inspector lists the JVMs: all of them in a *round*, and in a *look* those processes that the
 * broker has said may have become JVMs (daemon/schedule/newcomers.h). One of either at a time; one
 * without an answer in time is given up, and what was known goes on until the next. Where the
 * broker cannot say it, rounds are all there is, and more frequent.
 *
 * Has no timer: its owner asks when the next turn is due. Loop thread only. Queue, broker client
 * and planner are borrowed, and the pace, which is the usual one but in tests.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_SURVEY_H
#define JXPERF_DAEMON_SCHEDULE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

struct survey_pace {
	/* Between two rounds where they are all there is, and where they only find what looks did
	 * not. One costs about a millisecond a JVM, in a process of its own. */
	uint64_t round_ms;
	uint64_t slow_round_ms;
	uint64_t patience_ms; /* with a round or look */
};

extern const struct survey_pace survey_pace_usual;

struct broker_client;
struct broker_event;
struct inspections;
struct newcomers;
struct planner;
struct survey;

/* changed: the planner knows more, or the next turn is due at another time; from the loop. NULL
 * without memory. It rests at first. */
struct survey *survey_new(struct inspections *inspections, struct broker_client *broker,
			  struct planner *planner, const struct survey_pace *pace,
			  void (*changed)(void *arg), void *arg);
void survey_free(struct survey *s);

/* From now on, a round at once; what is under way is dropped, since rules may have changed. */
void survey_start(struct survey *s);

/* Rests from now on. */
void survey_stop(struct survey *s);

/* When the next turn is due, CLOCK_MONOTONIC; UINT64_MAX: it rests. */
uint64_t survey_due_ns(const struct survey *s);

/* Does what is due. */
void survey_turn(struct survey *s);

/* The JVMs that the planner knows are as old as they are now. */
void survey_pass_time(struct survey *s);

/* The broker is gone, and there again: another one, which knows nothing of what was asked before.
 */
void survey_lost_broker(struct survey *s);
void survey_has_broker(struct survey *s);

/* What the broker says unasked. */
void survey_take_event(struct survey *s, const struct broker_event *event);

const struct newcomers *survey_newcomers(const struct survey *s);

#endif
