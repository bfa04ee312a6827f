/*
 * Brings windows into the metrics: a sink (profile/window/sink.h) that remembers of each window
 * that runs what is in the metrics already. Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_SINK_H
#define JXPERF_DAEMON_HTTP_METRICS_SINK_H

#include "daemon/engine/app_name.h"
#include "daemon/http/metrics.h"
#include "profile/window/sink.h"

/* Names that share a label and that the log has: so many are remembered. */
#define METRICS_SINK_TOLD 64

/* All zero but for the metrics, which are borrowed, is one that knows of no window. */
struct metrics_sink {
	struct metrics *metrics;
	struct accounted_window *running; /* a list */
	char told[METRICS_SINK_TOLD][APP_NAME_BYTES];
	size_t told_count; /* so far */
};

/* To be registered; s has to stay where it is. */
struct window_sink metrics_sink(struct metrics_sink *s);

void metrics_sink_release(struct metrics_sink *s);

#endif
