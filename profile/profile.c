#include "profile/profile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/saturate.h"
#include "profile/tables.h"
#include "proto/limits.h"

uint32_t pair_removable_node(const struct pair *pair)
{
	return pair_kind_find((Jxp__Kind)pair->kind)->waste == PAIR_WASTE_OVERWRITTEN
		   ? pair->watch_node
		   : pair->trap_node;
}

static const struct column pair_columns[] = {
    COLUMN(struct pair, watch_node, .role = COLUMN_ID, .table = TABLE_NODES),
    COLUMN(struct pair, trap_node, .role = COLUMN_ID, .table = TABLE_NODES),
    COLUMN(struct pair, watch_instruction, .role = COLUMN_NAME),
    COLUMN(struct pair, trap_instruction, .role = COLUMN_NAME),
    COLUMN(struct pair, location, .role = COLUMN_ID, .table = TABLE_LOCATIONS),
    COLUMN(struct pair, kind, .below = KIND_VALUES),
    COLUMN(struct pair, region, .below = PROFILE_REGIONS),
    COLUMN(struct pair, count, .role = COLUMN_COUNT),
    COLUMN(struct pair, wasteful_count, .role = COLUMN_COUNT),
    COLUMN(struct pair, checked_bytes), /* a merge weighs bytes by itself */
    COLUMN(struct pair, wasteful_bytes),
    COLUMN(struct pair, wasteful_squares),
    COLUMN(struct pair, cpu.ns, .role = COLUMN_SUM, .weight = WEIGHT_PAIRS),
    COLUMN(struct pair, cpu.squares, .role = COLUMN_SQUARES, .weight = WEIGHT_PAIRS),
};

static bool cpu_is_valid(const struct cpu_sums *cpu)
{
	return (cpu->ns > 0) == (cpu->squares > 0);
}

static bool pair_is_valid(const void *row)
{
	const struct pair *pair = row;

	return pair_kind_find((Jxp__Kind)pair->kind) && pair->wasteful_count <= pair->count &&
	       pair->wasteful_bytes <= pair->checked_bytes && cpu_is_valid(&pair->cpu);
}

const struct table_layout pair_layout = {
    TABLE_COLUMNS(pair_columns), .row_size = sizeof(struct pair), .key_words = 6,
    .limit = LIMIT_PAIRS,        .is_valid = pair_is_valid,
};

static const struct column totals_columns[] = {
    COLUMN(struct totals, count, .role = COLUMN_COUNT),
    COLUMN(struct totals, wasteful_count, .role = COLUMN_COUNT),
    COLUMN(struct totals, checked_bytes), /* a merge weighs bytes by itself */
    COLUMN(struct totals, wasteful_bytes),
    COLUMN(struct totals, sum_squares),
    COLUMN(struct totals, wasteful_cpu.ns, .role = COLUMN_SUM, .weight = WEIGHT_PAIRS),
    COLUMN(struct totals, wasteful_cpu.squares, .role = COLUMN_SQUARES, .weight = WEIGHT_PAIRS),
    COLUMN(struct totals, cpu.ns, .role = COLUMN_SUM, .weight = WEIGHT_PAIRS),
    COLUMN(struct totals, cpu.squares, .role = COLUMN_SQUARES, .weight = WEIGHT_PAIRS),
};

static bool totals_are_valid(const void *row)
{
	const struct totals *t = row;

	return t->wasteful_count <= t->count && t->wasteful_bytes <= t->checked_bytes &&
	       (t->checked_bytes > 0) == (t->sum_squares > 0) && cpu_is_valid(&t->wasteful_cpu) &&
	       cpu_is_valid(&t->cpu);
}

const struct table_layout totals_layout = {
    TABLE_COLUMNS(totals_columns),
    .row_size = sizeof(struct totals),
    .limit = PROFILE_TOTALS,
    .is_valid = totals_are_valid,
};

void profile_release(struct profile *p)
{
	strings_release(&p->strings);
	cct_release(&p->cct);
	locations_release(&p->locations);
	row_table_release(&p->pair_table);
	*p = (struct profile){0};
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
	struct pair like = {.watch_node = o->watch_node,
			    .trap_node = o->trap_node,
			    .watch_instruction = o->watch_instruction,
			    .trap_instruction = o->trap_instruction,
			    .location = o->location,
			    .kind = (uint16_t)o->kind,
			    .region = (uint16_t)o->region};
	uint32_t position;
	int r;

	assert(pair_kind_find(o->kind));
	if (jvm) {
		totals_add(&p->kinds[o->kind].jvm, o);
		return 0;
	}
	totals_add(&p->kinds[o->kind].application, o);
	totals_add(&p->kinds[o->kind].regions[o->region], o);
	r = row_table_add(&p->pair_table, &pair_layout, &like, &position);
	if (r < 0)
		return r;
	pair_add(&p->pairs[position], o);
	return 0;
}
