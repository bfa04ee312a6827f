#include "daemon/shares/makes_way.h"

#include "common/cleanup.h"
#include "daemon/shares/shares.h"

size_t window_makes_way(struct window_result *const *windows, size_t count, size_t first,
			size_t end, window_weight_fn *weight)
{
	_cleanup_(shares_release) struct shares owners = {0};
	size_t found = end;

	/* Without memory it is not counted, and the oldest goes. */
	for (size_t i = 0; i < count; i++)
		(void)shares_add(&owners, windows[i]->owner, weight(windows[i]));
	for (size_t i = first; i < end; i++)
		if (weight(windows[i]) > 0 &&
		    (found == end || shares_of(&owners, windows[i]->owner) >
					 shares_of(&owners, windows[found]->owner)))
			found = i;
	return found;
}

size_t window_weight_sum(struct window_result *const *windows, size_t count,
			 window_weight_fn *weight)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += weight(windows[i]);
	return sum;
}
