#include "profile/cpu_profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "common/saturate.h"
#include "profile/tables.h"
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

static const struct column context_columns[] = {
    COLUMN(struct cpu_context, node, .role = COLUMN_ID, .table = TABLE_NODES),
    COLUMNS(struct cpu_context, code, code[0].samples, .role = COLUMN_COUNT),
    COLUMNS(struct cpu_context, code, code[0].ns, .role = COLUMN_SUM, .weight = WEIGHT_CPU),
};

/* No agent can have said so much, and any sum of such is still a number. */
#define NS_MAX 0x1p100

bool cpu_sum_is_valid(const struct cpu_sum *sum)
{
	return sum->ns < NS_MAX && (sum->samples > 0 || !(sum->ns > 0));
}

static bool are_valid(const struct cpu_sum *sums, size_t count)
{
	bool valid = true;

	for (size_t i = 0; i < count; i++)
		valid &= cpu_sum_is_valid(&sums[i]);
	return valid;
}

static bool context_is_valid(const void *row)
{
	const struct cpu_context *context = row;

	return context->node != 0 && are_valid(context->code, CPU_CODES);
}

const struct table_layout cpu_context_layout = {
    TABLE_COLUMNS(context_columns), .row_size = sizeof(struct cpu_context), .key_words = 1,
    .limit = LIMIT_CPU_CONTEXTS,    .is_valid = context_is_valid,
};

static const struct column sums_columns[] = {
    COLUMNS(struct cpu_profile, states, states[0].samples, .role = COLUMN_COUNT),
    COLUMNS(struct cpu_profile, states, states[0].ns, .role = COLUMN_SUM, .weight = WEIGHT_CPU),
    COLUMN(struct cpu_profile, truncated.samples, .role = COLUMN_COUNT),
    COLUMN(struct cpu_profile, truncated.ns, .role = COLUMN_SUM, .weight = WEIGHT_CPU),
    COLUMN(struct cpu_profile, lost.samples, .role = COLUMN_COUNT),
    COLUMN(struct cpu_profile, lost.ns, .role = COLUMN_SUM, .weight = WEIGHT_CPU),
    COLUMN(struct cpu_profile, refused),
    COLUMN(struct cpu_profile, beside.span_ns, .role = COLUMN_COUNT),
    COLUMN(struct cpu_profile, beside.gc_ns, .role = COLUMN_SUM, .weight = WEIGHT_BESIDE),
    COLUMN(struct cpu_profile, beside.jit_ns, .role = COLUMN_SUM, .weight = WEIGHT_BESIDE),
};

static bool sums_are_valid(const void *row)
{
	const struct cpu_profile *c = row;

	return are_valid(c->states, CPU_STATES) && are_valid(&c->truncated, 1) &&
	       are_valid(&c->lost, 1) && c->beside.gc_ns < NS_MAX && c->beside.jit_ns < NS_MAX;
}

const struct table_layout cpu_sums_layout = {
    TABLE_COLUMNS(sums_columns),
    .row_size = sizeof(struct cpu_profile),
    .limit = 1,
    .is_valid = sums_are_valid,
};

void cpu_profile_release(struct cpu_profile *c)
{
	row_table_release(&c->context_table);
	*c = (struct cpu_profile){0};
}

void cpu_sum_add(struct cpu_sum *to, const struct cpu_sum *from, double weight)
{
	saturate_add(&to->samples, from->samples);
	to->ns += weight * from->ns;
}

int cpu_profile_add_context(struct cpu_profile *c, const struct cpu_context *from, double weight)
{
	uint32_t position;
	int r = row_table_add(&c->context_table, &cpu_context_layout, from, &position);

	if (r == -ENOSPC)
		saturate_add(&c->refused, cpu_context_sum(from).samples);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	for (size_t i = 0; i < CPU_CODES; i++)
		cpu_sum_add(&c->contexts[position].code[i], &from->code[i], weight);
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
	uint32_t source, target;
	int r;

	if (!row_table_find(&c->context_table, &cpu_context_layout, &from, &source) ||
	    c->contexts[source].code[code].samples < sum->samples)
		return 0;
	r = row_table_add(&c->context_table, &cpu_context_layout, &to, &target);
	if (r < 0)
		return r;
	take_away(&c->contexts[source].code[code], sum);
	cpu_sum_add(&c->contexts[target].code[code], sum, 1);
	return 0;
}

int cpu_profile_settle(struct cpu_profile *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->context_count; i++)
		if (cpu_context_sum(&c->contexts[i]).samples > 0)
			c->contexts[kept++] = c->contexts[i];
	return kept == c->context_count
		   ? 0
		   : row_table_index_again(&c->context_table, &cpu_context_layout, kept);
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
