/*
 * From an inspector's list of JVMs to what the planner knows of them.
 *
 * Keeps what each JVM had used of CPU time when it was seen last: its share is that of the time
 * since, and of its life when it is seen for the first time. Loop thread only.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_SIGHTINGS_H
#define JXPERF_DAEMON_SCHEDULE_SIGHTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fleet/selector.h"
#include "proto/jxperf.pb-c.h"

/* As many as an inspector lists; the planner keeps fewer. */
#define SIGHTINGS_MAX 4096

struct planner;
struct sighting;

/* All zero: there was no round yet. */
struct sightings {
	struct sighting *last; /* by pid */
	size_t count;
};

void sightings_release(struct sightings *s);

/* A whole round of the planner's, at boot_ns (CLOCK_BOOTTIME). 0, or -ENOMEM with nothing told. */
int sightings_tell(struct sightings *s, const Jxp__JvmList *list, uint64_t boot_ns,
		   struct planner *planner);

/* A look at these processes alone: those that list lacks are no JVMs. 0, or -ENOMEM with the JVMs
 * that were not known before left to the next round. */
int sightings_tell_some(struct sightings *s, const Jxp__JvmList *list, const pid_t *pids,
			size_t count, uint64_t boot_ns, struct planner *planner);

/* What rules and selectors go by, but for the JVM's name; it points into jvm. */
struct jvm_facts sightings_facts(const Jxp__Jvm *jvm);

/* The process has ended. */
void sightings_forget(struct sightings *s, pid_t pid, struct planner *planner);

bool sightings_know(const struct sightings *s, pid_t pid);

#endif
