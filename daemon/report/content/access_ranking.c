#include "daemon/report/content/access_ranking.h"

#include <stdlib.h>

#include "common/order.h"
#include "common/saturate.h"

static int compare_keys(const void *a, const void *b)
{
	const struct ranked_access *x = a, *y = b;

	return ORDER(ASCENDING(x->owner, y->owner), ASCENDING(x->node, y->node),
		     ASCENDING(x->location, y->location));
}

static int compare_costs(const void *a, const void *b)
{
	const struct ranked_access *x = a, *y = b;

	return ORDER(ASCENDING(x->owner, y->owner), DESCENDING(x->metric, y->metric),
		     compare_keys(a, b));
}

size_t ranked_accesses_merge(struct ranked_access *accesses, size_t count)
{
	size_t used = 0;

	qsort(accesses, count, sizeof(*accesses), compare_keys);
	for (size_t i = 0; i < count; i++) {
		struct ranked_access *last = used ? &accesses[used - 1] : NULL;

		if (last && compare_keys(last, &accesses[i]) == 0) {
			saturate_add(&last->samples, accesses[i].samples);
			last->metric += accesses[i].metric;
		} else {
			accesses[used++] = accesses[i];
		}
	}
	qsort(accesses, used, sizeof(*accesses), compare_costs);
	return used;
}
