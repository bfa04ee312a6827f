#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "export/protobuf/wire.h"
#include "export/otlp/otlp.h"
#include "export/profiles/window_profiles.h"
#include "profile/combine/merge.h"
#include "tests/unit/support/otlp_bodies.h"
#include "tests/unit/support/sample_window.h"

/* Requests, read back as far as their samples; tests/e2e/otlp.py holds them against the protocol's
 * own description. */
#define DEAD JXP__KIND__KIND_DEAD_STORE

/* ---------------------------------------------------------------- windows */

/* So many pairs, each of a line that no other window has either, and each wastes more than the one
 * before. */
static struct window_result *large_window(unsigned number, unsigned pairs)
{
	struct window_result *w = sample_window_empty(number, "org.example.Large");
	uint32_t parent = sample_window_node(w, 0, "main", 1);

	for (unsigned i = 1; i < 30; i++)
		parent = sample_window_node(w, parent, "call", (int32_t)i);
	for (unsigned i = 0; i < pairs; i++) {
		uint32_t node =
		    sample_window_node(w, parent, "fill", (int32_t)(number * 100000 + i + 1));
		struct observation o = {.kind = DEAD,
					.region = JXP__REGION__REGION_HEAP,
					.wasteful = true,
					.watch_node = node,
					.trap_node = node,
					.checked_bytes = 8 + i};

		assert_int_equal(profile_add(&w->profile, &o), 0);
	}
	return w;
}

static struct window_result *idle_window(unsigned number)
{
	return sample_window_empty(number, "org.example.Idle");
}

/* ---------------------------------------------------------------- reading back */

struct told {
	size_t requests, resources, profiles, samples, largest;
	uint64_t sum; /* of all values */
	uint64_t least;
};

static const unsigned *path_to_samples(unsigned depth)
{
	static const unsigned path[] = {1, 2, 2, 2};

	return path + depth;
}

static uint64_t value_of(const struct wire_field *sample, unsigned minor)
{
	struct wire r = wire_of(sample->bytes, sample->value);
	struct wire_field field;
	uint64_t value = 0;

	while (wire_next(&r, &field))
		if (field.number == (minor < 10 ? 2 : 4) && field.type == WIRE_BYTES)
			for (size_t i = 0; i < field.value; i++)
				value |= (uint64_t)(field.bytes[i] & 0x7f) << (7 * i);
	return value;
}

static void read_message(const uint8_t *bytes, size_t size, unsigned depth, unsigned minor,
			 struct told *told)
{
	struct wire r = wire_of(bytes, size);
	struct wire_field field;

	while (wire_next(&r, &field)) {
		uint64_t value;

		if (field.number != *path_to_samples(depth) || field.type != WIRE_BYTES)
			continue;
		told->resources += depth == 0;
		told->profiles += depth == 2;
		if (depth < 3) {
			read_message(field.bytes, field.value, depth + 1, minor, told);
			continue;
		}
		value = value_of(&field, minor);
		told->samples++;
		told->sum += value;
		if (told->least == 0 || value < told->least)
			told->least = value;
	}
	assert_null(r.wrong);
}

static struct told told_by(const struct export_batch *batch, unsigned minor)
{
	struct told told = {.requests = batch->count};

	for (size_t i = 0; i < batch->count; i++) {
		const struct export_request *r = &batch->requests[i];

		assert_string_equal(r->target, "/v1development/profiles");
		assert_string_equal(r->content_type, "application/x-protobuf");
		read_message(r->body, r->body_bytes, 0, minor, &told);
		if (r->body_bytes > told.largest)
			told.largest = r->body_bytes;
	}
	return told;
}

static struct export_batch encoded(const struct export_settings *settings,
				   const struct window_result *const *windows, size_t count)
{
	struct export_batch batch = {0};
	struct err err = {""};

	if (export_otlp.encode(NULL, settings, &otlp_origin, windows, count, 0, &batch, &err) < 0)
		fail_msg("%s", err.message);
	otlp_keep_bodies(&batch, settings->otlp_minor);
	return batch;
}

/* What the window's series come to. */
static uint64_t sum_of(const struct window_result *w, size_t *profiles)
{
	struct window_models models = {0};
	struct series_row row;
	uint64_t sum = 0;

	*profiles = 0;
	assert_int_equal(window_models_take(&models, w), 0);
	for (size_t i = 0; i < models.series_count; i++)
		for (size_t v = 0; v < models.series[i].value_count; v++) {
			uint64_t before = sum;

			for (size_t j = 0; j < models.series[i].rows + models.series[i].rows_beside;
			     j++) {
				sample_series_row(&models.model, &models.series[i], j, &row);
				for (size_t k = 0; k < row.count; k++)
					sum += (uint64_t)row.samples[k].values[v];
			}
			*profiles += sum > before;
		}
	report_model_release(&models.model);
	return sum;
}

/* ---------------------------------------------------------------- what is told */

TEST(each_value_of_a_window_is_a_profile_and_nothing_is_lost)
{
	static const unsigned minors[] = {0, 9, 10, 11};
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	size_t profiles;
	uint64_t sum;

	sample_window_loops(w, sample_window_node(w, 0, "main", 10));
	sum = sum_of(w, &profiles);
	assert_true(profiles >= 6); /* Pairs of two kinds, objects, ticks. */
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		struct export_settings settings = {.otlp_minor = minors[i]};
		struct export_batch batch =
		    encoded(&settings, (const struct window_result *[]){w}, 1);
		struct told told = told_by(&batch, minors[i]);

		assert_int_equal(told.requests, 1);
		assert_int_equal(told.resources, 1);
		assert_int_equal(told.profiles, profiles);
		assert_int_equal(told.sum, sum);
		assert_true(batch.cut == 0 && batch.too_old == 0);
		export_batch_release(&batch);
	}
	window_result_free(w);
}

TEST(windows_of_a_batch_are_resources_of_one_request)
{
	struct window_result *windows[] = {sample_window(1, "a", 20), idle_window(2),
					   sample_window(3, "b", 30), large_window(4, 500)};
	struct export_settings settings = {.otlp_minor = 11};
	struct export_batch batch =
	    encoded(&settings, (const struct window_result *const *)windows, 4);
	struct told told = told_by(&batch, 11);
	uint64_t sum = 0;
	size_t profiles;

	for (size_t i = 0; i < 4; i++)
		sum += sum_of(windows[i], &profiles);
	assert_int_equal(told.requests, 1);
	assert_int_equal(told.resources, 3);
	assert_int_equal(told.sum, sum);
	export_batch_release(&batch);
	for (size_t i = 0; i < 4; i++)
		window_result_free(windows[i]);
}

static bool holds(const struct export_batch *batch, const void *bytes, size_t size)
{
	return memmem(batch->requests[0].body, batch->requests[0].body_bytes, bytes, size) != NULL;
}

TEST(the_same_windows_are_the_same_profiles_and_those_of_another_host_are_not)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct export_origin other = otlp_origin;
	struct export_settings settings = {.otlp_minor = 11};
	struct export_batch first = encoded(&settings, (const struct window_result *[]){w}, 1);
	struct export_batch again = encoded(&settings, (const struct window_result *[]){w}, 1);
	uint8_t id[WINDOW_PROFILE_ID_BYTES], elsewhere[WINDOW_PROFILE_ID_BYTES];

	assert_int_equal(first.requests[0].body_bytes, again.requests[0].body_bytes);
	assert_memory_equal(first.requests[0].body, again.requests[0].body,
			    first.requests[0].body_bytes);
	window_profile_id(id, &otlp_origin, w, "dead_store_bytes");
	assert_true(holds(&first, id, sizeof(id)));
	other.store = "00000000";
	window_profile_id(elsewhere, &other, w, "dead_store_bytes");
	assert_false(holds(&first, elsewhere, sizeof(elsewhere)));
	window_profile_id(elsewhere, &otlp_origin, w, "dead_store_cpu");
	assert_memory_not_equal(id, elsewhere, sizeof(id));
	export_batch_release(&first);
	export_batch_release(&again);
	window_result_free(w);
}

TEST(labels_of_the_destination_are_attributes_of_the_resource)
{
	/* KeyValue {key, AnyValue {string_value}}. */
	static const char attribute[] = "\x0a\x04"
					"team\x12\x06\x0a\x04shop";
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct export_settings settings = {.otlp_minor = 11};
	struct export_origin labelled = otlp_origin;
	struct export_batch plain = encoded(&settings, (const struct window_result *[]){w}, 1);
	struct export_batch batch = {0};
	struct err err;

	labelled.labels = "team=shop\n";
	assert_int_equal(export_otlp.encode(NULL, &settings, &labelled,
					    (const struct window_result *[]){w}, 1, 0, &batch,
					    &err),
			 0);
	assert_true(holds(&batch, attribute, sizeof(attribute) - 1));
	assert_false(holds(&plain, attribute, sizeof(attribute) - 1));
	export_batch_release(&plain);
	export_batch_release(&batch);
	window_result_free(w);
}

/* Contexts that a text format would tell apart by the instruction alone. */
TEST(samples_of_the_same_stack_and_attributes_are_one)
{
	struct window_result *w = sample_window_empty(1, "org.example.Main");
	uint32_t node = sample_window_node(w, 0, "main", 1);
	struct export_settings settings = {.otlp_minor = 11};
	struct export_batch batch;
	struct told told;

	for (uint32_t i = 0; i < 5; i++) {
		char text[32];
		struct observation o = {.kind = DEAD,
					.region = JXP__REGION__REGION_HEAP,
					.wasteful = true,
					.watch_node = node,
					.trap_node = node,
					.checked_bytes = 8};

		(void)snprintf(text, sizeof(text), "mov %u", i);
		o.watch_instruction = sample_window_text(w, text);
		assert_int_equal(profile_add(&w->profile, &o), 0);
	}
	assert_int_equal(w->profile.pair_count, 5);
	batch = encoded(&settings, (const struct window_result *[]){w}, 1);
	told = told_by(&batch, 11);
	assert_int_equal(told.samples, 1);
	assert_int_equal(told.sum, 40);
	export_batch_release(&batch);
	window_result_free(w);
}

TEST(a_host_may_be_called_anything)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct export_origin origin = {.host = "h\xff\n\"1", .group = "", .store = ""};
	struct export_settings settings = {.otlp_minor = 11};
	struct export_batch batch = {0};

	assert_int_equal(export_otlp.encode(NULL, &settings, &origin,
					    (const struct window_result *[]){w}, 1, 0, &batch,
					    NULL),
			 0);
	assert_true(holds(&batch, "h??\"1", 5));
	otlp_keep_bodies(&batch, 11);
	export_batch_release(&batch);
	window_result_free(w);
}

/* A KeyValue of two texts as the protocol writes it: key 1, value 2, of that string_value 1. */
/* NOLINTBEGIN(bugprone-not-null-terminated-result) */
static bool has_attribute(const struct export_batch *batch, const char *key, const char *value)
{
	uint8_t bytes[128];
	size_t k = strlen(key), v = strlen(value), n = 0;

	bytes[n++] = 1 << 3 | 2;
	bytes[n++] = (uint8_t)k;
	memcpy(bytes + n, key, k);
	n += k;
	bytes[n++] = 2 << 3 | 2;
	bytes[n++] = (uint8_t)(v + 2);
	bytes[n++] = 1 << 3 | 2;
	bytes[n++] = (uint8_t)v;
	memcpy(bytes + n, value, v);
	return holds(batch, bytes, n + v);
}
/* NOLINTEND(bugprone-not-null-terminated-result) */

TEST(a_resource_says_in_which_container_and_pod_it_is)
{
	static const struct export_settings settings = {.otlp_minor = 11};
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct export_batch batch;

	batch = encoded(&settings, (const struct window_result *[]){w}, 1);
	assert_false(holds(&batch, "k8s.", 4));
	assert_false(holds(&batch, "container.id", 12));
	export_batch_release(&batch);
	strcpy(w->container, "c0ffee");
	strcpy(w->namespace, "till");
	strcpy(w->pod, "pay-0");
	batch = encoded(&settings, (const struct window_result *[]){w}, 1);
	assert_true(has_attribute(&batch, "container.id", "c0ffee"));
	assert_true(has_attribute(&batch, "k8s.namespace.name", "till"));
	assert_true(has_attribute(&batch, "k8s.pod.name", "pay-0"));
	otlp_keep_bodies(&batch, 11);
	export_batch_release(&batch);
	window_result_free(w);
}

/* ---------------------------------------------------------------- limits */

TEST(requests_are_no_larger_than_they_may_be)
{
	struct window_result *windows[8];
	struct export_settings settings = {.otlp_minor = 11, .body_bytes_max = 100000};
	struct export_batch batch;
	struct told told;
	uint64_t sum = 0;
	size_t profiles;

	for (unsigned i = 0; i < 8; i++) {
		windows[i] = large_window(i + 1, 300);
		sum += sum_of(windows[i], &profiles);
	}
	batch = encoded(&settings, (const struct window_result *const *)windows, 8);
	told = told_by(&batch, 11);
	assert_in_range(told.requests, 2, 8);
	assert_in_range(told.largest, 50000, 100000);
	assert_int_equal(told.sum, sum);
	assert_int_equal(batch.cut, 0);
	export_batch_release(&batch);
	for (unsigned i = 0; i < 8; i++)
		window_result_free(windows[i]);
}

TEST(of_a_profile_that_is_too_large_the_heaviest_samples_are_sent)
{
	struct window_result *w = large_window(1, 20000);
	struct export_settings settings = {.otlp_minor = 9, .body_bytes_max = 200000};
	struct export_batch batch = encoded(&settings, (const struct window_result *[]){w}, 1);
	struct told told = told_by(&batch, 9);

	assert_int_equal(told.profiles, 1);
	assert_in_range(told.largest, 150000, 200000);
	assert_in_range(told.samples, 1000, 19999);
	assert_int_equal(told.samples + batch.cut, 20000);
	assert_int_equal(told.least, 8 + 20000 - told.samples);
	assert_true(holds(&batch, "jxperf.samples_left_out", 23));
	export_batch_release(&batch);
	window_result_free(w);
}

TEST(a_limit_that_nothing_fits_into_is_told)
{
	struct window_result *w = large_window(7, 10);
	struct export_settings settings = {.otlp_minor = 11, .body_bytes_max = 100};
	struct export_batch batch = {0};
	struct err err = {""};

	assert_int_equal(export_otlp.encode(NULL, &settings, &otlp_origin,
					    (const struct window_result *[]){w}, 1, 0, &batch,
					    &err),
			 -EMSGSIZE);
	assert_non_null(strstr(err.message, "window 'w7'"));
	export_batch_release(&batch);
	window_result_free(w);
}

TEST(a_large_window_takes_little_time)
{
	struct window_result *w = large_window(1, 60000);
	struct export_settings settings = {.otlp_minor = 11};
	struct timespec before, after;
	struct export_batch batch;
	struct told told;
	double ms;

	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before), 0);
	batch = encoded(&settings, (const struct window_result *[]){w}, 1);
	assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after), 0);
	ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
	     (double)(after.tv_nsec - before.tv_nsec) / 1e6;
	told = told_by(&batch, 11);
	assert_int_equal(told.samples, 60000);
	print_message("# 60,000 pairs of 30 frames: %.0f ms, %zu bytes\n", ms, told.largest);
	assert_true(ms < 6000); /* 1% of a core for ten minutes; sanitizers take their part. */
	export_batch_release(&batch);
	window_result_free(w);
}

/* ---------------------------------------------------------------- answers */

static enum export_outcome judged(int status, const char *body, size_t size, struct err *line,
				  uint64_t *lost)
{
	*line = (struct err){""};
	*lost = 77;
	return export_otlp.judge(status, body, size, line, lost);
}

TEST(answers_mean_what_the_protocol_says)
{
	static const struct {
		int status;
		enum export_outcome outcome;
	} answers[] = {{200, EXPORT_SENT},    {202, EXPORT_SENT},   {400, EXPORT_REFUSED},
		       {401, EXPORT_RETRY},   {404, EXPORT_RETRY},  {408, EXPORT_REFUSED},
		       {413, EXPORT_SMALLER}, {429, EXPORT_RETRY},  {500, EXPORT_REFUSED},
		       {501, EXPORT_REFUSED}, {502, EXPORT_FAILED}, {503, EXPORT_FAILED},
		       {504, EXPORT_FAILED},  {302, EXPORT_RETRY},  {0, EXPORT_REFUSED}};
	struct err line;
	uint64_t lost;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		assert_int_equal(judged(answers[i].status, "", 0, &line, &lost),
				 answers[i].outcome);
		assert_int_equal(lost, 0);
		assert_string_equal(line.message, "");
	}
}

TEST(profiles_that_a_server_rejects_are_lost_and_not_sent_again)
{
	struct err line;
	uint64_t lost;

	assert_int_equal(judged(200, "\x0a\x0b\x08\x03\x12\x07too\nbad", 13, &line, &lost),
			 EXPORT_SENT);
	assert_int_equal(lost, 3);
	assert_string_equal(line.message,
			    "the server took a request without 3 of its profiles: too");
	assert_int_equal(judged(200, "\x0a\x02\x08\x03", 4, &line, &lost), EXPORT_SENT);
	assert_int_equal(lost, 3);
	assert_string_equal(line.message, "the server took a request without 3 of its profiles");
	/* A warning, with nothing rejected; and below 0. */
	assert_int_equal(judged(200, "\x0a\x04\x12\x02ok", 6, &line, &lost), EXPORT_SENT);
	assert_int_equal(lost, 0);
	assert_int_equal(
	    judged(200, "\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, &line, &lost),
	    EXPORT_SENT);
	assert_int_equal(lost, 0);
}

TEST(an_answer_that_is_garbage_says_nothing_of_what_was_sent)
{
	static const char *const bodies[] = {
	    "<html>\r\nhello", "{\"partialSuccess\":{}}", "\x0a", "\x0a\x7f",
	    "\x08\x01",        "\xff\xff\xff\xff"};
	struct err line;
	uint64_t lost;

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		assert_int_equal(judged(200, bodies[i], strlen(bodies[i]), &line, &lost),
				 EXPORT_SENT);
		assert_int_equal(lost, 0);
		assert_string_equal(line.message, "");
	}
}

TEST(a_refusal_has_the_servers_words_on_one_line)
{
	char large[4096];
	struct err line;
	uint64_t lost;

	(void)judged(400,
		     "\x08\x03\x12\x0a"
		     "bad\x1b profil",
		     14, &line, &lost);
	assert_string_equal(line.message, "bad? profi");
	(void)judged(404, "404 page not found\nat all\n", 26, &line, &lost);
	assert_string_equal(line.message, "404 page not found");
	(void)judged(503, "", 0, &line, &lost);
	assert_string_equal(line.message, "");
	memset(large, 'x', sizeof(large));
	(void)judged(400, large, sizeof(large), &line, &lost);
	assert_in_range(strlen(line.message), 200, 300);
}
