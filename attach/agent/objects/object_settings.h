/*
 * Holds what a window was asked to do about objects.
 */
#ifndef JXPERF_AGENT_OBJECTS_OBJECT_SETTINGS_H
#define JXPERF_AGENT_OBJECTS_OBJECT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct object_settings {
	unsigned max;            /* tracked at a time; 0: the window is not for objects */
	uint64_t min_size_bytes; /* smaller ones are not tracked, */
	bool min_size_adapts;    /* to begin with (alloc_pace.h) */
	uint64_t from_ns;        /* CLOCK_MONOTONIC time at which they begin; 0: with the window */
	unsigned max_frames;     /* of the calling context of an allocation */
	bool alone;              /* the window is for nothing else */
	bool optional;           /* nobody has asked for them by name */
};

#endif
