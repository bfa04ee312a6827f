/*
 * Ranks what is accessed in the heap, as reports show it: classes, their fields, and from where
 * each is accessed, whenever the object was made. First comes what certainly has most: everything
 * is in the order of the lower limits of the shares.
 *
 * As in report/content/object_ranking.h, a path whose frames ran interpreted first and
 * compiled later is one.
 */
#ifndef JXPERF_REPORT_CONTENT_CLASS_RANKING_H
#define JXPERF_REPORT_CONTENT_CLASS_RANKING_H

#include <stddef.h>
#include <stdint.h>

#include "profile/estimate.h"
#include "profile/site_shares.h"
#include "report/content/object_ranking.h"
#include "report/content/object_ranking.h"
#include "profile/window/result.h"

struct ranked_field {
	uint32_t class_name;
	uint32_t location; /* of the profile; 0: the class is known from a tracked object alone */
	struct access_moments sum;
	double fraction; /* of all accesses to the heap */
	struct interval ci95;
	size_t first_access; /* in the ranking's accesses */
	size_t access_count;
};

struct ranked_class {
	uint32_t class_name; /* 0: accesses whose class is not known */
	struct access_moments sum;
	struct access_sum tracked; /* of these, what met a tracked object */
	double fraction;           /* of all accesses to the heap */
	struct interval ci95;
	struct class_rest older; /* likewise: older than the window, or not of what is tracked */
	size_t first_field;      /* in the ranking's fields */
	size_t field_count;
};

struct class_ranking {
	struct ranked_class *classes; /* whose name is known */
	size_t count;
	struct ranked_class unknown; /* the rest, with at most one field */
	struct ranked_field *fields;
	size_t field_count;
	struct ranked_access *accesses; /* of fields, by position */
	size_t access_count;
};

/* rests: of the same window. 0 or -ENOMEM, and then it is empty. */
int class_ranking_init(struct class_ranking *r, const struct window_result *w,
		       const struct class_rests *rests);
void class_ranking_release(struct class_ranking *r);

/* The fields of a class, and the contexts of a field; NULL for none. */
const struct ranked_field *class_ranking_fields(const struct class_ranking *r,
						const struct ranked_class *c);
const struct ranked_access *class_ranking_accesses(const struct class_ranking *r,
						   const struct ranked_field *f);

/* ---------------------------------------------------------------- where objects come from */

/* The allocation sites of each accessed class, and which part of the class's accesses goes to the
 * objects of each, in the order of the lower limits of these parts.
 *
 * Where accesses met tracked objects of the class, these say it. In most windows hardly any do: a
 * sampled allocation is one of thousands, and a sampled access one of millions. Then the sampled
 * allocations of the class say it, and that is an inference: it takes for granted that an allocated
 * byte of the class is accessed as much wherever it was allocated, and that objects older than the
 * window came from where those of the window come from. Its interval is that of the sampled
 * allocations alone; how far the assumption holds is not in it. */

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

/* For the same window; the rankings stay the caller's and are needed no more. 0 or -ENOMEM, and
 * then it is empty. */
int class_origins_init(struct class_origins *o, const struct class_ranking *classes,
		       const struct object_ranking *sites);
void class_origins_release(struct class_origins *o);

#endif
