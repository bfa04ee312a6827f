/*
 * Brings windows into the metrics: a sink (daemon/window/sink.h) that remembers of each window that
 * runs what is in the metrics already. Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_SINK_H
#define JXPERF_DAEMON_HTTP_METRICS_SINK_H

#include "daemon/http/metrics.h"
#include "daemon/window/sink.h"

/* All zero but for the metrics, which are borrowed, is one that knows of no window. */
struct metrics_sink {
	struct metrics *metrics;
	struct accounted_window *running; /* a list */
};

/* To be registered; s has to stay where it is. */
struct window_sink metrics_sink(struct metrics_sink *s);

void metrics_sink_release(struct metrics_sink *s);

#endif
