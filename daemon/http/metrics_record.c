#include "daemon/http/metrics_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/label.h"
#include "common/saturate.h"
#include "profile/container/table_codec.h"
#include "daemon/http/metrics_sums.h"
#include "daemon/store/packed.h"

/* Some 20 KiB are all that 64 applications take; a later version may keep more. */
#define PLAIN_MAX_BYTES ((size_t)1 << 20)

#define APPS (METRICS_APPS_MAX + 1)

/* The tables, in this order. What has a label is named by it, since another version may have
 * others.
 */
enum { SUMS_TABLE, APPS_TABLE, FAILURES_TABLE, STAGES_TABLE, LATENCIES_TABLE };

/* ---------------------------------------------------------------- what is kept */

static const struct column sums_columns[] = {
    COLUMN(struct metrics, windows_over_limit),
    COLUMN(struct metrics, latency_sum_ns),
};

static const struct table_layout sums_layout = {
    TABLE_COLUMNS(sums_columns),
    .row_size = sizeof(struct metrics),
};

static const struct column app_columns[] = {
    COLUMN(struct app_metrics, app),
    COLUMNS(struct app_metrics, kinds, kinds[0].count),
    COLUMNS(struct app_metrics, kinds, kinds[0].wasteful_count),
    COLUMNS(struct app_metrics, kinds, kinds[0].checked_bytes),
    COLUMNS(struct app_metrics, kinds, kinds[0].wasteful_bytes),
    COLUMN(struct app_metrics, counts.numa_samples),
    COLUMN(struct app_metrics, counts.numa_remote_samples),
    COLUMN(struct app_metrics, counts.windows),
    COLUMN(struct app_metrics, counts.windows_early),
    COLUMN(struct app_metrics, counts.windows_large),
    COLUMN(struct app_metrics, counts.switched_off),
    COLUMN(struct app_metrics, seen_s),
    COLUMN(struct app_metrics, owner),
    COLUMN(struct app_metrics, wanted),
    COLUMN(struct app_metrics, ended),
    COLUMNS(struct app_metrics, last_has_kind, last_has_kind[0]),
    COLUMNS(struct app_metrics, last_ratio, last_ratio[0]),
    COLUMN(struct app_metrics, last_end_s),
    COLUMN(struct app_metrics, last_has_overhead),
    COLUMN(struct app_metrics, last_overhead),
    COLUMN(struct app_metrics, counts.cpu_ns),
    COLUMN(struct app_metrics, counts.overhead_ns),
    COLUMN(struct app_metrics, counts.setup_ns),
    COLUMN(struct app_metrics, counts.length_ns),
    COLUMNS(struct app_metrics, wasted_ns, wasted_ns[0]),
    COLUMNS(struct app_metrics, kinds, kinds[0].sum_squares),
    COLUMNS(struct app_metrics, last_kind_end_s, last_kind_end_s[0]),
};

/* The name as daemon/engine/app_name.h makes them: a label that needs no escaping. */
static bool app_is_valid(const void *row)
{
	const struct app_metrics *app = row;
	size_t length = strlen(app->app);

	for (size_t i = 0; i < KIND_VALUES; i++)
		if (app->kinds[i].wasteful_count > app->kinds[i].count ||
		    app->kinds[i].wasteful_bytes > app->kinds[i].checked_bytes)
			return false;
	return length > 0 && label_is_valid(app->app, length);
}

static const struct table_layout apps_layout = {
    TABLE_COLUMNS(app_columns),
    .row_size = sizeof(struct app_metrics),
    .is_valid = app_is_valid,
};

struct named_count {
	char name[METRICS_STAGE_BYTES];
	uint64_t count;
};

static const struct column named_columns[] = {
    COLUMN(struct named_count, name),
    COLUMN(struct named_count, count),
};

static const struct table_layout named_layout = {
    TABLE_COLUMNS(named_columns),
    .row_size = sizeof(struct named_count),
};

/* The last one, which is of all that took longer, has the bound 0. */
struct latency_count {
	double bound_s;
	uint64_t count;
};

static const struct column latency_columns[] = {
    COLUMN(struct latency_count, bound_s),
    COLUMN(struct latency_count, count),
};

static const struct table_layout latencies_layout = {
    TABLE_COLUMNS(latency_columns),
    .row_size = sizeof(struct latency_count),
};

/* Rows of all tables but the first, as they are in a record. */
struct rows {
	struct app_metrics apps[APPS];
	struct named_count failures[ATTACH_REASONS];
	struct named_count stages[METRICS_STAGES];
	struct latency_count latencies[METRICS_LATENCIES];
};

/* ---------------------------------------------------------------- packing */

static size_t set_apps(struct rows *rows, const struct metrics *m)
{
	size_t count = m->app_count;

	memcpy(rows->apps, m->apps, count * sizeof(rows->apps[0]));
	if (m->other_used)
		rows->apps[count++] = m->apps[METRICS_APPS_MAX];
	return count;
}

static void set_counts(struct rows *rows, const struct metrics *m)
{
	for (unsigned i = 0; i < ATTACH_REASONS; i++) {
		memcpy(rows->failures[i].name, attach_reason_name(i),
		       strlen(attach_reason_name(i)));
		rows->failures[i].count = m->failures[i];
	}
	for (unsigned i = 0; i < METRICS_STAGES; i++) {
		metrics_stage_name(i, rows->stages[i].name);
		rows->stages[i].count = m->dropped[i];
	}
	for (size_t i = 0; i < METRICS_LATENCIES; i++) {
		rows->latencies[i].count = m->latencies[i];
		if (i < METRICS_LATENCIES - 1)
			rows->latencies[i].bound_s = metrics_latency_bounds_s[i];
	}
}

int metrics_encode(const struct metrics *m, uint8_t **bytes, size_t *size)
{
	_cleanup_free_ struct rows *rows = calloc(1, sizeof(*rows));
	_cleanup_(buffer_release) struct buffer plain;
	size_t apps;
	int r;

	buffer_init(&plain, PLAIN_MAX_BYTES);
	if (!rows)
		return -ENOMEM;
	apps = set_apps(rows, m);
	set_counts(rows, m);
	if ((r = table_pack(&plain, SUMS_TABLE, &sums_layout, m, 1)) < 0 ||
	    (r = table_pack(&plain, APPS_TABLE, &apps_layout, rows->apps, apps)) < 0 ||
	    (r = table_pack(&plain, FAILURES_TABLE, &named_layout, rows->failures,
			    ATTACH_REASONS)) < 0 ||
	    (r = table_pack(&plain, STAGES_TABLE, &named_layout, rows->stages, METRICS_STAGES)) <
		0 ||
	    (r = table_pack(&plain, LATENCIES_TABLE, &latencies_layout, rows->latencies,
			    METRICS_LATENCIES)) < 0)
		return r;
	return packed_new(buffer_head(&plain), buffer_length(&plain), bytes, size);
}

/* ---------------------------------------------------------------- unpacking */

/* A reason that this version does not have is "other". */
static unsigned reason_of(const char *name)
{
	for (unsigned i = 0; i < ATTACH_REASONS; i++)
		if (strcmp(attach_reason_name(i), name) == 0)
			return i;
	return 0;
}

/* Stages that this version does not have are left out, as their series are. */
static void add_stage(struct metrics *out, const struct named_count *from)
{
	char stage[METRICS_STAGE_BYTES];

	for (unsigned i = 0; i < METRICS_STAGES; i++) {
		metrics_stage_name(i, stage);
		if (strcmp(from->name, stage) == 0)
			saturate_add(&out->dropped[i], from->count);
	}
}

/* Takes nothing of another version's buckets: a histogram is a whole. */
static void set_latencies(struct metrics *out, const struct latency_count *from, int count)
{
	bool ours = count == METRICS_LATENCIES;

	for (int i = 0; ours && i < METRICS_LATENCIES - 1; i++)
		ours = from[i].bound_s == metrics_latency_bounds_s[i];
	if (!ours)
		out->latency_sum_ns = 0;
	for (int i = 0; ours && i < METRICS_LATENCIES; i++)
		out->latencies[i] = from[i].count;
}

static bool unpack(const uint8_t *plain, size_t size, struct rows *rows, struct metrics *out)
{
	struct table_reader r = {.at = plain, .end = plain + size};
	int apps, failures, stages, latencies;

	if (table_unpack_rows(&r, SUMS_TABLE, &sums_layout, out, 1) < 0 ||
	    (apps = table_unpack_rows(&r, APPS_TABLE, &apps_layout, rows->apps, APPS)) < 0 ||
	    (failures = table_unpack_rows(&r, FAILURES_TABLE, &named_layout, rows->failures,
					  ATTACH_REASONS)) < 0 ||
	    (stages = table_unpack_rows(&r, STAGES_TABLE, &named_layout, rows->stages,
					METRICS_STAGES)) < 0 ||
	    (latencies = table_unpack_rows(&r, LATENCIES_TABLE, &latencies_layout, rows->latencies,
					   METRICS_LATENCIES)) < 0 ||
	    r.at != r.end)
		return false;
	for (int i = 0; i < apps; i++)
		metrics_add_app(metrics_find_app(out, rows->apps[i].app), &rows->apps[i]);
	for (int i = 0; i < failures; i++)
		saturate_add(&out->failures[reason_of(rows->failures[i].name)],
			     rows->failures[i].count);
	for (int i = 0; i < stages; i++)
		add_stage(out, &rows->stages[i]);
	set_latencies(out, rows->latencies, latencies);
	return true;
}

int metrics_decode(const uint8_t *bytes, size_t size, struct metrics **out, struct err *err)
{
	_cleanup_free_ uint8_t *plain = NULL;
	_cleanup_free_ struct metrics *m = metrics_new();
	_cleanup_free_ struct rows *rows = calloc(1, sizeof(*rows));
	size_t plain_size = 0;
	int r;

	if (!m || !rows)
		return err_set(err, ENOMEM, "out of memory");
	r = packed_open(bytes, size, PLAIN_MAX_BYTES, &plain, &plain_size, err);
	if (r < 0)
		return r;
	if (!unpack(plain, plain_size, rows, m))
		return err_set(err, EBADMSG, "its record is damaged: what it says is no metrics");
	*out = TAKE_PTR(m);
	return 0;
}
