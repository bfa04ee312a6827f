#include "daemon/window/request.h"

bool window_request_samples_pairs(const struct window_request *r)
{
	bool any = false;

	for (int kind = 1; kind < PROFILE_KINDS; kind++)
		any |= r->kinds[kind];
	return any;
}

bool window_request_tracks_objects(const struct window_request *r, unsigned nodes)
{
	return r->objects || (r->numa && nodes > 1);
}
