/*
 * Brings windows into the metrics: a sink (daemon/window/sink.h) that remembers of each window that
 * runs what is in the metrics already. The log is told once of each application that has no name of
 * its own there. Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_SINK_H
#define JXPERF_DAEMON_HTTP_METRICS_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/http/metrics.h"
#include "daemon/window/sink.h"

/* Names of applications that are remembered to have been said. */
#define METRICS_POOLED_MAX 256u

/* All zero but for the metrics, which are borrowed, is one that knows of no window. */
struct metrics_sink {
	struct metrics *metrics;
	struct accounted_window *running; /* a list */
	/* Hashes of the names that the log has been told are counted as app="other". */
	uint32_t pooled[METRICS_POOLED_MAX];
	size_t pooled_count;
};

/* To be registered; s has to stay where it is. */
struct window_sink metrics_sink(struct metrics_sink *s);

void metrics_sink_release(struct metrics_sink *s);

#endif
