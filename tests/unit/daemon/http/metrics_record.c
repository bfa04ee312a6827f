#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/metrics_record.h"
#include "daemon/http/metrics_sums.h"
#include "daemon/store/packed.h"
#include "proto/kinds.h"
#include "proto/store.pb-c.h"

#define NOW_S 1795248000.0

static void set_app(struct metrics *m, const char *name, uint64_t base)
{
	struct app_metrics *app = metrics_find_app(m, name);

	for (size_t i = 0; i < PAIR_KINDS; i++)
		app->kinds[pair_kinds[i].kind] = (struct totals){.count = base + 4,
								 .wasteful_count = base + 3,
								 .checked_bytes = base + 2,
								 .wasteful_bytes = base + 1};
	app->counts =
	    (struct app_counts){base + 5, base + 4, base + 7, base + 6, base + 3, base + 2};
	app->seen_s = NOW_S - 10;
	app->ended = app->last_has_overhead = true;
	app->last_has_kind[JXP__KIND__KIND_SILENT_LOAD] = true;
	app->last_ratio[JXP__KIND__KIND_SILENT_LOAD] = 0.25;
	app->last_end_s = NOW_S - 11;
	app->last_overhead = 0.01;
}

/* Every counter with a value of its own. */
static struct metrics *sample(void)
{
	struct metrics *m = metrics_new();

	set_app(m, "Shop", 100);
	set_app(m, "Bank", UINT64_MAX - 10);
	set_app(m, METRICS_OTHER_APPS, 200);
	m->windows_over_limit = 9;
	for (size_t i = 0; i < METRICS_FAILURES; i++)
		if (i == 0 || strcmp(metrics_failures[i].name, metrics_failures[i - 1].name) != 0)
			m->failures[i] = 1000 + i;
	for (size_t i = 0; i < METRICS_STAGES; i++)
		m->dropped[i] = 2000 + i;
	for (size_t i = 0; i < METRICS_LATENCIES; i++)
		m->latencies[i] = 3000 + i;
	m->latency_sum_ns = 77;
	return m;
}

static struct metrics *decode(const struct metrics *m)
{
	struct metrics *out = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;

	assert_int_equal(metrics_encode(m, &bytes, &size), 0);
	assert_int_equal(metrics_decode(bytes, size, &out, NULL), 0);
	free(bytes);
	return out;
}

/* What both say to Prometheus. */
static void assert_same(const struct metrics *a, const struct metrics *b)
{
	char *texts[2] = {NULL};
	size_t sizes[2];

	for (int i = 0; i < 2; i++) {
		FILE *out = open_memstream(&texts[i], &sizes[i]);

		metrics_write(out, i == 0 ? a : b, true);
		assert_int_equal(fclose(out), 0);
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
}

TEST(what_was_counted_comes_back)
{
	struct metrics *m = sample(), *again = decode(m);

	assert_same(m, again);
	metrics_free(m);
	metrics_free(again);
}

TEST(a_new_daemons_gate_adds_to_what_was_dropped_before)
{
	struct metrics *m = metrics_new(), *again;

	metrics_strangers(m, 40);
	again = decode(m);
	metrics_strangers(again, 3);
	assert_int_equal(again->dropped[METRICS_STRANGERS], 43);
	metrics_free(m);
	metrics_free(again);
}

/* Decodes a message that no version of ours writes. */
static int decode_message(const Jxp__StoredMetrics *message, struct metrics **out)
{
	size_t plain_size = jxp__stored_metrics__get_packed_size(message), size = 0;
	uint8_t *plain = malloc(plain_size ? plain_size : 1), *bytes = NULL;
	int r;

	assert_non_null(plain);
	(void)jxp__stored_metrics__pack(message, plain);
	assert_int_equal(packed_new(plain, plain_size, &bytes, &size), 0);
	free(plain);
	r = metrics_decode(bytes, size, out, NULL);
	free(bytes);
	return r;
}

/* A message with one application of one kind, to be spoilt. */
struct one_app {
	Jxp__StoredMetrics message;
	Jxp__StoredAppMetrics app, *apps[1];
	Jxp__StoredKindMetrics kind, *kinds[1];
	Jxp__StoredTotals totals;
};

static void set_one_app(struct one_app *o)
{
	jxp__stored_metrics__init(&o->message);
	jxp__stored_app_metrics__init(&o->app);
	jxp__stored_kind_metrics__init(&o->kind);
	jxp__stored_totals__init(&o->totals);
	o->totals.kind = JXP__KIND__KIND_DEAD_STORE;
	o->totals.checked_bytes = 8;
	o->kind.totals = &o->totals;
	o->kinds[0] = &o->kind;
	o->app.app = (char *)"Shop";
	o->app.seen_s = NOW_S;
	o->app.n_kinds = 1;
	o->app.kinds = o->kinds;
	o->apps[0] = &o->app;
	o->message.n_apps = 1;
	o->message.apps = o->apps;
}

static void assert_refused(const struct one_app *o)
{
	struct metrics *out = NULL;

	assert_int_equal(decode_message(&o->message, &out), -EBADMSG);
	assert_null(out);
}

TEST(what_cannot_be_is_refused)
{
	static const char too_long[] = "0123456789012345678901234567890123456789"
				       "0123456789012345678901234567890123456789";
	static const char *const names[] = {"", "a\"b", "a b", "caf\xc3\xa9", too_long};
	struct one_app o;
	struct metrics *out = NULL;
	uint64_t failure = 1;

	set_one_app(&o);
	assert_int_equal(decode_message(&o.message, &out), 0);
	assert_int_equal(out->apps[0].kinds[JXP__KIND__KIND_DEAD_STORE].checked_bytes, 8);
	metrics_free(out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		o.app.app = (char *)names[i];
		assert_refused(&o);
	}
	set_one_app(&o);
	o.totals.wasteful_bytes = 9; /* more than was checked */
	assert_refused(&o);
	set_one_app(&o);
	o.kind.last_ratio = -1;
	assert_refused(&o);
	set_one_app(&o);
	o.kind.totals = NULL;
	assert_refused(&o);
	set_one_app(&o);
	o.app.last_end_s = (double)INFINITY;
	assert_refused(&o);
	set_one_app(&o);
	o.message.n_failures = 1; /* of no reason */
	o.message.failures = &failure;
	assert_refused(&o);
}

TEST(a_later_versions_reason_is_other_and_its_buckets_are_not_ours)
{
	Jxp__StoredMetrics message = JXP__STORED_METRICS__INIT;
	char *reason = (char *)"a_reason_of_tomorrow";
	uint64_t failures = 3, latencies[METRICS_LATENCIES] = {1};
	double bounds[METRICS_LATENCIES - 1] = {0.125};
	struct metrics *out = NULL;

	message.n_failure_reasons = message.n_failures = 1;
	message.failure_reasons = &reason;
	message.failures = &failures;
	message.n_latencies = METRICS_LATENCIES;
	message.latencies = latencies;
	message.n_latency_bounds_s = METRICS_LATENCIES - 1;
	message.latency_bounds_s = bounds;
	assert_int_equal(decode_message(&message, &out), 0);
	assert_int_equal(out->failures[0], 3);
	assert_int_equal(out->latencies[0], 0);
	metrics_free(out);
}

TEST(every_damaged_byte_is_noticed)
{
	struct metrics *m = sample(), *out = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0, taken = 0;

	assert_int_equal(metrics_encode(m, &bytes, &size), 0);
	for (size_t i = 0; i < size; i++) {
		bytes[i] ^= 0x10;
		/* A bit that zstd has no use for may do no harm; what comes then is the same. */
		if (metrics_decode(bytes, size, &out, NULL) == 0) {
			assert_same(m, out);
			metrics_free(out);
			taken++;
		}
		bytes[i] ^= 0x10;
	}
	assert_true(taken < size / 20);
	free(bytes);
	metrics_free(m);
}
