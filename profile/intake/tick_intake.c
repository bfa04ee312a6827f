#include "profile/intake/tick_intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "profile/container/hash.h"
#include "proto/limits.h"

void tick_intake_init(struct tick_intake *in, struct window_result *result,
		      struct attribution_intake *makers)
{
	*in = (struct tick_intake){.result = result, .makers = makers};
}

void tick_intake_release(struct tick_intake *in)
{
	free(in->places);
	hash_index_release(&in->place_index);
	tick_intake_init(in, in->result, in->makers);
}

static bool place_matches(const void *table, uint32_t position, const void *key)
{
	const struct tick_place *places = table;

	return memcmp(&places[position].key, key, sizeof(struct tick_key)) == 0;
}

static bool find_place(const struct tick_intake *in, const struct tick_key *key, uint32_t *position)
{
	return hash_index_find(&in->place_index, hash_bytes(key, sizeof(*key)), place_matches,
			       in->places, key, position);
}

/* NULL in *place where there is no room. 0 or -ENOMEM. */
static int find_or_add(struct tick_intake *in, const struct tick_key *key,
		       struct tick_place **place)
{
	uint32_t position;
	int r;

	*place = NULL;
	if (find_place(in, key, &position)) {
		*place = &in->places[position];
		return 0;
	}
	r = array_reserve_within(&in->places, &in->place_capacity, in->place_count + 1,
				 LIMIT_LOOP_TICKS, sizeof(*in->places));
	if (r == 0)
		r = hash_index_insert(&in->place_index, hash_bytes(key, sizeof(*key)),
				      (uint32_t)in->place_count);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	*place = &in->places[in->place_count++];
	**place = (struct tick_place){.key = *key};
	return 0;
}

/* So many more ticks of a place whose maker is told. */
static int apply(struct tick_intake *in, struct tick_place *p, const struct cpu_sum *sum)
{
	int r = 0;

	if (p->told != p->key.node)
		r = cpu_profile_move(&in->result->cpu, p->key.node, p->told, CPU_COMPILED, sum);
	if (r == -ENOSPC) { /* They stay, and so will all. */
		p->told = p->key.node;
		p->certainty = CERTAINTY_UNKNOWN;
	}
	in->result->ticks_attributed[p->certainty] += sum->samples;
	return r == -ENOMEM ? r : 0;
}

/* It is another one's than was told; which had room. */
static int take_back(struct tick_intake *in, struct tick_place *p)
{
	int r = 0;

	if (p->told != p->key.node)
		r = cpu_profile_move(&in->result->cpu, p->told, p->key.node, CPU_COMPILED, &p->sum);
	in->result->ticks_attributed[p->certainty] -= p->sum.samples;
	return r == -ENOMEM ? r : 0;
}

/* Where its code is known now. 0 or -ENOMEM. */
static int tell(struct tick_intake *in, struct tick_place *p)
{
	struct attribution_told told;
	int r = p->key.kind == TICK_IN_CODE
		    ? attribution_intake_tick(in->makers, p->key.code, p->key.offset, p->key.node,
					      &told)
		    : 0;

	if (r <= 0)
		return r;
	p->told = told.node;
	p->certainty = told.certainty;
	return apply(in, p, &p->sum);
}

int tick_intake_add(struct tick_intake *in, const struct event_tick *tick, uint32_t node,
		    enum tick_kind kind)
{
	const struct tick_key key = {
	    .code = tick->code, .offset = tick->offset, .node = node, .kind = kind};
	const struct cpu_sum sum = {.samples = 1, .ns = (double)tick->cpu_ns};
	struct tick_place *place;
	int r = find_or_add(in, &key, &place);

	if (r < 0)
		return r;
	if (!place) {
		in->result->ticks_attributed[CERTAINTY_UNKNOWN] += kind != TICK_OF_NOBODY;
		return 0;
	}
	cpu_sum_add(&place->sum, &sum, 1);
	if (kind != TICK_OF_NOBODY)
		r = place->certainty == CERTAINTY_NONE ? tell(in, place) : apply(in, place, &sum);
	return r < 0 ? r : 1;
}

static int tell_all(struct tick_intake *in)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < in->place_count; i++)
		if (in->places[i].certainty == CERTAINTY_NONE)
			r = tell(in, &in->places[i]);
	return r;
}

int tick_intake_settle(struct tick_intake *in)
{
	if (in->codes_known == in->makers->codes_known)
		return 0;
	in->codes_known = in->makers->codes_known;
	return tell_all(in);
}

uint32_t tick_intake_node(const struct tick_intake *in, uint64_t code, uint32_t offset,
			  uint32_t node)
{
	const struct tick_key key = {.code = code, .offset = offset, .node = node};
	uint32_t position;

	if (!find_place(in, &key, &position) || in->places[position].certainty == CERTAINTY_NONE)
		return node;
	return in->places[position].told;
}

/* An access of the same instruction tells more than its shape. */
static int tell_by_access(struct tick_intake *in, struct tick_place *p)
{
	struct attribution_told told;
	int r = attribution_intake_tick_by_access(in->makers, p->key.code, p->key.offset,
						  p->key.kind == TICK_CALLED, p->key.node, &told);

	if (r <= 0)
		return r;
	if (p->certainty != CERTAINTY_NONE)
		r = take_back(in, p);
	if (r < 0)
		return r;
	p->told = told.node;
	p->certainty = told.certainty;
	return apply(in, p, &p->sum);
}

int tick_intake_finish(struct tick_intake *in)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < in->place_count; i++)
		if (in->places[i].key.kind != TICK_OF_NOBODY)
			r = tell_by_access(in, &in->places[i]);
	if (r == 0)
		r = tell_all(in);

	for (size_t i = 0; i < in->place_count; i++)
		if (in->places[i].certainty == CERTAINTY_NONE &&
		    in->places[i].key.kind != TICK_OF_NOBODY)
			in->result->ticks_attributed[CERTAINTY_UNKNOWN] +=
			    in->places[i].sum.samples;
	return r < 0 ? r : cpu_profile_settle(&in->result->cpu);
}

size_t tick_intake_memory_bytes(const struct tick_intake *in)
{
	return in->place_capacity * sizeof(*in->places) +
	       in->place_index.capacity * sizeof(struct hash_slot);
}
