#include "report/problems/weighed.h"

#include <stdlib.h>

#include "common/array.h"

static int compare_whats(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return ASCENDING(x->what, y->what);
}

static int compare_weights(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return ORDER(DESCENDING(x->weight, y->weight), compare_whats(a, b));
}

size_t weighed_add_up(struct weighed *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), compare_whats);
	for (size_t i = 0; i < count; i++)
		if (kept > 0 && list[kept - 1].what == list[i].what)
			list[kept - 1].weight += list[i].weight;
		else
			list[kept++] = list[i];
	qsort(list, kept, sizeof(*list), compare_weights);
	return kept;
}
