/*
 * Says what a reader can do about a site's remote accesses, as far as the evidence goes.
 */
#ifndef JXPERF_REPORT_CONTENT_NUMA_ADVICE_H
#define JXPERF_REPORT_CONTENT_NUMA_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/numa_profile.h"

#define NUMA_ADVICE_BYTES 512

/* One or two sentences in text, naming nodes by their ids; pretouched: the heap's pages were
 * touched when the JVM started (AlwaysPreTouch). False when the site has too few remote accesses to
 * say something. */
bool numa_advice(const struct numa_site *s, const struct numa_topology *t, bool pretouched,
		 char text[NUMA_ADVICE_BYTES]);

#endif
