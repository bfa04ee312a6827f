/*
 * One value of one series of a window as a Profile of OTLP.
 */
#ifndef JXPERF_EXPORT_OTLP_OTLP_PROFILE_H
#define JXPERF_EXPORT_OTLP_OTLP_PROFILE_H

#include "export/format.h"
#include "export/otlp/dictionary.h"
#include "report/content/sample_series.h"

/* A window whose profiles are written into a request. */
struct otlp_window {
	const struct report_model *model;
	struct otlp_dictionary *dictionary;
	uint32_t *lines;     /* cct_lines of its tree */
	uint32_t *locations; /* of each node that is the oldest of its line; 0: not there yet */
};

/* Nothing may change the model or move the dictionary until it is released. 0 or -ENOMEM, and then
 * nothing is held. */
int otlp_window_init(struct otlp_window *w, const struct report_model *model,
		     struct otlp_dictionary *dictionary);
void otlp_window_release(struct otlp_window *w);

struct otlp_limits {
	size_t samples;  /* of a profile */
	size_t bytes;    /* of the dictionary and the profile together */
	bool renumbered; /* Sample has the numbers of version 1.10 */
};

/* Writes the profile into that field. *cut: how many samples the limit on them left out. 0,
 * -ENOMEM, or -EMSGSIZE when it came out too large; what is in the dictionary and in out after a
 * failure does not matter. */
int otlp_profile_write(struct otlp_window *w, const struct export_origin *origin,
		       const struct sample_series *s, size_t value,
		       const struct otlp_limits *limits, struct protobuf *out, unsigned field,
		       uint64_t *cut);

#endif
