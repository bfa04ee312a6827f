#include "profile/window/request.h"

bool window_request_samples_pairs(const struct window_request *r)
{
	bool any = false;

	for (size_t i = 0; i < PAIR_KINDS; i++)
		any |= r->kinds[pair_kinds[i].kind];
	return any;
}

bool window_request_profiles_cpu(const struct window_request *r, Jxp__Sampler sampler)
{
	return r->kinds[JXP__KIND__KIND_CPU] && sampler == JXP__SAMPLER__SAMPLER_CLOCK;
}

bool window_request_tracks_objects(const struct window_request *r, unsigned nodes)
{
	return r->kinds[JXP__KIND__KIND_OBJECTS] || (r->kinds[JXP__KIND__KIND_NUMA] && nodes > 1);
}
