/*
 * Accesses to what a report lists (allocation sites, fields), by who makes them: those of one
 * calling context, be its frames interpreted or compiled, are one, and of each owner the costliest
 * comes first.
 */
#ifndef JXPERF_DAEMON_REPORT_CONTENT_ACCESS_RANKING_H
#define JXPERF_DAEMON_REPORT_CONTENT_ACCESS_RANKING_H

#include <stddef.h>
#include <stdint.h>

struct ranked_access {
	uint32_t owner;    /* its place in the report's list */
	uint32_t node;     /* the oldest of the profile's with the same path */
	uint32_t location; /* of the profile; 0: not told, or the owner's */
	uint64_t samples;
	double metric;
};

/* Adds up those of the same owner, context and location, and brings them into order: by owner, the
 * costliest first. Returns how many are left. */
size_t ranked_accesses_merge(struct ranked_access *accesses, size_t count);

#endif
