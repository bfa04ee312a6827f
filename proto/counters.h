/*
 * The agent's counters, one row each: what reports and metrics say of them.
 */
#ifndef JXPERF_PROTO_COUNTERS_H
#define JXPERF_PROTO_COUNTERS_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"

struct counter {
	Jxp__Counter counter;
	const char *name;     /* "ring_full": its key in JSON */
	const char *sentence; /* for people, after the number; NULL: it has no line of its own */
	bool lost;            /* counts events that were lost between a thread and the profile */
	struct {
		unsigned place;    /* among the stages, from 1 */
		const char *label; /* "agent_ring_full"; NULL: it is none */
	} stage;                   /* of jxperf_dropped_events_total */
};

/* COUNTER_MAX rows, in the order in which people read them. */
extern const struct counter counter_table[];

#define COUNTER_STAGES 26

/* "unknown" for what is none. */
const char *counter_name(Jxp__Counter counter);

/* Pairs that are complete, by a trap or foretold. counters has JXP__COUNTER__COUNTER_MAX. */
uint64_t counters_pairs(const uint64_t *counters);

/* Each place from 1 to COUNTER_STAGES has a counter. */
const struct counter *counter_of_stage(unsigned place);

#endif
