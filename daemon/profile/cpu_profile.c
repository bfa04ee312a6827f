#include "daemon/profile/cpu_profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "common/saturate.h"
#include "proto/limits.h"

static const Jxp__CpuSample__State states_of[CPU_CODES] = {
    [CPU_COMPILED] = JXP__CPU_SAMPLE__STATE__COMPILED,
    [CPU_INTERPRETED] = JXP__CPU_SAMPLE__STATE__INTERPRETED,
    [CPU_NATIVE] = JXP__CPU_SAMPLE__STATE__NATIVE,
    [CPU_KERNEL] = JXP__CPU_SAMPLE__STATE__KERNEL,
};

bool cpu_code_of(Jxp__CpuSample__State state, enum cpu_code *code)
{
	for (enum cpu_code i = 0; i < CPU_CODES; i++) {
		if (states_of[i] == state) {
			*code = i;
			return true;
		}
	}
	return false;
}

bool cpu_state_in_kernel(Jxp__CpuSample__State state)
{
	return state == JXP__CPU_SAMPLE__STATE__KERNEL ||
	       state == JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL;
}

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
	for (size_t i = 0; to && i < CPU_CODES; i++)
		cpu_sum_add(&to->code[i], &from->code[i], weight);
	return 0;
}

int cpu_profile_add(struct cpu_profile *c, Jxp__CpuSample__State state, uint32_t node,
		    bool truncated, uint64_t cpu_ns)
{
	const struct cpu_sum tick = {.samples = 1, .ns = (double)cpu_ns};
	struct cpu_context context = {.node = node};
	enum cpu_code code;

	assert((unsigned)state < CPU_STATES);
	cpu_sum_add(&c->states[state], &tick, 1);
	if (!cpu_code_of(state, &code))
		return 0;
	if (truncated || node == 0) {
		cpu_sum_add(truncated ? &c->truncated : &c->lost, &tick, 1);
		return 0;
	}
	context.code[code] = tick;
	return cpu_profile_add_context(c, &context, 1);
}

static void take_away(struct cpu_sum *from, const struct cpu_sum *sum)
{
	from->samples -= sum->samples;
	/* Nothing is left of nothing, whatever rounding says. */
	from->ns = from->samples > 0 && from->ns > sum->ns ? from->ns - sum->ns : 0;
}

int cpu_profile_move(struct cpu_profile *c, uint32_t from, uint32_t to, enum cpu_code code,
		     const struct cpu_sum *sum)
{
	struct cpu_context *source, *target;
	uint32_t hash = hash_ids(&from, 1), position;
	int r;

	if (!hash_index_find(&c->context_index, hash, context_matches, c->contexts, &from,
			     &position) ||
	    c->contexts[position].code[code].samples < sum->samples)
		return 0;
	r = find_or_add(c, to, &target);
	if (r < 0)
		return r;
	if (!target)
		return -ENOSPC;
	source = &c->contexts[position]; /* It may have been moved. */
	take_away(&source->code[code], sum);
	cpu_sum_add(&target->code[code], sum, 1);
	return 0;
}

int cpu_profile_settle(struct cpu_profile *c)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < c->context_count; i++)
		if (cpu_context_sum(&c->contexts[i]).samples > 0)
			c->contexts[kept++] = c->contexts[i];
	if (kept == c->context_count)
		return 0;
	c->context_count = kept;
	hash_index_release(&c->context_index);
	for (size_t i = 0; r == 0 && i < kept; i++)
		r = hash_index_insert(&c->context_index, hash_ids(&c->contexts[i].node, 1),
				      (uint32_t)i);
	return r;
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
	struct cpu_sum sum = {0};

	for (size_t i = 0; i < CPU_CODES; i++)
		cpu_sum_add(&sum, &c->states[states_of[i]], 1);
	return sum;
}

struct cpu_sum cpu_profile_kernel(const struct cpu_profile *c)
{
	struct cpu_sum sum = {0};

	for (int i = 0; i < CPU_STATES; i++)
		if (cpu_state_in_kernel((Jxp__CpuSample__State)i))
			cpu_sum_add(&sum, &c->states[i], 1);
	return sum;
}

double cpu_profile_outside_ns(const struct cpu_profile *c)
{
	double ns = cpu_profile_code(c).ns - c->truncated.ns;

	for (size_t i = 0; i < c->context_count; i++)
		ns -= cpu_context_sum(&c->contexts[i]).ns;
	return ns > 0 ? ns : 0;
}

struct cpu_sum cpu_context_sum(const struct cpu_context *context)
{
	return sum_of(context->code, CPU_CODES);
}

double cpu_profile_ticks_of(const struct cpu_profile *c, double ns)
{
	struct cpu_sum all = cpu_profile_all(c);

	return all.ns > 0 ? ns * (double)all.samples / all.ns : 0;
}

size_t cpu_profile_memory_bytes(const struct cpu_profile *c)
{
	return c->context_capacity * sizeof(*c->contexts) +
	       c->context_index.capacity * sizeof(struct hash_slot);
}
