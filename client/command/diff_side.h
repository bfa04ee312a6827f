/*
 * One of the two that are compared: a window of the daemon's, those of a period, or a report in a
 * file, which needs no daemon.
 */
#ifndef JXPERF_CLIENT_COMMAND_DIFF_SIDE_H
#define JXPERF_CLIENT_COMMAND_DIFF_SIDE_H

#include <stdbool.h>

#include "client/daemon/client.h"
#include "common/err.h"
#include "compare/side.h"
#include "proto/jxperf.pb-c.h"

struct diff_side {
	const char *text;         /* as the user wrote it; borrowed */
	bool file;                /* else what is selected */
	Jxp__Selection selection; /* its texts are borrowed */
};

/* A text with a slash, that ends in ".json", or that names a file and is no window is a file; one
 * with two dots a period, of which, whose texts are borrowed; else a window. 0 or -EINVAL. */
int diff_side_parse(struct diff_side *s, const char *text, const Jxp__Selection *which,
		    struct err *err);

/* Loads what is compared of it. 0; -ENODATA with the reason where it has nothing to compare;
 * -EBADMSG for a file that is no report; or another -errno. */
int diff_side_load(const struct diff_side *s, struct client *c, struct compare_side *out,
		   struct err *err);

#endif
