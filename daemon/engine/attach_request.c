#include "daemon/engine/attach_request.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/perf/events.h"
#include "common/utf8.h"
#include "daemon/machine/sampler_choice.h"
#include "daemon/report/report.h"
#include "proto/limits.h"

static int choose_kind(Jxp__Kind kind, struct window_settings *s, struct err *err)
{
	if (kind == JXP__KIND__KIND_OBJECTS)
		s->objects = true;
	else if (kind == JXP__KIND__KIND_NUMA)
		s->numa = true;
	else if (kind > JXP__KIND__KIND_NONE && kind < PROFILE_KINDS)
		s->kinds[kind] = true;
	else
		return err_set(err, EINVAL,
			       "unknown kind %d: use dead-store, silent-store, silent-load, "
			       "objects or numa",
			       (int)kind);
	return 0;
}

/* All that work here; with an event of its own, those that it can sample. */
static void choose_default_kinds(bool event, struct window_settings *s)
{
	for (int kind = 1; kind < PROFILE_KINDS; kind++)
		s->kinds[kind] = !event;
	s->objects = true;
	s->numa = numa_topology()->node_count > 1;
}

static int choose_kinds(const Jxp__AttachRequest *request, struct window_settings *s,
			struct err *err)
{
	int r = 0;

	if (request->n_kinds == 0)
		choose_default_kinds(request->event[0], s);
	for (size_t i = 0; r == 0 && i < request->n_kinds; i++)
		r = choose_kind(request->kinds[i], s, err);
	s->numa_topology = numa_topology();
	if (r < 0 || !window_tracks_objects(s))
		return r;
	s->objects_max = LIMIT_OBJECTS;
	s->object_min_size =
	    request->object_min_size_given ? request->object_min_size : WINDOW_OBJECT_MIN_DEFAULT;
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

static int choose_period(uint64_t asked_ns, uint64_t *period_ns, struct err *err)
{
	*period_ns = asked_ns ? asked_ns : WINDOW_PERIOD_DEFAULT_NS;
	if (*period_ns < WINDOW_PERIOD_MIN_NS || *period_ns > WINDOW_PERIOD_MAX_NS)
		return err_set(err, EINVAL,
			       "the period of the clock sampler is 100us to 10s: use --period 5ms");
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

static int choose_sampler(const Jxp__AttachRequest *request, struct window_settings *settings,
			  struct err *err)
{
	struct sampler_hardware hardware = {.selection = pmu_selection()};
	struct sampler_choice choice;
	int r;

	hardware.error = sampler_try_once();
	r = sampler_choose(request->sampler, request->period_ns > 0, &hardware, &choice, err);
	if (r < 0)
		return r;
	settings->sampler = choice.sampler;
	settings->hardware = choice.hardware;
	(void)snprintf(settings->sampler_reason, sizeof(settings->sampler_reason), "%s",
		       choice.reason); /* Same size. */
	return 0;
}

/* Is it opened by the kernel, as the threads will have it? */
static int try_event(const struct window_settings *s)
{
	struct pmu_selection alone = {
	    .event_count = 1, .period = s->hardware->period, .events = {s->event_encoded}};

	return sampler_try(&alone);
}

/* The event that samples accesses to objects, in place of the sampler's own. */
static int choose_event(const Jxp__AttachRequest *request, struct window_settings *s,
			struct err *err)
{
	int r;

	if (!request->event[0])
		return 0;
	if (strlen(request->event) >= sizeof(s->event))
		return err_set(err, EINVAL, "no event has a name of %zu characters",
			       strlen(request->event));
	(void)text_sanitize(s->event, sizeof(s->event), request->event); /* Fits. */
	if (window_samples_pairs(s) || !window_tracks_objects(s))
		return err_set(err, EINVAL,
			       "event '%s' can sample objects only: use --kinds objects with it",
			       s->event);
	if (s->sampler == JXP__SAMPLER__SAMPLER_CLOCK)
		return err_set(err, EOPNOTSUPP,
			       "event '%s' needs pebs or ibs, and the sampler is the clock (%s): "
			       "leave out --event",
			       s->event, s->sampler_reason);
	if (s->sampler == JXP__SAMPLER__SAMPLER_IBS)
		return err_set(err, EOPNOTSUPP,
			       "ibs samples operations of every type and has no event '%s': "
			       "leave out --event",
			       s->event);
	if (pmu_access_event_here(request->event, &s->event_encoded) < 0)
		return err_set(err, EINVAL,
			       "libpfm4 knows no event '%s' of this processor: use one like "
			       "MEM_LOAD_RETIRED:L1_MISS",
			       s->event);
	r = try_event(s);
	return r < 0 ? err_set_errno(err, -r, "event '%s' cannot be opened", s->event) : 0;
}

int attach_request_settings(const Jxp__AttachRequest *request, struct window_settings *out,
			    struct err *err)
{
	struct window_settings s = {.duration_ns = request->duration_ns,
				    .registers = PERF_DEBUG_REGISTERS,
				    .max_frames = WINDOW_FRAMES_DEFAULT,
				    .open_through_daemon = request->open_through_daemon,
				    .force = request->force};
	int r;

	if (request->pid == 0 || request->pid > INT_MAX)
		return err_set(err, EINVAL, "%u is not a process id: see 'jxperfctl list'",
			       request->pid);
	if ((r = choose_kinds(request, &s, err)) < 0 ||
	    (r = check_duration(s.duration_ns, err)) < 0 ||
	    (r = choose_period(request->period_ns, &s.period_ns, err)) < 0 ||
	    (r = choose_budget(request->budget, &s.budget, err)) < 0 ||
	    (r = choose_sampler(request, &s, err)) < 0 ||
	    (r = choose_event(request, &s, err)) < 0 ||
	    (r = report_check_format(request->format, err)) < 0)
		return r;
	*out = s;
	return 0;
}
