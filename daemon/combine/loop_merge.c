#include "daemon/combine/loop_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/saturate.h"

#define NO_ROW UINT32_MAX

static int refused_or_failed(int r)
{
	return r == -ENOSPC ? 0 : r;
}

/* Finds for each row its position in to, NO_ROW where there was no room. */
static int add_rows(struct loop_profile *to, const struct loop_profile *from,
		    const struct names_map *map, double weight, uint32_t *positions)
{
	for (size_t i = 0; i < from->row_count; i++) {
		struct loop_key key = from->rows[i].key;
		int r;

		key.method = map->methods[key.method];
		r = loop_profile_row(to, &key, &positions[i]);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			positions[i] = NO_ROW;
		else
			loop_row_add(&to->rows[positions[i]], &from->rows[i], weight);
	}
	return 0;
}

static int add_contexts(struct loop_profile *to, const struct loop_profile *from,
			const struct names_map *map, double weight, const uint32_t *positions)
{
	for (size_t i = 0; i < from->context_count; i++) {
		const struct loop_context *c = &from->contexts[i];
		uint32_t node = map->nodes[c->node], position;
		int r;

		/* One without room for its context is not called from nowhere. */
		if (positions[c->loop] == NO_ROW || (c->node && !node))
			continue;
		r = loop_profile_context(to, positions[c->loop], node, &position);
		if (r == 0)
			cpu_sum_add(&to->contexts[position].sum, &c->sum, weight);
		else if (refused_or_failed(r) < 0)
			return r;
	}
	return 0;
}

/* What belongs to a loop, and is named by a method, of one profile: in the other one. False where
 * that has no room for the loop. */
static bool carry_over(const struct names_map *map, const uint32_t *positions, uint32_t *loop,
		       uint32_t *method)
{
	if (positions[*loop] == NO_ROW)
		return false;
	*loop = positions[*loop];
	*method = map->methods[*method];
	return true;
}

static int add_places(struct loop_profile *to, const struct loop_profile *from,
		      const struct names_map *map, const uint32_t *positions)
{
	for (size_t i = 0; i < from->place_count; i++) {
		struct loop_place like = from->places[i];
		uint32_t position;
		int r;

		if (!carry_over(map, positions, &like.loop, &like.method))
			continue;
		r = loop_profile_place(to, &like, &position);
		if (refused_or_failed(r) < 0)
			return r;
		if (r < 0)
			continue;
		saturate_add(&to->places[position].counted, like.counted);
		saturate_add(&to->places[position].bursts, like.bursts);
	}
	return 0;
}

static int add_inputs(struct loop_profile *to, const struct loop_profile *from,
		      const struct names_map *map, const uint32_t *positions)
{
	for (size_t i = 0; i < from->input_count; i++) {
		struct loop_compared like = from->inputs[i];
		uint32_t position;
		int r;

		if (!carry_over(map, positions, &like.loop, &like.method))
			continue;
		r = loop_profile_input(to, &like, &position);
		if (refused_or_failed(r) < 0)
			return r;
		if (r == 0)
			repeat_sum_merge(&to->inputs[position].same, &from->inputs[i].same);
	}
	return 0;
}

int loop_merge_add(struct loop_profile *to, const struct loop_profile *from,
		   const struct names_map *map, double weight)
{
	_cleanup_free_ uint32_t *positions = calloc(from->row_count + 1, sizeof(*positions));
	int r = positions ? add_rows(to, from, map, weight, positions) : -ENOMEM;

	if (r == 0)
		r = add_contexts(to, from, map, weight, positions);
	if (r == 0)
		r = add_places(to, from, map, positions);
	if (r == 0)
		r = add_inputs(to, from, map, positions);
	cpu_sum_add(&to->compiled, &from->compiled, weight);
	cpu_sum_add(&to->looked_at, &from->looked_at, weight);
	cpu_sum_add(&to->in_loops, &from->in_loops, weight);
	cpu_sum_add(&to->mapped, &from->mapped, weight);
	return r;
}

static void scale_row(struct loop_row *row, double scale)
{
	row->own.ns *= scale;
	row->within.ns *= scale;
	row->waits_ns *= scale;
	for (size_t i = 0; i < LOOP_TYPES; i++)
		row->type_ns[i] *= scale;
	for (size_t i = 0; i < LOOP_DOUBTS; i++)
		row->doubt_ns[i] *= scale;
	for (size_t i = 0; i < LOOP_EFFECTS; i++)
		row->effect_ns[i] *= scale;
}

void loop_merge_scale(struct loop_profile *p, double scale)
{
	for (size_t i = 0; i < p->row_count; i++)
		scale_row(&p->rows[i], scale);
	for (size_t i = 0; i < p->context_count; i++)
		p->contexts[i].sum.ns *= scale;
	p->compiled.ns *= scale;
	p->looked_at.ns *= scale;
	p->in_loops.ns *= scale;
	p->mapped.ns *= scale;
}
