#include "daemon/engine/attach_request.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "common/clock.h"
#include "common/perf/events.h"
#include "common/utf8.h"
#include "machine/numa_topology.h"
#include "proto/helper.h"
#include "proto/kinds.h"
#include "proto/limits.h"

/* All that work here; with an event of its own, those that it can sample. */
static void choose_default_kinds(bool event, unsigned nodes, struct window_request *r)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		r->kinds[pair_kinds[i].kind] = !event;
	r->kinds[JXP__KIND__KIND_OBJECTS] = r->objects_optional = true;
	r->kinds[JXP__KIND__KIND_NUMA] = nodes > 1;
	r->kinds[JXP__KIND__KIND_CPU] = r->cpu_optional = !event;
}

static int choose_kinds(const Jxp__AttachRequest *asked, struct window_request *r, struct err *err)
{
	unsigned nodes = numa_topology()->node_count;
	char options[KIND_OPTIONS_BYTES];

	if (asked->n_kinds == 0)
		choose_default_kinds(asked->event[0], nodes, r);
	for (size_t i = 0; i < asked->n_kinds; i++)
		if (!kinds_add(r->kinds, asked->kinds[i]))
			return err_set(err, EINVAL, "unknown kind %d: use %s", (int)asked->kinds[i],
				       kind_options(options, " or "));
	if (!window_request_tracks_objects(r, nodes))
		return 0;
	r->objects_max = LIMIT_OBJECTS;
	r->object_min_size =
	    asked->object_min_size_given ? asked->object_min_size : WINDOW_OBJECT_MIN_DEFAULT;
	r->object_min_size_adapts = !asked->object_min_size_given;
	return 0;
}

static int check_duration(uint64_t duration_ns, struct err *err)
{
	if (duration_ns == 0)
		return err_set(err, EINVAL, "a duration of 0 profiles nothing: use --duration 30s");
	if (duration_ns > WINDOW_MAX_S * NS_PER_S)
		return err_set(err, EINVAL,
			       "a window lasts at most %u hours: use a shorter --duration",
			       WINDOW_MAX_S / 3600);
	if (duration_ns < NS_PER_MS)
		return err_set(err, EINVAL,
			       "a window lasts at least 1 ms: use a longer --duration");
	return 0;
}

/* The period that a sampler has of its own is found with the sampler. */
static int choose_period(uint64_t asked_ns, struct window_request *r, struct err *err)
{
	if (asked_ns && (asked_ns < WINDOW_PERIOD_MIN_NS || asked_ns > WINDOW_PERIOD_MAX_NS))
		return err_set(err, EINVAL,
			       "the period of the clock sampler is 100us to 10s: use --period 5ms");
	r->period_ns = asked_ns;
	return 0;
}

static int choose_budget(double asked, double *budget, struct err *err)
{
	*budget = asked == 0 ? WINDOW_BUDGET_DEFAULT : asked;
	if (!(*budget > 0 && *budget <= 1)) /* also refuses NaN */
		return err_set(
		    err, EINVAL,
		    "the budget is above 0%% and at most 100%% of the target's CPU time: "
		    "use --budget 1%%");
	return 0;
}

/* The event that samples accesses to objects, in place of the sampler's own. */
static int choose_event(const char *event, struct window_request *r, struct err *err)
{
	if (!event[0])
		return 0;
	if (strlen(event) >= sizeof(r->event))
		return err_set(err, EINVAL, "no event has a name of %zu characters", strlen(event));
	(void)utf8_sanitize(r->event, sizeof(r->event), event); /* Fits. */
	if (window_request_samples_pairs(r) || r->kinds[JXP__KIND__KIND_CPU] || !r->objects_max)
		return err_set(err, EINVAL,
			       "event '%s' can sample objects only: use --kinds objects with it",
			       r->event);
	return 0;
}

static int check_timeout(uint32_t ms, struct err *err)
{
	if (ms && (ms < ATTACH_TIMEOUT_MS_MIN || ms > ATTACH_TIMEOUT_MS_MAX))
		return err_set(err, EINVAL,
			       "attaching may take 1 s to 10 minutes: use --timeout 30s");
	return 0;
}

int attach_request_check(const Jxp__AttachRequest *asked, struct window_request *out,
			 struct err *err)
{
	struct window_request request = {.sampler = asked->sampler,
					 .duration_ns = asked->duration_ns,
					 .registers = PERF_DEBUG_REGISTERS,
					 .max_frames = WINDOW_FRAMES_DEFAULT,
					 .open_through_daemon = asked->open_through_daemon,
					 .start_ticks = asked->start_ticks,
					 .timeout_ms = asked->timeout_ms,
					 .force = asked->force};
	int r;

	if (asked->pid == 0 || asked->pid > INT_MAX)
		return err_set(err, EINVAL, "%u is not a process id: see 'jxperfctl list'",
			       asked->pid);
	if ((r = choose_kinds(asked, &request, err)) < 0 ||
	    (r = check_duration(request.duration_ns, err)) < 0 ||
	    (r = check_timeout(asked->timeout_ms, err)) < 0 ||
	    (r = choose_period(asked->period_ns, &request, err)) < 0 ||
	    (r = choose_budget(asked->budget, &request.budget, err)) < 0 ||
	    (r = choose_event(asked->event, &request, err)) < 0)
		return r;
	*out = request;
	return 0;
}
