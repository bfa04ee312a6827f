#include "profile/window/findings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "proto/kinds.h"
#include "proto/words.h"

static int choose_sampler(const struct window_request *request, struct window_findings *f,
			  struct err *err)
{
	struct sampler_hardware hardware = {.selection = pmu_selection()};
	struct sampler_choice choice;
	int r;

	hardware.error = sampler_try_once();
	r = sampler_choose(request->sampler, request->period_ns > 0, &hardware, &choice, err);
	if (r < 0)
		return r;
	f->sampler = choice.sampler;
	(void)snprintf(f->sampler_reason, sizeof(f->sampler_reason), "%s",
		       choice.reason); /* Same size. */
	if (choice.hardware) {
		f->event_count = choice.hardware->event_count;
		memcpy(f->events, choice.hardware->events, sizeof(f->events));
		f->period = choice.hardware->period;
	} else {
		f->period = request->period_ns ? request->period_ns : WINDOW_PERIOD_DEFAULT_NS;
	}
	return 0;
}

static int check_cpu(const struct window_request *request, const struct window_findings *f,
		     struct err *err)
{
	if (!request->kinds[JXP__KIND__KIND_CPU] || request->cpu_optional ||
	    window_request_profiles_cpu(request, f->sampler))
		return 0;
	return err_set(err, EOPNOTSUPP,
		       "kind %s needs the ticks of the clock, and the sampler is %s: use --sampler "
		       "clock, or other kinds",
		       kind_option(request->kinds[JXP__KIND__KIND_LOOPS] ? JXP__KIND__KIND_LOOPS
									 : JXP__KIND__KIND_CPU),
		       name_of_sampler(f->sampler));
}

/* The event that samples accesses to objects, in place of the sampler's own. */
static int choose_event(const struct window_request *request, struct window_findings *f,
			struct err *err)
{
	struct perf_hardware_event event;
	int r;

	if (!request->event[0])
		return 0;
	if (f->sampler == JXP__SAMPLER__SAMPLER_CLOCK)
		return err_set(err, EOPNOTSUPP,
			       "event '%s' needs pebs or ibs, and the sampler is the clock (%s): "
			       "leave out --event",
			       request->event, f->sampler_reason);
	if (f->sampler == JXP__SAMPLER__SAMPLER_IBS)
		return err_set(err, EOPNOTSUPP,
			       "ibs samples operations of every type and has no event '%s': "
			       "leave out --event",
			       request->event);
	if (pmu_access_event_here(request->event, &event) < 0)
		return err_set(err, EINVAL,
			       "libpfm4 knows no event '%s' of this processor: use one like "
			       "MEM_LOAD_RETIRED:L1_MISS",
			       request->event);
	r = sampler_try_event(request->event, &event, f->period, err);
	if (r < 0)
		return r;
	f->events[0] = event;
	f->event_count = 1;
	return 0;
}

int window_findings_here(const struct window_request *request, struct window_findings *out,
			 struct err *err)
{
	struct window_findings f = {.numa = *numa_topology()};
	int r = choose_sampler(request, &f, err);

	if (r == 0)
		r = check_cpu(request, &f, err);
	if (r == 0)
		r = choose_event(request, &f, err);
	if (r == 0)
		*out = f;
	return r;
}
