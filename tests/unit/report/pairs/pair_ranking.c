#include "tests/unit/support/test.h"

#include "common/clock.h"
#include "report/pairs/pair_ranking.h"

#define DEAD         JXP__KIND__KIND_DEAD_STORE
#define SILENT_STORE JXP__KIND__KIND_SILENT_STORE

/* A window of 1,000 ticks of 5 ms whose profile has the nodes 1 to 4 on lines of as many, and the
 * locations of place(). */
static void setup(struct window_result *w)
{
	*w = (struct window_result){.findings = {.sampler = JXP__SAMPLER__SAMPLER_CLOCK}};
	w->counters[JXP__COUNTER__COUNTER_TICKS] = 1000;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 1000 * 5 * NS_PER_MS;
	for (int32_t line = 1; line <= 4; line++) {
		struct cct_node n = {.bci = 1, .line = line, .tier = JXP__TIER__TIER_JIT};
		uint32_t id;

		assert_int_equal(cct_add_node(&w->profile.cct, &n, &id), 0);
		assert_int_equal(id, line);
	}
}

static uint32_t place(struct window_result *w, uint32_t kind, uint32_t class_name, uint32_t field,
		      uint32_t declared_in)
{
	struct location l = {
	    .kind = kind, .class_name = class_name, .field = field, .declared_in = declared_in};
	uint32_t id;

	assert_int_equal(locations_add(&w->profile.locations, &l, &id), 0);
	return id;
}

static struct observation of(uint32_t watch, uint32_t trap, uint32_t bytes)
{
	return (struct observation){.kind = DEAD,
				    .region = JXP__REGION__REGION_HEAP,
				    .wasteful = true,
				    .checked_bytes = bytes,
				    .watch_node = watch,
				    .trap_node = trap};
}

static void observe(struct window_result *w, const struct observation *o, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(profile_add(&w->profile, o), 0);
}

static void observe_instruction(struct window_result *w, uint32_t watch, uint32_t trap,
				uint32_t instruction, uint32_t bytes, bool wasteful)
{
	struct observation o = of(watch, trap, bytes);

	o.watch_instruction = instruction;
	o.wasteful = wasteful;
	observe(w, &o, 1);
}

static void rank_regions(struct pair_ranking *r, const struct window_result *w, Jxp__Kind kind,
			 enum pair_view view, const bool *regions)
{
	struct pair_scope scope;

	assert_int_equal(pair_scope_init(&scope, w, regions), 0);
	assert_int_equal(pair_ranking_init(r, &scope, kind, view), 0);
	pair_scope_release(&scope);
}

static void rank(struct pair_ranking *r, const struct window_result *w, enum pair_view view)
{
	rank_regions(r, w, DEAD, view, NULL);
}

TEST(the_most_wasteful_pair_comes_first_where_there_is_no_clock)
{
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	w.findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	observe_instruction(&w, 1, 1, 0, 8, true);
	observe_instruction(&w, 2, 1, 0, 64, true);
	observe_instruction(&w, 3, 1, 0, 28, true);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.pairs[0].sum.watch_node, 2);
	assert_int_equal(r.pairs[1].sum.watch_node, 3);
	assert_int_equal(r.pairs[2].sum.watch_node, 1);
	assert_float_equal(r.pairs[0].fraction, 0.64, 1e-9);
	assert_true(r.pairs[0].ci95.low < 0.64 && r.pairs[0].ci95.high > 0.64);
	assert_false(r.pairs[0].cpu.known);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

TEST(pairs_that_wasted_nothing_are_left_out)
{
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	observe_instruction(&w, 1, 1, 0, 8, false);
	observe_instruction(&w, 2, 1, 0, 8, true);
	observe_instruction(&w, 3, 1, 0, 8, false);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.pairs[0].sum.watch_node, 2);
	pair_ranking_release(&r);
	rank_regions(&r, &w, SILENT_STORE, PAIRS_BY_CONTEXTS, NULL);
	assert_int_equal(r.count, 0);
	assert_null(r.pairs);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

TEST(the_same_contexts_are_one_pair_shown_as_what_wasted_most)
{
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	observe_instruction(&w, 1, 2, 10, 4, true);
	observe_instruction(&w, 1, 2, 11, 8, true);
	observe_instruction(&w, 1, 2, 12, 16, false);
	observe_instruction(&w, 1, 3, 10, 1, true);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.pairs[0].variants, 3);
	assert_int_equal(r.pairs[0].sum.watch_instruction, 11);
	assert_int_equal(r.pairs[0].sum.wasteful_bytes, 12);
	assert_int_equal(r.pairs[0].sum.checked_bytes, 28);
	assert_int_equal(r.pairs[1].variants, 1);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

TEST(a_path_is_one_be_it_interpreted_or_compiled)
{
	struct cct_node n = {.bci = 1, .line = 1, .tier = JXP__TIER__TIER_INTERPRETED};
	struct observation o = of(1, 2, 8);
	struct window_result w;
	struct pair_ranking r;
	uint32_t interpreted;

	setup(&w);
	assert_int_equal(cct_add_node(&w.profile.cct, &n, &interpreted), 0);
	observe(&w, &o, 3);
	o.watch_node = interpreted;
	observe(&w, &o, 4);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.pairs[0].sum.wasteful_count, 7);
	assert_int_equal(r.pairs[0].sum.watch_node, interpreted);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

/* Twenty light observations say more than one that stands for as much. */
TEST(the_lower_bound_of_cpu_time_ranks_not_the_estimate)
{
	struct observation light = of(1, 1, 8), heavy = of(2, 1, 8);
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	light.cpu_ns = 5 * NS_PER_MS;
	heavy.cpu_ns = 125 * NS_PER_MS;
	observe(&w, &heavy, 1);
	observe(&w, &light, 20);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.pairs[0].sum.watch_node, 1);
	assert_float_equal(r.pairs[0].cpu.share, 0.02, 1e-9);
	assert_float_equal(r.pairs[1].cpu.share, 0.025, 1e-9);
	assert_true(r.pairs[0].cpu.ci95.low > r.pairs[1].cpu.ci95.low);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

TEST(the_heap_comes_before_stacks)
{
	static const bool stacks[PROFILE_REGIONS] = {[JXP__REGION__REGION_STACK] = true};
	struct observation stack = of(1, 1, 8), heap = of(2, 1, 8), other = of(3, 1, 8);
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	stack.region = JXP__REGION__REGION_STACK;
	other.region = JXP__REGION__REGION_OTHER;
	stack.cpu_ns = heap.cpu_ns = other.cpu_ns = 5 * NS_PER_MS;
	observe(&w, &stack, 50);
	observe(&w, &other, 10);
	observe(&w, &heap, 6);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 3);
	assert_int_equal(r.pairs[0].sum.region, JXP__REGION__REGION_HEAP);
	assert_int_equal(r.pairs[1].sum.region, JXP__REGION__REGION_OTHER);
	assert_int_equal(r.pairs[2].sum.region, JXP__REGION__REGION_STACK);
	assert_float_equal(r.pairs[2].fraction, 50.0 / 66, 1e-9);
	pair_ranking_release(&r);
	/* Of stacks alone; their share stays that of everything. */
	rank_regions(&r, &w, DEAD, PAIRS_BY_LINES, stacks);
	assert_int_equal(r.count, 1);
	assert_float_equal(r.pairs[0].fraction, 50.0 / 66, 1e-9);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

/* A method that calls itself, 1 to 40 deep, each depth seen once. */
TEST(contexts_that_differ_by_the_depth_of_recursion_are_one_row)
{
	struct window_result w;
	struct pair_ranking r;
	uint32_t parent = 2;

	setup(&w);
	for (unsigned depth = 1; depth <= 40; depth++) {
		struct cct_node even = {.parent = parent, .bci = 1, .line = 10};
		struct cct_node odd = {.bci = 1, .line = 11}, leaf = {.bci = 1, .line = 12};
		uint32_t node;

		assert_int_equal(cct_add_node(&w.profile.cct, &even, &odd.parent), 0);
		assert_int_equal(cct_add_node(&w.profile.cct, &odd, &parent), 0);
		leaf.parent = parent;
		assert_int_equal(cct_add_node(&w.profile.cct, &leaf, &node), 0);
		observe_instruction(&w, node, 1, 1, 8, true);
	}
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 40);
	pair_ranking_release(&r);
	rank(&r, &w, PAIRS_BY_TURNS);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.pairs[0].sum.count, 40);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

/* Else spills would lead the heap by a few pairs of a field that their contexts have, too. */
TEST(a_context_is_named_after_its_largest_part_whatever_that_is)
{
	struct observation spill = of(1, 1, 8), field = of(1, 1, 8), heap = of(2, 1, 8);
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	spill.region = JXP__REGION__REGION_STACK;
	spill.watch_instruction = 2;
	spill.cpu_ns = field.cpu_ns = heap.cpu_ns = 5 * NS_PER_MS;
	observe(&w, &field, 7);
	observe(&w, &spill, 69);
	observe(&w, &heap, 20);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.pairs[0].sum.watch_node, 2);
	assert_int_equal(r.pairs[1].sum.region, JXP__REGION__REGION_STACK);
	assert_int_equal(r.pairs[1].sum.watch_instruction, 2);
	assert_int_equal(r.pairs[1].sum.count, 76);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

/* The same field of objects of two classes, from three lines; and another one of its class. */
TEST(a_field_adds_up_whatever_the_object_and_the_lines_are)
{
	struct observation o = of(1, 2, 8);
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	o.location = place(&w, JXP__LOCATION__KIND__FIELD, 10, 20, 12);
	observe(&w, &o, 2);
	o.location = place(&w, JXP__LOCATION__KIND__FIELD, 11, 20, 12);
	o.watch_node = 3;
	observe(&w, &o, 3);
	o.location = place(&w, JXP__LOCATION__KIND__FIELD, 11, 21, 12);
	observe(&w, &o, 5);
	rank(&r, &w, PAIRS_BY_LOCATION);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.pairs[0].sum.wasteful_count, 5);
	assert_int_equal(r.pairs[1].sum.wasteful_count, 5);
	assert_int_equal(r.pairs[0].variants + r.pairs[1].variants, 3);
	pair_ranking_release(&r);
	rank(&r, &w, PAIRS_BY_LINES);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.pairs[0].sum.watch_node, 3);
	assert_int_equal(r.pairs[0].sum.wasteful_count, 8);
	assert_int_equal(r.folded_rows, 1);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

/* A row is named after the part that is most of it, not after the largest entry. */
TEST(a_row_is_named_after_its_largest_part)
{
	struct observation o = of(1, 1, 8);
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	o.location = place(&w, JXP__LOCATION__KIND__ELEMENT, 10, 0, 0);
	observe(&w, &o, 4);
	for (uint32_t instruction = 1; instruction <= 3; instruction++) {
		o.watch_node = o.trap_node = 2;
		o.watch_instruction = instruction;
		observe(&w, &o, 2);
	}
	rank(&r, &w, PAIRS_BY_LOCATION);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.pairs[0].sum.watch_node, 2);
	assert_int_equal(r.pairs[0].sum.wasteful_count, 10);
	assert_int_equal(r.pairs[0].parts, 2);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

TEST(what_is_no_evidence_is_one_row)
{
	struct observation o = of(1, 1, 8);
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	o.cpu_ns = 5 * NS_PER_MS;
	observe(&w, &o, PAIRS_EVIDENCE);
	for (uint32_t line = 2; line <= 4; line++) {
		o.watch_node = line;
		observe(&w, &o, PAIRS_EVIDENCE - 1);
	}
	rank(&r, &w, PAIRS_BY_LINES);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.folded_rows, 3);
	assert_int_equal(r.folded.sum.wasteful_count, 3 * (PAIRS_EVIDENCE - 1));
	assert_float_equal(r.folded.cpu.share, 0.012, 1e-9);
	pair_ranking_release(&r);
	/* Whole contexts are all there. */
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 4);
	assert_int_equal(r.folded_rows, 3);
	assert_true(ranked_pair_is_evidence(&r.pairs[0]));
	assert_false(ranked_pair_is_evidence(&r.pairs[1]));
	pair_ranking_release(&r);
	profile_release(&w.profile);
}

TEST(spills_are_added_up)
{
	struct observation o = of(1, 1, 8);
	struct pair_scope scope;
	struct ranked_pair sum;
	struct window_result w;

	setup(&w);
	observe(&w, &o, 30);
	o.region = JXP__REGION__REGION_STACK;
	o.location = place(&w, JXP__LOCATION__KIND__SPILL, 0, 0, 0);
	observe(&w, &o, 10);
	assert_int_equal(pair_scope_init(&scope, &w, NULL), 0);
	ranked_pair_of_places(&sum, &scope, DEAD, JXP__LOCATION__KIND__SPILL);
	assert_int_equal(sum.sum.wasteful_count, 10);
	assert_float_equal(sum.fraction, 0.25, 1e-9);
	pair_scope_release(&scope);
	profile_release(&w.profile);
}

TEST(a_profile_without_pairs_has_an_empty_ranking)
{
	struct window_result w;
	struct pair_ranking r;

	setup(&w);
	rank(&r, &w, PAIRS_BY_CONTEXTS);
	assert_int_equal(r.count, 0);
	pair_ranking_release(&r);
	profile_release(&w.profile);
}
