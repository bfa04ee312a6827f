#include "tests/unit/support/test.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/http/metrics_record.h"
#include "daemon/http/metrics_sums.h"
#include "proto/kinds.h"

#define NOW_S 1795248000.0

static void set_app(struct metrics *m, const char *name, uint64_t base)
{
	struct app_metrics *app = metrics_find_app(m, name);

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		app->kinds[pair_kinds[i].kind] = (struct totals){.count = base + 4,
								 .wasteful_count = base + 3,
								 .checked_bytes = base + 2,
								 .wasteful_bytes = base + 1,
								 .sum_squares = base + 8};
		app->wasted_ns[pair_kinds[i].kind] = (base + 9) * NS_PER_MS;
	}
	app->counts = (struct app_counts){base + 5,
					  base + 4,
					  base + 7,
					  base + 6,
					  base + 3,
					  base + 2,
					  (base + 1) * NS_PER_S,
					  base * NS_PER_S,
					  base * NS_PER_MS,
					  (base + 10) * NS_PER_S};
	app->seen_s = NOW_S - 10;
	app->ended = app->last_has_overhead = true;
	app->last_has_kind[JXP__KIND__KIND_SILENT_LOAD] = true;
	app->last_ratio[JXP__KIND__KIND_SILENT_LOAD] = 0.25;
	app->last_kind_end_s[JXP__KIND__KIND_SILENT_LOAD] = NOW_S - 11;
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
	for (size_t i = 0; i < ATTACH_REASONS; i++)
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

		metrics_write(out, i == 0 ? a : b, NOW_S, true);
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

static void assert_refused(const struct metrics *m)
{
	struct metrics *out = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;

	assert_int_equal(metrics_encode(m, &bytes, &size), 0);
	assert_int_equal(metrics_decode(bytes, size, &out, NULL), -EBADMSG);
	assert_null(out);
	free(bytes);
}

TEST(what_cannot_be_is_refused)
{
	static const char *const names[] = {"", "a\"b", "a b", "caf\xc3\xa9"};
	struct metrics *m = sample();
	struct app_metrics *app = &m->apps[0];
	const struct app_metrics was = *app;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(app->app, sizeof(app->app), "%s", names[i]);
		assert_refused(m);
	}
	*app = was;
	app->kinds[JXP__KIND__KIND_DEAD_STORE].wasteful_bytes = 103; /* more than was checked */
	assert_refused(m);
	*app = was;
	app->last_ratio[JXP__KIND__KIND_DEAD_STORE] = -1;
	assert_refused(m);
	*app = was;
	app->last_end_s = (double)INFINITY;
	assert_refused(m);
	metrics_free(m);
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
