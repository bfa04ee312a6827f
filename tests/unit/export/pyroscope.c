#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/clock.h"
#include "export/protobuf/wire.h"
#include "export/pyroscope/pyroscope.h"
#include "proto/profile.pb-c.h"
#include "tests/unit/support/sample_window.h"

/* What is pushed, read back: series, their labels, and their profiles for pprof. */
#define ENOUGH     (8u << 20)
#define LABELS_MAX 16

typedef Perftools__Profiles__Profile profile_t;

static const struct export_origin origin = {
    .host = "host-1", .group = "blue", .store = "5f1c0d3e", .labels = "team=shop\ntier=a b\n"};

struct series {
	char names[LABELS_MAX][32], values[LABELS_MAX][64];
	size_t labels;
	char id[64];
	size_t unpacked;
	profile_t *profile;
};

struct pushed {
	struct export_batch batch;
	struct series series[64];
	size_t count;
};

static struct wire reader_of(const struct wire_field *field)
{
	return wire_of(field->bytes, field->value);
}

static void copy(char *to, size_t size, const struct wire_field *field)
{
	assert_true(field->type == WIRE_BYTES && field->value < size);
	memcpy(to, field->bytes, field->value);
	to[field->value] = '\0';
}

static void read_label(struct series *s, struct wire r)
{
	struct wire_field field;

	assert_true(s->labels < LABELS_MAX);
	while (wire_next(&r, &field))
		if (field.number == 1)
			copy(s->names[s->labels], sizeof(s->names[0]), &field);
		else
			copy(s->values[s->labels], sizeof(s->values[0]), &field);
	s->labels++;
}

static void read_sample(struct series *s, struct wire r)
{
	static uint8_t bytes[ENOUGH];
	struct wire_field field;
	z_stream z = {0};

	while (wire_next(&r, &field)) {
		if (field.number == 2) {
			copy(s->id, sizeof(s->id), &field);
			continue;
		}
		assert_int_equal(inflateInit2(&z, MAX_WBITS + 16), Z_OK);
		z.next_in = (uint8_t *)field.bytes;
		z.avail_in = (uInt)field.value;
		z.next_out = bytes;
		z.avail_out = sizeof(bytes);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		s->unpacked = z.total_out;
		assert_int_equal(inflateEnd(&z), Z_OK);
		s->profile = perftools__profiles__profile__unpack(NULL, s->unpacked, bytes);
		assert_non_null(s->profile);
	}
}

static void read_request(struct pushed *p, const struct export_request *request)
{
	struct wire r = wire_of(request->body, request->body_bytes), in;
	struct wire_field field, part;

	assert_string_equal(request->target, "/push.v1.PusherService/Push");
	assert_string_equal(request->content_type, "application/proto");
	while (wire_next(&r, &field)) {
		struct series *s = &p->series[p->count++];

		assert_int_equal(field.number, 1);
		for (in = reader_of(&field); wire_next(&in, &part);)
			if (part.number == 1)
				read_label(s, reader_of(&part));
			else
				read_sample(s, reader_of(&part));
	}
	assert_null(r.wrong);
}

static struct pushed *pushed(const struct export_settings *settings, const struct window_result *w,
			     uint64_t now)
{
	struct pushed *p = calloc(1, sizeof(*p));
	struct err err = {""};

	if (export_pyroscope.encode(NULL, settings, &origin, &w, 1, now, &p->batch, &err) < 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < p->batch.count; i++)
		read_request(p, &p->batch.requests[i]);
	return p;
}

static void release(struct pushed *p)
{
	for (size_t i = 0; i < p->count; i++)
		perftools__profiles__profile__free_unpacked(p->series[i].profile, NULL);
	export_batch_release(&p->batch);
	free(p);
}

static const char *label_of(const struct series *s, const char *name)
{
	for (size_t i = 0; i < s->labels; i++)
		if (strcmp(s->names[i], name) == 0)
			return s->values[i];
	return "";
}

static const char *type_of(const struct series *s)
{
	return s->profile->string_table[s->profile->sample_type[0]->type];
}

static const struct series *series_of(const struct pushed *p, const char *type)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(type_of(&p->series[i]), type) == 0)
			return &p->series[i];
	fail_msg("there is no '%s'", type);
	return NULL;
}

static int64_t sum_of(const struct series *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->profile->n_sample; i++)
		sum += s->profile->sample[i]->value[0];
	return sum;
}

static struct window_result *large_window(unsigned pairs)
{
	struct window_result *w = sample_window_empty(1, "org.example.Large");

	for (unsigned i = 0; i < pairs; i++) {
		char name[64];
		uint32_t node;
		struct observation o = {.kind = JXP__KIND__KIND_DEAD_STORE,
					.region = JXP__REGION__REGION_HEAP,
					.wasteful = true,
					.checked_bytes = 8 + i};

		(void)snprintf(name, sizeof(name), "aMethodWithAName%u", i);
		node = sample_window_node(w, 0, name, 1);
		o.watch_node = o.trap_node = node;
		assert_int_equal(profile_add(&w->profile, &o), 0);
	}
	return w;
}

static const struct export_settings usual = {0};

TEST(each_value_is_a_series_with_the_labels_that_questions_are_asked_by)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct pushed *p;
	const struct series *s;

	(void)snprintf(w->request.schedule.name, sizeof(w->request.schedule.name), "nightly");
	strcpy(w->container, "c0ffee");
	strcpy(w->namespace, "till");
	strcpy(w->pod, "pay-0");
	p = pushed(&usual, w, w->start_unix_ns);
	assert_int_equal(p->batch.count, 1);
	s = series_of(p, "dead_store_bytes");
	assert_string_equal(label_of(s, "__name__"), "jxperf");
	assert_string_equal(label_of(s, "service_name"), "org.example.Main");
	assert_string_equal(label_of(s, "host"), "host-1");
	assert_string_equal(label_of(s, "host_group"), "blue");
	assert_string_equal(label_of(s, "kind"), "dead_store");
	assert_string_equal(label_of(s, "schedule"), "nightly");
	assert_string_equal(label_of(s, "namespace"), "till");
	assert_string_equal(label_of(s, "pod"), "pay-0");
	assert_string_equal(label_of(s, "container"), ""); /* Each start makes another. */
	assert_string_equal(label_of(s, "team"), "shop");
	assert_string_equal(label_of(s, "tier"), "a b");
	assert_int_equal(sum_of(s), 30 * 8);
	assert_string_equal(label_of(series_of(p, "cpu"), "__name__"), "process_cpu");
	assert_string_equal(label_of(series_of(p, "object_bytes"), "kind"), "objects");
	release(p);
	window_result_free(w);
}

/* Without these the server takes none of it. */
TEST(a_profile_has_one_value_a_sample_a_time_and_a_period)
{
	struct window_result *w = sample_window(3, "", 30);
	struct pushed *p;

	w->object_interval = 0;
	p = pushed(&usual, w, w->start_unix_ns);
	assert_true(p->count >= 6);
	for (size_t i = 0; i < p->count; i++) {
		const profile_t *profile = p->series[i].profile;

		assert_string_equal(label_of(&p->series[i], "service_name"),
				    "unknown_service:java");
		assert_int_equal(profile->n_sample_type, 1);
		assert_true(profile->n_sample > 0);
		for (size_t j = 0; j < profile->n_sample; j++) {
			assert_int_equal(profile->sample[j]->n_value, 1);
			assert_true(profile->sample[j]->value[0] > 0);
		}
		assert_int_equal(profile->time_nanos, w->start_unix_ns);
		assert_non_null(profile->period_type);
		assert_true(profile->period > 0);
		assert_true(profile->period_type->type > 0 && profile->period_type->unit > 0);
	}
	release(p);
	window_result_free(w);
}

TEST(samples_have_no_label_that_has_many_values)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct pushed *p = pushed(&usual, w, w->start_unix_ns);
	size_t regions = 0;

	for (size_t i = 0; i < p->count; i++) {
		const profile_t *profile = p->series[i].profile;

		for (size_t j = 0; j < profile->n_sample; j++)
			for (size_t k = 0; k < profile->sample[j]->n_label; k++) {
				const char *key =
				    profile->string_table[profile->sample[j]->label[k]->key];

				regions += strcmp(key, "region") == 0;
				assert_true(strcmp(key, "region") == 0 || strcmp(key, "code") == 0);
			}
	}
	assert_true(regions > 0);
	release(p);
	window_result_free(w);
}

TEST(a_profile_has_the_same_id_again_and_no_other_has_it)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct pushed *p = pushed(&usual, w, w->start_unix_ns);
	struct pushed *again = pushed(&usual, w, w->start_unix_ns);

	for (size_t i = 0; i < p->count; i++) {
		const char *id = p->series[i].id;

		assert_int_equal(strlen(id), 36);
		assert_true(id[8] == '-' && id[13] == '-' && id[14] == '8' && id[18] == '-');
		assert_string_equal(id, again->series[i].id);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(id, p->series[j].id);
	}
	release(p);
	release(again);
	window_result_free(w);
}

TEST(what_the_server_would_refuse_for_its_size_has_its_heaviest_samples)
{
	struct window_result *w = large_window(20000);
	struct pushed *p = pushed(&usual, w, w->start_unix_ns);
	const struct series *s = series_of(p, "dead_store_bytes");

	assert_int_equal(s->profile->n_sample, PYROSCOPE_SAMPLES);
	assert_int_equal(p->batch.cut, 20000 - PYROSCOPE_SAMPLES);
	assert_true(s->unpacked <= PYROSCOPE_BODY_BYTES);
	for (size_t i = 0; i < s->profile->n_sample; i++)
		assert_true(s->profile->sample[i]->value[0] >= 8 + 20000 - PYROSCOPE_SAMPLES);
	release(p);
	/* It is what it takes before it is compressed that counts. */
	p = pushed(&(struct export_settings){.body_bytes_max = 300000}, w, w->start_unix_ns);
	s = series_of(p, "dead_store_bytes");
	assert_in_range(s->unpacked, 225000, 300000);
	assert_int_equal(s->profile->n_sample + p->batch.cut, 20000);
	release(p);
	window_result_free(w);
}

TEST(profiles_are_split_over_requests)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);
	struct export_settings settings = {.body_bytes_max = 2500};
	struct pushed *all = pushed(&usual, w, w->start_unix_ns);
	struct pushed *p = pushed(&settings, w, w->start_unix_ns);

	assert_true(p->batch.count > 1);
	assert_int_equal(p->count, all->count);
	assert_int_equal(p->batch.cut, 0);
	for (size_t i = 0; i < p->batch.count; i++)
		assert_true(p->batch.requests[i].body_bytes <= 2500);
	release(all);
	release(p);
	window_result_free(w);
}

TEST(windows_of_more_than_an_hour_ago_are_not_taken)
{
	struct window_result *w = sample_window(3, "org.example.Main", 30);

	for (uint64_t past = 0; past < 2; past++) {
		struct pushed *p =
		    pushed(&usual, w, w->start_unix_ns + PYROSCOPE_TOO_OLD_NS + past);

		assert_int_equal(p->batch.too_old, past);
		assert_int_equal(p->batch.count, 1 - past);
		release(p);
	}
	window_result_free(w);
}

TEST(a_window_without_a_sample_is_none_to_push)
{
	struct window_result *w = sample_window_empty(1, "org.example.Idle");
	struct pushed *p = pushed(&usual, w, w->start_unix_ns);

	assert_int_equal(p->batch.count, 0);
	release(p);
	window_result_free(w);
}

TEST(answers_mean_what_the_server_means)
{
	static const char refused[] = "{\"code\":\"invalid_argument\",\"message\":\"too old\"}";
	static const struct {
		int status;
		enum export_outcome outcome;
	} answers[] = {{200, EXPORT_SENT},    {400, EXPORT_REFUSED}, {401, EXPORT_RETRY},
		       {408, EXPORT_REFUSED}, {413, EXPORT_SMALLER}, {422, EXPORT_REFUSED},
		       {429, EXPORT_RETRY},   {500, EXPORT_FAILED},  {502, EXPORT_FAILED},
		       {503, EXPORT_FAILED},  {504, EXPORT_FAILED}};
	struct err line;
	uint64_t lost;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		assert_int_equal(export_pyroscope.judge(answers[i].status, "", 0, &line, &lost),
				 answers[i].outcome);
	(void)export_pyroscope.judge(400, refused, sizeof(refused) - 1, &line, &lost);
	assert_string_equal(line.message, "{\"code\":\"invalid_argument\","
					  "\"message\":\"too old\"}");
	assert_int_equal(lost, 0);
}
