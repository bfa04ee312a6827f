#include "daemon/sampler.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/names.h"

struct sampler {
	Jxp__Sampler id;
	bool (*works)(void);
	const char *note;
};

/* Software events exist on every kernel that jxperf supports; what a container or seccomp forbids
 * is found when the events are opened. */
static bool clock_works(void)
{
	return true;
}

/* Best first. */
static const struct sampler samplers[] = {
    {JXP__SAMPLER__SAMPLER_CLOCK, clock_works,
     "Fractions are weighted by time, not by access count: the clock sampler takes the next access "
     "after points chosen uniformly in each thread's CPU time."},
};

#define SAMPLER_COUNT (sizeof(samplers) / sizeof(samplers[0]))

int sampler_choose(Jxp__Sampler wanted, Jxp__Sampler *chosen, struct err *err)
{
	if (wanted < JXP__SAMPLER__SAMPLER_AUTO || wanted > JXP__SAMPLER__SAMPLER_CLOCK)
		return err_set(err, EINVAL, "unknown sampler: use auto, pebs, ibs or clock");
	for (size_t i = 0; i < SAMPLER_COUNT; i++) {
		if (wanted != JXP__SAMPLER__SAMPLER_AUTO && wanted != samplers[i].id)
			continue;
		if (!samplers[i].works())
			continue;
		*chosen = samplers[i].id;
		return 0;
	}
	return err_set(err, EOPNOTSUPP,
		       "sampler '%s' is not available in this version: use --sampler clock",
		       name_of_sampler(wanted));
}

const char *sampler_note(Jxp__Sampler sampler)
{
	for (size_t i = 0; i < SAMPLER_COUNT; i++)
		if (samplers[i].id == sampler)
			return samplers[i].note;
	return NULL;
}
