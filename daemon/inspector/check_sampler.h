/*
 * The part of `check` about samplers: what hardware there is, which sampler auto picks and why, and
 * a self-test that samples known loads and stores with the events that a window would use.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_CHECK_SAMPLER_H
#define JXPERF_DAEMON_INSPECTOR_CHECK_SAMPLER_H

#include <stdint.h>

#include "common/perf/events.h"
#include "daemon/inspector/check_items.h"

/* Adds its items. Starts and ends a thread of its own; at most half a second with a PMU, nothing to
 * speak of without. */
void check_sampler(struct check_items *c);

struct sampler_trial {
	int error;         /* 0 or -errno of opening or mapping the event; else as below */
	uint64_t records;  /* samples that arrived */
	uint64_t read;     /* of which looked at: the newest each time the ring was read */
	uint64_t accesses; /* of these, loads or stores as the event promises */
	uint64_t right; /* of these, made by an instruction of the loop in the memory it works on */
};

/* Samples a loop of loads and stores with one event, in the calling thread. */
void sampler_trial_run(const struct perf_hardware_event *event, uint64_t period,
		       struct sampler_trial *trial);

#endif
