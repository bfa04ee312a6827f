#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/combine/merge.h"
#include "profile/site_shares.h"
#include "daemon/store/record.h"
#include "tests/unit/support/random_program.h"

#define DEAD JXP__KIND__KIND_DEAD_STORE

static struct window_result *merged(struct window_result *const *windows, size_t count)
{
	struct merge m = {0};
	struct window_result *w = NULL;
	struct err err = {""};

	for (size_t i = 0; i < count; i++)
		assert_int_equal(merge_add(&m, windows[i]), 0);
	if (merge_finish(&m, &w, &err) < 0)
		fail_msg("%s", err.message);
	assert_null(m.result);
	return w;
}

static void free_all(struct window_result **windows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		window_result_free(windows[i]);
}

static double fraction_of(const struct window_result *w)
{
	const struct totals *t = &w->profile.kinds[DEAD].application;

	return estimate_fraction((double)t->wasteful_bytes, (double)t->checked_bytes);
}

static const char *leaf_of(const struct window_result *w, uint32_t node)
{
	const struct cct_node *n = cct_node(&w->profile.cct, node);

	return strings_get(&w->profile.strings, cct_method(&w->profile.cct, n->method)->name);
}

/* ---------------------------------------------------------------- what is added up */

/* Ticks in one of two methods of a program; of that CPU time, in all. */
static struct window_result *ticks_window(unsigned number, const char *method, unsigned ticks,
					  double cpu_s)
{
	struct window_result *w = sample_window_empty(number, "shop");
	uint32_t main = sample_window_node(w, 0, "main", 10);

	w->request = (struct window_request){.kinds[JXP__KIND__KIND_CPU] = true,
					     .duration_ns = 12 * NS_PER_S};
	if (number % 2) /* Ids in another order. */
		(void)sample_window_node(w, main, "none", 1);
	sample_window_ticks(w, sample_window_node(w, main, method, 20),
			    JXP__CPU_SAMPLE__STATE__COMPILED, ticks);
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = 0;
	w->counters[JXP__COUNTER__COUNTER_TICKS] = ticks;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = ticks * 5 * NS_PER_MS;
	w->cpu_ns = (uint64_t)(cpu_s * 1e9);
	w->overhead_ns = 0;
	w->cpu.beside = (struct cpu_beside){.span_ns = 12 * NS_PER_S, .gc_ns = 0.25e9};
	return w;
}

/* As if a scheduled window of 12 s stood for so many of them. */
static void set_weight(struct window_result *w, double windows)
{
	w->request.schedule = (struct window_schedule){.name = "often", .weight_s = 12 * windows};
}

/* Of two windows with as many ticks one stands for three times the CPU time. */
TEST(ticks_weigh_what_their_windows_stand_for)
{
	struct window_result *windows[] = {ticks_window(1, "few", 100, 1),
					   ticks_window(2, "much", 100, 1)};
	struct window_result *w;
	const struct cpu_context *c;

	set_weight(windows[1], 3);
	w = merged(windows, 2);
	c = w->cpu.contexts;
	assert_int_equal(w->cpu.context_count, 2);
	assert_string_equal(leaf_of(w, c[0].node), "few");
	assert_int_equal(c[0].code[0].samples, 100);
	assert_float_equal(c[0].code[0].ns, 0.25e9, 1);
	assert_float_equal(c[1].code[0].ns, 0.75e9, 1);
	assert_float_equal(cpu_profile_all(&w->cpu).ns, 1e9, 1);
	assert_int_equal(cpu_profile_all(&w->cpu).samples, 200);
	assert_int_equal(w->cpu.beside.span_ns, 24 * NS_PER_S);
	assert_float_equal(w->cpu.beside.gc_ns, 0.5e9, 1);
	assert_float_equal(window_result_whole_ns(w), 2e9, 1);
	assert_true(w->request.kinds[JXP__KIND__KIND_CPU]);
	free_all(windows, 2);
	window_result_free(w);
}

/* 0.5 of 1 s, and 0.5 of 3 s: what ticks do not tell is not theirs. */
TEST(ticks_are_parts_of_all_cpu_time_of_their_windows)
{
	struct window_result *windows[] = {ticks_window(1, "few", 100, 1),
					   ticks_window(2, "much", 100, 3)};
	struct window_result *w = merged(windows, 2);

	assert_float_equal(w->cpu.contexts[0].code[0].ns, 0.5e9, 1);
	assert_float_equal(w->cpu.contexts[1].code[0].ns, 0.5e9, 1);
	assert_float_equal(window_result_whole_ns(w), 4e9, 1);
	free_all(windows, 2);
	window_result_free(w);
}

/* By method, though its id is another one; bursts are added up, time is weighted. */
TEST(the_same_loop_of_two_windows_is_one)
{
	struct window_result *windows[] = {ticks_window(1, "sum", 100, 1),
					   ticks_window(2, "sum", 100, 1)};
	struct window_result *w;
	struct loop *row;

	set_weight(windows[1], 3);
	for (unsigned i = 0; i < 2; i++) {
		row = sample_window_loop(windows[i], i == 0 ? 3 : 2, 4, 22, 1, LOOP_LAST, 50);
		sample_window_bursts(row, &row->results, 10 + i, 2);
		sample_window_instances(windows[i], 0, 45, 20, i == 0 ? 0.2 : 0.8);
		row->turns = (struct turn_sums){.traces = 30,
						.tuples = 900,
						.distinct = 90,
						.turns = 1e5,
						.estimated = i == 0 ? 1e3 : 3e3,
						.low = 90,
						.high = 1e4};
		row->lengths = (struct loop_lengths){.read = 5, .turns = 500, .left = i};
		windows[i]->request.kinds[JXP__KIND__KIND_LOOPS] = true;
	}
	w = merged(windows, 2);
	assert_true(w->request.kinds[JXP__KIND__KIND_LOOPS]);
	assert_int_equal(w->loops.row_count, 1);
	row = w->loops.rows;
	assert_string_equal(
	    strings_get(&w->profile.strings, cct_method(&w->profile.cct, row->key.method)->name),
	    "sum");
	assert_int_equal(row->own.samples, 100);
	assert_float_equal(row->own.ns, 0.5e9, 1);
	assert_float_equal(row->type_ns[LOOP_LAST], 0.5e9, 1);
	assert_int_equal(row->bursts, 21);
	assert_float_equal(row->results.turns, 21 * 2048, 1);
	assert_float_equal(row->results.events, 11, 1e-9);
	assert_int_equal(row->pairs, 40);
	assert_int_equal(w->loops.input_count, 2);
	assert_float_equal(loop_profile_instances(&w->loops, row, 1).rate, (0.5 + 0.95) / 2, 1e-9);
	assert_int_equal(row->turns.traces, 60);
	assert_int_equal(row->lengths.read, 10);
	assert_float_equal(row->lengths.turns, 1000, 1e-9);
	assert_int_equal(row->lengths.left, 1);
	assert_float_equal(turn_sums_rate(&row->turns).rate, 0.98, 1e-9);
	assert_int_equal(w->loops.context_count, 1);
	assert_string_equal(leaf_of(w, w->loops.contexts[0].node), "main");
	free_all(windows, 2);
	window_result_free(w);
}

TEST(contexts_are_met_by_their_names)
{
	uint64_t seed = 11;
	struct random_program p = random_program_new(&seed, 4);
	struct window_result *windows[3], *w;
	uint64_t counts = 0;

	for (unsigned i = 0; i < 3; i++)
		windows[i] = random_program_window(&p, &seed, i + 1, 400, 10);
	w = merged(windows, 3);
	assert_int_equal(w->profile.pair_count, 4);
	assert_int_equal(w->profile.cct.node_count, windows[0]->profile.cct.node_count);
	assert_int_equal(w->profile.cct.method_count, windows[0]->profile.cct.method_count);
	for (size_t i = 0; i < 4; i++) {
		const struct pair *pair = &w->profile.pairs[i];

		counts += pair->count;
		assert_string_equal(leaf_of(w, pair->watch_node) + strlen("write"),
				    leaf_of(w, pair->trap_node) + strlen("overwrite"));
	}
	assert_int_equal(counts, 1200);
	assert_int_equal(w->profile.kinds[DEAD].application.count, 1200);
	free_all(windows, 3);
	window_result_free(w);
}

/* But for the rounding of what is weighted. */
static void assert_same_totals(const struct window_result *a, const struct window_result *b,
			       Jxp__Kind kind)
{
	const struct kind_totals *x = &a->profile.kinds[kind], *y = &b->profile.kinds[kind];
	const size_t counts = offsetof(struct totals, wasteful_cpu);

	assert_memory_equal(&x->application, &y->application, counts);
	assert_memory_equal(&x->jvm, &y->jvm, counts);
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		assert_memory_equal(&x->regions[i], &y->regions[i], counts);
	assert_float_equal(x->application.wasteful_cpu.ns, y->application.wasteful_cpu.ns, 1);
	assert_float_equal(x->application.cpu.squares, y->application.cpu.squares,
			   1e-9 * y->application.cpu.squares);
}

TEST(one_window_alone_is_merged_into_itself)
{
	struct window_result *one = sample_window(7, "org.example.Main", 40);
	struct window_result *w = merged(&one, 1);
	const struct object_site *site = &w->objects.sites[0], *own = &one->objects.sites[0];

	assert_int_equal(w->profile.pair_count, one->profile.pair_count);
	for (size_t i = 0; i < w->profile.pair_count; i++)
		assert_memory_equal(&w->profile.pairs[i].count, &one->profile.pairs[i].count,
				    5 * sizeof(uint64_t));
	for (size_t i = 0; i < PAIR_KINDS; i++)
		assert_same_totals(w, one, pair_kinds[i].kind);
	assert_float_equal(site->metric, own->metric, 1e-6 * own->metric);
	assert_float_equal(site->live_bytes, own->live_bytes, 1e-6);
	assert_float_equal(object_profile_uncollected(&w->objects),
			   object_profile_uncollected(&one->objects), 1e-6);
	assert_float_equal(numa_remote_fraction(&w->numa), numa_remote_fraction(&one->numa), 1e-9);
	assert_int_equal(w->cpu_ns, one->cpu_ns);
	assert_int_equal(window_result_elapsed_ns(w), window_result_elapsed_ns(one));
	assert_int_equal(window_result_objects_ns(w), window_result_objects_ns(one));
	assert_true(w->finished);
	assert_int_equal(w->number, 0);
	window_result_free(one);
	window_result_free(w);
}

static const struct class_field *field_of(const struct window_result *w, const char *class_name)
{
	const struct class_profile *c = &w->objects.classes;

	for (size_t i = 0; i < c->field_count; i++)
		if (strcmp(strings_get(&w->profile.strings, c->fields[i].class_name), class_name) ==
		    0)
			return &c->fields[i];
	fail_msg("no field of %s", class_name);
	return NULL;
}

TEST(classes_are_met_by_names)
{
	struct window_result *windows[2] = {sample_window(1, "a", 40), sample_window(2, "a", 25)};
	struct window_result *w;
	const struct class_field *f;
	struct location l;

	/* In another order, so that ids are others. */
	sample_window_older(windows[1], "org.example.New", "size", 1, 3);
	sample_window_older(windows[1], "org.example.Cache", "hits", 1, 8);
	w = merged(windows, 2);
	f = field_of(w, "org.example.Cache");
	l = locations_get(&w->profile.locations, f->location);
	assert_string_equal(strings_get(&w->profile.strings, l.field), "hits");
	assert_int_equal(f->sum.samples, 12 + 12 + 8);
	assert_float_equal(f->sum.metric, 32 * 5e6, 1);
	assert_int_equal(field_of(w, "org.example.New")->sum.samples, 3);
	assert_float_equal(strata_all(&w->objects.strata).metric,
			   strata_all(&windows[0]->objects.strata).metric +
			       strata_all(&windows[1]->objects.strata).metric,
			   1);
	free_all(windows, 2);
	window_result_free(w);
}

/* The store's bytes of one, and back. */
static struct window_result *kept(struct window_result *w)
{
	struct window_result *back = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;
	struct err err = {""};

	assert_int_equal(record_encode(w, &bytes, &size), 0);
	if (record_decode(bytes, size, w->number, &back, &err) < 0)
		fail_msg("%s", err.message);
	free(bytes);
	window_result_free(w);
	return back;
}

TEST(windows_that_were_kept_merge_as_those_that_ran)
{
	struct window_result *ran[2] = {sample_window(1, "a", 40), sample_window(2, "a", 25)};
	struct window_result *w = merged(ran, 2), *from_store;

	for (unsigned i = 0; i < 2; i++)
		ran[i] = kept(ran[i]);
	from_store = merged(ran, 2);
	assert_memory_equal(from_store->profile.kinds, w->profile.kinds, sizeof(w->profile.kinds));
	assert_int_equal(from_store->profile.pair_count, w->profile.pair_count);
	assert_memory_equal(from_store->profile.pairs, w->profile.pairs,
			    w->profile.pair_count * sizeof(*w->profile.pairs));
	assert_float_equal(from_store->objects.sites[0].metric, w->objects.sites[0].metric, 1e-3);
	assert_float_equal(object_profile_uncollected(&from_store->objects),
			   object_profile_uncollected(&w->objects), 1e-6);
	assert_int_equal(window_result_elapsed_ns(from_store), window_result_elapsed_ns(w));
	assert_float_equal(numa_remote_fraction(&from_store->numa), numa_remote_fraction(&w->numa),
			   1e-9);
	free_all(ran, 2);
	window_result_free(w);
	window_result_free(from_store);
}

TEST(lambdas_of_two_runs_are_the_same)
{
	static const char *const names[] = {"a.Main$$Lambda$14/0x00007f00",
					    "a.Main$$Lambda$9/0x71"};
	struct window_result *windows[2], *w;

	for (unsigned i = 0; i < 2; i++) {
		struct cct_node node = {.bci = 1, .line = 3};
		struct cct_method m = {0};
		uint32_t id = 0;

		windows[i] = sample_window_empty(i + 1, "a");
		m.class_name = sample_window_text(windows[i], names[i]);
		m.name = sample_window_text(windows[i], "run");
		assert_int_equal(cct_add_method(&windows[i]->profile.cct, &m, &node.method), 0);
		assert_int_equal(cct_add_node(&windows[i]->profile.cct, &node, &id), 0);
		sample_window_pairs(windows[i], DEAD, id, id, 20, true);
	}
	w = merged(windows, 2);
	assert_int_equal(w->profile.pair_count, 1);
	assert_int_equal(w->profile.pairs[0].count, 40);
	free_all(windows, 2);
	window_result_free(w);
}

TEST(what_lives_is_an_average_and_what_was_allocated_a_sum)
{
	struct window_result *windows[2] = {sample_window(1, "a", 40), sample_window(2, "a", 40)};
	struct window_result *w;
	double live = windows[0]->objects.sites[1].live_bytes;
	double allocated = windows[0]->objects.sites[1].alloc_bytes;

	w = merged(windows, 2);
	assert_float_equal(w->objects.sites[1].live_bytes, live, 1e-6);
	assert_float_equal(w->objects.sites[1].alloc_bytes, 2 * allocated, 1e-6);
	assert_int_equal(w->objects.sites[0].samples, 2 * windows[0]->objects.sites[0].samples);
	assert_int_equal(w->numa.samples, 2 * windows[0]->numa.samples);
	assert_int_equal(w->losses[LOSS_PAIRS], 4);
	free_all(windows, 2);
	window_result_free(w);
}

TEST(what_threads_share_adds_up_by_site_and_place)
{
	struct window_result *windows[2] = {sample_window(1, "a", 40), sample_window(2, "a", 40)};
	const struct shared_access mine = {
	    .site = 1, .thread = 7, .allocator = 7, .thread_before = 7, .metric = 10};
	const struct shared_access anothers = {.site = 1,
					       .thread = 8,
					       .allocator = 7,
					       .thread_before = 7,
					       .store = true,
					       .metric = 30};
	struct window_result *w;

	for (unsigned i = 0; i < 2; i++) {
		struct row_table *t = &windows[i]->objects.sharing_table;

		/* As many windows stand for: twice as much as was seen. */
		windows[i]->request.schedule =
		    (struct window_schedule){.name = "often", .weight_s = 24};
		assert_int_equal(sharing_add(t, &mine), 0);
		assert_int_equal(sharing_add(t, &anothers), 0);
	}
	w = merged(windows, 2);
	assert_int_equal(w->objects.sharing_count, 1);
	assert_int_equal(w->objects.sharing[0].site, 1);
	assert_int_equal(w->objects.sharing[0].samples, 4);
	assert_int_equal(w->objects.sharing[0].stores_by_others, 2);
	assert_int_equal(w->objects.sharing[0].taken_over, 2);
	/* The scale of sums is the merge's; their parts are not. */
	assert_float_equal(w->objects.sharing[0].metric_by_others / w->objects.sharing[0].metric,
			   0.75, 1e-12);
	assert_float_equal(w->objects.sharing[0].metric_by_others,
			   w->objects.sharing[0].metric_taken_over, 1e-9);
	free_all(windows, 2);
	window_result_free(w);
}

TEST(what_cannot_be_merged_is_counted_and_what_differs_is_said)
{
	struct window_result *windows[6], *w;

	for (unsigned i = 0; i < 6; i++)
		windows[i] = sample_window(i + 1, "a", 40);
	windows[0]->state = WINDOW_FAILED;
	windows[2]->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	windows[4]->cpu_ns = 0;
	windows[5]->pid = 4243;
	(void)snprintf(windows[5]->jdk, sizeof(windows[5]->jdk), "21.0.1+12");
	strcpy(windows[1]->version, "1.2");
	strcpy(windows[3]->version, "1.2");
	strcpy(windows[5]->version, "1.3");
	w = merged(windows, 6);
	assert_int_equal(w->merged->windows, 3);
	assert_int_equal(w->merged->skipped, 3);
	assert_int_equal(w->merged->first, 2);
	assert_int_equal(w->merged->last, 6);
	assert_int_equal(w->merged->processes, 2);
	assert_int_equal(w->merged->notes[MERGED_NO_PROFILE].first, 1);
	assert_int_equal(w->merged->notes[MERGED_OTHER_SAMPLER].first, 3);
	assert_int_equal(w->merged->notes[MERGED_NO_ACCOUNT].first, 5);
	assert_int_equal(w->merged->notes[MERGED_OTHER_JDK].windows, 1);
	assert_string_equal(w->merged->notes[MERGED_OTHER_JDK].detail, "21.0.1+12");
	assert_string_equal(w->version, "1.2");
	assert_int_equal(w->merged->notes[MERGED_OTHER_VERSION].windows, 1);
	assert_string_equal(w->merged->notes[MERGED_OTHER_VERSION].detail, "1.3");
	assert_int_equal(w->end_unix_ns, windows[5]->end_unix_ns);
	free_all(windows, 6);
	window_result_free(w);
}

TEST(nothing_to_merge_is_an_error)
{
	struct window_result *failed = sample_window(1, "a", 40), *w = NULL;
	struct merge m = {0};
	struct err err = {""};

	assert_int_equal(merge_finish(&m, &w, &err), -ENODATA);
	failed->state = WINDOW_FAILED;
	assert_int_equal(merge_add(&m, failed), 0);
	assert_int_equal(merge_finish(&m, &w, &err), -ENODATA);
	assert_null(w);
	merge_release(&m);
	window_result_free(failed);
}

/* ---------------------------------------------------------------- weights */

/* A window in which all of one pair's observations are wasteful, or none. */
static struct window_result *plain_window(unsigned number, unsigned observations, double waste)
{
	struct random_program p = {.pairs = 1, .part = {1}, .waste = {waste}};
	uint64_t seed = number;

	return random_program_window(&p, &seed, number, observations, 10);
}

TEST(an_observation_counts_the_cpu_time_that_it_stands_for)
{
	/* Half of the CPU time is wasteful, and was sampled four times as often. */
	struct window_result *windows[2] = {plain_window(1, 8000, 1), plain_window(2, 2000, 0)};
	struct window_result *w = merged(windows, 2);
	const struct totals *t = &w->profile.kinds[DEAD].application;

	assert_float_equal(fraction_of(w), 0.5, 0.02);
	/* So many observations of unequal weights are as good as fewer equal ones. */
	assert_true((double)t->checked_bytes * (double)t->checked_bytes / (double)t->sum_squares <
		    0.75 * 10000);
	/* The mean weight is 1. */
	assert_float_equal((double)t->checked_bytes,
			   (double)(windows[0]->profile.kinds[DEAD].application.checked_bytes +
				    windows[1]->profile.kinds[DEAD].application.checked_bytes),
			   0.03 * (double)t->checked_bytes);
	free_all(windows, 2);
	window_result_free(w);
}

static struct cpu_share cpu_share_of(const struct window_result *w)
{
	const struct totals *t = &w->profile.kinds[DEAD].application;
	struct cpu_whole whole = window_result_cpu_whole(w, DEAD);

	return cpu_share_estimate(&t->wasteful_cpu, t->wasteful_count, &whole);
}

/* A window of so many seconds of CPU time, sampled every period, with wasteful dead stores of one
 * line. */
static struct window_result *window_of_ticks(unsigned number, uint64_t cpu_s, uint64_t period_ns,
					     unsigned wasteful, const char *field)
{
	struct window_result *w = sample_window_empty(number, "shop");
	struct location l = {
	    .kind = JXP__LOCATION__KIND__FIELD, .offset = 12, .bytes = 4, .object_bytes = 24};
	struct observation o = {.kind = DEAD,
				.region = JXP__REGION__REGION_HEAP,
				.wasteful = true,
				.checked_bytes = 8,
				.cpu_ns = period_ns};

	w->cpu_ns = cpu_s * NS_PER_S;
	w->overhead_ns = 0;
	w->counters[JXP__COUNTER__COUNTER_TICKS] = w->cpu_ns / period_ns;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = w->cpu_ns;
	/* Ids differ between the windows. */
	if (number > 1)
		(void)sample_window_field(w);
	l.field = sample_window_text(w, field);
	assert_int_equal(locations_add(&w->profile.locations, &l, &o.location), 0);
	o.watch_node = o.trap_node = sample_window_node(w, 0, "main", 10);
	for (unsigned i = 0; i < wasteful; i++)
		assert_int_equal(profile_add(&w->profile, &o), 0);
	return w;
}

/* 20% of 10 s, sampled every 5 ms, and 40% of 30 s, every 15 ms: 35% of 40 s. */
TEST(a_share_of_cpu_time_is_that_of_all_windows_cpu_time)
{
	struct window_result *windows[2] = {window_of_ticks(1, 10, 5 * NS_PER_MS, 400, "next"),
					    window_of_ticks(2, 30, 15 * NS_PER_MS, 800, "next")};
	struct window_result *w = merged(windows, 2);
	struct cpu_share one = cpu_share_of(windows[1]), both = cpu_share_of(w);
	const struct pair *pair = &w->profile.pairs[0];
	struct location l = locations_get(&w->profile.locations, pair->location);

	assert_true(both.known);
	assert_float_equal(both.share, 0.35, 1e-6);
	assert_true(both.ci95.low < 0.35 && both.ci95.high > 0.35);
	/* Two windows that disagree leave it open. */
	assert_true(both.ci95.high - both.ci95.low > 0.5);
	assert_true(one.ci95.high - one.ci95.low < 0.1);
	/* The field is one, though it has other ids in each. */
	assert_int_equal(w->profile.pair_count, 1);
	assert_string_equal(strings_get(&w->profile.strings, l.field), "next");
	assert_int_equal(l.offset, 12);
	assert_int_equal(l.bytes, 4);
	assert_int_equal(l.object_bytes, 24);
	assert_float_equal(pair->cpu.ns, w->profile.kinds[DEAD].application.wasteful_cpu.ns, 1);
	free_all(windows, 2);
	window_result_free(w);
}

TEST(windows_without_ticks_have_no_part_in_shares_of_cpu_time)
{
	struct window_result *windows[2] = {window_of_ticks(1, 10, 5 * NS_PER_MS, 400, "next"),
					    plain_window(2, 2000, 0)};
	struct window_result *w;

	windows[1]->counters[JXP__COUNTER__COUNTER_TICKS] = 0;
	windows[1]->counters[JXP__COUNTER__COUNTER_TICK_NS] = 0;
	w = merged(windows, 2);
	assert_int_equal(w->merged->windows, 2);
	assert_float_equal(cpu_share_of(w).share, 0.2, 1e-6);
	free_all(windows, 2);
	window_result_free(w);
}

/* Half of the time was looked at for dead stores alone, and half for CPU time and loops. */
TEST(each_kind_is_of_the_windows_that_were_for_it)
{
	struct window_result *windows[24], *halves[12], *w, *half;
	struct cpu_share share, alone;

	for (unsigned i = 0; i < 24; i += 2) {
		windows[i] = window_of_ticks(i + 1, 10, 5 * NS_PER_MS, i % 4 ? 500 : 300, "next");
		halves[i / 2] = windows[i];
		windows[i + 1] = ticks_window(i + 2, "sum", 2000, 10);
		windows[i + 1]->request.kinds[JXP__KIND__KIND_LOOPS] = true;
		windows[i + 1]->cpu.beside = (struct cpu_beside){0};
		(void)sample_window_loop(windows[i + 1], 1, 4, 22, 1, LOOP_LAST, 500);
	}
	w = merged(windows, 24);
	half = merged(halves, 12);
	assert_int_equal(w->merged->windows, 24);
	assert_int_equal(w->merged->skipped, 0);
	assert_int_equal(w->merged->kinds[DEAD].windows, 12);
	assert_int_equal(w->merged->kinds[JXP__KIND__KIND_LOOPS].windows, 12);
	assert_int_equal(w->merged->kinds[DEAD].batches, 12);
	assert_float_equal(window_result_whole_ns(w), 240e9, 1e6);
	/* A share, and how sure it is, is that of the kind's own windows. */
	share = cpu_share_of(w);
	alone = cpu_share_of(half);
	assert_float_equal(share.share, 0.2, 1e-6);
	assert_float_equal(share.ci95.low, alone.ci95.low, 1e-6);
	assert_float_equal(share.ci95.high, alone.ci95.high, 1e-6);
	assert_float_equal(fraction_of(w), fraction_of(half), 1e-9);
	assert_float_equal(window_result_fraction_ci95(w, DEAD).low,
			   window_result_fraction_ci95(half, DEAD).low, 1e-6);
	/* So are ticks and loops: all of them and a quarter of them, of 10 s each. */
	assert_float_equal(cpu_profile_all(&w->cpu).ns, 240e9, 1e6);
	assert_int_equal(cpu_profile_all(&w->cpu).samples, 24000);
	assert_float_equal(cpu_profile_ticks_of(&w->cpu, 240e9), 24000, 1);
	assert_float_equal(w->loops.rows[0].own.ns, 60e9, 1e6);
	free_all(windows, 24);
	window_result_free(w);
	window_result_free(half);
}

TEST(windows_that_differ_widen_the_interval_of_a_share_of_cpu_time)
{
	struct window_result *windows[16], *w;
	double half;

	for (unsigned i = 0; i < 16; i++)
		windows[i] = window_of_ticks(i + 1, 10, 5 * NS_PER_MS, i % 2 ? 100 : 700, "next");
	w = merged(windows, 16);
	half = (cpu_share_of(w).ci95.high - cpu_share_of(w).ci95.low) / 2;
	assert_float_equal(cpu_share_of(w).share, 0.2, 1e-6);
	/* The windows' own shares vary by 15 points: t(15) * 15.5 / sqrt(16) is 8.2. */
	assert_true(half > 0.07 && half < 0.095);
	free_all(windows, 16);
	window_result_free(w);
}

/* Of windows whose ticks stand for what profiling took in the kernel, too. */
static double effect_of_windows_that_differ(uint64_t taken_ns)
{
	struct window_result *windows[16], *w;
	double effect;

	for (unsigned i = 0; i < 16; i++) {
		windows[i] = window_of_ticks(i + 1, 10, 5 * NS_PER_MS, i % 2 ? 100 : 700, "next");
		windows[i]->request.kinds[JXP__KIND__KIND_CPU] = true;
		windows[i]->overhead_ns = taken_ns;
		sample_window_ticks(windows[i], 1, JXP__CPU_SAMPLE__STATE__COMPILED, 2000);
	}
	w = merged(windows, 16);
	effect = w->merged->cpu_shares[DEAD].effect;
	free_all(windows, 16);
	window_result_free(w);
	return effect;
}

TEST(what_profiling_took_is_no_difference_of_windows)
{
	double effect = effect_of_windows_that_differ(0);

	assert_true(effect > 100);
	assert_float_equal(effect_of_windows_that_differ(5 * NS_PER_S), effect, 1e-6 * effect);
}

TEST(a_scheduled_window_counts_what_it_stands_for)
{
	struct window_result *windows[2] = {plain_window(1, 3000, 1), plain_window(2, 3000, 0)};
	struct window_result *w;

	for (unsigned i = 0; i < 2; i++)
		windows[i]->request.schedule =
		    (struct window_schedule){.name = "often", .weight_s = i == 0 ? 600 : 1800};
	w = merged(windows, 2);
	assert_float_equal(fraction_of(w), 0.25, 0.02);
	assert_string_equal(w->request.schedule.name, "");
	free_all(windows, 2);
	window_result_free(w);
}

TEST(a_window_that_was_cut_short_does_not_outweigh_others)
{
	struct window_result *windows[2] = {plain_window(1, 50, 1), plain_window(2, 3000, 0)};
	struct window_result *w;

	windows[0]->state = WINDOW_ENDED_EARLY;
	windows[0]->end_ns = windows[0]->start_ns + NS_PER_S / 5;
	windows[0]->cpu_ns = 11 * NS_PER_S / 60;
	windows[0]->overhead_ns /= 60;
	for (unsigned i = 0; i < 2; i++)
		windows[i]->request.schedule =
		    (struct window_schedule){.name = "often", .weight_s = 600};
	w = merged(windows, 2);
	assert_float_equal(fraction_of(w), 1. / 61, 0.005);
	assert_int_equal(w->merged->notes[MERGED_CUT_SHORT].windows, 1);
	free_all(windows, 2);
	window_result_free(w);
}

/* ---------------------------------------------------------------- intervals */

struct coverage {
	unsigned runs, held;
	double error;
};

static void take(struct coverage *c, const struct window_result *w, double truth)
{
	struct interval ci = window_result_fraction_ci95(w, DEAD);

	c->runs++;
	c->held += ci.low <= truth && truth <= ci.high;
	c->error += fraction_of(w) - truth;
}

static void assert_covers(const struct coverage *c, double low, double high)
{
	double held = (double)c->held / c->runs, error = c->error / c->runs;

	if (held < low || held > high || fabs(error) > 0.004)
		fail_msg("%.1f%% of %u intervals held the truth; error %.4f on average", 100 * held,
			 c->runs, error);
}

TEST(five_windows_say_what_one_of_five_times_the_length_says)
{
	struct coverage one = {0}, five = {0};
	uint64_t seed = 20261122;

	for (unsigned run = 0; run < 1000; run++) {
		struct random_program p = random_program_new(&seed, 8);
		double truth = random_program_fraction(&p);
		struct window_result *windows[5], *w;
		struct window_result *whole = random_program_window(&p, &seed, 9, 1500, 10);

		/* Their periods differ, as the budget allowed. */
		for (unsigned i = 0; i < 5; i++)
			windows[i] = random_program_window(&p, &seed, i + 1, 200 + 50 * i, 10);
		w = merged(windows, 5);
		take(&one, whole, truth);
		take(&five, w, truth);
		free_all(windows, 5);
		window_result_free(w);
		window_result_free(whole);
	}
	assert_covers(&one, 0.92, 0.98);
	assert_covers(&five, 0.92, 0.98);
}

/* Windows whose fractions are drawn from Beta(3, 7), around 0.3. */
static void assert_covers_windows_that_differ(uint64_t seed, unsigned count, unsigned runs)
{
	struct coverage c = {0};

	for (unsigned run = 0; run < runs; run++) {
		struct window_result *windows[64], *w;

		for (unsigned i = 0; i < count; i++) {
			struct random_program p = {
			    .pairs = 1, .part = {1}, .waste = {draw_beta(&seed, 3, 7)}};

			windows[i] = random_program_window(&p, &seed, i + 1, 300, 10);
		}
		w = merged(windows, count);
		take(&c, w, 0.3);
		free_all(windows, count);
		window_result_free(w);
	}
	assert_covers(&c, 0.92, 0.98);
}

TEST(intervals_cover_windows_that_differ)
{
	assert_covers_windows_that_differ(1, 10, 600);
	assert_covers_windows_that_differ(2, 16, 400);
	assert_covers_windows_that_differ(3, 40, 300);
}

TEST(a_site_covers_windows_that_differ)
{
	unsigned held = 0, runs = 300;
	uint64_t seed = 5;

	for (unsigned run = 0; run < runs; run++) {
		struct window_result *windows[12], *w;
		struct site_share share;
		uint32_t rank = 0;

		for (unsigned i = 0; i < 12; i++) {
			struct object_profile *o;
			double p = draw_beta(&seed, 3, 7);
			uint32_t site, node;

			windows[i] = sample_window_empty(i + 1, "a");
			node = sample_window_node(windows[i], 0, "main", 1);
			o = &windows[i]->objects;
			assert_int_equal(object_profile_site(o, 0, node, &site), 0);
			for (unsigned n = 0; n < 300; n++)
				if (draw(&seed) >= p)
					object_profile_untracked(
					    o, JXP__REGION__REGION_HEAP,
					    &(struct object_access){.weight = 5e6});
				else
					assert_int_equal(
					    object_profile_access(o, site,
								  &(struct object_access){
								      .node = node, .weight = 5e6},
								  1, 0),
					    0);
		}
		w = merged(windows, 12);
		share =
		    (struct site_share){.object_weight = 1, .between = w->objects.sites[0].between};
		assert_int_equal(site_shares_estimate(&w->objects.strata, &rank, &share, 1, NULL),
				 0);
		held += share.ci95.low <= 0.3 && 0.3 <= share.ci95.high;
		free_all(windows, 12);
		window_result_free(w);
	}
	assert_in_range(held, 0.92 * runs, 0.98 * runs);
}

/* ---------------------------------------------------------------- cost */

/* 300 pairs, each with contexts of its own five frames deep. */
static struct window_result *large_window(unsigned number)
{
	struct window_result *w = sample_window_empty(number, "a");

	w->request.kinds[JXP__KIND__KIND_OBJECTS] = w->request.kinds[JXP__KIND__KIND_NUMA] = false;
	for (unsigned i = 0; i < 300; i++) {
		char name[32];
		uint32_t node = sample_window_node(w, 0, "main", 10);

		(void)snprintf(name, sizeof(name), "method%u", i);
		for (int32_t depth = 0; depth < 5; depth++)
			node = sample_window_node(w, node, name, depth);
		sample_window_pairs(w, DEAD, node, node, 1 + i % 7, i % 2 == 0);
	}
	return w;
}

/* Measured: 0.3 s. The bound is for a busy machine; code that a sanitizer has instrumented takes
 * longer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MERGE_LIMIT_NS (20 * NS_PER_S)
#else
#define MERGE_LIMIT_NS (2 * NS_PER_S)
#endif

TEST(a_thousand_windows_take_no_long)
{
	struct window_result *w = large_window(1), *sum = NULL;
	struct merge m = {0};
	struct err err;
	uint64_t begin_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID), took_ns;

	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(merge_add(&m, w), 0);
	assert_int_equal(merge_finish(&m, &sum, &err), 0);
	took_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	print_message("1,000 windows of %zu contexts merged in %.2f s\n", w->profile.cct.node_count,
		      (double)took_ns / (double)NS_PER_S);
	assert_true(took_ns < MERGE_LIMIT_NS);
	assert_int_equal(sum->profile.pair_count, 300);
	assert_int_equal(sum->merged->windows, 1000);
	assert_int_equal(sum->merged->batches, 16);
	assert_int_equal(sum->profile.pairs[0].count, 1000 * w->profile.pairs[0].count);
	window_result_free(sum);
	window_result_free(w);
}
