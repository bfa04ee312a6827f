/*
 * The object profile of one window (DJXPerf, sections 4.2 and 5.2): allocation sites, what their
 * objects cost, and from where they are accessed, over all threads.
 *
 * A site is a class and a calling context of an allocation. An object stands for `weight` objects
 * of its site, so that counts and bytes are estimates without bias; an access counts its own weight
 * times its object's. Everything here outlives the tracking of single objects and is only read
 * after the window ended.
 *
 * Bounded by LIMIT_SITES and LIMIT_SITE_ACCESSES; what is beyond them is refused, and counted by
 * the caller.
 */
#ifndef JXPERF_PROFILE_OBJECT_PROFILE_H
#define JXPERF_PROFILE_OBJECT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "profile/class_profile.h"
#include "profile/sharing.h"
#include "profile/strata.h"

#define OBJECT_PROFILE_REGIONS 4 /* Jxp__Region */
#define OBJECT_PROFILE_FRESH   3

struct object_site {
	uint32_t class_name;  /* a string of the profile */
	uint32_t node;        /* of its tree: where objects are allocated */
	uint64_t allocations; /* sampled ones, */
	uint64_t untracked;   /* and those of them whose objects are too small to be tracked */
	double alloc_count;   /* estimates */
	double alloc_bytes;
	double alloc_squares;   /* of the bytes that each sampled one stands for */
	double untracked_bytes; /* of alloc_bytes, those of objects that are not tracked */
	double live_count;      /* of those tracked: not known to be dead */
	double live_bytes;
	/* Of these, the last ones allocated: [judgement % OBJECT_PROFILE_FRESH], see
	 * object_profile_judged. */
	struct fresh_objects {
		uint32_t judgement; /* the profile's when they were; others are not meant */
		double count;
		double bytes;
	} fresh[OBJECT_PROFILE_FRESH];
	uint64_t samples;  /* accesses */
	double metric;     /* their weights times their objects' */
	double variance;   /* of metric, as estimated: of two-stage sampling (docs/statistics.md) */
	double covariance; /* of metric with the sum over all accesses to the heap */
	double between;    /* variance of the share as windows that were merged differ; else 0 */
};

/* The accesses to one field of the objects of one site from one calling context. */
struct site_access {
	uint32_t site;
	uint32_t node;
	uint32_t location; /* of the profile; 0: not known */
	uint64_t samples;
	double metric;
};

/* One sampled access, as it tells itself. */
struct object_access {
	uint32_t node;
	uint32_t location;     /* of the profile; 0: not known */
	uint32_t class_name;   /* a string of the profile; 0: not known */
	uint64_t object_bytes; /* 0: not known */
	double weight;
};

/* All zero is an empty profile. */
struct object_profile {
	TABLE_OF(struct object_site, sites, site_count, site_table);
	TABLE_OF(struct site_access, accesses, access_count, access_table);
	TABLE_OF(struct site_sharing, sharing, sharing_count, sharing_table);
	struct access_sum
	    attributed; /* accesses to tracked objects; metric without their weights */
	struct access_sum
	    untracked[OBJECT_PROFILE_REGIONS]; /* by region: accesses to nothing tracked */
	struct access_sum unsettled; /* to the heap, when nobody knew where objects were */
	double estimated;            /* the sum of all sites' metric */
	double variance;             /* and of their variances */
	double heap_squares; /* of the weights of accesses to the heap, unsettled ones left out */
	struct class_profile classes; /* all accesses to the heap, by what they touch, */
	struct strata strata;         /* and by class and size: what sites' shares come from */
	struct accessed_sizes sizes;  /* ..., as they come; for the agent, and kept by no record */
	uint32_t judgement;           /* how often recent tracked objects were found dead */
	uint64_t judged_ns[OBJECT_PROFILE_FRESH]; /* when each of the last ones did, likewise */
	bool concurrent_gc;                       /* see object_profile_judged */
};

/* The last is of sums over all accesses, which are one row. */
extern const struct table_layout object_site_layout, site_access_layout, object_sums_layout;

void object_profile_release(struct object_profile *o);

/* The site's position in *site, new or known. 0, -ENOSPC or -ENOMEM. */
int object_profile_site(struct object_profile *o, uint32_t class_name, uint32_t node,
			uint32_t *site);

void object_profile_allocated(struct object_profile *o, uint32_t site, double weight,
			      uint64_t size_bytes);
/* The same, of an object that is not tracked: nobody will tell of its death. */
void object_profile_told(struct object_profile *o, uint32_t site, double weight,
			 uint64_t size_bytes);
/* How many of its objects one that is tracked stands for; infinite where none is. */
double object_site_weight(const struct object_site *site);
/* judgement: the profile's when the object was allocated. */
void object_profile_died(struct object_profile *o, uint32_t site, double weight,
			 uint64_t size_bytes, uint32_t judgement);

/*
 * A pass over the tracked objects has found some dead. So a collection has come to an end that
 * frees what is tracked, and an object that was there when it began is in use, as far as it looked.
 *
 * When it began is not known. One that stops the application begins after all that was allocated
 * before its end. Concurrent ones (concurrent_gc) take all for live that is allocated meanwhile,
 * and are told by several passes. Generational ZGC takes weak references for strong ones in young
 * collections, so that an object dies some of them after it was let go. But objects become old, and
 * are looked at, in the order in which they were allocated: what had been allocated before one that
 * is dead now has been looked at. youngest: the judgement (object_profile_died) of the one of those
 * dead that was allocated last.
 */
void object_profile_judged(struct object_profile *o, uint32_t youngest, uint64_t time_ns);

/* The time, CLOCK_MONOTONIC, before which objects were judged; 0: none was. */
uint64_t object_profile_judged_ns(const struct object_profile *o);

/* How much of what is not known to be dead was not judged. */
double object_profile_uncollected_count(const struct object_profile *o,
					const struct object_site *site);
double object_profile_uncollected_bytes(const struct object_profile *o,
					const struct object_site *site);

/* One access to an object of the site, which has the weight object_weight and had accesses of
 * object_metric, unweighted, before. 0; -ENOSPC or -ENOMEM when it is in the site's sums, but its
 * context could not be kept. */
int object_profile_access(struct object_profile *o, uint32_t site, const struct object_access *a,
			  double object_weight, double object_metric);

/* One access that met nothing tracked, or, unsettled, to the heap when nobody knew where objects
 * were. 0 or -ENOMEM. */
int object_profile_untracked(struct object_profile *o, unsigned region,
			     const struct object_access *a);
int object_profile_unsettled(struct object_profile *o, const struct object_access *a);

/* Nothing more will be allocated, die or be judged in what is restored from elsewhere: judged_ns is
 * object_profile_judged_ns there, and what a site has uncollected is told. */
void object_profile_close(struct object_profile *o, uint64_t judged_ns);
void object_site_set_uncollected(struct object_site *site, double count, double bytes);

/* All sampled accesses. */
uint64_t object_profile_samples(const struct object_profile *o);

/* The metric of all sampled accesses to the heap but unsettled ones. */
double object_profile_heap(const struct object_profile *o);

/* Are estimates' sums the larger ones, which fractions are of then? */
bool object_profile_is_overestimated(const struct object_profile *o);

/* Tells what all sites have of it. */
double object_profile_uncollected(const struct object_profile *o);

#endif
