#include "daemon/profile/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "common/saturate.h"
#include "proto/limits.h"

uint32_t pair_removable_node(const struct pair *pair)
{
	return pair_kind_find((Jxp__Kind)pair->kind)->waste == PAIR_WASTE_OVERWRITTEN
		   ? pair->watch_node
		   : pair->trap_node;
}

void profile_release(struct profile *p)
{
	strings_release(&p->strings);
	cct_release(&p->cct);
	locations_release(&p->locations);
	free(p->pairs);
	hash_index_release(&p->pair_index);
	*p = (struct profile){0};
}

int profile_copy(struct profile *to, const struct profile *from)
{
	const struct strings *strings = &from->strings;
	const struct cct *cct = &from->cct;
	int r;

	*to = (struct profile){
	    .strings = {.used = strings->used, .capacity = strings->used},
	    .cct = {.node_count = cct->node_count,
		    .node_capacity = cct->node_count,
		    .method_count = cct->method_count,
		    .method_capacity = cct->method_count},
	    .locations = {.count = from->locations.count, .capacity = from->locations.count},
	    .pair_count = from->pair_count,
	    .pair_capacity = from->pair_count,
	};
	memcpy(to->kinds, from->kinds, sizeof(to->kinds));
	r = array_copy(&to->strings.bytes, strings->bytes, strings->used, 1);
	if (r == 0)
		r = array_copy(&to->cct.nodes, cct->nodes, cct->node_count, sizeof(*cct->nodes));
	if (r == 0)
		r = array_copy(&to->cct.methods, cct->methods, cct->method_count,
			       sizeof(*cct->methods));
	if (r == 0)
		r = array_copy(&to->locations.list, from->locations.list, from->locations.count,
			       sizeof(*from->locations.list));
	if (r == 0)
		r = array_copy(&to->pairs, from->pairs, from->pair_count, sizeof(*from->pairs));
	return r;
}

/* The fields that make a pair's identity; no padding, so that it can be hashed as bytes. */
struct pair_key {
	uint32_t watch_node;
	uint32_t trap_node;
	uint32_t watch_instruction;
	uint32_t trap_instruction;
	uint32_t location;
	uint16_t kind;
	uint16_t region;
};

static struct pair_key pair_key(const struct pair *p)
{
	return (struct pair_key){.watch_node = p->watch_node,
				 .trap_node = p->trap_node,
				 .watch_instruction = p->watch_instruction,
				 .trap_instruction = p->trap_instruction,
				 .location = p->location,
				 .kind = p->kind,
				 .region = p->region};
}

static bool pair_matches(const void *table, uint32_t position, const void *key)
{
	const struct profile *profile = table;
	const struct pair *p = &profile->pairs[position];
	struct pair_key own = pair_key(p);

	return memcmp(&own, key, sizeof(own)) == 0;
}

static int find_or_add_pair(struct profile *p, const struct pair_key *key, struct pair **out)
{
	uint32_t hash = hash_bytes(key, sizeof(*key));
	uint32_t position;
	int r;

	if (hash_index_find(&p->pair_index, hash, pair_matches, p, key, &position)) {
		*out = &p->pairs[position];
		return 0;
	}
	if (p->pair_count >= LIMIT_PAIRS)
		return -ENOSPC;
	r = array_reserve(&p->pairs, &p->pair_capacity, p->pair_count + 1, sizeof(*p->pairs));
	if (r < 0)
		return r;
	r = hash_index_insert(&p->pair_index, hash, (uint32_t)p->pair_count);
	if (r < 0)
		return r;
	p->pairs[p->pair_count] = (struct pair){.watch_node = key->watch_node,
						.trap_node = key->trap_node,
						.watch_instruction = key->watch_instruction,
						.trap_instruction = key->trap_instruction,
						.location = key->location,
						.kind = (uint8_t)key->kind,
						.region = (uint8_t)key->region};
	*out = &p->pairs[p->pair_count++];
	return 0;
}

static void cpu_add(struct cpu_sums *c, uint64_t ns)
{
	c->ns += (double)ns;
	c->squares += (double)ns * (double)ns;
}

static void totals_add(struct totals *t, const struct observation *o)
{
	t->count++;
	cpu_add(&t->cpu, o->cpu_ns);
	t->checked_bytes += o->checked_bytes;
	saturate_add(&t->sum_squares, (uint64_t)o->checked_bytes * o->checked_bytes);
	if (!o->wasteful)
		return;
	t->wasteful_count++;
	t->wasteful_bytes += o->checked_bytes;
	cpu_add(&t->wasteful_cpu, o->cpu_ns);
}

static void pair_add(struct pair *pair, const struct observation *o)
{
	pair->count++;
	pair->checked_bytes += o->checked_bytes;
	if (!o->wasteful)
		return;
	pair->wasteful_count++;
	pair->wasteful_bytes += o->checked_bytes;
	saturate_add(&pair->wasteful_squares, (uint64_t)o->checked_bytes * o->checked_bytes);
	cpu_add(&pair->cpu, o->cpu_ns);
}

int profile_add(struct profile *p, const struct observation *o)
{
	bool jvm = o->jvm_access || o->region == JXP__REGION__REGION_JVM;
	struct pair_key key = {.watch_node = o->watch_node,
			       .trap_node = o->trap_node,
			       .watch_instruction = o->watch_instruction,
			       .trap_instruction = o->trap_instruction,
			       .location = o->location,
			       .kind = (uint16_t)o->kind,
			       .region = (uint16_t)o->region};
	struct pair *pair;
	int r;

	assert(pair_kind_find(o->kind));
	if (jvm) {
		totals_add(&p->kinds[o->kind].jvm, o);
		return 0;
	}
	totals_add(&p->kinds[o->kind].application, o);
	totals_add(&p->kinds[o->kind].regions[o->region], o);
	r = find_or_add_pair(p, &key, &pair);
	if (r == 0)
		pair_add(pair, o);
	return r;
}

int profile_pair(struct profile *p, const struct pair *like, uint32_t *position)
{
	struct pair_key key = pair_key(like);
	struct pair *pair;
	int r = find_or_add_pair(p, &key, &pair);

	if (r == 0)
		*position = (uint32_t)(pair - p->pairs);
	return r;
}

int profile_add_pair(struct profile *p, const struct pair *from)
{
	struct pair *pair;
	uint32_t position;
	int r = profile_pair(p, from, &position);

	if (r < 0)
		return r;
	pair = &p->pairs[position];
	saturate_add(&pair->count, from->count);
	saturate_add(&pair->wasteful_count, from->wasteful_count);
	saturate_add(&pair->checked_bytes, from->checked_bytes);
	saturate_add(&pair->wasteful_bytes, from->wasteful_bytes);
	saturate_add(&pair->wasteful_squares, from->wasteful_squares);
	pair->cpu.ns += from->cpu.ns;
	pair->cpu.squares += from->cpu.squares;
	return 0;
}

static size_t index_bytes(const struct hash_index *index)
{
	return index->capacity * sizeof(*index->slots);
}

size_t profile_memory_bytes(const struct profile *p)
{
	return p->strings.capacity + index_bytes(&p->strings.index) +
	       p->cct.node_capacity * sizeof(*p->cct.nodes) + index_bytes(&p->cct.node_index) +
	       p->cct.method_capacity * sizeof(*p->cct.methods) +
	       index_bytes(&p->cct.method_index) + locations_memory_bytes(&p->locations) +
	       p->pair_capacity * sizeof(*p->pairs) + index_bytes(&p->pair_index);
}
