/*
 * Windows of a fleet as one, from a ClickHouse server that has them (docs/fleet.md): what
 * profile/combine/merge.h makes of windows that are here, with the sums made there. Every format
 * shows the result.
 *
 * Intervals are over hosts, or, with fewer than FLEET_HOSTS_MIN of them, over batches of windows
 * in the order of time, and never narrower than sampling's (docs/statistics.md). Those of a kind
 * that few of many hosts have are over these, and longer for it.
 */
#ifndef JXPERF_FLEET_REPORT_FLEET_REPORT_H
#define JXPERF_FLEET_REPORT_FLEET_REPORT_H

#include "common/buffer.h"
#include "common/err.h"
#include "fleet/report/question.h"
#include "profile/window/result.h"

/* Fewer hosts do not tell how hosts differ. */
#define FLEET_HOSTS_MIN 8u

/* Where questions go. ask: 0 with all of the answer appended, or -errno with the reason. */
struct fleet_server {
	int (*ask)(void *context, const char *query, struct buffer *answer, struct err *err);
	void *context;
	size_t answer_bytes_max; /* of all that are held at a time */
};

/* More pairs of calling contexts than a reader looks at, and few enough that an answer takes
 * seconds. */
#define FLEET_REPORT_PATHS (1u << 14)

/* The merge, for the caller to free. 0; -ENODATA with the reason where no window is meant;
 * -EBADMSG where an answer is none; -ENOMEM, or what ask returns. */
int fleet_report_ask(const struct fleet_server *server, const struct fleet_question *q,
		     struct window_result **out, struct err *err);

/* Applications, those first whose accesses waste most CPU time. */
struct fleet_app {
	char name[WINDOW_LABEL_BYTES];
	uint64_t hosts, windows;
	double cpu_s;                /* that its windows stand for */
	double wasteful[PAIR_KINDS]; /* part of it, in the order of pair_kinds */
};

/* At most rows of them, in *apps to be freed. Errors as above. */
int fleet_report_apps(const struct fleet_server *server, const struct fleet_question *q,
		      unsigned rows, struct fleet_app **apps, size_t *count, struct err *err);

/* Where wasteful accesses are made: a method that makes the one that could go, and what it
 * accesses. */
#define FLEET_PLACE_BYTES 512u
struct fleet_place {
	char app[WINDOW_LABEL_BYTES];
	char kind[32];
	char method[FLEET_PLACE_BYTES];
	char place[FLEET_PLACE_BYTES]; /* "" where it is not known */
	uint64_t hosts;
	double cpu_s; /* of the fleet, at these accesses; */
	double bytes; /* wasteful ones, each times what an observation stands for */
};

/* At most rows of them, those with most CPU time first, then bytes. */
int fleet_report_places(const struct fleet_server *server, const struct fleet_question *q,
			unsigned rows, struct fleet_place **places, size_t *count, struct err *err);

#endif
