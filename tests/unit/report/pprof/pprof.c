#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/clock.h"
#include "profile/intake/intake.h"
#include "report/report.h"
#include "proto/limits.h"
#include "proto/profile.pb-c.h"
#include "tests/unit/support/sample_batch.h"
#include "tests/unit/support/sample_findings.h"
#include "tests/unit/support/sample_objects.h"

/* Profiles for pprof, read back: what they say, not how they are written. */
#define ENOUGH (16u << 20)

#define DEAD        JXP__KIND__KIND_DEAD_STORE
#define SILENT_LOAD JXP__KIND__KIND_SILENT_LOAD

typedef Perftools__Profiles__Profile profile_t;
typedef Perftools__Profiles__Sample sample_t;
typedef Perftools__Profiles__Location location_t;
typedef Perftools__Profiles__Function function_t;

/* ---------------------------------------------------------------- windows */

static void add_pairs(struct sample_batch *s)
{
	for (int i = 0; i < 3; i++) {
		struct event_transition *t = sample_pair(s, DEAD, 2, 3, 8, 1);

		t->location = 1;
		t->cpu_ns = 5 * NS_PER_MS;
	}
	(void)sample_pair(s, DEAD, 2, 3, 8, 0);
	sample_pair(s, SILENT_LOAD, 2, 3, 4, 1)->location = 2;
	sample_pair(s, SILENT_LOAD, 0, 3, 2, 1)->region = JXP__REGION__REGION_OTHER;
}

/* One site is accessed, the other only allocated. */
static void add_objects(struct sample_objects *s)
{
	sample_allocation(s, 1, 0, 10, 0x10000)->weight = 4;
	sample_allocation(s, 2, 0, 10, 0x20000)->class_id = 2;
	for (uint64_t i = 0; i < 6; i++)
		sample_access(s, 0, 20 + i, 0x10000 + 8 * i)->cpu = 2;
	sample_pass(s, 2, 0, 0, 0);
	s->batch->time_ns = 100;
	s->batch->settled_ns = 100;
	s->batch->object_interval = 512 << 10;
}

static struct window_result *window_of(const struct window_findings *findings)
{
	struct window_request request = {.kinds = {[DEAD] = true, [SILENT_LOAD] = true},
					 .kinds[JXP__KIND__KIND_OBJECTS] = true,
					 .duration_ns = 30 * NS_PER_S,
					 .objects_max = 16};
	struct window_result *w = window_result_new(3, 4242, &request, findings);
	struct sample_objects objects;
	struct sample_batch sample;
	struct intake intake;

	window_result_start(w);
	(void)snprintf(w->app, sizeof(w->app), "org.example.Main");
	(void)snprintf(w->jdk, sizeof(w->jdk), "17.0.12+7");
	sample_batch_init(&sample);
	sample_objects_init(&objects, &sample.batch);
	add_pairs(&sample);
	add_objects(&objects);
	sample.counters[JXP__COUNTER__COUNTER_TICKS] = 3600;
	sample.counters[JXP__COUNTER__COUNTER_TICK_NS] = 18 * NS_PER_S;
	sample.batch.period = 8 * NS_PER_MS;
	intake_init(&intake, w);
	assert_int_equal(intake_batch(&intake, &sample.batch), 0);
	assert_int_equal(intake_finish(&intake), 0);
	intake_release(&intake);
	window_result_end(w, NULL);
	w->start_unix_ns = UINT64_C(1795248000) * NS_PER_S;
	w->start_ns = 1000 * NS_PER_S;
	w->end_ns = 1030 * NS_PER_S;
	return w;
}

static struct window_result *crafted_window(void)
{
	return window_of(&sample_findings);
}

/* ---------------------------------------------------------------- reading back */

static const char *text_at(const profile_t *p, int64_t position)
{
	assert_in_range(position, 0, p->n_string_table - 1);
	return p->string_table[position];
}

static const location_t *location_of(const profile_t *p, uint64_t id)
{
	const location_t *found = NULL;

	for (size_t i = 0; i < p->n_location; i++)
		if (p->location[i]->id == id) {
			assert_null(found); /* Each is told once. */
			found = p->location[i];
		}
	if (!found)
		fail_msg("there is no location %u", (unsigned)id);
	else
		assert_true(found->n_line == 1 && found->mapping_id == p->mapping[0]->id);
	return found;
}

static const function_t *function_of(const profile_t *p, uint64_t id)
{
	const function_t *found = NULL;

	for (size_t i = 0; i < p->n_function; i++)
		if (p->function[i]->id == id) {
			assert_null(found);
			found = p->function[i];
		}
	assert_non_null(found);
	return found;
}

/* "org.example.Main.fill:21" of the sample's i-th frame. */
static const char *frame(const profile_t *p, const sample_t *s, size_t i)
{
	static char text[2 * LIMIT_STRING_BYTES + 32];
	const location_t *l;

	assert_in_range(i, 0, s->n_location_id - 1);
	l = location_of(p, s->location_id[i]);
	(void)snprintf(text, sizeof(text), "%s:%d",
		       text_at(p, function_of(p, l->line[0]->function_id)->name),
		       (int)l->line[0]->line);
	return text;
}

static const char *label(const profile_t *p, const sample_t *s, const char *key)
{
	for (size_t i = 0; i < s->n_label; i++)
		if (strcmp(text_at(p, s->label[i]->key), key) == 0)
			return text_at(p, s->label[i]->str);
	return "";
}

static size_t type_at(const profile_t *p, const char *type)
{
	for (size_t i = 0; i < p->n_sample_type; i++)
		if (strcmp(text_at(p, p->sample_type[i]->type), type) == 0)
			return i;
	return SIZE_MAX;
}

static int64_t total(const profile_t *p, const char *type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->n_sample; i++)
		sum += p->sample[i]->value[type_at(p, type)];
	return sum;
}

static bool has_comment(const profile_t *p, const char *part)
{
	for (size_t i = 0; i < p->n_comment; i++)
		if (strstr(text_at(p, p->comment[i]), part))
			return true;
	return false;
}

/* The first sample of the kind. */
static const sample_t *of_kind(const profile_t *p, const char *kind)
{
	for (size_t i = 0; i < p->n_sample; i++)
		if (strcmp(label(p, p->sample[i], "kind"), kind) == 0)
			return p->sample[i];
	fail_msg("no sample of kind %s", kind);
	return NULL;
}

static void assert_whole(const profile_t *p)
{
	assert_string_equal(p->string_table[0], "");
	for (size_t i = 0; i < p->n_sample; i++) {
		assert_int_equal(p->sample[i]->n_value, p->n_sample_type);
		for (size_t f = 0; f < p->sample[i]->n_location_id; f++)
			(void)frame(p, p->sample[i], f);
	}
}

static profile_t *read_back(const char *bytes, size_t size)
{
	size_t capacity = 256u << 20;
	uint8_t *plain = malloc(capacity);
	z_stream stream = {.next_in = (Bytef *)bytes,
			   .avail_in = (uInt)size,
			   .next_out = plain,
			   .avail_out = (uInt)capacity};
	profile_t *p;

	assert_non_null(plain);
	assert_int_equal(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	p = perftools__profiles__profile__unpack(NULL, stream.total_out, plain);
	assert_non_null(p);
	(void)inflateEnd(&stream);
	free(plain);
	return p;
}

static profile_t *profile_wanted(const struct window_result *w, struct report_wanted wanted)
{
	struct err err = {""};
	char *bytes;
	size_t size;
	profile_t *p;

	wanted.format = JXP__FORMAT__FORMAT_PPROF;
	if (report_new_unless(NULL, w, &wanted, ENOUGH, &bytes, &size, &err) < 0)
		fail_msg("%s", err.message);
	p = read_back(bytes, size);
	free(bytes);
	return p;
}

static profile_t *profile_of(const struct window_result *w)
{
	profile_t *p = profile_wanted(w, (struct report_wanted){0});

	assert_whole(p);
	return p;
}

static void release(profile_t *p, struct window_result *w)
{
	perftools__profiles__profile__free_unpacked(p, NULL);
	window_result_free(w);
}

/* ---------------------------------------------------------------- tests */

TEST(a_profile_says_which_window_it_is_of)
{
	struct window_result *w = crafted_window();
	profile_t *p = profile_of(w);

	assert_int_equal(p->time_nanos, w->start_unix_ns);
	assert_int_equal(p->duration_nanos, 30 * NS_PER_S);
	assert_int_equal(p->period, 8 * NS_PER_MS);
	assert_string_equal(text_at(p, p->period_type->type), "cpu");
	assert_string_equal(text_at(p, p->period_type->unit), "nanoseconds");
	assert_string_equal(text_at(p, p->mapping[0]->filename), "org.example.Main");
	assert_true(p->mapping[0]->has_functions && p->mapping[0]->has_inline_frames);
	assert_true(has_comment(p, "window w3 of pid 4242"));
	assert_false(has_comment(p, "not in this profile"));
	release(p, w);
}

TEST(each_metric_has_a_type_that_sums_up_to_the_windows)
{
	static const struct {
		const char *type, *unit;
		int64_t total;
	} expected[] = {
	    {"dead_store_bytes", "bytes", 24},     {"dead_store_cpu", "nanoseconds", 15000000},
	    {"silent_load_bytes", "bytes", 6},     {"silent_load_cpu", "nanoseconds", 0},
	    {"object_accesses", "nanoseconds", 0}, {"object_bytes", "bytes", 500},
	};
	struct window_result *w = crafted_window();
	profile_t *p = profile_of(w);

	assert_int_equal(p->n_sample_type, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < p->n_sample_type; i++) {
		assert_string_equal(text_at(p, p->sample_type[i]->type), expected[i].type);
		assert_string_equal(text_at(p, p->sample_type[i]->unit), expected[i].unit);
		if (strcmp(expected[i].type, "object_accesses") != 0)
			assert_int_equal(total(p, expected[i].type), expected[i].total);
	}
	assert_int_equal(total(p, "object_accesses"),
			 (int64_t)w->objects.sites[0].metric); /* A whole number here. */
	assert_true(total(p, "object_accesses") > 0);
	assert_string_equal(text_at(p, p->default_sample_type), "dead_store_cpu");
	release(p, w);
}

TEST(the_wasteful_access_is_the_leaf_below_the_other_one)
{
	struct window_result *w = crafted_window();
	profile_t *p = profile_of(w);
	const sample_t *dead = of_kind(p, "dead_store"), *load = of_kind(p, "silent_load");

	assert_int_equal(dead->n_location_id, 5);
	assert_string_equal(frame(p, dead, 0), "org.example.Main.fill:21");
	assert_string_equal(frame(p, dead, 1), "org.example.Main.main:10");
	assert_string_equal(frame(p, dead, 2), "[overwrites, unread, what was stored by]:0");
	assert_string_equal(frame(p, dead, 3), "org.example.Main.sum:31");
	assert_string_equal(frame(p, dead, 4), "org.example.Main.main:10");
	assert_int_equal(load->n_location_id, 5);
	assert_string_equal(frame(p, load, 0), "org.example.Main.sum:31");
	assert_string_equal(frame(p, load, 2), "[and then the same value again by]:0");
	assert_string_equal(frame(p, load, 3), "org.example.Main.fill:21");
	assert_int_equal(dead->location_id[1], dead->location_id[4]);
	assert_string_equal(
	    text_at(p, function_of(p, location_of(p, dead->location_id[0])->line[0]->function_id)
			   ->filename),
	    "Main.java");
	release(p, w);
}

TEST(samples_have_their_kind_region_and_field)
{
	struct window_result *w = crafted_window();
	profile_t *p = profile_of(w);
	const sample_t *dead = of_kind(p, "dead_store"), *load = of_kind(p, "silent_load");
	const sample_t *site = of_kind(p, "objects");

	assert_string_equal(label(p, dead, "region"), "heap");
	assert_string_equal(label(p, dead, "field"), "org.example.Main$Base.total");
	assert_string_equal(label(p, load, "field"), "element of long[]");
	assert_string_equal(label(p, site, "class"), "float[]");
	assert_string_equal(label(p, site, "region"), "");
	assert_string_equal(frame(p, site, 0), "org.example.Main.fill:21");
	assert_int_equal(site->n_location_id, 2);
	release(p, w);
}

TEST(a_context_that_is_not_known_is_a_frame_that_says_so)
{
	struct window_result *w = crafted_window();
	profile_t *p = profile_of(w);
	const sample_t *last = NULL;

	for (size_t i = 0; i < p->n_sample; i++)
		if (strcmp(label(p, p->sample[i], "region"), "other") == 0)
			last = p->sample[i];
	if (!last) {
		fail_msg("no sample of other memory");
		return;
	}
	assert_int_equal(last->n_location_id, 4);
	assert_string_equal(frame(p, last, 3), "[unknown]:0");
	assert_string_equal(label(p, last, "field"), "");
	release(p, w);
}

TEST(a_view_has_its_types_and_samples_only)
{
	struct window_result *w = crafted_window();
	struct report_wanted wanted = {.view = JXP__VIEW__VIEW_OBJECTS};
	profile_t *p = profile_wanted(w, wanted);
	struct err err;

	assert_int_equal(p->n_sample_type, 2);
	assert_int_equal(p->n_sample, 2);
	assert_string_equal(text_at(p, p->default_sample_type), "object_accesses");
	perftools__profiles__profile__free_unpacked(p, NULL);
	wanted.view = JXP__VIEW__VIEW_PAIRS;
	wanted.some_regions = wanted.regions[JXP__REGION__REGION_OTHER] = true;
	p = profile_wanted(w, wanted);
	assert_int_equal(type_at(p, "object_bytes"), SIZE_MAX);
	assert_int_equal(p->n_sample, 1);
	assert_int_equal(total(p, "silent_load_bytes"), 2);
	assert_int_equal(report_wanted_set(&wanted, JXP__FORMAT__FORMAT_PPROF, 0,
					   JXP__VIEW__VIEW_FIELDS, NULL, 0, &err),
			 -EINVAL);
	assert_non_null(strstr(err.message, "--view pairs"));
	release(p, w);
}

TEST(ticks_have_their_contexts_and_what_has_none_is_beside)
{
	struct window_result *w = crafted_window();
	struct cpu_profile *c = &w->cpu;
	const sample_t *first, *collector = NULL;
	profile_t *p;

	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    cpu_profile_add(c, JXP__CPU_SAMPLE__STATE__COMPILED, 2, false, 4 * NS_PER_MS),
		    0);
	assert_int_equal(
	    cpu_profile_add(c, JXP__CPU_SAMPLE__STATE__NATIVE, 2, false, 4 * NS_PER_MS), 0);
	assert_int_equal(
	    cpu_profile_add(c, JXP__CPU_SAMPLE__STATE__NO_JAVA, 0, false, 4 * NS_PER_MS), 0);
	assert_int_equal(
	    cpu_profile_add(c, JXP__CPU_SAMPLE__STATE__COMPILED, 3, true, 4 * NS_PER_MS), 0);
	/* Half of the window was watched: twice as much, 2 ticks of 4 ms. */
	c->beside = (struct cpu_beside){.span_ns = 15 * NS_PER_S, .gc_ns = 4 * NS_PER_MS};
	p = profile_wanted(w, (struct report_wanted){.view = JXP__VIEW__VIEW_CPU});
	assert_whole(p);
	assert_int_equal(p->n_sample_type, 2);
	assert_string_equal(text_at(p, p->default_sample_type), "samples");
	assert_int_equal(p->n_sample, 3);
	assert_int_equal(total(p, "samples"), 4 + 2);
	assert_int_equal(total(p, "cpu"), (16 + 8) * NS_PER_MS);
	first = of_kind(p, "cpu");
	assert_int_equal(first->value[0], 3);
	assert_string_equal(label(p, first, "code"), "compiled");
	assert_string_equal(label(p, p->sample[1], "code"), "native");
	assert_int_equal(first->n_location_id, 2);
	assert_string_equal(frame(p, first, 0), "org.example.Main.fill:21");
	collector = p->sample[2];
	assert_int_equal(collector->n_location_id, 1);
	assert_string_equal(frame(p, collector, 0), "[garbage collector]:0");
	assert_true(has_comment(p, "1 with stacks cut at their root, 0 with a lost one, 0 whose "
				   "stack the JVM could not tell, 1 of threads"));
	release(p, w);
}

TEST(all_samples_are_in_one_profile_with_zeros_where_they_are_not_meant)
{
	struct window_result *w = crafted_window();
	profile_t *p;

	w->request.kinds[JXP__KIND__KIND_CPU] = true;
	assert_int_equal(
	    cpu_profile_add(&w->cpu, JXP__CPU_SAMPLE__STATE__COMPILED, 2, false, 4 * NS_PER_MS), 0);
	p = profile_of(w);
	assert_int_equal(p->n_sample_type, 8);
	assert_string_equal(text_at(p, p->default_sample_type), "dead_store_cpu");
	for (size_t i = 0; i < p->n_sample; i++) {
		const sample_t *s = p->sample[i];
		const char *kind = label(p, s, "kind");
		size_t own = strcmp(kind, "dead_store") == 0    ? 0
			     : strcmp(kind, "silent_load") == 0 ? 2
			     : strcmp(kind, "objects") == 0     ? 4
								: 6;

		for (size_t v = 0; v < s->n_value; v++)
			if (v != own && v != own + 1)
				assert_int_equal(s->value[v], 0);
		assert_true(s->value[own] > 0 || s->value[own + 1] > 0);
	}
	release(p, w);
}

TEST(hardware_samplers_have_no_cpu_time)
{
	struct window_findings findings = sample_findings;
	struct window_result *w;
	profile_t *p;

	findings.sampler = JXP__SAMPLER__SAMPLER_PEBS;
	findings.event_count = 1;
	w = window_of(&findings);
	p = profile_of(w);
	assert_int_equal(type_at(p, "dead_store_cpu"), SIZE_MAX);
	assert_int_equal(total(p, "dead_store_bytes"), 24);
	assert_string_equal(text_at(p, p->period_type->unit), "operations");
	assert_string_equal(text_at(p, p->sample_type[type_at(p, "object_accesses")]->unit),
			    "operations");
	assert_string_equal(text_at(p, p->default_sample_type), "dead_store_bytes");
	release(p, w);
}

TEST(rows_that_are_left_out_are_told)
{
	struct window_result *w = crafted_window();
	profile_t *p = profile_wanted(w, (struct report_wanted){.pairs = 1});

	assert_int_equal(p->n_sample, 3);
	assert_true(has_comment(p, "1 of 2 pairs of silent loads are not in this profile"));
	assert_true(has_comment(p, "1 of 2 allocation sites are not in this profile"));
	assert_false(has_comment(p, "dead stores"));
	release(p, w);
}

TEST(a_profile_that_is_too_long_or_not_wanted_any_more_is_none)
{
	struct report_wanted wanted = {.format = JXP__FORMAT__FORMAT_PPROF};
	struct window_result *w = crafted_window();
	atomic_bool cancelled = true;
	struct err err;
	char *bytes;
	size_t size;

	assert_int_equal(report_new_unless(NULL, w, &wanted, 100, &bytes, &size, &err), -EMSGSIZE);
	assert_int_equal(report_new_unless(&cancelled, w, &wanted, ENOUGH, &bytes, &size, &err),
			 -ECANCELED);
	window_result_free(w);
}

TEST(a_window_without_a_sample_is_a_profile)
{
	struct window_request request = {.kinds = {[DEAD] = true}};
	struct window_result *w = window_result_new(1, 1, &request, &sample_findings);
	profile_t *p = profile_of(w);

	assert_int_equal(p->n_sample, 0);
	assert_int_equal(p->n_sample_type, 1);
	assert_int_equal(p->default_sample_type, 0);
	release(p, w);
}

/* Names that are put together from two take more than those of the profile. */
TEST(names_beyond_the_limit_are_left_out_and_that_is_told)
{
	struct window_result *w = crafted_window();
	struct observation o = {
	    .kind = DEAD, .region = JXP__REGION__REGION_HEAP, .wasteful = true, .checked_bytes = 8};
	struct cct_method method = {0};
	char name[2048];
	profile_t *p;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(strings_intern(&w->profile.strings, name, &method.class_name), 0);
	for (unsigned i = 0; i < 10000; i++) {
		struct cct_node node = {.line = (int32_t)i + 1};

		(void)snprintf(name, 6, "%05u", i);
		name[5] = 'x';
		assert_int_equal(strings_intern(&w->profile.strings, name, &method.name), 0);
		assert_int_equal(cct_add_method(&w->profile.cct, &method, &node.method), 0);
		assert_int_equal(cct_add_node(&w->profile.cct, &node, &o.trap_node), 0);
		o.watch_node = o.trap_node;
		assert_int_equal(profile_add(&w->profile, &o), 0);
	}
	p = profile_wanted(w, (struct report_wanted){0});
	assert_int_equal(total(p, "dead_store_bytes"), 24 + 10000 * 8);
	assert_true(has_comment(p, "left out"));
	release(p, w);
}
