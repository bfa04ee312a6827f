/*
 * Which sampler a window uses: the hardware ones where the machine has them and the kernel lets us
 * use them, the clock everywhere else.
 */
#ifndef JXPERF_MACHINE_SAMPLER_CHOICE_H
#define JXPERF_MACHINE_SAMPLER_CHOICE_H

#include "common/err.h"
#include "machine/pmu.h"
#include "proto/jxperf.pb-c.h"

/* Room for PMU_REASON_BYTES and words around it. */
#define SAMPLER_REASON_BYTES 320

/* A machine offers these. */
struct sampler_hardware {
	const struct pmu_selection *selection;
	int error; /* of opening its events: 0 or -errno; -ENOENT when it has none */
};

struct sampler_choice {
	Jxp__Sampler sampler; /* never SAMPLER_AUTO */
	/* A hardware sampler's, that of sampler_hardware; NULL for the clock. */
	const struct pmu_selection *hardware;
	char reason[SAMPLER_REASON_BYTES];
};

/* Opens the events of the selection on the calling thread, never enabled, and closes them. 0 or
 * -errno of the first that cannot be opened; -ENOENT when there are none. */
int sampler_try(const struct pmu_selection *selection);

/* The same for this machine's own selection, tried at the first call only: while the caller may
 * still have the privileges that it takes. Loop thread. */
int sampler_try_once(void);

/* Somebody with more privileges has tried that, with this result. Loop thread. */
void sampler_tried(int result);

/* Opens one event in place of the selection's, called name, as sampler_try does. 0, or -errno with
 * one line for the user. */
int sampler_try_event(const char *name, const struct perf_hardware_event *event, uint64_t period,
		      struct err *err);

/* SAMPLER_AUTO takes the best that works: pebs, ibs, clock; with a period in time (period_asked) it
 * is the clock. 0, or -EINVAL for a value that is no sampler or cannot have such a period, or
 * -EOPNOTSUPP for one that does not work here. */
int sampler_choose(Jxp__Sampler wanted, bool period_asked, const struct sampler_hardware *hardware,
		   struct sampler_choice *out, struct err *err);

/* Tells what a reader of the sampler's fractions has to know, or NULL. */
const char *sampler_note(Jxp__Sampler sampler);

#endif
