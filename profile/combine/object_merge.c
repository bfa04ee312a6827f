#include "profile/combine/object_merge.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "profile/combine/batches.h"
#include "common/saturate.h"

int object_merge_reserve(struct object_merge *m, struct window_merged *facts, size_t count)
{
	size_t before = m->capacity, batches_before = m->batch_capacity;
	int r;

	if (count == 0)
		return 0; /* Without a place there is nothing to clear. */
	r = array_reserve(&m->sites, &m->capacity, count, sizeof(*m->sites));
	if (r < 0)
		return r;
	memset(m->sites + before, 0, (m->capacity - before) * sizeof(*m->sites));
	r = array_reserve(&facts->sites, &m->batch_capacity, count, sizeof(*facts->sites));
	if (r < 0)
		return r;
	memset(facts->sites + batches_before, 0,
	       (m->batch_capacity - batches_before) * sizeof(*facts->sites));
	return 0;
}

static void add_sums(struct object_merge *m, const struct row_merge *rows, double stands_for_s,
		     unsigned batch)
{
	const struct object_profile *from = &rows->from->objects;
	double w = rows->weights[WEIGHT_ACCESS], heap = object_profile_heap(from);

	rows->to->merged->heap[batch] += w * heap;
	m->estimated[batch] += w * from->estimated;
	m->heap += heap;
	m->weighted += w * heap;
	m->stands_for_s += stands_for_s;
}

/* The batches became half as many. */
static void fold(struct object_merge *m, struct window_merged *facts, size_t sites)
{
	batches_fold(facts->heap);
	batches_fold(m->estimated);
	for (size_t i = 0; i < sites; i++)
		batches_fold(facts->sites[i]);
}

int object_merge_add(struct object_merge *m, const struct row_merge *rows, double stands_for_s)
{
	const struct object_profile *from = &rows->from->objects;
	struct window_merged *facts = rows->to->merged;
	bool half;
	unsigned batch;
	int r = object_merge_reserve(m, facts, rows->to->objects.site_count);

	if (r < 0 || !window_result_tracks_objects(rows->from))
		return r;
	batch = batch_next(&m->clock, &half);
	if (half)
		fold(m, facts, rows->to->objects.site_count);
	for (size_t i = 0; i < from->site_count; i++) {
		const struct object_site *s = &from->sites[i];
		uint32_t position = rows->positions[TABLE_SITES][i];

		if (position == ROW_MERGE_NONE)
			continue;
		m->sites[position].count +=
		    stands_for_s * object_profile_uncollected_count(from, s);
		m->sites[position].bytes +=
		    stands_for_s * object_profile_uncollected_bytes(from, s);
		facts->sites[position][batch] += rows->weights[WEIGHT_ACCESS] * s->metric;
	}
	add_sums(m, rows, stands_for_s, batch);
	return 0;
}

double object_merge_scale(const struct object_merge *m)
{
	return m->weighted > 0 ? m->heap / m->weighted : 1;
}

double object_merge_share(const struct object_merge *m)
{
	return m->stands_for_s > 0 ? 1 / m->stands_for_s : 0;
}

static void finish_site(struct object_merge *m, struct window_result *to, size_t position,
			double inflation)
{
	struct object_site *s = &to->objects.sites[position];
	double *batches = to->merged->sites[position];
	double share = object_merge_share(m);

	object_site_set_uncollected(s, share * m->sites[position].count,
				    share * m->sites[position].bytes);
	batches_scale(batches, object_merge_scale(m));
	s->between =
	    inflation * batches_variance(batches, to->merged->heap, to->merged->object_batches);
}

void object_merge_finish(struct object_merge *m, struct window_result *to)
{
	struct window_merged *facts = to->merged;
	double inflation = facts->object_batches >= MERGED_SITE_BATCHES
			       ? batches_inflation(facts->object_batches - 1.0)
			       : 0;

	if (object_profile_is_overestimated(&to->objects))
		memcpy(facts->heap, m->estimated, sizeof(facts->heap));
	batches_scale(facts->heap, object_merge_scale(m));
	saturate_add(&to->losses[LOSS_CLASS_ACCESSES], to->objects.classes.refused);
	saturate_add(&to->losses[LOSS_STRATA], to->objects.strata.refused);
	object_profile_close(&to->objects, 0);
	for (size_t i = 0; i < to->objects.site_count; i++)
		finish_site(m, to, i, inflation);
}

void object_merge_release(struct object_merge *m)
{
	free(m->sites);
	*m = (struct object_merge){0};
}
