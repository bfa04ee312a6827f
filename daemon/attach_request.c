#include "daemon/attach_request.h"

#include <errno.h>
#include <limits.h>

#include "common/clock.h"
#include "common/perf_events.h"
#include "daemon/report.h"
#include "daemon/sampler.h"
#include "proto/limits.h"

static int choose_kinds(const Jxp__AttachRequest *request, bool kinds[PROFILE_KINDS],
			struct err *err)
{
	for (int kind = 1; kind < PROFILE_KINDS; kind++)
		kinds[kind] = request->n_kinds == 0;
	for (size_t i = 0; i < request->n_kinds; i++) {
		Jxp__Kind kind = request->kinds[i];

		if (kind <= JXP__KIND__KIND_NONE || kind >= PROFILE_KINDS)
			return err_set(
			    err, EINVAL,
			    "unknown kind %d: use dead-store, silent-store or silent-load",
			    (int)kind);
		kinds[kind] = true;
	}
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

	hardware.error = sampler_try(hardware.selection);
	return sampler_choose(request->sampler, request->period_ns > 0, &hardware, settings, err);
}

int attach_request_settings(const Jxp__AttachRequest *request, struct window_settings *out,
			    struct err *err)
{
	struct window_settings s = {.duration_ns = request->duration_ns,
				    .registers = PERF_DEBUG_REGISTERS,
				    .max_frames = WINDOW_FRAMES_DEFAULT,
				    .open_through_daemon = request->open_through_daemon};
	int r;

	if (request->pid == 0 || request->pid > INT_MAX)
		return err_set(err, EINVAL, "%u is not a process id: see 'jxperfctl list'",
			       request->pid);
	if ((r = choose_kinds(request, s.kinds, err)) < 0 ||
	    (r = check_duration(s.duration_ns, err)) < 0 ||
	    (r = choose_period(request->period_ns, &s.period_ns, err)) < 0 ||
	    (r = choose_budget(request->budget, &s.budget, err)) < 0 ||
	    (r = choose_sampler(request, &s, err)) < 0 ||
	    (r = report_check_format(request->format, err)) < 0)
		return r;
	*out = s;
	return 0;
}
