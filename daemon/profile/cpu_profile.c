#include "daemon/profile/cpu_profile.h"

#include <assert.h>
#include <stdlib.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "daemon/container/saturate.h"
#include "proto/limits.h"

#define FIRST_CODE JXP__CPU_SAMPLE__STATE__COMPILED

_Static_assert(JXP__CPU_SAMPLE__STATE__NATIVE - FIRST_CODE + 1 == CPU_CODE_STATES,
	       "CPU_CODE_STATES is wrong");

void cpu_profile_release(struct cpu_profile *c)
{
	free(c->contexts);
	hash_index_release(&c->context_index);
	*c = (struct cpu_profile){0};
}

int cpu_profile_copy(struct cpu_profile *to, const struct cpu_profile *from)
{
	*to = *from;
	to->context_capacity = from->context_count;
	to->context_index = (struct hash_index){0};
	return array_copy(&to->contexts, from->contexts, from->context_count,
			  sizeof(*from->contexts));
}

void cpu_sum_add(struct cpu_sum *to, const struct cpu_sum *from, double weight)
{
	saturate_add(&to->samples, from->samples);
	to->ns += weight * from->ns;
}

static bool context_matches(const void *table, uint32_t position, const void *key)
{
	const struct cpu_context *contexts = table;

	return contexts[position].node == *(const uint32_t *)key;
}

/* NULL in *out where there is no room for it. */
static int find_or_add(struct cpu_profile *c, uint32_t node, struct cpu_context **out)
{
	uint32_t hash = hash_ids(&node, 1), position;
	int r;

	*out = NULL;
	if (hash_index_find(&c->context_index, hash, context_matches, c->contexts, &node,
			    &position)) {
		*out = &c->contexts[position];
		return 0;
	}
	if (c->context_count >= LIMIT_CPU_CONTEXTS)
		return 0;
	r = array_reserve(&c->contexts, &c->context_capacity, c->context_count + 1,
			  sizeof(*c->contexts));
	if (r == 0)
		r = hash_index_insert(&c->context_index, hash, (uint32_t)c->context_count);
	if (r < 0)
		return r;
	c->contexts[c->context_count] = (struct cpu_context){.node = node};
	*out = &c->contexts[c->context_count++];
	return 0;
}

int cpu_profile_add_context(struct cpu_profile *c, const struct cpu_context *from, double weight)
{
	struct cpu_context *to;
	int r = find_or_add(c, from->node, &to);

	if (r < 0)
		return r;
	if (!to)
		saturate_add(&c->refused, cpu_context_sum(from).samples);
	for (size_t i = 0; to && i < CPU_CODE_STATES; i++)
		cpu_sum_add(&to->code[i], &from->code[i], weight);
	return 0;
}

static bool is_code(Jxp__CpuSample__State state)
{
	return state >= FIRST_CODE && state < FIRST_CODE + CPU_CODE_STATES;
}

int cpu_profile_add(struct cpu_profile *c, Jxp__CpuSample__State state, uint32_t node,
		    bool truncated, uint64_t cpu_ns)
{
	const struct cpu_sum tick = {.samples = 1, .ns = (double)cpu_ns};
	struct cpu_context context = {.node = node};

	assert((unsigned)state < CPU_STATES);
	cpu_sum_add(&c->states[state], &tick, 1);
	if (!is_code(state))
		return 0;
	if (truncated || node == 0) {
		cpu_sum_add(truncated ? &c->truncated : &c->lost, &tick, 1);
		return 0;
	}
	context.code[state - FIRST_CODE] = tick;
	return cpu_profile_add_context(c, &context, 1);
}

void cpu_profile_watch(struct cpu_profile *c, const Jxp__WatchRecord *record, bool running)
{
	if (!c->watched || !running) {
		c->watched = true;
		c->watched_from_ns = record->time_ns;
		c->gc_from_ns = record->gc_cpu_ns;
		c->jit_from_ns = record->jit_cpu_ns;
		return;
	}
	if (record->time_ns <= c->watched_from_ns || record->gc_cpu_ns < c->gc_from_ns ||
	    record->jit_cpu_ns < c->jit_from_ns)
		return;
	c->beside = (struct cpu_beside){.span_ns = record->time_ns - c->watched_from_ns,
					.gc_ns = (double)(record->gc_cpu_ns - c->gc_from_ns),
					.jit_ns = (double)(record->jit_cpu_ns - c->jit_from_ns)};
}

static struct cpu_sum sum_of(const struct cpu_sum *sums, size_t count)
{
	struct cpu_sum sum = {0};

	for (size_t i = 0; i < count; i++)
		cpu_sum_add(&sum, &sums[i], 1);
	return sum;
}

struct cpu_sum cpu_profile_all(const struct cpu_profile *c)
{
	return sum_of(c->states, CPU_STATES);
}

struct cpu_sum cpu_profile_code(const struct cpu_profile *c)
{
	return sum_of(&c->states[FIRST_CODE], CPU_CODE_STATES);
}

struct cpu_sum cpu_context_sum(const struct cpu_context *context)
{
	return sum_of(context->code, CPU_CODE_STATES);
}

size_t cpu_profile_memory_bytes(const struct cpu_profile *c)
{
	return c->context_capacity * sizeof(*c->contexts) +
	       c->context_index.capacity * sizeof(struct hash_slot);
}
