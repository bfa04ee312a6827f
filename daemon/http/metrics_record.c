#include "daemon/http/metrics_record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/label.h"
#include "daemon/container/arena.h"
#include "common/saturate.h"
#include "daemon/http/metrics_sums.h"
#include "daemon/store/packed.h"
#include "proto/kinds.h"
#include "proto/store.pb-c.h"

/* Some 20 KiB are all that 64 applications take; a later version may keep more. */
#define PLAIN_MAX_BYTES ((size_t)1 << 20)
#define ARENA_MAX_BYTES (8 * PLAIN_MAX_BYTES)

/* ---------------------------------------------------------------- packing */

/* A message and everything that it points at. */
struct packing_app {
	Jxp__StoredAppMetrics message;
	Jxp__StoredKindMetrics kinds[PAIR_KINDS];
	Jxp__StoredTotals totals[PAIR_KINDS];
	Jxp__StoredKindMetrics *kind_pointers[PAIR_KINDS];
};

struct packing {
	Jxp__StoredMetrics message;
	struct packing_app apps[METRICS_APPS_MAX + 1];
	Jxp__StoredAppMetrics *app_pointers[METRICS_APPS_MAX + 1];
	char *reasons[METRICS_FAILURES];
	char stages[METRICS_STAGES][METRICS_STAGE_BYTES];
	char *stage_pointers[METRICS_STAGES];
};

static void pack_kind(const struct app_metrics *app, struct packing_app *p, size_t i)
{
	Jxp__Kind kind = pair_kinds[i].kind;
	const struct totals *from = &app->kinds[kind];
	Jxp__StoredTotals *totals = &p->totals[i];

	jxp__stored_totals__init(totals);
	totals->kind = kind;
	totals->count = from->count;
	totals->wasteful_count = from->wasteful_count;
	totals->checked_bytes = from->checked_bytes;
	totals->wasteful_bytes = from->wasteful_bytes;
	jxp__stored_kind_metrics__init(&p->kinds[i]);
	p->kinds[i].totals = totals;
	p->kinds[i].last_has = app->last_has_kind[kind];
	p->kinds[i].last_ratio = app->last_ratio[kind];
	p->kind_pointers[i] = &p->kinds[i];
}

static Jxp__StoredAppMetrics *pack_app(const struct app_metrics *app, struct packing_app *p)
{
	Jxp__StoredAppMetrics *m = &p->message;

	jxp__stored_app_metrics__init(m);
	for (size_t i = 0; i < PAIR_KINDS; i++)
		pack_kind(app, p, i);
	m->app = (char *)app->app;
	m->n_kinds = PAIR_KINDS;
	m->kinds = p->kind_pointers;
	m->numa_samples = app->counts.numa_samples;
	m->numa_remote_samples = app->counts.numa_remote_samples;
	m->windows = app->counts.windows;
	m->windows_early = app->counts.windows_early;
	m->windows_large = app->counts.windows_large;
	m->switched_off = app->counts.switched_off;
	m->seen_s = app->seen_s;
	m->owner = app->owner;
	m->wanted = app->wanted;
	m->ended = app->ended;
	m->last_end_s = app->last_end_s;
	m->last_has_overhead = app->last_has_overhead;
	m->last_overhead = app->last_overhead;
	return m;
}

static void pack(const struct metrics *m, struct packing *p)
{
	Jxp__StoredMetrics *to = &p->message;

	jxp__stored_metrics__init(to);
	to->apps = p->app_pointers;
	for (size_t i = 0; i < m->app_count; i++)
		p->app_pointers[to->n_apps++] = pack_app(&m->apps[i], &p->apps[i]);
	if (m->other_used)
		p->app_pointers[to->n_apps++] =
		    pack_app(&m->apps[METRICS_APPS_MAX], &p->apps[METRICS_APPS_MAX]);
	to->windows_over_limit = m->windows_over_limit;
	for (size_t i = 0; i < METRICS_FAILURES; i++)
		p->reasons[i] = (char *)metrics_failures[i].name;
	to->failure_reasons = p->reasons;
	to->failures = (uint64_t *)m->failures;
	to->n_failure_reasons = to->n_failures = METRICS_FAILURES;
	for (unsigned i = 0; i < METRICS_STAGES; i++) {
		metrics_stage_name(i, p->stages[i]);
		p->stage_pointers[i] = p->stages[i];
	}
	to->stages = p->stage_pointers;
	to->dropped = (uint64_t *)m->dropped;
	to->n_stages = to->n_dropped = METRICS_STAGES;
	to->latency_bounds_s = (double *)metrics_latency_bounds_s;
	to->n_latency_bounds_s = METRICS_LATENCIES - 1;
	to->latencies = (uint64_t *)m->latencies;
	to->n_latencies = METRICS_LATENCIES;
	to->latency_sum_ns = m->latency_sum_ns;
}

int metrics_encode(const struct metrics *m, uint8_t **bytes, size_t *size)
{
	_cleanup_free_ struct packing *p = calloc(1, sizeof(*p));
	_cleanup_free_ uint8_t *plain = NULL;
	size_t plain_size;

	if (!p)
		return -ENOMEM;
	pack(m, p);
	plain_size = jxp__stored_metrics__get_packed_size(&p->message);
	plain = malloc(plain_size ? plain_size : 1);
	if (!plain)
		return -ENOMEM;
	(void)jxp__stored_metrics__pack(&p->message, plain);
	return packed_new(plain, plain_size, bytes, size);
}

/* ---------------------------------------------------------------- unpacking */

/* Finite and not below 0. */
static bool is_value(double value)
{
	return isfinite(value) && value >= 0;
}

/* As daemon/engine/app_name.h makes them: a label that needs no escaping. */
static bool is_app_name(const char *name)
{
	size_t length = strlen(name);

	return length > 0 && length < APP_NAME_BYTES && label_is_valid(name, length);
}

/* Kinds that a later version has are left out. */
static bool unpack_kind(const Jxp__StoredKindMetrics *m, struct app_metrics *app)
{
	const Jxp__StoredTotals *from = m->totals;

	if (!from || from->wasteful_count > from->count ||
	    from->wasteful_bytes > from->checked_bytes || !is_value(m->last_ratio))
		return false;
	if (!pair_kind_find(from->kind))
		return true;
	metrics_totals_add(&app->kinds[from->kind],
			   &(struct totals){.count = from->count,
					    .wasteful_count = from->wasteful_count,
					    .checked_bytes = from->checked_bytes,
					    .wasteful_bytes = from->wasteful_bytes});
	app->last_has_kind[from->kind] = m->last_has;
	app->last_ratio[from->kind] = m->last_ratio;
	return true;
}

/* Adds, since several may have become "other". */
static bool unpack_app(const Jxp__StoredAppMetrics *m, struct metrics *out)
{
	struct app_metrics *app;

	if (!is_app_name(m->app) || !is_value(m->seen_s) || !is_value(m->last_end_s) ||
	    !is_value(m->last_overhead))
		return false;
	app = metrics_find_app(out, m->app);
	app_counts_add(&app->counts,
		       &(struct app_counts){.numa_samples = m->numa_samples,
					    .numa_remote_samples = m->numa_remote_samples,
					    .windows = m->windows,
					    .windows_early = m->windows_early,
					    .windows_large = m->windows_large,
					    .switched_off = m->switched_off});
	app->seen_s = m->seen_s;
	app->owner = m->owner;
	app->wanted = m->wanted;
	app->ended = m->ended;
	app->last_end_s = m->last_end_s;
	app->last_has_overhead = m->last_has_overhead;
	app->last_overhead = m->last_overhead;
	for (size_t i = 0; i < m->n_kinds; i++)
		if (!unpack_kind(m->kinds[i], app))
			return false;
	return true;
}

/* The first row of a reason's name; a reason that this version does not have is "other". */
static size_t failure_row(const char *reason)
{
	for (size_t i = 0; i < METRICS_FAILURES; i++)
		if (strcmp(metrics_failures[i].name, reason) == 0)
			return i;
	return 0;
}

static bool unpack_failures(const Jxp__StoredMetrics *m, struct metrics *out)
{
	if (m->n_failures != m->n_failure_reasons)
		return false;
	for (size_t i = 0; i < m->n_failures; i++)
		saturate_add(&out->failures[failure_row(m->failure_reasons[i])], m->failures[i]);
	return true;
}

/* Stages that this version does not have are left out, as their series are. */
static bool unpack_dropped(const Jxp__StoredMetrics *m, struct metrics *out)
{
	char stage[METRICS_STAGE_BYTES];

	if (m->n_dropped != m->n_stages)
		return false;
	for (unsigned i = 0; i < METRICS_STAGES; i++) {
		metrics_stage_name(i, stage);
		for (size_t j = 0; j < m->n_dropped; j++)
			if (strcmp(m->stages[j], stage) == 0)
				saturate_add(&out->dropped[i], m->dropped[j]);
	}
	return true;
}

static bool has_our_buckets(const Jxp__StoredMetrics *m)
{
	if (m->n_latencies != METRICS_LATENCIES || m->n_latency_bounds_s != METRICS_LATENCIES - 1)
		return false;
	for (size_t i = 0; i < METRICS_LATENCIES - 1; i++)
		if (m->latency_bounds_s[i] != metrics_latency_bounds_s[i])
			return false;
	return true;
}

/* Of another version's buckets, nothing: a histogram is a whole. */
static void unpack_latencies(const Jxp__StoredMetrics *m, struct metrics *out)
{
	if (!has_our_buckets(m))
		return;
	memcpy(out->latencies, m->latencies, sizeof(out->latencies));
	out->latency_sum_ns = m->latency_sum_ns;
}

static bool unpack(const Jxp__StoredMetrics *m, struct metrics *out)
{
	for (size_t i = 0; i < m->n_apps; i++)
		if (!unpack_app(m->apps[i], out))
			return false;
	out->windows_over_limit = m->windows_over_limit;
	unpack_latencies(m, out);
	return unpack_failures(m, out) && unpack_dropped(m, out);
}

int metrics_decode(const uint8_t *bytes, size_t size, struct metrics **out, struct err *err)
{
	_cleanup_(arena_release) struct arena arena;
	_cleanup_free_ uint8_t *plain = NULL;
	_cleanup_free_ struct metrics *m = metrics_new();
	const Jxp__StoredMetrics *message;
	size_t plain_size = 0;
	int r;

	arena_init(&arena, ARENA_MAX_BYTES);
	if (!m)
		return err_set(err, ENOMEM, "out of memory");
	r = packed_open(bytes, size, PLAIN_MAX_BYTES, &plain, &plain_size, err);
	if (r < 0)
		return r;
	message = jxp__stored_metrics__unpack(&arena.allocator, plain_size, plain);
	if (!message || !unpack(message, m))
		return err_set(err, EBADMSG, "its record is damaged: what it says is no metrics");
	*out = TAKE_PTR(m);
	return 0;
}
