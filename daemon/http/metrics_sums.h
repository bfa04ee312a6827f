/*
 * What struct metrics is: private to its own parts, which count (metrics.c), tell
 * (metrics_families.c) and keep (metrics_record.c).
 *
 * Plain values, so that a copy is an assignment.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_SUMS_H
#define JXPERF_DAEMON_HTTP_METRICS_SUMS_H

#include <sys/types.h>

#include "daemon/engine/app_name.h"
#include "daemon/shares/miss.h"
#include "profile/profile.h"
#include "profile/window/loss.h"
#include "proto/counters.h"

#define METRICS_APPS_MAX 64

/* An application without a window for so long makes room for another. */
#define METRICS_FORGET_S (30.0 * 24 * 3600)

/* What is of the last window is shown for so long after it. */
#define METRICS_LAST_S (2.0 * 3600)

/* The last application's name. */
#define METRICS_OTHER_APPS "other"

/* Where events are lost: agents' stages, the gate's strangers, the engine's losses. */
#define METRICS_STRANGERS   COUNTER_STAGES
#define METRICS_STAGES      (COUNTER_STAGES + 1 + LOSS_MAX)
#define METRICS_STAGE_BYTES 48

/* Its label. */
void metrics_stage_name(unsigned stage, char name[METRICS_STAGE_BYTES]);

/* Attach times: how many took at most so long; those that took longer are the last. */
#define METRICS_LATENCIES 10

extern const double metrics_latency_bounds_s[METRICS_LATENCIES - 1];

struct app_counts {
	uint64_t numa_samples;
	uint64_t numa_remote_samples;
	uint64_t windows;
	uint64_t windows_early; /* of which ended early, */
	uint64_t windows_large; /* of those for the memory that they took */
	uint64_t switched_off;  /* of which switched objects off */
	/* CPU time of profiled JVMs in windows, what windows took of it, and what beginning them
	 * took besides: */
	uint64_t cpu_ns;
	uint64_t overhead_ns;
	uint64_t setup_ns;
	uint64_t length_ns; /* of windows that ended */
};

/* A window that counters have grown by last; its number is 0 where there is none. */
struct metrics_origin {
	unsigned window;
	double time_s; /* since 1970 */
};

struct app_metrics {
	char app[APP_NAME_BYTES];
	struct totals kinds[KIND_VALUES]; /* by Kind */
	uint64_t wasted_ns[KIND_VALUES];  /* CPU time at wasteful accesses, of windows that ended */
	struct app_counts counts;
	double seen_s; /* when it had a window last, */
	uid_t owner;   /* and whose JVM that was in */
	bool wanted;   /* a schedule or a rule of the configuration has brought it */
	/* Who brought the last of it, and how much: */
	struct metrics_origin kind_origins[KIND_VALUES];
	struct totals brought[KIND_VALUES];
	struct metrics_origin counts_origin;
	struct app_counts counts_brought;
	/* For the last window that ended, and of each kind the last that completed pairs of it: */
	bool ended;
	bool last_has_kind[KIND_VALUES];
	double last_ratio[KIND_VALUES];
	double last_kind_end_s[KIND_VALUES];
	double last_end_s;
	bool last_has_overhead;
	double last_overhead;
};

struct metrics {
	struct app_metrics apps[METRICS_APPS_MAX + 1]; /* the last one is "other" */
	size_t app_count;                              /* without "other" */
	bool other_used;
	uint64_t windows_over_limit;
	uint64_t failures[ATTACH_REASONS];
	uint64_t dropped[METRICS_STAGES];
	uint64_t strangers_seen; /* of this daemon's */
	uint64_t latencies[METRICS_LATENCIES];
	uint64_t latency_sum_ns;
	struct metrics_origin latency_origins[METRICS_LATENCIES];
	double latency_brought_s[METRICS_LATENCIES];
};

/* What was counted of an application before, or of one that has become "other". */
void metrics_add_app(struct app_metrics *to, const struct app_metrics *from);

/* The application's own sums, or those of the rest; nobody makes room. */
struct app_metrics *metrics_find_app(struct metrics *m, const char *app);

#endif
