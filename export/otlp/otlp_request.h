/*
 * One request of OTLP: profiles of windows that follow each other, whole or none of it.
 */
#ifndef JXPERF_EXPORT_OTLP_OTLP_REQUEST_H
#define JXPERF_EXPORT_OTLP_OTLP_REQUEST_H

#include "export/format.h"
#include "export/profiles/window_profiles.h"

struct otlp_request {
	const struct export_origin *origin;
	size_t bytes_max;
	size_t samples_max; /* of a profile */
	bool renumbered;    /* Sample has the numbers of version 1.10 */
};

/* The profiles' request in *out, whose body is to be freed; target and content type are the
 * caller's. *cut: the samples that are not in it. 0, -ENOMEM, or -EMSGSIZE when it came out too
 * large, with nothing to be freed. */
int otlp_request_write(const struct otlp_request *request, struct window_models *models,
		       const struct window_profile *profiles, size_t count,
		       struct export_request *out, uint64_t *cut);

#endif
