/*
 * From an inspector's list of JVMs to what the planner knows of them.
 *
 * Keeps of each round what each JVM had used of CPU time: its share is that of the time since the
 * round before, and of its life when it is seen for the first time. Loop thread only.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_SIGHTINGS_H
#define JXPERF_DAEMON_SCHEDULE_SIGHTINGS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/jxperf.pb-c.h"

/* As many as an inspector lists; the planner keeps fewer. */
#define SIGHTINGS_MAX 4096

struct planner;
struct sighting;

/* All zero: there was no round yet. */
struct sightings {
	struct sighting *last; /* by pid */
	size_t count;
	uint64_t boot_ns; /* when that was */
};

void sightings_release(struct sightings *s);

/* A whole round of the planner's, at boot_ns (CLOCK_BOOTTIME). 0, or -ENOMEM with nothing told. */
int sightings_tell(struct sightings *s, const Jxp__JvmList *list, uint64_t boot_ns,
		   struct planner *planner);

#endif
