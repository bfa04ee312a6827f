#include "machine/sampler_choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "proto/words.h"

static const char *const notes[] = {
    [JXP__SAMPLER__SAMPLER_PEBS] =
	"Fractions are weighted by access count: the pebs sampler takes one load and one store in "
	"every period of them.",
    [JXP__SAMPLER__SAMPLER_IBS] =
	"Fractions are weighted by access count: the ibs sampler takes one operation in every "
	"period of them and keeps those that load or store.",
    [JXP__SAMPLER__SAMPLER_CLOCK] =
	"Fractions are weighted by time, not by access count: the clock sampler takes the next "
	"access after points chosen uniformly in each thread's CPU time.",
};

#define NOTE_COUNT (sizeof(notes) / sizeof(notes[0]))

const char *sampler_note(Jxp__Sampler sampler)
{
	return (unsigned)sampler < NOTE_COUNT ? notes[sampler] : NULL;
}

int sampler_try(const struct pmu_selection *selection)
{
	int fds[PERF_HARDWARE_EVENTS];
	size_t opened = 0;
	int r = selection->event_count ? 0 : -ENOENT;

	/* Together, as a thread will have them. */
	while (r == 0 && opened < selection->event_count) {
		struct perf_event_attr attr;
		int fd;

		perf_attr_hardware(&attr, &selection->events[opened], selection->period, 0);
		fd = perf_open(&attr, 0);
		if (fd < 0)
			r = fd;
		else
			fds[opened++] = fd;
	}
	fd_close_all(fds, opened);
	return r;
}

/* This machine's selection. */
static bool tried;
static bool tried_elsewhere;
static int tried_result;

int sampler_try_once(void)
{
	if (!tried) {
		tried = true;
		tried_result = sampler_try(pmu_selection());
	}
	return tried_result;
}

void sampler_tried(int result)
{
	tried = tried_elsewhere = true;
	tried_result = result;
}

int sampler_try_event(const char *name, const struct perf_hardware_event *event, uint64_t period,
		      struct err *err)
{
	struct pmu_selection alone = {.event_count = 1, .period = period, .events = {*event}};
	int r = sampler_try(&alone);

	if (r < 0 && tried_elsewhere)
		return err_set(err, -r,
			       "event '%s' cannot be had from jxperfd as a service, which opens no "
			       "events itself: leave out --event, or stop the service and run this "
			       "as root",
			       name);
	if (r < 0)
		return err_set_errno(err, -r, "event '%s' cannot be opened", name);
	return 0;
}

/* Why the hardware sampler does not work here. */
static void describe_failure(const struct sampler_hardware *hardware, char *text, size_t size)
{
	const struct pmu_selection *s = hardware->selection;

	if (s->event_count == 0)
		(void)snprintf(text, size, "%s", s->reason);
	else
		(void)snprintf(text, size, "%s cannot be opened (%s)", s->reason,
			       strerror(-hardware->error));
}

static void use_clock(struct sampler_choice *out, const char *reason)
{
	out->sampler = JXP__SAMPLER__SAMPLER_CLOCK;
	out->hardware = NULL;
	(void)snprintf(out->reason, sizeof(out->reason), "%s", reason); /* Fits. */
}

static void use_hardware(struct sampler_choice *out, const struct pmu_selection *selection)
{
	out->sampler = selection->sampler;
	out->hardware = selection;
	(void)snprintf(out->reason, sizeof(out->reason), "%s", selection->reason); /* Fits. */
}

/* Its records would tell the JVM addresses of the kernel; the broker opens such events for JVMs of
 * root only. */
static bool samples_kernel(const struct pmu_selection *s)
{
	for (size_t i = 0; i < s->event_count; i++)
		if (!s->events[i].user_only)
			return true;
	return false;
}

static int choose_auto(bool period_asked, const struct sampler_hardware *hardware,
		       struct sampler_choice *out)
{
	/* Whoever could open events: without knowing them we can ask for none. */
	bool works = hardware->error == 0 && hardware->selection->event_count > 0;
	char why[SAMPLER_REASON_BYTES];

	if (period_asked) {
		use_clock(out, "a period in time was asked for, which only the clock has");
	} else if (works && samples_kernel(hardware->selection)) {
		use_clock(out, "AMD IBS of this kernel samples the kernel, too: use Linux 6.14, or "
			       "--sampler ibs for a JVM of root");
	} else if (works) {
		use_hardware(out, hardware->selection);
	} else {
		describe_failure(hardware, why, sizeof(why));
		use_clock(out, why);
	}
	return 0;
}

int sampler_choose(Jxp__Sampler wanted, bool period_asked, const struct sampler_hardware *hardware,
		   struct sampler_choice *out, struct err *err)
{
	char why[SAMPLER_REASON_BYTES];

	switch (wanted) {
	case JXP__SAMPLER__SAMPLER_AUTO:
		return choose_auto(period_asked, hardware, out);
	case JXP__SAMPLER__SAMPLER_CLOCK:
		use_clock(out, "it was asked for");
		return 0;
	case JXP__SAMPLER__SAMPLER_PEBS:
	case JXP__SAMPLER__SAMPLER_IBS:
		break;
	default:
		return err_set(err, EINVAL, "unknown sampler: use auto, pebs, ibs or clock");
	}
	if (hardware->error || hardware->selection->sampler != wanted) {
		describe_failure(hardware, why, sizeof(why));
		return err_set(err, EOPNOTSUPP,
			       "sampler '%s' does not work here: %s: use --sampler clock",
			       name_of_sampler(wanted), why);
	}
	if (period_asked)
		return err_set(err, EINVAL,
			       "sampler '%s' counts operations, and its period follows the budget: "
			       "leave out --period or use --sampler clock",
			       name_of_sampler(wanted));
	use_hardware(out, hardware->selection);
	return 0;
}
