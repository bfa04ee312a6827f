/*
 * Which events sample loads and stores precisely on this machine: Intel PEBS, named through
 * libpfm4, or AMD IBS, described by its sysfs directory.
 *
 * The selection is a function of the host description alone, so that machines we do not have are
 * tested as directories. It opens nothing: whether the kernel lets somebody use the events is
 * another question (machine/sampler_choice.h). Engine and broker each make it for
 * themselves; only the number of an event passes between them, so nobody can have another event
 * opened.
 */
#ifndef JXPERF_MACHINE_PMU_H
#define JXPERF_MACHINE_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/perf/events.h"
#include "proto/jxperf.pb-c.h"

#define PMU_REASON_BYTES 192

struct pmu_host {
	const char *devices; /* the directory /sys/bus/event_source/devices, or one like it */
	/* Type and config* of a named event into attr: 0; -ENOENT when this processor does not
	 * have it; -ELIBACC without libpfm4. */
	int (*encode)(const char *event, struct perf_event_attr *attr);
};

struct pmu_selection {
	Jxp__Sampler sampler; /* SAMPLER_PEBS or SAMPLER_IBS; SAMPLER_AUTO: there is neither */
	size_t event_count;
	struct perf_hardware_event events[PERF_HARDWARE_EVENTS];
	uint64_t period;               /* of each event, in counted operations */
	char reason[PMU_REASON_BYTES]; /* which events, or why none, for people */
};

/* The best selection, PEBS before IBS. out is always set. */
void pmu_select(const struct pmu_host *host, struct pmu_selection *out);

/* The selection of this machine, made by the first call. One thread. */
const struct pmu_selection *pmu_selection(void);

/* The event that samples accesses to objects by its libpfm4 name ("MEM_LOAD_RETIRED:L1_MISS"). 0;
 * -ENOENT when this processor does not have it; -ELIBACC without libpfm4. */
int pmu_access_event(const struct pmu_host *host, const char *name,
		     struct perf_hardware_event *out);

/* The same on this machine. */
int pmu_access_event_here(const char *name, struct perf_hardware_event *out);

/* Encodes an event with libpfm4, for user mode. As pmu_host.encode. One thread. */
int pmu_encode(const char *event, struct perf_event_attr *attr);

#endif
