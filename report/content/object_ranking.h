/*
 * The allocation sites of a window as reports show them: first those that certainly cost most, by
 * the lower limits of their shares, each with the
 * contexts that access its objects.
 *
 * The profile tells the same path apart when one of its frames ran interpreted first and compiled
 * later; here such paths are one, shown as they were first seen.
 */
#ifndef JXPERF_REPORT_CONTENT_OBJECT_RANKING_H
#define JXPERF_REPORT_CONTENT_OBJECT_RANKING_H

#include <stddef.h>
#include <stdint.h>

#include "profile/site_shares.h"
#include "profile/window/result.h"

/* Accesses to what a report lists (allocation sites, fields), by who makes them: those of one
 * calling context, be its frames interpreted or compiled, are one, and of each owner the costliest
 * comes first. */
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

struct ranked_site {
	struct object_site sum;
	double fraction; /* of all accesses to the heap (profile/site_shares.h) */
	struct interval ci95;
	double of_class; /* likewise: of its class's accesses to tracked objects */
	struct interval of_class_ci95;
	size_t first_access; /* in the ranking's accesses, most expensive first */
	size_t access_count;
	struct numa_site numa; /* all zero when NUMA was not measured, or nothing was placed */
	struct site_sharing sharing; /* all zero of windows that were kept before they had it */
};

struct object_ranking {
	struct ranked_site *sites;
	size_t count;
	struct ranked_access *accesses; /* of sites, by position */
	size_t access_count;
	double sum;               /* of the sites' fractions */
	struct class_rests rests; /* and what they leave of each class */
};

/* 0 or -ENOMEM. */
int object_ranking_init(struct object_ranking *r, const struct window_result *w);
/* The access_count contexts of one of its sites; NULL for none. */
const struct ranked_access *object_ranking_accesses(const struct object_ranking *r,
						    const struct ranked_site *site);

void object_ranking_release(struct object_ranking *r);

#endif
