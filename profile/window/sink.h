/*
 * Whoever wants to know of windows: the history, the metrics, the client that asked for one; what
 * keeps or exports results will be others.
 *
 * A sink hears of a window: started, progressed any number of times, then finished; or failed, also
 * without having started. Calls come from the loop, in this order, and what a sink does not want to
 * hear is NULL. The window is the same one in each and may be read until the last of them returns;
 * a sink that wants it longer keeps it then (window_result_keep), when nothing changes it any more.
 * A sink may not attach, forget or stop anything from inside a call.
 */
#ifndef JXPERF_PROFILE_WINDOW_SINK_H
#define JXPERF_PROFILE_WINDOW_SINK_H

#include <stdint.h>

struct window_result;

struct window_sink {
	void *arg;
	/* The target was told to start. */
	void (*started)(void *arg, const struct window_result *w);
	/* Events have arrived. */
	void (*progressed)(void *arg, const struct window_result *w);
	/* It ran, to its end or to an earlier one, and is final. */
	void (*finished)(void *arg, const struct window_result *w);
	/* It could not run, and is final: an errno value above 0, and why. One that was refused
	 * before it was given a number has "" as its id; w is NULL where there was no memory for
	 * it. */
	void (*failed)(void *arg, const struct window_result *w, int error, const char *message);
	/* Belongs to no window: samples that gates have dropped of processes without one, so far.
	 */
	void (*strangers)(void *arg, uint64_t total);
};

#endif
