/*
 * All accesses to the heap, by the class and the size of the object as the access itself tells
 * them, and in each such stratum those that met tracked objects, by site: what the shares of
 * allocation sites are estimated from (profile/site_shares.h).
 *
 * A stratum is a class with a size class, the binary logarithm of the object's bytes rounded down,
 * and the chance that such an object had to be tracked when it was accessed: a weight class, by
 * factors of 4 of what the last one weighed that was allocated before. Sampling is paced, so that
 * chance may be 1 in one second and a thousandth in the next. Stratum 0 has what does not tell its
 * class (class 0), and what no longer fits.
 *
 * Bounded by LIMIT_STRATA and LIMIT_STRATUM_SITES; accesses for which there is no room are counted
 * in refused.
 */
#ifndef JXPERF_PROFILE_STRATA_H
#define JXPERF_PROFILE_STRATA_H

#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "profile/access_sum.h"

/* Accesses to tracked objects. With access weights a and object weights w: */
struct tracked_sums {
	uint64_t samples;
	double metric;     /* sum of a w, which estimates that of a over all accesses, */
	double variance;   /* as estimated, */
	double covariance; /* and that with the sum of a over all sampled accesses */
};

struct stratum {
	uint32_t class_name;        /* a string of the profile; 0: not known */
	uint32_t size_class;        /* 0: not known */
	uint32_t weight_class;      /* 0: none had been allocated; below STRATA_WEIGHT_CLASSES */
	double weight;              /* of weight class 0: what the last one weighed, or 0 */
	struct access_moments all;  /* sampled accesses */
	struct access_moments seen; /* of these, when it was known where tracked objects are */
	struct tracked_sums tracked;
};

struct stratum_site {
	uint32_t stratum; /* position */
	uint32_t site;    /* of the object profile */
	struct tracked_sums tracked;
};

/* Up to LIMIT_OBJECT_WEIGHT. */
#define STRATA_WEIGHT_CLASSES 24u

/* All zero is empty. */
struct strata {
	TABLE_OF(struct stratum, list, count, table);
	TABLE_OF(struct stratum_site, sites, site_count, site_table);
	uint64_t refused;
};

extern const struct table_layout stratum_layout, stratum_site_layout;

void strata_release(struct strata *s);

/* The size class of an object of so many bytes; 0 where they are not known. */
uint32_t strata_size_class(uint64_t object_bytes);

/* The position of a stratum, new or known; 0 where there is no room for it. 0 or -ENOMEM. */
int strata_find(struct strata *s, uint32_t class_name, uint32_t size_class, uint32_t weight_class,
		uint32_t *stratum);

/* That of an access which is made now. */
int strata_find_now(struct strata *s, uint32_t class_name, uint64_t object_bytes,
		    uint32_t *stratum);

/* An object of that class and size was allocated and is tracked with this weight. 0 or -ENOMEM. */
int strata_allocated(struct strata *s, uint32_t class_name, uint64_t object_bytes, double weight);

/* Tells what an object weighs in a stratum of this weight class, about; 1 for class 0. */
double strata_weight(uint32_t weight_class);

/* Adds what was counted of a site's objects to the stratum and to the site in it. 0 or -ENOMEM. */
int strata_add_tracked(struct strata *s, uint32_t stratum, uint32_t site,
		       const struct tracked_sums *more);

void tracked_sums_add(struct tracked_sums *to, const struct tracked_sums *more);

/* Over all strata. */
struct access_moments strata_all(const struct strata *s);

/* Sampled accesses by their object's size class, as they come: strata have them only when it is
 * told who makes them. 0: the size is not known. */
struct accessed_sizes {
	struct access_moments of[UINT64_WIDTH];
};

void accessed_sizes_add(struct accessed_sizes *a, uint64_t object_bytes, double weight);

/* The largest power of 2 such that objects of as many bytes or more have at least that part of the
 * accesses (by their weights) whose object's size is known; 0 where fewer than least are. */
uint64_t accessed_sizes_most(const struct accessed_sizes *a, double part, uint64_t least);

#endif
