/*
 * Says what is wanted of a report: its format, how much of it, and which parts.
 */
#ifndef JXPERF_REPORT_CONTENT_WANTED_H
#define JXPERF_REPORT_CONTENT_WANTED_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "profile/profile.h"
#include "proto/jxperf.pb-c.h"

/* All zero is everything, as text. */
struct report_wanted {
	Jxp__Format format;
	size_t pairs; /* at most so many rows of each list; 0: the format's default */
	Jxp__View view;
	bool some_regions; /* pairs are listed of these only; shares stay those of all: */
	bool regions[PROFILE_REGIONS];
	bool all_frames; /* text: contexts of a pair are written out, both whole */
	size_t columns;  /* text: sentences are folded at so many; 0: the usual */
	/* Loops are compared with this window's; borrowed. NULL: with none. */
	const struct window_result *baseline;
};

/* As a request says, whose format the caller knows to be there. 0, or -EINVAL with a line. */
int report_wanted_set(struct report_wanted *wanted, Jxp__Format format, size_t pairs,
		      Jxp__View view, const Jxp__Region *regions, size_t region_count,
		      struct err *err);

#endif
