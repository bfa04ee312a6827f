/*
 * What was asked of a window, checked and completed with defaults: plain numbers and words, without
 * a pointer. The same request makes the same window on every machine that can do it; what a machine
 * then offers is profile/window/findings.h.
 */
#ifndef JXPERF_PROFILE_WINDOW_REQUEST_H
#define JXPERF_PROFILE_WINDOW_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/jxperf.pb-c.h"
#include "proto/kinds.h"
#include "proto/limits.h"

#define WINDOW_EVENT_BYTES 96
#define WINDOW_NAME_BYTES  64 /* of applications and schedules */

#define WINDOW_PERIOD_DEFAULT_NS  UINT64_C(5000000) /* of the clock sampler */
#define WINDOW_PERIOD_MIN_NS      UINT64_C(100000)
#define WINDOW_PERIOD_MAX_NS      UINT64_C(10000000000)
#define WINDOW_BUDGET_DEFAULT     0.01
#define WINDOW_FRAMES_DEFAULT     MAX_FRAMES_LIMIT
#define WINDOW_OBJECT_MIN_DEFAULT 1024

/* For a window that nobody asked for: whose it is, and what it stands for. */
struct window_schedule {
	char name[WINDOW_NAME_BYTES]; /* "": somebody asked */
	uint64_t epoch;               /* of the schedule (fleet/draw.h) */
	double weight_s;              /* seconds of such a JVM that it stands for */
	uid_t owner;                  /* whose JVM it was seen to be */
};

struct window_request {
	bool kinds[KIND_VALUES]; /* by Kind, each with what it needs */
	bool cpu_optional; /* nobody has asked for KIND_CPU by name: hardware samplers do without */
	Jxp__Sampler sampler; /* SAMPLER_AUTO: the best that works */
	uint64_t period_ns;   /* in time, which only the clock has; 0: the sampler's own */
	uint64_t duration_ns;
	double budget; /* fraction of the target's CPU time */
	uint32_t registers;
	uint32_t max_frames;
	uint64_t object_min_size;    /* bytes; smaller objects are not tracked, */
	bool object_min_size_adapts; /* to begin with: nobody has said how small they may be */
	uint32_t objects_max;        /* tracked at a time; 0 where none are */
	bool objects_optional;       /* nobody has asked for them by name */
	/* The event that samples accesses to objects, by its libpfm4 name; "": the sampler's own.
	 */
	char event[WINDOW_EVENT_BYTES];
	bool open_through_daemon;
	uint32_t timeout_ms;         /* for the attach; 0: the usual (proto/helper.h) */
	uint64_t start_ticks;        /* of the process that is meant; 0: whichever has the pid */
	bool force;                  /* attach also where there may not be room for the agent */
	char app[WINDOW_NAME_BYTES]; /* what the JVM is called; "": as daemon/engine/app_name.h has
					it */
	bool app_by_rule;            /* a rule of the configuration gave that name */
	char version[WINDOW_NAME_BYTES]; /* of the application, by that rule; "": none gives one */
	struct window_schedule schedule;
};

/* Does a schedule want it? Else somebody asked. */
static inline bool window_request_is_scheduled(const struct window_request *r)
{
	return r->schedule.name[0];
}

/* Does it need watchpoints? */
bool window_request_samples_pairs(const struct window_request *r);

/* Does it need every tick, from a sampler that is never SAMPLER_AUTO? Only the clock has any. */
bool window_request_profiles_cpu(const struct window_request *r, Jxp__Sampler sampler);

/* Does it need allocations and memory accesses on a machine with so many NUMA nodes? Not for NUMA
 * alone where there is one. */
bool window_request_tracks_objects(const struct window_request *r, unsigned nodes);

#endif
