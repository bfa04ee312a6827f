/*
 * Where the objects of each accessed class come from: its allocation sites, and which part of the
 * class's accesses goes to the objects of each.
 *
 * Where accesses met tracked objects of the class, these say it. In most windows hardly any do: a
 * sampled allocation is one of thousands, and a sampled access one of millions. Then the sampled
 * allocations of the class say it, and that is an inference: it takes for granted that an allocated
 * byte of the class is accessed as much wherever it was allocated, and that objects older than the
 * window came from where those of the window come from. Its interval is that of the sampled
 * allocations alone; how far the assumption holds is not in it.
 *
 * Sites are in the order of the lower limits of their parts.
 */
#ifndef JXPERF_DAEMON_REPORT_CONTENT_CLASS_ORIGINS_H
#define JXPERF_DAEMON_REPORT_CONTENT_CLASS_ORIGINS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/profile/estimate.h"
#include "daemon/report/content/class_ranking.h"
#include "daemon/report/content/object_ranking.h"

/* Accesses to tracked objects of a class that say where its objects come from. With fewer any
 * interval is nearly all of [0, 1]. */
#define CLASS_ORIGINS_TRACKED 5u

#define CLASS_ORIGINS_ASSUMPTION                                                                   \
	"a byte of the class is accessed as much wherever it was allocated, and objects that are " \
	"older than the window came from the same places"

enum origin_basis {
	ORIGIN_UNKNOWN,  /* no allocation of the class was sampled */
	ORIGIN_TRACKED,  /* of its accesses to tracked objects */
	ORIGIN_INFERRED, /* of its sampled allocations */
};

struct origin_site {
	uint32_t class_name;
	uint32_t site; /* in the object ranking */
	double share;  /* of the class's accesses, or of those to tracked objects */
	struct interval ci95;
};

struct class_origin {
	enum origin_basis basis;
	const struct origin_site *sites; /* the origins' */
	size_t count;
	uint64_t allocations; /* sampled ones, over the sites */
};

struct class_origins {
	struct class_origin *list; /* of each class of the class ranking */
	size_t count;
	struct origin_site *sites;
};

/* Of the same window; the rankings stay the caller's and are needed no more. 0 or -ENOMEM, and then
 * it is empty. */
int class_origins_init(struct class_origins *o, const struct class_ranking *classes,
		       const struct object_ranking *sites);
void class_origins_release(struct class_origins *o);

#endif
