/*
 * What /metrics serves of windows: totals over all of them by application, and the last window's
 * ratios.
 *
 * Counters never fall, whatever agents say; they grow while windows run, by what changed since the
 * window was last accounted (its metrics_cursor). The label `app` is bounded: METRICS_APPS_MAX
 * names (metrics_sums.h) have series of their own, the rest share app="other" and are counted.
 * Where there is no room left, one makes room that had no window for METRICS_FORGET_S; or one of
 * the owner of JVMs who has most labels, so that nobody's names drive out another's; or, for what a
 * schedule or a rule of the configuration names, one that somebody only asked for. An application
 * that is known has all its counters, at 0 where nothing was counted.
 *
 * Costs and waste are counters of CPU time, whose increases can be divided. Gauges are of the last
 * window, of each kind the last that completed pairs of it, and go METRICS_LAST_S after it.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_H
#define JXPERF_DAEMON_HTTP_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/window/result.h"

struct metrics;

/* What of a window is in the metrics already. All zero for a new window. */
struct metrics_cursor {
	struct totals kinds[KIND_VALUES]; /* by Kind */
	uint64_t counters[JXP__COUNTER__COUNTER_MAX];
	uint64_t losses[LOSS_MAX];
	uint64_t numa_samples;
	uint64_t numa_remote_samples;
	uint64_t cpu_ns, overhead_ns, setup_ns;
};

/* NULL without memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* Adds what an earlier daemon had counted to what this one has since; of an application's last
 * window the one that is known. */
void metrics_add(struct metrics *m, const struct metrics *earlier);

/* Both by metrics_new. */
void metrics_copy(struct metrics *to, const struct metrics *from);

/* The target was told to start: w's application is known from here on, and how long it took. False
 * when it is one of those that share a label. */
bool metrics_window_started(struct metrics *m, const struct window_result *w);

/* Adds what is new in w. The window must have started, so that its app is known. */
void metrics_account(struct metrics *m, const struct window_result *w,
		     struct metrics_cursor *cursor);

/* Accounts for the rest of a window that ran and ended, and makes it its application's last one. */
void metrics_window_ended(struct metrics *m, const struct window_result *w,
			  struct metrics_cursor *cursor);

/* error: errno value above 0, mapped to a bounded set of reasons. */
void metrics_attach_failed(struct metrics *m, int error);

/* Samples that the gate dropped of processes that no window has; a total that only grows. */
void metrics_strangers(struct metrics *m, uint64_t total);

/* Prometheus text format 0.0.4, or OpenMetrics 1.0.0, at now_s since 1970. Errors of out are the
 * caller's. */
void metrics_write(FILE *out, const struct metrics *m, double now_s, bool openmetrics);

#endif
