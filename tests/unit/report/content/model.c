#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"
#include "report/content/model.h"
#include "tests/unit/support/sample_findings.h"

#define DEAD        JXP__KIND__KIND_DEAD_STORE
#define SILENT_LOAD JXP__KIND__KIND_SILENT_LOAD

static const struct numa_topology two_nodes = {.node_count = 2, .node_id = {0, 4}};
static const struct numa_topology one_node = {.node_count = 1};

static struct window_result *window_of(const struct window_request *request)
{
	struct window_result *w = window_result_new(1, 42, request, &sample_findings);

	w->start_ns = 1000 * NS_PER_S;
	w->end_ns = 1010 * NS_PER_S;
	return w;
}

static void observe(struct window_result *w, Jxp__Kind kind, uint32_t bytes, bool wasteful,
		    bool jvm)
{
	struct observation o = {.kind = kind,
				.region = JXP__REGION__REGION_HEAP,
				.jvm_access = jvm,
				.checked_bytes = bytes,
				.wasteful = wasteful};

	assert_int_equal(profile_add(&w->profile, &o), 0);
}

TEST(kinds_that_were_asked_for_have_a_fraction_with_its_interval)
{
	struct window_request request = {.kinds = {[DEAD] = true, [SILENT_LOAD] = true}};
	struct window_result *w = window_of(&request);
	struct report_model m;

	for (int i = 0; i < 4; i++)
		observe(w, DEAD, 8, i == 0, false);
	observe(w, DEAD, 100, true, true);
	observe(w, JXP__KIND__KIND_SILENT_STORE, 8, true, false);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.kind_count, 2);
	assert_int_equal(m.kinds[0].kind->kind, DEAD);
	assert_int_equal(m.kinds[1].kind->kind, SILENT_LOAD);
	assert_float_equal(m.kinds[0].fraction, 0.25, 1e-9);
	assert_true(m.kinds[0].ci95.low < 0.25 && m.kinds[0].ci95.high > 0.25);
	assert_int_equal(m.kinds[0].application->checked_bytes, 32);
	assert_int_equal(m.kinds[0].jvm->checked_bytes, 100);
	assert_int_equal(m.kinds[0].pairs.count, 1);
	assert_float_equal(m.kinds[0].pairs.pairs[0].fraction, 0.25, 1e-9);
	/* Nothing was seen of it, so nothing is known. */
	assert_int_equal(m.kinds[1].pairs.count, 0);
	assert_float_equal(m.kinds[1].fraction, 0, 0);
	assert_float_equal(m.kinds[1].ci95.high - m.kinds[1].ci95.low, 1, 1e-9);
	assert_false(m.objects.tracked || m.numa.asked);
	report_model_release(&m);
	window_result_free(w);
}

/* A field of its own for each number, in which count dead stores of 10 ms each are wasted. */
static void waste(struct window_result *w, uint32_t number, Jxp__Region region, unsigned count)
{
	struct location l = {.kind = JXP__LOCATION__KIND__FIELD, .class_name = 1, .field = number};
	struct observation o = {.kind = DEAD,
				.region = region,
				.wasteful = true,
				.checked_bytes = 8,
				.cpu_ns = 10 * NS_PER_MS};

	if (number > 0)
		assert_int_equal(locations_add(&w->profile.locations, &l, &o.location), 0);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(profile_add(&w->profile, &o), 0);
}

static struct window_result *window_of_dead_stores(void)
{
	struct window_request request = {.kinds = {[DEAD] = true}};
	struct window_result *w = window_of(&request);

	w->counters[JXP__COUNTER__COUNTER_TICKS] = 1000;
	w->counters[JXP__COUNTER__COUNTER_TICK_NS] = 10 * NS_PER_S;
	return w;
}

TEST(without_evidence_a_longer_window_is_told)
{
	struct window_result *w = window_of_dead_stores();
	struct report_model m;

	waste(w, 6, JXP__REGION__REGION_STACK, 200);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.problems.count, 0);
	assert_float_equal(m.evidence_s, 0, 0);
	report_model_release(&m);
	waste(w, 1, JXP__REGION__REGION_HEAP, 2);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.problems.count, 0);
	/* Two in ten seconds: five in 25. */
	assert_float_equal(m.evidence_s, 25, 1e-9);
	report_model_release(&m);
	window_result_free(w);
}

TEST(regions_have_fractions_of_their_own)
{
	struct window_result *w = window_of_dead_stores();
	struct report_model m;
	const struct report_region *r;

	waste(w, 1, JXP__REGION__REGION_HEAP, 30);
	waste(w, 2, JXP__REGION__REGION_STACK, 10);
	observe(w, DEAD, 80, false, false);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	r = m.kinds[0].regions;
	assert_int_equal(r[0].region, JXP__REGION__REGION_HEAP);
	assert_float_equal(r[0].fraction, 0.75, 1e-9);
	assert_true(r[0].ci95.low < 0.75 && r[0].ci95.high > 0.75);
	assert_int_equal(r[1].region, JXP__REGION__REGION_STACK);
	assert_float_equal(r[1].fraction, 1, 1e-9);
	assert_true(r[1].ci95.low < 0.8);
	assert_int_equal(r[2].totals->count, 0);
	assert_float_equal(m.kinds[0].cpu.share, 0.04, 1e-9);
	report_model_release(&m);
	window_result_free(w);
}

TEST(only_what_is_wanted_is_there)
{
	static const Jxp__Region stack = JXP__REGION__REGION_STACK;
	struct window_request request = {.kinds = {[DEAD] = true},
					 .kinds[JXP__KIND__KIND_OBJECTS] = true,
					 .kinds[JXP__KIND__KIND_NUMA] = true};
	struct window_result *w = window_of(&request);
	struct report_wanted wanted;
	struct report_model m;
	struct err err;

	waste(w, 1, JXP__REGION__REGION_HEAP, 6);
	waste(w, 2, JXP__REGION__REGION_STACK, 6);
	assert_int_equal(report_wanted_set(&wanted, JXP__FORMAT__FORMAT_TEXT, 0,
					   JXP__VIEW__VIEW_OBJECTS, NULL, 0, &err),
			 0);
	assert_int_equal(report_model_init(&m, w, &wanted), 0);
	assert_true(m.objects.tracked && m.kind_count == 0 && !m.numa.asked);
	report_model_release(&m);
	assert_int_equal(report_wanted_set(&wanted, JXP__FORMAT__FORMAT_TEXT, 0,
					   JXP__VIEW__VIEW_FIELDS, &stack, 1, &err),
			 0);
	assert_int_equal(report_model_init(&m, w, &wanted), 0);
	assert_true(!m.objects.tracked && m.kind_count == 1 && m.shown.fields);
	assert_false(m.shown.lines || m.shown.pairs || m.shown.findings);
	assert_int_equal(m.kinds[0].by_location.count, 1);
	assert_int_equal(m.kinds[0].by_location.pairs[0].sum.region, stack);
	report_model_release(&m);
	window_result_free(w);
}

TEST(what_is_no_view_or_region_is_refused)
{
	static const Jxp__Region regions[] = {JXP__REGION__REGION_JVM, (Jxp__Region)-1};
	struct report_wanted wanted = {.pairs = 7};
	struct err err;

	assert_int_equal(
	    report_wanted_set(&wanted, JXP__FORMAT__FORMAT_TEXT, 0, (Jxp__View)99, NULL, 0, &err),
	    -EINVAL);
	assert_non_null(strstr(err.message, "99"));
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(report_wanted_set(&wanted, JXP__FORMAT__FORMAT_TEXT, 0,
						   JXP__VIEW__VIEW_ALL, &regions[i], 1, &err),
				 -EINVAL);
	assert_int_equal(wanted.pairs, 7);
}

TEST(the_period_is_the_clocks_or_the_events)
{
	struct window_request request = {0};
	struct window_result *w = window_of(&request);
	struct report_model m;

	w->effective_period = 7000000;
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_false(m.period.operations);
	assert_int_equal(m.period.asked, 5000000);
	assert_int_equal(m.period.effective, 7000000);
	report_model_release(&m);
	w->findings.event_count = 1;
	w->findings.period = 100000;
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_true(m.period.operations);
	assert_int_equal(m.period.asked, 100000);
	report_model_release(&m);
	window_result_free(w);
}

TEST(objects_are_counted_in_time_operations_or_an_event)
{
	struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true};
	struct window_result *w = window_of(&request);
	struct report_model m;
	uint32_t cheap, dear;

	assert_int_equal(object_profile_site(&w->objects, 0, 0, &cheap), 0);
	assert_int_equal(object_profile_site(&w->objects, 1, 0, &dear), 0);
	assert_int_equal(object_profile_access(&w->objects, cheap,
					       &(struct object_access){.node = 0, .weight = 10}, 1,
					       0),
			 0);
	assert_int_equal(object_profile_access(&w->objects, dear,
					       &(struct object_access){.node = 0, .weight = 30}, 1,
					       0),
			 0);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_true(m.objects.tracked);
	assert_string_equal(m.objects.metric, "CPU time");
	assert_string_equal(m.objects.unit, "ns");
	assert_int_equal(m.objects.samples, 2);
	assert_int_equal(m.objects.ranking.count, 2);
	assert_float_equal(m.objects.ranking.sites[0].fraction, 0.75, 1e-9);
	assert_float_equal(m.objects.attributed_fraction, 1, 1e-9);
	report_model_release(&m);
	w->findings.sampler = JXP__SAMPLER__SAMPLER_IBS;
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_string_equal(m.objects.metric, "memory operations");
	assert_string_equal(m.objects.unit, "operations");
	report_model_release(&m);
	(void)strcpy(w->request.event, "MEM_LOAD_RETIRED:L1_MISS");
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_string_equal(m.objects.metric, "MEM_LOAD_RETIRED:L1_MISS");
	assert_string_equal(m.objects.unit, "events");
	report_model_release(&m);
	window_result_free(w);
}

TEST(numa_is_measured_where_there_is_more_than_one_node)
{
	struct window_request request = {.kinds[JXP__KIND__KIND_NUMA] = true};
	struct window_result *w = window_of(&request);
	struct report_model m;

	w->findings.numa = two_nodes;
	w->numa.matrix[0][1] = 30;
	w->numa.matrix[1][1] = 10;
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_true(m.numa.asked && m.numa.measured);
	assert_float_equal(m.numa.matrix[0][1], 0.75, 1e-9);
	assert_float_equal(m.numa.matrix[1][1], 0.25, 1e-9);
	report_model_release(&m);
	window_result_free(w);
	w = window_of(&request);
	w->findings.numa = one_node;
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_true(m.numa.asked && !m.numa.measured);
	assert_false(m.objects.tracked); /* Nothing was sampled for it. */
	report_model_release(&m);
	window_result_free(w);
}

TEST(quality_says_what_was_dropped_and_what_it_cost)
{
	struct window_request request = {.kinds = {[DEAD] = true}};
	struct window_result *w = window_of(&request);
	struct report_model m;

	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_false(m.quality.overhead_known);
	assert_true(m.quality.target_idle);
	report_model_release(&m);
	w->counters[JXP__COUNTER__COUNTER_RING_FULL] = 3;
	w->counters[JXP__COUNTER__COUNTER_TRUNCATED] = 1000; /* Loses frames, no events. */
	w->losses[LOSS_INVALID] = 4;
	w->cpu_ns = 5 * NS_PER_S;
	w->overhead_ns = NS_PER_S / 20;
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.elapsed_ns, 10 * NS_PER_S);
	assert_int_equal(m.quality.dropped, 7);
	assert_true(m.quality.overhead_known);
	assert_false(m.quality.target_idle);
	assert_float_equal(m.quality.overhead_fraction, 0.01, 1e-9);
	assert_int_equal(m.quality.own_ns, 5 * NS_PER_S - NS_PER_S / 20);
	report_model_release(&m);
	window_result_free(w);
}

TEST(side_effects_are_compared_with_before_or_else_with_the_jvms_life)
{
	struct window_request request = {.kinds = {[DEAD] = true}};
	struct window_result *w = window_of(&request);
	struct side_effects *s = &w->side_effects;
	struct report_model m;

	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.quality.effects.baseline, EFFECT_LIFETIME);
	assert_true(isnan(m.quality.effects.figures[EFFECT_IN][EFFECT_COLLECTIONS]));
	report_model_release(&m);
	s->counts[EFFECT_BEFORE] = 2;
	s->first[EFFECT_BEFORE] = (struct effect_record){.time_ns = NS_PER_S};
	s->last[EFFECT_BEFORE] = (struct effect_record){.time_ns = 3 * NS_PER_S};
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(m.quality.effects.baseline, EFFECT_BEFORE);
	assert_float_equal(m.quality.effects.seconds[EFFECT_BEFORE], 2, 1e-9);
	report_model_release(&m);
	window_result_free(w);
}
