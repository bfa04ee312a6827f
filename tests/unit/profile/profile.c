#include "tests/unit/support/test.h"

#include <errno.h>

#include "profile/profile.h"
#include "proto/limits.h"

static struct observation silent_load(uint32_t trap_node, bool wasteful, uint32_t bytes)
{
	return (struct observation){.kind = JXP__KIND__KIND_SILENT_LOAD,
				    .region = JXP__REGION__REGION_HEAP,
				    .wasteful = wasteful,
				    .checked_bytes = bytes,
				    .watch_node = 1,
				    .trap_node = trap_node};
}

TEST(equal_pairs_are_added_up)
{
	struct observation wasteful = silent_load(2, true, 8), useful = silent_load(2, false, 4);
	struct profile p = {0};

	assert_int_equal(profile_add(&p, &wasteful), 0);
	assert_int_equal(profile_add(&p, &wasteful), 0);
	assert_int_equal(profile_add(&p, &useful), 0);
	assert_int_equal(p.pair_count, 1);
	assert_int_equal(p.pairs[0].count, 3);
	assert_int_equal(p.pairs[0].wasteful_count, 2);
	assert_int_equal(p.pairs[0].checked_bytes, 20);
	assert_int_equal(p.pairs[0].wasteful_bytes, 16);
	profile_release(&p);
}

TEST(every_part_of_the_key_makes_another_pair)
{
	struct observation base = silent_load(2, true, 8), o;
	struct profile p = {0};

	assert_int_equal(profile_add(&p, &base), 0);
	o = base, o.trap_node = 3;
	assert_int_equal(profile_add(&p, &o), 0);
	o = base, o.watch_node = 3;
	assert_int_equal(profile_add(&p, &o), 0);
	o = base, o.watch_instruction = 5;
	assert_int_equal(profile_add(&p, &o), 0);
	o = base, o.trap_instruction = 5;
	assert_int_equal(profile_add(&p, &o), 0);
	o = base, o.region = JXP__REGION__REGION_STACK;
	assert_int_equal(profile_add(&p, &o), 0);
	o = base, o.kind = JXP__KIND__KIND_DEAD_STORE;
	assert_int_equal(profile_add(&p, &o), 0);
	o = base, o.location = 5;
	assert_int_equal(profile_add(&p, &o), 0);
	assert_int_equal(p.pair_count, 8);
	profile_release(&p);
}

TEST(the_virtual_machines_own_accesses_are_kept_apart)
{
	struct observation region = silent_load(2, true, 8), access = silent_load(2, true, 4);
	const struct kind_totals *totals;
	struct profile p = {0};

	region.region = JXP__REGION__REGION_JVM;
	access.jvm_access = true;
	assert_int_equal(profile_add(&p, &region), 0);
	assert_int_equal(profile_add(&p, &access), 0);
	totals = &p.kinds[JXP__KIND__KIND_SILENT_LOAD];
	assert_int_equal(p.pair_count, 0);
	assert_int_equal(totals->application.count, 0);
	assert_int_equal(totals->jvm.checked_bytes, 12);
	assert_int_equal(totals->jvm.wasteful_bytes, 12);
	profile_release(&p);
}

TEST(totals_carry_what_the_interval_needs)
{
	struct observation eight = silent_load(2, true, 8), two = silent_load(3, false, 2);
	const struct totals *t;
	struct profile p = {0};

	assert_int_equal(profile_add(&p, &eight), 0);
	assert_int_equal(profile_add(&p, &two), 0);
	t = &p.kinds[JXP__KIND__KIND_SILENT_LOAD].application;
	assert_int_equal(t->count, 2);
	assert_int_equal(t->wasteful_count, 1);
	assert_int_equal(t->checked_bytes, 10);
	assert_int_equal(t->wasteful_bytes, 8);
	assert_int_equal(t->sum_squares, 68);
	profile_release(&p);
}

TEST(cpu_time_is_summed_of_what_is_wasteful_and_of_all)
{
	struct observation waste = silent_load(2, true, 8), use = silent_load(2, false, 8);
	const struct totals *t;
	struct profile p = {0};

	waste.cpu_ns = 3;
	use.cpu_ns = 4;
	assert_int_equal(profile_add(&p, &waste), 0);
	assert_int_equal(profile_add(&p, &waste), 0);
	assert_int_equal(profile_add(&p, &use), 0);
	t = &p.kinds[JXP__KIND__KIND_SILENT_LOAD].application;
	assert_true(t->wasteful_cpu.ns == 6 && t->wasteful_cpu.squares == 18);
	assert_true(t->cpu.ns == 10 && t->cpu.squares == 34);
	assert_true(p.pairs[0].cpu.ns == 6 && p.pairs[0].cpu.squares == 18);
	profile_release(&p);
}

TEST(regions_add_up_to_the_applications_totals)
{
	struct observation o = silent_load(2, true, 8);
	const struct kind_totals *k;
	struct profile p = {0};

	assert_int_equal(profile_add(&p, &o), 0);
	o.region = JXP__REGION__REGION_STACK, o.checked_bytes = 4, o.wasteful = false;
	assert_int_equal(profile_add(&p, &o), 0);
	o.region = JXP__REGION__REGION_JVM;
	assert_int_equal(profile_add(&p, &o), 0);
	k = &p.kinds[JXP__KIND__KIND_SILENT_LOAD];
	assert_int_equal(k->application.checked_bytes, 12);
	assert_int_equal(k->regions[JXP__REGION__REGION_HEAP].wasteful_bytes, 8);
	assert_int_equal(k->regions[JXP__REGION__REGION_STACK].checked_bytes, 4);
	assert_int_equal(k->regions[JXP__REGION__REGION_STACK].sum_squares, 16);
	assert_int_equal(k->regions[JXP__REGION__REGION_OTHER].count, 0);
	profile_release(&p);
}

TEST(a_full_pair_table_still_counts_in_the_totals)
{
	struct observation o;
	struct profile p = {0};

	for (uint32_t i = 0; i < LIMIT_PAIRS; i++) {
		o = silent_load(i, true, 1);
		assert_int_equal(profile_add(&p, &o), 0);
	}
	o = silent_load(LIMIT_PAIRS, true, 1);
	assert_int_equal(profile_add(&p, &o), -ENOSPC);
	assert_int_equal(p.pair_count, LIMIT_PAIRS);
	assert_int_equal(p.kinds[JXP__KIND__KIND_SILENT_LOAD].application.count, LIMIT_PAIRS + 1);
	profile_release(&p);
}
