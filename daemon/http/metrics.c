#include "daemon/http/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/container/saturate.h"
#include "daemon/engine/app_name.h"
#include "daemon/profile/estimate.h"
#include "proto/counters.h"
#include "proto/kinds.h"
#include "proto/limits.h"

/* Why an attach failed, as a label; the first entry is every other reason. */
static const struct {
	int error;
	const char *name;
} failure_reasons[] = {
    {0, "other"},
    {ESRCH, "no_such_process"},
    {EACCES, "permission"},
    {EPERM, "permission"},
    {EBUSY, "busy"},
    {ETIMEDOUT, "timeout"},
    {ECANCELED, "cancelled"},
    {ENOMEM, "memory"},
    {EOPNOTSUPP, "unsupported"},
    {EPIPE, "broker"},
    {ECONNABORTED, "agent"}, /* attached, but no window could run */
};
#define FAILURE_REASONS (sizeof(failure_reasons) / sizeof(failure_reasons[0]))

/* The last one's name. */
#define OTHER_APPS "other"

struct app_metrics {
	char app[APP_NAME_BYTES];
	struct totals kinds[KIND_VALUES]; /* by Kind */
	uint64_t numa_samples;
	uint64_t numa_remote_samples;
	uint64_t windows;
	uint64_t windows_early; /* of which ended early, */
	uint64_t windows_large; /* of those for the memory that they took */
	uint64_t switched_off;  /* of which switched objects off */
	/* Of the last window that ended: */
	bool ended;
	bool last_has_kind[KIND_VALUES]; /* it completed pairs of the kind */
	double last_ratio[KIND_VALUES];
	double last_end_s;
	bool last_has_overhead;
	double last_overhead;
};

struct metrics {
	struct app_metrics apps[METRICS_APPS_MAX + 1]; /* the last one is "other" */
	size_t app_count;                              /* without "other" */
	bool other_used;
	uint64_t windows_over_limit;
	uint64_t failures[FAILURE_REASONS];
	uint64_t dropped_by_agents[COUNTER_STAGES + 1]; /* by place */
	uint64_t dropped_by_engine[LOSS_MAX];
	uint64_t dropped_of_strangers;
};

struct metrics *metrics_new(void)
{
	return calloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics *m)
{
	free(m);
}

static struct app_metrics *find_app(struct metrics *m, const char *app)
{
	struct app_metrics *other = &m->apps[METRICS_APPS_MAX];

	for (size_t i = 0; i < m->app_count; i++)
		if (strcmp(m->apps[i].app, app) == 0)
			return &m->apps[i];
	/* An application that has the name of the rest is counted with the rest. */
	if (m->app_count < METRICS_APPS_MAX && strcmp(app, OTHER_APPS) != 0) {
		(void)snprintf(m->apps[m->app_count].app, APP_NAME_BYTES, "%s", app);
		return &m->apps[m->app_count++];
	}
	(void)snprintf(other->app, APP_NAME_BYTES, OTHER_APPS);
	m->other_used = true;
	return other;
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

static void add_totals(struct totals *sum, const struct totals *now, struct totals *seen)
{
	add_new(&sum->count, now->count, &seen->count);
	add_new(&sum->wasteful_count, now->wasteful_count, &seen->wasteful_count);
	add_new(&sum->checked_bytes, now->checked_bytes, &seen->checked_bytes);
	add_new(&sum->wasteful_bytes, now->wasteful_bytes, &seen->wasteful_bytes);
}

void metrics_account(struct metrics *m, const struct window_result *w,
		     struct metrics_cursor *cursor)
{
	struct app_metrics *app = find_app(m, w->app);

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		add_totals(&app->kinds[kind], &w->profile.kinds[kind].application,
			   &cursor->kinds[kind]);
	}
	add_new(&app->numa_samples, w->numa.samples, &cursor->numa_samples);
	add_new(&app->numa_remote_samples, w->numa.remote_samples, &cursor->numa_remote_samples);
	for (unsigned place = 1; place <= COUNTER_STAGES; place++) {
		Jxp__Counter counter = counter_of_stage(place)->counter;

		add_new(&m->dropped_by_agents[place], w->counters[counter],
			&cursor->counters[counter]);
	}
	for (int i = 0; i < LOSS_MAX; i++)
		add_new(&m->dropped_by_engine[i], w->losses[i], &cursor->losses[i]);
}

void metrics_window_ended(struct metrics *m, const struct window_result *w,
			  struct metrics_cursor *cursor)
{
	struct app_metrics *app = find_app(m, w->app);

	metrics_account(m, w, cursor);
	app->windows++;
	if (w->state == WINDOW_ENDED_EARLY)
		app->windows_early++;
	if (w->took_too_much)
		app->windows_large++;
	if (w->objects_off_ns)
		app->switched_off++;
	app->ended = true;
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;
		const struct totals *t = &w->profile.kinds[kind].application;

		app->last_has_kind[kind] = t->count > 0;
		app->last_ratio[kind] =
		    estimate_fraction((double)t->wasteful_bytes, (double)t->checked_bytes);
	}
	app->last_end_s = (double)w->end_unix_ns / (double)NS_PER_S;
	app->last_has_overhead = w->cpu_ns > 0;
	app->last_overhead = window_result_overhead_fraction(w);
	if (app == &m->apps[METRICS_APPS_MAX])
		m->windows_over_limit++;
}

void metrics_strangers(struct metrics *m, uint64_t total)
{
	if (total > m->dropped_of_strangers)
		m->dropped_of_strangers = total;
}

void metrics_attach_failed(struct metrics *m, int error)
{
	for (size_t i = 1; i < FAILURE_REASONS; i++) {
		if (failure_reasons[i].error != error)
			continue;
		/* Errors with the same name share the first one's counter. */
		while (strcmp(failure_reasons[i - 1].name, failure_reasons[i].name) == 0)
			i--;
		m->failures[i]++;
		return;
	}
	m->failures[0]++;
}

/* ---------------------------------------------------------------- exposition */

struct family;

struct writer {
	FILE *out;
	const struct metrics *metrics;
	const struct family *family;
	const char *name; /* of the samples */
};

/* Of a metric that has a series for each application, or for each and kind: */
typedef void write_app_fn(const struct writer *w, const struct app_metrics *app);

/* Counters are named without "_total": OpenMetrics names the family so. */
struct family {
	const char *name;
	bool counter;
	const char *help;
	void (*write)(const struct writer *w); /* all series, or */
	write_app_fn *write_app;               /* those of one application */
	size_t member; /* offset of the uint64_t that write_app shows, where it shows one */
};

static uint64_t member_of(const struct writer *w, const void *structure)
{
	return *(const uint64_t *)((const char *)structure + w->family->member);
}

/* A series: its name and labels. Labels need no escaping: app names are letters, digits and "._-",
 * the rest our own words. */
static void series_app(const struct writer *w, const struct app_metrics *app)
{
	fprintf(w->out, "%s{app=\"%s\"} ", w->name, app->app);
}

static void series_kind(const struct writer *w, const struct app_metrics *app,
			const struct pair_kind *kind)
{
	fprintf(w->out, "%s{app=\"%s\",kind=\"%s\"} ", w->name, app->app, kind->name);
}

static void for_each_app(const struct writer *w, write_app_fn *write_app)
{
	for (size_t i = 0; i < w->metrics->app_count; i++)
		write_app(w, &w->metrics->apps[i]);
	if (w->metrics->other_used)
		write_app(w, &w->metrics->apps[METRICS_APPS_MAX]);
}

/* A member of struct totals, of every kind of which something was seen. */
static void write_totals(const struct writer *w, const struct app_metrics *app)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct totals *t = &app->kinds[pair_kinds[i].kind];

		if (t->count == 0)
			continue;
		series_kind(w, app, &pair_kinds[i]);
		fprintf(w->out, "%" PRIu64 "\n", member_of(w, t));
	}
}

static void write_ratio(const struct writer *w, const struct app_metrics *app)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		if (!app->last_has_kind[pair_kinds[i].kind])
			continue;
		series_kind(w, app, &pair_kinds[i]);
		fprintf(w->out, "%.9g\n", app->last_ratio[pair_kinds[i].kind]);
	}
}

/* A member of struct app_metrics. */
static void write_count(const struct writer *w, const struct app_metrics *app)
{
	series_app(w, app);
	fprintf(w->out, "%" PRIu64 "\n", member_of(w, app));
}

/* Nothing for an application of which nothing was measured. */
static void write_numa(const struct writer *w, const struct app_metrics *app)
{
	if (app->numa_samples > 0)
		write_count(w, app);
}

static void write_end(const struct writer *w, const struct app_metrics *app)
{
	if (!app->ended)
		return;
	series_app(w, app);
	fprintf(w->out, "%.3f\n", app->last_end_s);
}

static void write_overhead(const struct writer *w, const struct app_metrics *app)
{
	if (!app->last_has_overhead)
		return;
	series_app(w, app);
	fprintf(w->out, "%.9g\n", app->last_overhead);
}

static void write_failures(const struct writer *w)
{
	for (size_t i = 0; i < FAILURE_REASONS; i++) {
		if (i > 0 && strcmp(failure_reasons[i - 1].name, failure_reasons[i].name) == 0)
			continue;
		fprintf(w->out, "%s{reason=\"%s\"} %" PRIu64 "\n", w->name, failure_reasons[i].name,
			w->metrics->failures[i]);
	}
}

static void write_dropped(const struct writer *w)
{
	for (unsigned place = 1; place <= COUNTER_STAGES; place++)
		fprintf(w->out, "%s{stage=\"%s\"} %" PRIu64 "\n", w->name,
			counter_of_stage(place)->stage.label, w->metrics->dropped_by_agents[place]);
	fprintf(w->out, "%s{stage=\"gate_unknown\"} %" PRIu64 "\n", w->name,
		w->metrics->dropped_of_strangers);
	for (int i = 0; i < LOSS_MAX; i++)
		fprintf(w->out, "%s{stage=\"engine_%s\"} %" PRIu64 "\n", w->name,
			loss_words[i].name, w->metrics->dropped_by_engine[i]);
}

static void write_over_limit(const struct writer *w)
{
	fprintf(w->out, "%s %" PRIu64 "\n", w->name, w->metrics->windows_over_limit);
}

static void write_build_info(const struct writer *w)
{
	fprintf(w->out, "%s{version=\"" JXPERF_VERSION "\"} 1\n", w->name);
}

static const struct family families[] = {
    {"jxperf_checked_bytes", true,
     "Bytes of completed access pairs that were checked for waste, in the application's memory.",
     .write_app = write_totals, .member = offsetof(struct totals, checked_bytes)},
    {"jxperf_inefficient_bytes", true, "Checked bytes that were wasted.", .write_app = write_totals,
     .member = offsetof(struct totals, wasteful_bytes)},
    {"jxperf_checked_accesses", true, "Completed access pairs that were checked for waste.",
     .write_app = write_totals, .member = offsetof(struct totals, count)},
    {"jxperf_inefficient_accesses", true, "Checked access pairs that were wasteful.",
     .write_app = write_totals, .member = offsetof(struct totals, wasteful_count)},
    {"jxperf_window_inefficiency_ratio", false,
     "Fraction of checked bytes that were wasted, in the application's last window.",
     .write_app = write_ratio},
    {"jxperf_window_end_timestamp_seconds", false,
     "When the application's last window ended, in seconds since 1970.", .write_app = write_end},
    {"jxperf_numa_accesses", true, "Sampled accesses to the heap whose page's NUMA node was found.",
     .write_app = write_numa, .member = offsetof(struct app_metrics, numa_samples)},
    {"jxperf_numa_remote_accesses", true, "Of these, accesses from another node than the page's.",
     .write_app = write_numa, .member = offsetof(struct app_metrics, numa_remote_samples)},
    {"jxperf_windows", true, "Windows that ran and ended.", .write_app = write_count,
     .member = offsetof(struct app_metrics, windows)},
    {"jxperf_windows_ended_early", true, "Of these, windows that ended before their time.",
     .write_app = write_count, .member = offsetof(struct app_metrics, windows_early)},
    {"jxperf_objects_switched_off", true,
     "Of these, windows that switched objects off because the JVM collected more, or kept more.",
     .write_app = write_count, .member = offsetof(struct app_metrics, switched_off)},
    {"jxperf_windows_too_large", true,
     "Windows that were ended early because they took more memory than the daemon has for them.",
     .write_app = write_count, .member = offsetof(struct app_metrics, windows_large)},
    {"jxperf_attach_failures", true, "Windows that could not be run.", .write = write_failures},
    {"jxperf_dropped_events", true, "Events lost between a profiled thread and the reports.",
     .write = write_dropped},
    {"jxperf_overhead_ratio", false,
     "Fraction of the target's CPU time that profiling took, in the application's last window.",
     .write_app = write_overhead},
    {"jxperf_apps_over_limit", true,
     "Windows counted as app=other because too many applications were seen.",
     .write = write_over_limit},
    {"jxperf_build_info", false, "The daemon's version; always 1.", .write = write_build_info},
};

static void write_family(FILE *out, const struct metrics *m, const struct family *f,
			 bool openmetrics)
{
	char name[64];
	const struct writer w = {.out = out, .metrics = m, .family = f, .name = name};
	const char *family = openmetrics ? f->name : name;

	(void)snprintf(name, sizeof(name), "%s%s", f->name, f->counter ? "_total" : ""); /* Fits. */
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", family, f->help, family,
		f->counter ? "counter" : "gauge");
	if (f->write_app)
		for_each_app(&w, f->write_app);
	else
		f->write(&w);
}

void metrics_write(FILE *out, const struct metrics *m, bool openmetrics)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		write_family(out, m, &families[i], openmetrics);
	if (openmetrics)
		fputs("# EOF\n", out);
}
