#include "tests/unit/support/test.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "daemon/engine/app_name.h"
#include "profile/intake/intake.h"
#include "report/report.h"
#include "proto/counters.h"
#include "proto/limits.h"
#include "tests/unit/support/golden.h"
#include "tests/unit/support/otlp_bodies.h"
#include "tests/unit/support/long_up.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"
#include "tests/unit/support/sample_objects.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/whole_report.h"

/* Reports of one crafted window, compared with files. */
#define ENOUGH (1u << 20)

#define DEAD         JXP__KIND__KIND_DEAD_STORE
#define SILENT_STORE JXP__KIND__KIND_SILENT_STORE
#define SILENT_LOAD  JXP__KIND__KIND_SILENT_LOAD

/* At a place, standing for so much CPU time. */
static void add_place_pairs(struct sample_batch *s, uint32_t location, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct event_transition *t = sample_pair(s, SILENT_LOAD, 3, 3, 8, 1);

		t->location = location;
		t->cpu_ns = (i % 2 ? 24 : 72) * NS_PER_MS;
		if (location == 3)
			t->region = JXP__REGION__REGION_STACK;
	}
}

static void add_pairs(struct sample_batch *s)
{
	for (int i = 0; i < 3; i++)
		(void)sample_pair(s, DEAD, 2, 2, 8, 1);
	(void)sample_pair(s, DEAD, 2, 3, 8, 0);
	sample_pair(s, DEAD, 2, 2, 4, 1)->region = JXP__REGION__REGION_STACK;
	(void)sample_pair(s, DEAD, 3, 2, 4, 1);
	(void)sample_pair(s, SILENT_LOAD, 3, 3, 8, 1);
	(void)sample_pair(s, SILENT_LOAD, 3, 3, 8, 0);
	(void)sample_pair(s, SILENT_LOAD, 0, 3, 2, 1);
	sample_pair(s, SILENT_LOAD, 3, 3, 8, 1)->jvm_access = 1;
	sample_pair(s, SILENT_LOAD, 3, 77, 1, 0)->region = JXP__REGION__REGION_OTHER;
	add_place_pairs(s, 1, 7);
	add_place_pairs(s, 2, 12);
	add_place_pairs(s, 3, 20);
}

static struct window_result *crafted_window(void)
{
	struct window_request request = {.kinds = {false, true, true, true},
					 .duration_ns = 30 * NS_PER_S,
					 .budget = 0.01,
					 .registers = 4,
					 .max_frames = 128};
	struct window_result *w = window_result_new(3, 4242, &request, &sample_findings);
	struct sample_batch sample;
	struct intake intake;

	window_result_start(w);
	app_name_of(w->app, sizeof(w->app), "org.example.Main");
	(void)snprintf(w->jdk, sizeof(w->jdk), "17.0.12+7");
	(void)snprintf(w->vm, sizeof(w->vm), "OpenJDK 64-Bit Server VM");
	(void)snprintf(w->gc, sizeof(w->gc), "G1");
	sample_batch_init(&sample);
	add_pairs(&sample);
	for (uint64_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		sample.counters[i] = 100 + i;
	sample.counters[JXP__COUNTER__COUNTER_RING_FULL] = 2;
	sample.counters[JXP__COUNTER__COUNTER_STACK_LOW] = 0;
	sample.counters[JXP__COUNTER__COUNTER_TICKS] = 3600;
	sample.counters[JXP__COUNTER__COUNTER_TICK_NS] = UINT64_C(3600) * 8 * NS_PER_MS;
	sample.batch.cpu_ns = 29 * NS_PER_S;
	sample.batch.overhead_ns = 29 * NS_PER_S / 125;
	sample.batch.setup_ns = 12 * NS_PER_MS;
	sample.batch.period = 8 * NS_PER_MS;
	intake_init(&intake, w);
	assert_int_equal(intake_batch(&intake, &sample.batch), 0);
	intake_release(&intake);
	window_result_end(w, "the target closed the connection: it exited or was killed");
	w->start_unix_ns = UINT64_C(1795248000) * NS_PER_S + 123 * NS_PER_MS;
	w->end_unix_ns = w->start_unix_ns + 12 * NS_PER_S;
	w->start_ns = 1000 * NS_PER_S;
	w->end_ns = 1012 * NS_PER_S;
	return w;
}

static struct event_access *touches(struct event_access *a, uint32_t location,
				    uint64_t object_bytes)
{
	a->location = location;
	a->object_bytes = location ? object_bytes : 0;
	return a;
}

/* Two sites that are accessed, from two contexts, and one that is only allocated. */
static void add_objects(struct sample_objects *s)
{
	uint32_t element =
	    sample_objects_location(s, JXP__LOCATION__KIND__ELEMENT, "float[]", "", "float");
	uint32_t next =
	    sample_objects_location(s, JXP__LOCATION__KIND__FIELD, "java.util.HashMap$Node", "next",
				    "java.util.HashMap$Node");
	Jxp__Location *lies = s->location_pointers[next - 1];
	struct event_allocation *many;

	lies->offset = 28;
	lies->bytes = 4;
	lies->object_bytes = 32;
	sample_allocation(s, 1, 0, 10, 0x10000)->weight = 4;
	sample_allocation(s, 2, 0, 10, 0x20000)->node = 3;
	many = sample_allocation(s, 3, 0, 10, 0x30000);
	many->class_id = 2;
	many->weight = 1000;
	many->size_bytes = 4096;
	for (uint64_t i = 0; i < 6; i++)
		touches(sample_access(s, 0, 20 + i, 0x10000 + 8 * i), element, 100)->cpu = 2;
	sample_access(s, 0, 30, 0x10008)->node = 2;
	for (uint64_t i = 0; i < 5; i++)
		(void)sample_access(s, 0, 40 + i, 0x20000);
	for (uint64_t i = 0; i < 30; i++)
		(void)touches(sample_access(s, 0, 50 + i, 0x90000), i < 24 ? next : 0, 32);
	sample_access(s, 0, 90, 0x7fff0000)->region = JXP__REGION__REGION_STACK;
	sample_access(s, 0, 91, 0x7fff0000)->region = JXP__REGION__REGION_JVM;
	sample_pass(s, 2, 0, 0, 2);
	(void)sample_access(s, 4, 200, 0x10000); /* Of an epoch that nothing settles. */
	s->batch->time_ns = 100;
	s->batch->settled_ns = 100;
	s->batch->object_interval = 512 << 10;
}

/* Two nodes, 0 and 4, of two CPUs each. */
static const struct numa_topology *two_nodes(void)
{
	static struct numa_topology t;

	t.node_count = 2;
	t.node_id[1] = 4;
	memset(t.node_of_cpu, NUMA_NONE, sizeof(t.node_of_cpu));
	t.node_of_cpu[0] = t.node_of_cpu[1] = 0;
	t.node_of_cpu[2] = t.node_of_cpu[3] = 1;
	return &t;
}

/* The kernel's answers: objects of the first site lie on node 0, others on node 4. */
static void place_pages(struct numa_profile *p)
{
	struct numa_access access;

	while (numa_profile_take(p, &access, 1) == 1)
		assert_int_equal(numa_profile_place(p, &access, access.address >= 0x20000,
						    access.address >= 0x20000 ? NUMA_NONE : 0),
				 0);
}

static struct window_result *objects_window(const struct numa_topology *topology)
{
	struct window_request request = {.kinds[JXP__KIND__KIND_OBJECTS] = true,
					 .kinds[JXP__KIND__KIND_NUMA] = topology != NULL,
					 .duration_ns = 30 * NS_PER_S,
					 .budget = 0.01,
					 .registers = 4,
					 .max_frames = 128,
					 .object_min_size = 1024,
					 .objects_max = 16};
	struct window_findings findings = sample_findings;
	struct window_result *w;
	struct sample_objects objects;
	struct sample_batch sample;
	struct intake intake;

	if (topology)
		findings.numa = *topology;
	w = window_result_new(4, 4242, &request, &findings);
	window_result_start(w);
	app_name_of(w->app, sizeof(w->app), "org.example.Main");
	(void)snprintf(w->jdk, sizeof(w->jdk), "17.0.12+7");
	sample_batch_init(&sample);
	sample_objects_init(&objects, &sample.batch);
	add_objects(&objects);
	sample.counters[JXP__COUNTER__COUNTER_SAMPLES] = 44;
	sample.counters[JXP__COUNTER__COUNTER_PASSES] = 1;
	sample.counters[JXP__COUNTER__COUNTER_PASS_NS] = 1500000;
	sample.counters[JXP__COUNTER__COUNTER_OBJECTS_SAMPLED] = 3;
	sample.batch.cpu_ns = 29 * NS_PER_S;
	intake_init(&intake, w);
	assert_int_equal(intake_batch(&intake, &sample.batch), 0);
	assert_int_equal(intake_finish(&intake), 0);
	intake_release(&intake);
	place_pages(&w->numa);
	window_result_end(w, NULL);
	w->start_unix_ns = UINT64_C(1795248000) * NS_PER_S;
	w->end_unix_ns = w->start_unix_ns + 30 * NS_PER_S;
	w->start_ns = 1000 * NS_PER_S;
	w->end_ns = 1030 * NS_PER_S;
	return w;
}

static char *report_of(const struct window_result *w, Jxp__Format format, size_t pairs)
{
	struct err err = {""};
	size_t size;
	char *text;

	if (report_new(w, format, pairs, ENOUGH, &text, &size, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(strlen(text), size);
	otlp_keep_window(w);
	return text;
}

TEST(the_text_report_is_as_agreed)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);

	assert_golden("report.txt", text);
	free(text);
	window_result_free(w);
}

/* As a window that began its objects a minute ago, and switched them off after four seconds. */
TEST(what_rose_and_what_was_switched_off_is_said)
{
	struct window_result *w = crafted_window();
	struct side_effects *s = &w->side_effects;
	char *text;

	w->request.kinds[JXP__KIND__KIND_OBJECTS] = true;
	s->count = s->counts[EFFECT_IN] = 17;
	s->rose[EFFECT_COLLECTIONS] = true;
	s->from[EFFECT_COLLECTIONS] = 7.1;
	s->to[EFFECT_COLLECTIONS] = 23.8;
	w->start_ns = clock_monotonic_ns() - 4200 * NS_PER_MS;
	window_result_switch_off_objects(w, "collections rose from 7.1 to 23.8 a second");
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_non_null(strstr(text, "\nobjects were switched off after 4.2 s: collections rose "
				     "from 7.1 to 23.8 a second while they were tracked\n"));
	assert_non_null(strstr(text, "\n           collections rose from 7.1 to 23.8 a second "
				     "while objects were tracked\n"));
	assert_null(strstr(text, "no objects are tracked"));
	free(text);
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_non_null(strstr(text, "\"objects_switched_off\": 1"));
	assert_non_null(strstr(text, "\"rose\": [\n    \"gc_per_s\"\n   ]"));
	free(text);
	window_result_free(w);
}

static char *part_of(const struct window_result *w, const struct report_wanted *wanted)
{
	struct err err = {""};
	char *text = NULL;
	size_t size;

	if (report_new_unless(NULL, w, wanted, ENOUGH, &text, &size, &err) < 0)
		fail_msg("%s", err.message);
	return text;
}

TEST(a_view_has_its_part_of_the_report_only)
{
	struct report_wanted wanted = {.view = JXP__VIEW__VIEW_FIELDS};
	struct window_result *w = crafted_window();
	char *text = part_of(w, &wanted);

	assert_non_null(strstr(text, "field or other place"));
	assert_null(strstr(text, "Whole calling contexts"));
	assert_null(strstr(text, "Quality"));
	free(text);
	wanted.view = JXP__VIEW__VIEW_PAIRS;
	wanted.format = JXP__FORMAT__FORMAT_JSON;
	wanted.some_regions = wanted.regions[JXP__REGION__REGION_STACK] = true;
	text = part_of(w, &wanted);
	assert_non_null(strstr(text, "\"region\": \"stack\""));
	assert_null(strstr(text, "\"region\": \"heap\",\n     \"watch\""));
	assert_non_null(strstr(text, "\"kind\": \"spill\""));
	assert_null(strstr(text, "\"kind\": \"element\""));
	free(text);
	window_result_free(w);
}

TEST(without_evidence_the_first_line_says_how_long_a_window_would_have_to_be)
{
	struct window_request request = {.kinds = {false, true, true, true}, .budget = 0.01};
	struct window_result *w = window_result_new(1, 1, &request, &sample_findings);
	struct observation o = {
	    .kind = DEAD, .region = JXP__REGION__REGION_HEAP, .wasteful = true, .checked_bytes = 8};
	char *text;

	w->start_ns = NS_PER_S;
	w->end_ns = 13 * NS_PER_S;
	for (int i = 0; i < 2; i++)
		assert_int_equal(profile_add(&w->profile, &o), 0);
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_ptr_equal(strstr(text, "Nothing stands out yet: of 2 pairs of accesses 2 were "
				      "wasteful"),
			 text);
	assert_non_null(strstr(text, "a window of 30 s,\nor of 6 s with --budget 5% (this one: "
				     "12.0 s, 1%)."));
	free(text);
	w->request.budget = 0.05;
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_non_null(strstr(text, "a window of 30 s (this one: 12.0 s, 5%)."));
	free(text);
	window_result_free(w);
}

/* A sampler of operations knows of no time, and says nothing of it. */
TEST(hardware_samplers_have_no_share_of_cpu_time)
{
	struct window_result *w = crafted_window();
	char *text;

	w->findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_non_null(strstr(text, "\"cpu_share\": null"));
	assert_null(strstr(text, "\"cpu_share\": 0"));
	free(text);
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_null(strstr(text, "% of CPU time"));
	assert_non_null(strstr(text, "% of its sampled loads ("));
	free(text);
	window_result_free(w);
}

TEST(the_json_report_is_as_agreed)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);

	assert_golden("report.json", text);
	free(text);
	window_result_free(w);
}

TEST(a_scheduled_window_says_what_it_stands_for)
{
	struct window_result *w = crafted_window();
	char *text;

	w->request.schedule =
	    (struct window_schedule){.name = "often", .epoch = 1234567, .weight_s = 86400};
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_non_null(strstr(text, "\"schedule\": \"often\""));
	assert_non_null(strstr(text, "\"epoch\": 1234567"));
	assert_non_null(strstr(text, "\"weight_s\": 86400.0"));
	free(text);
	window_result_free(w);
}

TEST(a_window_says_which_version_of_the_application_it_is_of)
{
	struct window_result *w = crafted_window();
	char *text;

	strcpy(w->version, "1.2-rc1");
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_non_null(strstr(text, "\"version\": \"1.2-rc1\""));
	free(text);
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_non_null(strstr(text, ": Main 1.2-rc1 (pid 4242), "));
	free(text);
	window_result_free(w);
}

TEST(a_window_says_in_which_pod_its_jvm_was)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);

	assert_null(strstr(text, "\"container\":"));
	assert_null(strstr(text, "\"pod\":"));
	free(text);
	strcpy(w->container, "c0ffee");
	strcpy(w->namespace, "shop");
	strcpy(w->pod, "pay-0");
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_non_null(strstr(text, "\"container\": \"c0ffee\""));
	assert_non_null(strstr(text, "\"namespace\": \"shop\""));
	assert_non_null(strstr(text, "\"pod\": \"pay-0\""));
	free(text);
	window_result_free(w);
}

TEST(the_collapsed_report_is_as_agreed)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_COLLAPSED, 0);

	assert_golden("report.collapsed", text);
	free(text);
	window_result_free(w);
}

TEST(problems_are_results_at_their_lines)
{
	struct window_result *w = sample_window(5, "org.example.Main", 50);
	char *text = report_of(w, JXP__FORMAT__FORMAT_SARIF, 0);

	assert_golden("report.sarif", text);
	free(text);
	window_result_free(w);
}

TEST(profiles_for_speedscope_share_their_frames)
{
	struct window_result *w = sample_window(5, "org.example.Main", 50);
	char *text = report_of(w, JXP__FORMAT__FORMAT_SPEEDSCOPE, 0), *indented;
	json_t *document = json_loads(text, 0, NULL);

	indented = json_dumps(document, JSON_INDENT(1));
	assert_golden("report.speedscope", indented);
	free(indented);
	json_decref(document);
	free(text);
	window_result_free(w);
}

TEST(a_hostile_name_is_no_way_out_of_the_sources)
{
	struct window_result *w = crafted_window();
	struct sample_batch sample;
	struct intake intake;
	char *text;

	w->state = WINDOW_RUNNING;
	sample_batch_init(&sample);
	sample.methods[1].class_name = (char *)"...a/b\xff.:C";
	sample.methods[1].file = (char *)"../\xc3\xa9\n?.java";
	for (unsigned i = 0; i < 200; i++)
		(void)sample_pair(&sample, DEAD, 2, 2, 8, 1);
	intake_init(&intake, w);
	assert_int_equal(intake_batch(&intake, &sample.batch), 0);
	text = report_of(w, JXP__FORMAT__FORMAT_SARIF, 0);
	assert_non_null(strstr(text, "\"uri\": \"..%2F%C3%A9%5Cx0a%3F.java\""));
	free(text);
	intake_release(&intake);
	window_result_free(w);
}

/* A window for ticks alone. */
static struct window_result *ticks_window(void)
{
	struct window_result *w = sample_window_empty(5, "org.example.Main");
	uint32_t main = sample_window_node(w, 0, "main", 10);

	w->request = (struct window_request){
	    .duration_ns = 12 * NS_PER_S, .budget = 0.01, .registers = 4, .max_frames = 128};
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = 0;
	w->counters[JXP__COUNTER__COUNTER_CPU_SAMPLES] = 1890;
	sample_window_cpu(w, main, sample_window_node(w, main, "fill", 21),
			  sample_window_node(w, main, "sum", 31));
	return w;
}

TEST(tick_reports_are_as_agreed)
{
	static const struct {
		struct report_wanted wanted;
		const char *name;
	} parts[] = {
	    {{.view = JXP__VIEW__VIEW_CPU}, "cpu.txt"},
	    {{.view = JXP__VIEW__VIEW_CPU, .format = JXP__FORMAT__FORMAT_JSON}, "cpu.json"},
	    {{.format = JXP__FORMAT__FORMAT_COLLAPSED}, "cpu.collapsed"},
	    {{.view = JXP__VIEW__VIEW_SUBSUMING}, "subsuming.txt"},
	    {{.view = JXP__VIEW__VIEW_SUBSUMING, .format = JXP__FORMAT__FORMAT_JSON},
	     "subsuming.json"},
	};
	struct window_result *w = ticks_window();

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *text = part_of(w, &parts[i].wanted);

		assert_golden(parts[i].name, text);
		free(text);
	}
	window_result_free(w);
}

TEST(loop_reports_are_as_agreed)
{
	static const struct {
		struct report_wanted wanted;
		const char *name;
	} parts[] = {
	    {{.view = JXP__VIEW__VIEW_LOOPS}, "loops.txt"},
	    {{.view = JXP__VIEW__VIEW_LOOPS, .format = JXP__FORMAT__FORMAT_JSON}, "loops.json"},
	};
	struct window_result *w = ticks_window();

	sample_window_loops(w, 1);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		char *text = part_of(w, &parts[i].wanted);

		assert_golden(parts[i].name, text);
		free(text);
	}
	window_result_free(w);
}

TEST(problems_of_a_window_without_pairs_come_first)
{
	struct report_wanted all = {.view = JXP__VIEW__VIEW_ALL};
	struct window_result *w = ticks_window();
	char *text;

	sample_window_loops(w, 1);
	text = part_of(w, &all);
	assert_ptr_equal(strstr(text, "Work in vain"), text);
	assert_non_null(strstr(text, "Main.sum goes on without a result"));
	free(text);
	window_result_free(w);
}

/* The second loop took as much in the baseline, the third less, the first more. */
TEST(loops_are_compared_with_a_baseline)
{
	struct window_result *w = ticks_window(), *before = ticks_window();
	struct report_wanted parts[] = {
	    {.view = JXP__VIEW__VIEW_LOOPS, .baseline = before},
	    {.view = JXP__VIEW__VIEW_LOOPS, .format = JXP__FORMAT__FORMAT_JSON, .baseline = before},
	};

	sample_window_loops(w, 1);
	sample_window_loops(before, 1);
	(void)snprintf(before->id, sizeof(before->id), "w3");
	before->loops.rows[0].own.ns *= 2;
	before->loops.rows[2].own.ns /= 20;
	for (size_t i = 0; i < 2; i++) {
		char *text = part_of(w, &parts[i]);

		assert_golden(i == 0 ? "loops_baseline.txt" : "loops_baseline.json", text);
		free(text);
	}
	window_result_free(w);
	window_result_free(before);
}

/* Silent loads of a loop, of what it calls and of a loop and what is in none. */
TEST(pairs_are_said_to_be_in_loops)
{
	static const struct {
		struct report_wanted wanted;
		const char *name;
	} parts[] = {
	    {{.view = JXP__VIEW__VIEW_PAIRS}, "loop_pairs.txt"},
	    {{.view = JXP__VIEW__VIEW_PAIRS, .format = JXP__FORMAT__FORMAT_JSON},
	     "loop_pairs.json"},
	};
	struct report_wanted loops = {.view = JXP__VIEW__VIEW_LOOPS};
	struct window_result *w = ticks_window();
	uint32_t sum = sample_window_node(w, 1, "sum", 31);
	uint32_t get = sample_window_node(w, sum, "get", 51);
	char *text;

	sample_window_loops(w, 1);
	w->request.kinds[SILENT_LOAD] = true;
	w->counters[JXP__COUNTER__COUNTER_SAMPLES] = 2000;
	w->counters[JXP__COUNTER__COUNTER_SIGNALS_SECOND] = 100;
	sample_window_pairs(w, SILENT_LOAD, sum, sum, 40, true);
	sample_window_pairs(w, SILENT_LOAD, sum, sum, 20, false);
	sample_window_pairs(w, SILENT_LOAD, get, get, 9, true);
	sample_window_pairs(w, SILENT_LOAD, sum, 1, 7, true);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		text = part_of(w, &parts[i].wanted);
		assert_golden(parts[i].name, text);
		free(text);
	}
	text = part_of(w, &loops);
	assert_non_null(strstr(text, "silent loads here: 70% (58 to 80%) of the 67 loads that"));
	free(text);
	loops.format = JXP__FORMAT__FORMAT_JSON;
	text = part_of(w, &loops);
	assert_non_null(strstr(text, "\"kind\": \"silent_load\",\n     \"fraction\": 0.70"));
	free(text);
	window_result_free(w);
}

TEST(a_window_without_loops_says_so)
{
	struct report_wanted wanted = {.view = JXP__VIEW__VIEW_LOOPS};
	struct window_result *w = ticks_window();
	char *text = part_of(w, &wanted);

	assert_non_null(strstr(text, "not for loops (kind loops)"));
	free(text);
	window_result_free(w);
}

TEST(a_window_without_ticks_says_so)
{
	struct report_wanted wanted = {.view = JXP__VIEW__VIEW_SUBSUMING};
	struct window_result *w = crafted_window();
	char *text = part_of(w, &wanted);

	assert_non_null(strstr(text, "No ticks were taken (kind cpu)"));
	free(text);
	wanted.view = JXP__VIEW__VIEW_CPU;
	text = part_of(w, &wanted);
	assert_non_null(strstr(text, "No ticks were taken (kind cpu)"));
	free(text);
	wanted.format = JXP__FORMAT__FORMAT_COLLAPSED;
	text = part_of(w, &wanted);
	assert_string_equal(text, "");
	free(text);
	window_result_free(w);
}

/* Beside others the first frame tells what a line is of. */
TEST(ticks_are_one_kind_of_stacks_among_others)
{
	struct report_wanted wanted = {.format = JXP__FORMAT__FORMAT_COLLAPSED};
	struct window_result *w = sample_window(6, "shop", 45);
	char *text = part_of(w, &wanted);

	assert_non_null(strstr(text, "\ncpu;org.example.Main.main;org.example.Main.sum 1000\n"));
	assert_non_null(strstr(text, "dead_store;"));
	free(text);
	wanted.view = JXP__VIEW__VIEW_CPU;
	text = part_of(w, &wanted);
	assert_ptr_equal(strstr(text, "org.example.Main.main"), text);
	assert_null(strstr(text, "dead_store;"));
	free(text);
	wanted.pairs = 1;
	text = part_of(w, &wanted);
	assert_string_equal(text, "org.example.Main.main;org.example.Main.sum 1000\n");
	free(text);
	window_result_free(w);
}

TEST(objects_that_threads_share_say_so)
{
	struct window_result *w = sample_window(6, "shop", 45);
	struct shared_access a = {
	    .site = 1, .thread = 7, .allocator = 7, .thread_before = 7, .metric = 10};
	char *text;

	assert_int_equal(sharing_add(&w->objects.sharing_table, &a), 0);
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_null(strstr(text, "by other threads"));
	free(text);
	a.thread = 8;
	a.location = 1;
	a.metric = 30;
	assert_int_equal(sharing_add(&w->objects.sharing_table, &a), 0);
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_non_null(strstr(text, "75.0% by other threads than the one that allocated the "
				     "object; in 75.0% another thread accessed it before\n"));
	free(text);
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_non_null(strstr(text, "\"by_others_fraction\": 0.75"));
	assert_non_null(strstr(text, "\"taken_over_fraction\": 0.75"));
	free(text);
	window_result_free(w);
}

TEST(object_reports_are_as_agreed)
{
	static const struct {
		Jxp__Format format;
		const char *name;
	} formats[] = {
	    {JXP__FORMAT__FORMAT_TEXT, "objects.txt"},
	    {JXP__FORMAT__FORMAT_JSON, "objects.json"},
	    {JXP__FORMAT__FORMAT_COLLAPSED, "objects.collapsed"},
	};
	struct window_result *w = objects_window(NULL);

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		char *text = report_of(w, formats[i].format, 0);

		assert_golden(formats[i].name, text);
		free(text);
	}
	window_result_free(w);
}

TEST(numa_reports_are_as_agreed)
{
	struct window_result *w = objects_window(two_nodes());
	char *text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);

	assert_golden("numa.txt", text);
	free(text);
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	assert_golden("numa.json", text);
	free(text);
	window_result_free(w);
}

TEST(one_node_is_nothing_to_measure)
{
	struct numa_topology one = {.node_count = 1};
	struct window_result *w = objects_window(&one);
	char *text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);

	assert_int_equal(w->numa.samples, 0);
	assert_null(w->numa.waiting);
	assert_non_null(strstr(text, "there is nothing to measure"));
	free(text);
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_non_null(strstr(text, "NUMA: this machine has one node"));
	free(text);
	window_result_free(w);
}

/* A window in which nothing was counted but n of one counter; all kinds and objects are reported.
 */
static struct window_result *counting_window(int counter, uint64_t n)
{
	struct window_request request = {.kinds = {false, true, true, true},
					 .kinds[JXP__KIND__KIND_OBJECTS] = true,
					 .object_min_size = 1024,
					 .objects_max = 16};
	struct window_result *w = window_result_new(1, 1, &request, &sample_findings);

	w->counters[counter] = n;
	/* The time of day is none of the differences that are looked for. */
	w->start_unix_ns = NS_PER_S;
	return w;
}

static char *counting_report(int counter, uint64_t n, Jxp__Format format, Jxp__View view)
{
	const struct report_wanted wanted = {.format = format, .view = view};
	struct window_result *w = counting_window(counter, n);
	char *text = part_of(w, &wanted);

	window_result_free(w);
	return text;
}

static bool counter_is_shown(int counter, Jxp__Format format, Jxp__View view)
{
	/* Also where it is shown in seconds. */
	const uint64_t n = 123 * NS_PER_S;
	char *without = counting_report(counter, 0, format, view);
	char *with = counting_report(counter, n, format, view);
	bool shown = strcmp(with, without) != 0 && strstr(with, "123");

	free(without);
	free(with);
	return shown;
}

/* Every way in which a sample or a pair can be lost, and every figure that says how good a window
 * was, is for the user to see: a new counter needs a sentence. */
TEST(every_counter_is_shown_in_text_and_json)
{
	for (int counter = 0; counter < JXP__COUNTER__COUNTER_MAX; counter++) {
		const char *name = counter_name((Jxp__Counter)counter);

		/* Text has a few of them where they belong. */
		if (!counter_is_shown(counter, JXP__FORMAT__FORMAT_TEXT, JXP__VIEW__VIEW_QUALITY) &&
		    !counter_is_shown(counter, JXP__FORMAT__FORMAT_TEXT, JXP__VIEW__VIEW_ALL))
			fail_msg("counter '%s' is not in the text report", name);
		if (!counter_is_shown(counter, JXP__FORMAT__FORMAT_JSON, JXP__VIEW__VIEW_ALL))
			fail_msg("counter '%s' is not in the JSON report", name);
	}
}

/* Ticks in so many states, and what the compilers used beside them. */
static char *report_of_cpu(uint64_t compiled, uint64_t interpreted, uint64_t jit_ns)
{
	struct window_request request = {.kinds = {false, true},
					 .kinds[JXP__KIND__KIND_CPU] = true};
	struct window_result *w = window_result_new(1, 1, &request, &sample_findings);
	char *text;

	w->cpu.states[JXP__CPU_SAMPLE__STATE__COMPILED] =
	    (struct cpu_sum){compiled, compiled * NS_PER_MS};
	w->cpu.states[JXP__CPU_SAMPLE__STATE__INTERPRETED] =
	    (struct cpu_sum){interpreted, interpreted * NS_PER_MS};
	w->cpu.beside.jit_ns = jit_ns;
	w->cpu.beside.span_ns = NS_PER_S;
	w->start_ns = NS_PER_S;
	w->end_ns = 2 * NS_PER_S;
	w->cpu_ns = (compiled + interpreted) * NS_PER_MS + jit_ns;
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	window_result_free(w);
	return text;
}

TEST(where_memory_is_not_the_story_what_is_comes_first)
{
	char *text = report_of_cpu(300, 100, 600 * NS_PER_MS);

	assert_ptr_equal(strstr(text,
				"Most of the CPU time (70%) is not in compiled Java code, the only "
				"code that is looked at here:\n"
				"   60% in the compilers' threads\n"
				"   10% in interpreted code\n"),
			 text);
	free(text);
	text = report_of_cpu(600, 100, 300 * NS_PER_MS);
	assert_null(strstr(text, "Most of the CPU time"));
	free(text);
}

TEST(every_loss_of_the_daemon_is_shown_in_text_and_json)
{
	for (int loss = 0; loss < LOSS_MAX; loss++) {
		struct window_result *w = counting_window(0, 0);
		char *text, *json;

		w->losses[loss] = 987654321;
		text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
		json = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
		if (!strstr(text, "987654321") || !strstr(json, "987654321"))
			fail_msg("loss '%s' is not in the reports", loss_words[loss].name);
		free(text);
		free(json);
		window_result_free(w);
	}
}

/* An idle JVM's few milliseconds against ours, as a percentage, would alarm somebody for nothing.
 */
TEST(the_overhead_in_an_idle_jvm_is_said_in_seconds)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);

	assert_non_null(strstr(text, "overhead 0.80%: 0.232 s of the JVM's 29.0 s of CPU time"));
	free(text);
	w->cpu_ns = 30 * NS_PER_MS;
	w->overhead_ns = 20 * NS_PER_MS;
	text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	assert_non_null(
	    strstr(text, "overhead 0.020 s of CPU time; the JVM was idle, it used 0.010 s itself"));
	assert_null(strstr(text, "overhead 66"));
	free(text);
	window_result_free(w);
}

/* The object of one kind of a parsed report; borrowed. */
static json_t *kind_of(json_t *report, size_t index)
{
	return json_array_get(json_object_get(report, "inefficiency"), index);
}

TEST(fractions_are_equations_1_and_2)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	json_t *report = json_loads(text, 0, NULL);
	json_t *dead = kind_of(report, 0);
	json_t *pairs = json_object_get(dead, "pairs");

	/* 3 * 8 + 4 + 4 of 4 * 8 + 4 + 4 bytes were dead; the first pair of contexts has 28 of
	 * them. */
	assert_float_equal(json_real_value(json_object_get(dead, "fraction")), 32.0 / 40,
			   0.000001F);
	assert_int_equal(json_array_size(pairs), 2);
	assert_float_equal(json_real_value(json_object_get(json_array_get(pairs, 0), "fraction")),
			   28.0 / 40, 0.000001F);
	json_decref(report);
	free(text);
	window_result_free(w);
}

TEST(a_pair_is_identified_by_its_contexts_alone)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	json_t *report = json_loads(text, 0, NULL);
	json_t *first = json_array_get(json_object_get(kind_of(report, 0), "pairs"), 0);

	/* Three pairs on the heap and one on the stack, in the same contexts: one entry, shown with
	 * what wasted most. */
	assert_int_equal(json_integer_value(json_object_get(first, "variants")), 2);
	assert_int_equal(json_integer_value(json_object_get(first, "count")), 4);
	assert_int_equal(json_integer_value(json_object_get(first, "wasteful_bytes")), 28);
	assert_string_equal(json_string_value(json_object_get(first, "region")), "heap");
	json_decref(report);
	free(text);
	window_result_free(w);
}

TEST(pairs_beyond_the_limit_are_counted_as_omitted)
{
	struct window_result *w = crafted_window();
	char *text = report_of(w, JXP__FORMAT__FORMAT_JSON, 1);
	json_t *report = json_loads(text, 0, NULL);
	json_t *dead = kind_of(report, 0);

	assert_int_equal(json_array_size(json_object_get(dead, "pairs")), 1);
	assert_int_equal(json_integer_value(json_object_get(dead, "pairs_total")), 2);
	assert_int_equal(json_integer_value(json_object_get(dead, "pairs_omitted")), 1);
	json_decref(report);
	free(text);
	window_result_free(w);
}

TEST(only_the_kinds_that_were_asked_for_are_reported)
{
	struct window_result *w = crafted_window();
	json_t *report;
	char *text;

	w->request.kinds[DEAD] = w->request.kinds[SILENT_LOAD] = false;
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	report = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(report, "inefficiency")), 1);
	assert_string_equal(json_string_value(json_object_get(kind_of(report, 0), "kind")),
			    "silent_store");
	json_decref(report);
	free(text);
	window_result_free(w);
}

TEST(an_empty_window_is_a_report_that_says_nothing_was_found)
{
	struct window_request request = {.kinds = {false, true, true, true}};
	struct window_result *w = window_result_new(1, 1, &request, &sample_findings);
	char *text = report_of(w, JXP__FORMAT__FORMAT_TEXT, 0);
	char *json = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	json_t *report = json_loads(json, 0, NULL);

	assert_non_null(strstr(text, "none found"));
	assert_non_null(strstr(text, "Nothing can be said of waste: no pair"));
	assert_non_null(report);
	json_decref(report);
	free(text);
	free(json);
	window_result_free(w);
}

TEST(a_report_above_the_size_limit_loses_pairs_instead)
{
	struct window_result *w = crafted_window();
	char *whole = report_of(w, JXP__FORMAT__FORMAT_JSON, 0), *text;
	struct err err;
	size_t size;

	assert_int_equal(
	    report_new(w, JXP__FORMAT__FORMAT_JSON, 0, strlen(whole) - 1, &text, &size, &err), 0);
	assert_true(size < strlen(whole));
	assert_non_null(strstr(text, "\"pairs_omitted\": 1"));
	free(text);
	assert_int_equal(report_new(w, JXP__FORMAT__FORMAT_JSON, 0, 10, &text, &size, &err),
			 -EMSGSIZE);
	free(whole);
	window_result_free(w);
}

/* A calling context of depth 250, each frame with the same two longest names. Gives its leaf. */
static uint32_t deep_context_with_long_names(struct profile *p)
{
	char name[LIMIT_STRING_BYTES];
	struct cct_method method = {0};
	struct cct_node node = {0};

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(strings_intern(&p->strings, name, &method.class_name), 0);
	method.name = method.class_name;
	assert_int_equal(cct_add_method(&p->cct, &method, &node.method), 0);
	for (int depth = 0; depth < 250; depth++)
		assert_int_equal(cct_add_node(&p->cct, &node, &node.parent), 0);
	return node.parent;
}

/* Sanitizers take more than that for themselves: there the limit is none. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DATA_LIMIT RLIM_INFINITY
#else
#define DATA_LIMIT ((rlim_t)512 << 20)
#endif

/* Every format, at the limit that a reply has: 400 pairs would be 800 MiB of names. */
TEST(hostile_names_make_a_report_of_fewer_pairs_in_bounded_memory)
{
	static const Jxp__Format formats[] = {
	    JXP__FORMAT__FORMAT_TEXT,  JXP__FORMAT__FORMAT_JSON,  JXP__FORMAT__FORMAT_COLLAPSED,
	    JXP__FORMAT__FORMAT_PPROF, JXP__FORMAT__FORMAT_SARIF, JXP__FORMAT__FORMAT_SPEEDSCOPE};
	struct window_result *w = crafted_window();
	struct observation o = {
	    .kind = DEAD, .region = JXP__REGION__REGION_HEAP, .wasteful = true, .checked_bytes = 8};
	struct rlimit limit, tight;
	char *text;
	size_t size;

	o.watch_node = o.trap_node = deep_context_with_long_names(&w->profile);
	for (uint32_t i = 0; i < 400; i++) {
		struct cct_node leaf = {.parent = o.watch_node, .line = (int32_t)i + 1};

		assert_int_equal(cct_add_node(&w->profile.cct, &leaf, &o.trap_node), 0);
		assert_int_equal(profile_add(&w->profile, &o), 0);
	}
	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	tight = (struct rlimit){.rlim_cur = DATA_LIMIT, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &tight), 0);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct err err = {""};

		if (report_new(w, formats[i], 400, FRAME_MAX_REPLY, &text, &size, &err) < 0)
			fail_msg("%s", err.message);
		assert_in_range(size, 1, FRAME_MAX_REPLY);
		free(text);
	}
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	window_result_free(w);
}

TEST(unknown_formats_are_refused_in_one_line)
{
	struct err err;

	assert_int_equal(report_check_format((Jxp__Format)77, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.message, "pprof"));
	assert_int_equal(report_check_format((Jxp__Format)-1, &err), -EOPNOTSUPP);
	assert_int_equal(report_check_format(JXP__FORMAT__FORMAT_JSON, NULL), 0);
}

TEST(text_that_json_cannot_hold_never_reaches_it)
{
	struct window_result *w = crafted_window();
	struct sample_batch sample;
	struct intake intake;
	json_t *report;
	char *text;

	w->state = WINDOW_RUNNING;
	sample_batch_init(&sample);
	sample.methods[1].class_name = (char *)"bad\xed\xa0\x80\xff\n\"name\"";
	(void)sample_pair(&sample, DEAD, 2, 2, 8, 1);
	intake_init(&intake, w);
	assert_int_equal(intake_batch(&intake, &sample.batch), 0);
	text = report_of(w, JXP__FORMAT__FORMAT_JSON, 0);
	report = json_loads(text, 0, NULL);
	assert_non_null(report);
	assert_non_null(strstr(text, "bad\\\\ud800\\\\xff\\\\x0a\\\"name\\\""));
	json_decref(report);
	free(text);
	intake_release(&intake);
	window_result_free(w);
}
