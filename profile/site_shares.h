/*
 * Tells what share of the accesses to the heap each allocation site has, estimated by
 * post-stratification (docs/statistics.md, "Objects"; Cochran, "Sampling Techniques", 3rd edition,
 * section 5A.9; Sarndal, Swensson, Wretman, "Model Assisted Survey Sampling", sections 4.3 and
 * 7.6).
 *
 * The class and size of every access's object is known, the site only where the object is tracked.
 * So a site's share is the sum over strata h of A_h R_h: A_h, the stratum's share of all sampled
 * accesses, and R_h, the site's share of the stratum,
 *
 *   R_h = Y_h / max(m_h, T_h)
 *
 * with m_h the stratum's accesses, Y_h the site's as estimated from those to tracked objects and
 * T_h that over all sites. What is left of m_h went to objects that are older than the window, or
 * of none of the tracked ones' population.
 *
 * Strata with few tracked accesses say little of their own, and what is cut off at m_h would make
 * them too small: those of one class are taken together, in the order of sizes, until there are
 * SITE_SHARES_TRACKED.
 *
 * Where objects of a stratum had hardly a chance to be tracked (so large a weight that fewer than
 * SITE_SHARES_EXPECTED accesses would have met one), that none was met says nothing, and one that
 * was met would have counted for all. Such strata, and those of before any was sampled, count in
 * A_h alone, and R_h is that of the other strata of the class; if there is none, of the one where
 * most would have been met.
 *
 * Intervals are of 95%. In each stratum that of Y_h / m_h is the score interval for a variance
 * p S / m - p^2 (2 P / m - q / m^2), where S = V(Y) / Y, P = Cov(Y, m) / Y and q the sum of
 * squares: with all weights 1 it is Wilson's, with large weights of objects one of a Poisson count.
 * Strata, and the uncertainty of the A_h, are added up as squares of distances from the estimate
 * (MOVER; Zou and Donner 2008; for stratified Wilson intervals Yan and Su 2010), so that limits
 * stay within 0 and 1 and no interval has width 0.
 */
#ifndef JXPERF_PROFILE_SITE_SHARES_H
#define JXPERF_PROFILE_SITE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/estimate.h"
#include "profile/strata.h"

/* Accesses to tracked objects that a stratum would have, if all its objects were young, to be
 * evidence of its own. */
#define SITE_SHARES_EXPECTED 5.0

/* Accesses to tracked objects that a stratum has if its class has so many. */
#define SITE_SHARES_TRACKED 50u

/* A site, or several that are one for the reader. */
struct site_share {
	/* In: */
	uint32_t class_name;
	/* The weight of one of its objects, on average: what an unseen access would have had.
	 * Infinite: none is tracked, and none would have been seen. */
	double object_weight;
	double between; /* variance of the share from how windows differ, or 0 */
	/* Out: */
	double fraction; /* of all accesses to the heap */
	struct interval ci95;
	/* Its part of those to objects of its class that were made in the window and are tracked:
	 * how the class divides among sites, whatever of it is older. [0, 1] where none was met. */
	double of_class;
	struct interval of_class_ci95;
};

/* Older, or not of the population of tracked objects. Of all accesses to the heap. */
struct class_rest {
	uint32_t
	    class_name; /* ascending; 0 first: of objects whose class the access did not tell */
	double fraction;
	bool known; /* else objects hardly had a chance to be tracked: it may be anything */
};

struct class_rests {
	struct class_rest *list;
	size_t count;
};

/* Fills the count shares in. rank: of each site of the strata the position of its share. rests may
 * be NULL; else class_rests_release. 0 or -ENOMEM. */
int site_shares_estimate(const struct strata *s, const uint32_t *rank, struct site_share *shares,
			 size_t count, struct class_rests *rests);

/* The rest has fraction 0, and is not known, for a class that no access told. */
struct class_rest class_rests_find(const struct class_rests *rests, uint32_t class_name);
void class_rests_release(struct class_rests *rests);

#endif
