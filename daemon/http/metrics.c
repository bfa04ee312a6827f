#include "daemon/http/metrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/saturate.h"
#include "daemon/http/metrics_sums.h"
#include "profile/estimate.h"
#include "daemon/shares/shares.h"
#include "proto/kinds.h"

/* From a JVM that answers at once to the helper's own limit of 10 s, and what may come on top. */
const double metrics_latency_bounds_s[METRICS_LATENCIES - 1] = {0.05, 0.1, 0.25, 0.5, 1,
								2.5,  5,   10,   30};

struct metrics *metrics_new(void)
{
	return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *m)
{
	free(m);
}

void metrics_copy(struct metrics *to, const struct metrics *from)
{
	*to = *from;
}

void metrics_stage_name(unsigned stage, char name[METRICS_STAGE_BYTES])
{
	if (stage < COUNTER_STAGES)
		(void)snprintf(name, METRICS_STAGE_BYTES, "%s",
			       counter_of_stage(stage + 1)->stage.label);
	else if (stage == METRICS_STRANGERS)
		(void)snprintf(name, METRICS_STAGE_BYTES, "gate_unknown");
	else
		(void)snprintf(name, METRICS_STAGE_BYTES, "engine_%s",
			       loss_words[stage - METRICS_STRANGERS - 1].name);
}

static struct app_metrics *find_known(struct metrics *m, const char *app)
{
	for (size_t i = 0; i < m->app_count; i++)
		if (strcmp(m->apps[i].app, app) == 0)
			return &m->apps[i];
	return NULL;
}

/* An application that has the name of the rest is counted with the rest. */
static bool is_other(const char *app)
{
	return strcmp(app, METRICS_OTHER_APPS) == 0;
}

struct app_metrics *metrics_find_app(struct metrics *m, const char *app)
{
	struct app_metrics *found = find_known(m, app);

	if (found)
		return found;
	if (!is_other(app) && m->app_count < METRICS_APPS_MAX) {
		found = &m->apps[m->app_count++];
	} else {
		found = &m->apps[METRICS_APPS_MAX];
		m->other_used = true;
		app = METRICS_OTHER_APPS;
	}
	(void)snprintf(found->app, APP_NAME_BYTES, "%s", app);
	return found;
}

/* ---------------------------------------------------------------- who makes room */

/* Does app make room for a newcomer? Who has more labels does, but what the configuration wants
 * not for what somebody has asked for, and what somebody has asked for sooner. */
static bool gives_way(const struct shares *owners, const struct app_metrics *app,
		      const struct app_metrics *newcomer, double now_s)
{
	if (now_s - app->seen_s > METRICS_FORGET_S)
		return true;
	if (newcomer->wanted != app->wanted)
		return newcomer->wanted;
	return shares_makes_way(owners, app->owner, newcomer->owner);
}

/* Does a go before b? */
static bool goes_before(const struct shares *owners, const struct app_metrics *a,
			const struct app_metrics *b)
{
	uint64_t as = shares_of(owners, a->owner), bs = shares_of(owners, b->owner);

	if (a->wanted != b->wanted)
		return b->wanted;
	return as != bs ? as > bs : a->seen_s < b->seen_s;
}

static void make_room(struct metrics *m, const struct app_metrics *newcomer, double now_s)
{
	_cleanup_(shares_release) struct shares owners = {0};
	struct app_metrics *first = NULL;

	for (size_t i = 0; i < m->app_count; i++)
		if (shares_add(&owners, m->apps[i].owner, 1) < 0)
			return; /* Without memory nobody makes room. */
	for (size_t i = 0; i < m->app_count; i++)
		if (gives_way(&owners, &m->apps[i], newcomer, now_s) &&
		    (!first || goes_before(&owners, &m->apps[i], first)))
			first = &m->apps[i];
	if (!first)
		return;
	*first = m->apps[--m->app_count];
	m->apps[m->app_count] = (struct app_metrics){0};
}

/* ---------------------------------------------------------------- adding */

static void app_counts_add(struct app_counts *sum, const struct app_counts *more)
{
	saturate_add(&sum->numa_samples, more->numa_samples);
	saturate_add(&sum->numa_remote_samples, more->numa_remote_samples);
	saturate_add(&sum->windows, more->windows);
	saturate_add(&sum->windows_early, more->windows_early);
	saturate_add(&sum->windows_large, more->windows_large);
	saturate_add(&sum->switched_off, more->switched_off);
	saturate_add(&sum->cpu_ns, more->cpu_ns);
	saturate_add(&sum->overhead_ns, more->overhead_ns);
	saturate_add(&sum->setup_ns, more->setup_ns);
	saturate_add(&sum->length_ns, more->length_ns);
}

static void totals_add(struct totals *sum, const struct totals *more)
{
	saturate_add(&sum->count, more->count);
	saturate_add(&sum->wasteful_count, more->wasteful_count);
	saturate_add(&sum->checked_bytes, more->checked_bytes);
	saturate_add(&sum->wasteful_bytes, more->wasteful_bytes);
	saturate_add(&sum->sum_squares, more->sum_squares);
}

void metrics_add_app(struct app_metrics *to, const struct app_metrics *from)
{
	for (size_t i = 0; i < KIND_VALUES; i++) {
		totals_add(&to->kinds[i], &from->kinds[i]);
		saturate_add(&to->wasted_ns[i], from->wasted_ns[i]);
		if (to->last_has_kind[i] || !from->last_has_kind[i])
			continue;
		to->last_has_kind[i] = true;
		to->last_ratio[i] = from->last_ratio[i];
		to->last_kind_end_s[i] = from->last_kind_end_s[i];
	}
	app_counts_add(&to->counts, &from->counts);
	to->wanted |= from->wanted;
	if (from->seen_s > to->seen_s) {
		to->seen_s = from->seen_s;
		to->owner = from->owner;
	}
	if (to->ended || !from->ended)
		return;
	to->ended = true;
	to->last_end_s = from->last_end_s;
	to->last_has_overhead = from->last_has_overhead;
	to->last_overhead = from->last_overhead;
}

void metrics_add(struct metrics *m, const struct metrics *earlier)
{
	for (size_t i = 0; i < earlier->app_count; i++)
		metrics_add_app(metrics_find_app(m, earlier->apps[i].app), &earlier->apps[i]);
	if (earlier->other_used)
		metrics_add_app(metrics_find_app(m, METRICS_OTHER_APPS),
				&earlier->apps[METRICS_APPS_MAX]);
	saturate_add(&m->windows_over_limit, earlier->windows_over_limit);
	for (size_t i = 0; i < ATTACH_REASONS; i++)
		saturate_add(&m->failures[i], earlier->failures[i]);
	for (size_t i = 0; i < METRICS_STAGES; i++)
		saturate_add(&m->dropped[i], earlier->dropped[i]);
	for (size_t i = 0; i < METRICS_LATENCIES; i++)
		saturate_add(&m->latencies[i], earlier->latencies[i]);
	saturate_add(&m->latency_sum_ns, earlier->latency_sum_ns);
}

/* ---------------------------------------------------------------- accounting */

/* Adds what is new of a count that should only grow; of one that fell, nothing until it is above
 * what was seen. */
static void add_new(uint64_t *sum, uint64_t now, uint64_t *seen)
{
	if (now <= *seen)
		return;
	saturate_add(sum, now - *seen);
	*seen = now;
}

/* Did it complete a pair? */
static bool add_totals(struct totals *sum, const struct totals *now, struct totals *seen)
{
	uint64_t before = seen->count;

	add_new(&sum->count, now->count, &seen->count);
	add_new(&sum->wasteful_count, now->wasteful_count, &seen->wasteful_count);
	add_new(&sum->checked_bytes, now->checked_bytes, &seen->checked_bytes);
	add_new(&sum->wasteful_bytes, now->wasteful_bytes, &seen->wasteful_bytes);
	add_new(&sum->sum_squares, now->sum_squares, &seen->sum_squares);
	return seen->count > before;
}

/* The window as it is now. */
static struct metrics_origin origin_of(const struct window_result *w)
{
	uint64_t unix_ns =
	    w->end_unix_ns ? w->end_unix_ns : w->start_unix_ns + window_result_elapsed_ns(w);

	return (struct metrics_origin){.window = w->number,
				       .time_s = (double)unix_ns / (double)NS_PER_S};
}

static struct app_metrics *app_of(struct metrics *m, const struct window_result *w)
{
	double now_s = origin_of(w).time_s;
	const struct app_metrics newcomer = {.owner = w->owner,
					     .wanted = window_request_is_scheduled(&w->request) ||
						       w->request.app_by_rule};
	struct app_metrics *app;

	if (m->app_count == METRICS_APPS_MAX && !is_other(w->app) && !find_known(m, w->app))
		make_room(m, &newcomer, now_s);
	app = metrics_find_app(m, w->app);
	app->seen_s = now_s;
	app->owner = newcomer.owner;
	app->wanted |= newcomer.wanted;
	return app;
}

static bool is_pooled(const struct metrics *m, const struct app_metrics *app)
{
	return app == &m->apps[METRICS_APPS_MAX];
}

bool metrics_window_started(struct metrics *m, const struct window_result *w)
{
	uint64_t took_ns = w->start_ns - w->asked_ns;
	double took_s = (double)took_ns / (double)NS_PER_S;
	bool pooled = is_pooled(m, app_of(m, w)); /* It has its zeros from here on. */
	size_t i = 0;

	while (i < METRICS_LATENCIES - 1 && took_s > metrics_latency_bounds_s[i])
		i++;
	saturate_add(&m->latencies[i], 1);
	saturate_add(&m->latency_sum_ns, took_ns);
	m->latency_origins[i] = (struct metrics_origin){
	    .window = w->number, .time_s = (double)w->start_unix_ns / (double)NS_PER_S};
	m->latency_brought_s[i] = took_s;
	return !pooled;
}

static void account_pairs(struct app_metrics *app, const struct window_result *w,
			  struct metrics_cursor *cursor)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		if (!add_totals(&app->kinds[kind], &w->profile.kinds[kind].application,
				&cursor->kinds[kind]))
			continue;
		app->kind_origins[kind] = origin_of(w);
		app->brought[kind] = cursor->kinds[kind];
	}
}

/* What a window that has not ended has brought. */
static struct app_counts brought_so_far(const struct metrics_cursor *cursor)
{
	return (struct app_counts){.numa_samples = cursor->numa_samples,
				   .numa_remote_samples = cursor->numa_remote_samples,
				   .cpu_ns = cursor->cpu_ns,
				   .overhead_ns = cursor->overhead_ns,
				   .setup_ns = cursor->setup_ns};
}

static void account_counts(struct app_metrics *app, const struct window_result *w,
			   struct metrics_cursor *cursor)
{
	struct app_counts *counts = &app->counts;
	uint64_t before = cursor->numa_samples + cursor->cpu_ns;

	add_new(&counts->numa_samples, w->numa.samples, &cursor->numa_samples);
	add_new(&counts->numa_remote_samples, w->numa.remote_samples, &cursor->numa_remote_samples);
	add_new(&counts->cpu_ns, w->cpu_ns, &cursor->cpu_ns);
	add_new(&counts->overhead_ns, w->overhead_ns, &cursor->overhead_ns);
	add_new(&counts->setup_ns, w->setup_ns, &cursor->setup_ns);
	if (cursor->numa_samples + cursor->cpu_ns == before)
		return;
	app->counts_origin = origin_of(w);
	app->counts_brought = brought_so_far(cursor);
}

void metrics_account(struct metrics *m, const struct window_result *w,
		     struct metrics_cursor *cursor)
{
	struct app_metrics *app = app_of(m, w);

	account_pairs(app, w, cursor);
	account_counts(app, w, cursor);
	for (unsigned stage = 0; stage < COUNTER_STAGES; stage++) {
		Jxp__Counter counter = counter_of_stage(stage + 1)->counter;

		add_new(&m->dropped[stage], w->counters[counter], &cursor->counters[counter]);
	}
	for (int i = 0; i < LOSS_MAX; i++)
		add_new(&m->dropped[METRICS_STRANGERS + 1 + i], w->losses[i], &cursor->losses[i]);
}

static void set_last(struct app_metrics *app, const struct window_result *w)
{
	app->ended = true;
	app->last_end_s = (double)w->end_unix_ns / (double)NS_PER_S;
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		const struct totals *t = &w->profile.kinds[kind].application;

		if (t->count == 0)
			continue;
		app->last_has_kind[kind] = true;
		app->last_ratio[kind] =
		    estimate_fraction((double)t->wasteful_bytes, (double)t->checked_bytes);
		app->last_kind_end_s[kind] = app->last_end_s;
	}
	app->last_has_overhead = w->cpu_ns > 0;
	app->last_overhead = window_result_overhead_fraction(w);
}

/* A share of a window's CPU time is known at its end. Few ticks may tell of a little more than the
 * counter of targets has, which waste is divided by. */
static void account_waste(struct app_metrics *app, const struct window_result *w)
{
	double whole_s = fmin(window_result_whole_s(w), clock_s(w->cpu_ns));

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		const struct totals *t = &w->profile.kinds[kind].application;
		struct cpu_whole whole = window_result_cpu_whole(w, kind);
		struct cpu_share share =
		    cpu_share_estimate(&t->wasteful_cpu, t->wasteful_count, &whole);
		double wasted_s = share.known ? share.share * whole_s : 0;

		saturate_add(&app->wasted_ns[kind], (uint64_t)(wasted_s * (double)NS_PER_S));
	}
}

void metrics_window_ended(struct metrics *m, const struct window_result *w,
			  struct metrics_cursor *cursor)
{
	struct app_metrics *app = app_of(m, w);
	struct app_counts brought;

	metrics_account(m, w, cursor);
	account_waste(app, w);
	brought = brought_so_far(cursor);
	brought.windows = 1;
	brought.length_ns = window_result_elapsed_ns(w);
	brought.windows_early = w->state == WINDOW_ENDED_EARLY;
	brought.windows_large = w->took_too_much;
	brought.switched_off = w->objects_off_ns > 0;
	saturate_add(&app->counts.windows, brought.windows);
	saturate_add(&app->counts.length_ns, brought.length_ns);
	saturate_add(&app->counts.windows_early, brought.windows_early);
	saturate_add(&app->counts.windows_large, brought.windows_large);
	saturate_add(&app->counts.switched_off, brought.switched_off);
	app->counts_origin = origin_of(w);
	app->counts_brought = brought;
	set_last(app, w);
	if (is_pooled(m, app))
		saturate_add(&m->windows_over_limit, 1);
}

void metrics_strangers(struct metrics *m, uint64_t total)
{
	add_new(&m->dropped[METRICS_STRANGERS], total, &m->strangers_seen);
}

void metrics_attach_failed(struct metrics *m, int error)
{
	saturate_add(&m->failures[attach_error(error)->reason], 1);
}
