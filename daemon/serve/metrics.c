#include "daemon/serve/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/container/saturate.h"
#include "daemon/engine/app_name.h"
#include "daemon/profile/estimate.h"
#include "proto/limits.h"
#include "proto/words.h"

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

/* Counters that mean lost events: the agent's, and the gate's, whoever holds it. */
static const Jxp__Counter dropping_counters[] = {
    JXP__COUNTER__COUNTER_RING_FULL,
    JXP__COUNTER__COUNTER_RECORDS_LOST,
    JXP__COUNTER__COUNTER_RECORDS_MALFORMED,
    JXP__COUNTER__COUNTER_RECORDS_MISSING,
    JXP__COUNTER__COUNTER_CONTEXTS_FULL,
    JXP__COUNTER__COUNTER_UNDECODED,
    JXP__COUNTER__COUNTER_STACK_LOW,
    JXP__COUNTER__COUNTER_ASYNC,
    JXP__COUNTER__COUNTER_CODE_DROPPED,
    JXP__COUNTER__COUNTER_NAMES_LOST,
    JXP__COUNTER__COUNTER_EVENT_ERRORS,
    JXP__COUNTER__COUNTER_THREADS_FAILED,
    JXP__COUNTER__COUNTER_THREADS_OVER_LIMIT,
    JXP__COUNTER__COUNTER_OBJECTS_UNTRACKED,
    JXP__COUNTER__COUNTER_OBJECTS_OVER_BYTES,
    JXP__COUNTER__COUNTER_OBJECTS_QUEUE_FULL,
    JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS,
    JXP__COUNTER__COUNTER_GATE_WINDOW_OVER,
    JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT,
    JXP__COUNTER__COUNTER_GATE_CONTENDED,
};
#define DROPPING_COUNTERS (sizeof(dropping_counters) / sizeof(dropping_counters[0]))

/* The last one's name. */
#define OTHER_APPS "other"

struct app_metrics {
	char app[APP_NAME_BYTES];
	struct totals kinds[PROFILE_KINDS];
	uint64_t numa_samples;
	uint64_t numa_remote_samples;
	uint64_t windows;
	uint64_t windows_early; /* of which ended early */
	uint64_t switched_off;  /* of which switched objects off */
	/* Of the last window that ended: */
	bool ended;
	bool last_has_kind[PROFILE_KINDS]; /* it completed pairs of the kind */
	double last_ratio[PROFILE_KINDS];
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
	uint64_t dropped_by_agents[DROPPING_COUNTERS];
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

	for (int kind = 1; kind < PROFILE_KINDS; kind++)
		add_totals(&app->kinds[kind], &w->profile.kinds[kind].application,
			   &cursor->kinds[kind]);
	add_new(&app->numa_samples, w->numa.samples, &cursor->numa_samples);
	add_new(&app->numa_remote_samples, w->numa.remote_samples, &cursor->numa_remote_samples);
	for (size_t i = 0; i < DROPPING_COUNTERS; i++) {
		Jxp__Counter counter = dropping_counters[i];

		add_new(&m->dropped_by_agents[i], w->counters[counter], &cursor->counters[counter]);
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
	if (w->objects_off_ns)
		app->switched_off++;
	app->ended = true;
	for (int kind = 1; kind < PROFILE_KINDS; kind++) {
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

struct writer {
	FILE *out;
	const struct metrics *metrics;
	const char *name; /* of the samples */
};

/* A series: its name and labels. Labels need no escaping: app names are letters, digits and "._-",
 * the rest our own words. */
static void series_app(const struct writer *w, const struct app_metrics *app)
{
	fprintf(w->out, "%s{app=\"%s\"} ", w->name, app->app);
}

static void series_kind(const struct writer *w, const struct app_metrics *app, int kind)
{
	fprintf(w->out, "%s{app=\"%s\",kind=\"%s\"} ", w->name, app->app,
		name_of_kind((Jxp__Kind)kind));
}

typedef void write_app_fn(const struct writer *w, const struct app_metrics *app);

static void for_each_app(const struct writer *w, write_app_fn *write_app)
{
	for (size_t i = 0; i < w->metrics->app_count; i++)
		write_app(w, &w->metrics->apps[i]);
	if (w->metrics->other_used)
		write_app(w, &w->metrics->apps[METRICS_APPS_MAX]);
}

/* One function for each member of struct totals, for every kind of which something was seen. */
#define KIND_WRITER(function, member)                                                     \
	static void function##_app(const struct writer *w, const struct app_metrics *app) \
	{                                                                                 \
		for (int kind = 1; kind < PROFILE_KINDS; kind++) {                        \
			if (app->kinds[kind].count == 0)                                  \
				continue;                                                 \
			series_kind(w, app, kind);                                        \
			fprintf(w->out, "%" PRIu64 "\n", app->kinds[kind].member);        \
		}                                                                         \
	}                                                                                 \
	static void function(const struct writer *w)                                      \
	{                                                                                 \
		for_each_app(w, function##_app);                                          \
	}

KIND_WRITER(write_checked_bytes, checked_bytes)
KIND_WRITER(write_inefficient_bytes, wasteful_bytes)
KIND_WRITER(write_checked_accesses, count)
KIND_WRITER(write_inefficient_accesses, wasteful_count)

static void write_ratio_app(const struct writer *w, const struct app_metrics *app)
{
	for (int kind = 1; kind < PROFILE_KINDS; kind++) {
		if (!app->last_has_kind[kind])
			continue;
		series_kind(w, app, kind);
		fprintf(w->out, "%.9g\n", app->last_ratio[kind]);
	}
}

static void write_ratio(const struct writer *w)
{
	for_each_app(w, write_ratio_app);
}

static void write_end_app(const struct writer *w, const struct app_metrics *app)
{
	if (!app->ended)
		return;
	series_app(w, app);
	fprintf(w->out, "%.3f\n", app->last_end_s);
}

static void write_end(const struct writer *w)
{
	for_each_app(w, write_end_app);
}

static void write_windows_app(const struct writer *w, const struct app_metrics *app)
{
	series_app(w, app);
	fprintf(w->out, "%" PRIu64 "\n", app->windows);
}

static void write_windows(const struct writer *w)
{
	for_each_app(w, write_windows_app);
}

/* Nothing for an application of which nothing was measured. */
static void write_numa_app(const struct writer *w, const struct app_metrics *app)
{
	if (app->numa_samples == 0)
		return;
	series_app(w, app);
	fprintf(w->out, "%" PRIu64 "\n", app->numa_samples);
}

static void write_numa(const struct writer *w)
{
	for_each_app(w, write_numa_app);
}

static void write_numa_remote_app(const struct writer *w, const struct app_metrics *app)
{
	if (app->numa_samples == 0)
		return;
	series_app(w, app);
	fprintf(w->out, "%" PRIu64 "\n", app->numa_remote_samples);
}

static void write_numa_remote(const struct writer *w)
{
	for_each_app(w, write_numa_remote_app);
}

static void write_early_app(const struct writer *w, const struct app_metrics *app)
{
	series_app(w, app);
	fprintf(w->out, "%" PRIu64 "\n", app->windows_early);
}

static void write_early(const struct writer *w)
{
	for_each_app(w, write_early_app);
}

static void write_switched_off_app(const struct writer *w, const struct app_metrics *app)
{
	series_app(w, app);
	fprintf(w->out, "%" PRIu64 "\n", app->switched_off);
}

static void write_switched_off(const struct writer *w)
{
	for_each_app(w, write_switched_off_app);
}

static void write_overhead_app(const struct writer *w, const struct app_metrics *app)
{
	if (!app->last_has_overhead)
		return;
	series_app(w, app);
	fprintf(w->out, "%.9g\n", app->last_overhead);
}

static void write_overhead(const struct writer *w)
{
	for_each_app(w, write_overhead_app);
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
	char name[COUNTER_NAME_BYTES];

	for (size_t i = 0; i < DROPPING_COUNTERS; i++) {
		name_of_counter(dropping_counters[i], name);
		fprintf(w->out, "%s{stage=\"%s%s\"} %" PRIu64 "\n", w->name,
			strncmp(name, "gate_", strlen("gate_")) == 0 ? "" : "agent_", name,
			w->metrics->dropped_by_agents[i]);
	}
	fprintf(w->out, "%s{stage=\"gate_unknown\"} %" PRIu64 "\n", w->name,
		w->metrics->dropped_of_strangers);
	for (int i = 0; i < LOSS_MAX; i++)
		fprintf(w->out, "%s{stage=\"engine_%s\"} %" PRIu64 "\n", w->name,
			name_of_loss((enum loss)i), w->metrics->dropped_by_engine[i]);
}

static void write_over_limit(const struct writer *w)
{
	fprintf(w->out, "%s %" PRIu64 "\n", w->name, w->metrics->windows_over_limit);
}

static void write_build_info(const struct writer *w)
{
	fprintf(w->out, "%s{version=\"" JXPERF_VERSION "\"} 1\n", w->name);
}

/* Counters are named without "_total": OpenMetrics names the family so. */
static const struct {
	const char *name;
	bool counter;
	const char *help;
	void (*write)(const struct writer *w);
} families[] = {
    {"jxperf_checked_bytes", true,
     "Bytes of completed access pairs that were checked for waste, in the application's memory.",
     write_checked_bytes},
    {"jxperf_inefficient_bytes", true, "Checked bytes that were wasted.", write_inefficient_bytes},
    {"jxperf_checked_accesses", true, "Completed access pairs that were checked for waste.",
     write_checked_accesses},
    {"jxperf_inefficient_accesses", true, "Checked access pairs that were wasteful.",
     write_inefficient_accesses},
    {"jxperf_window_inefficiency_ratio", false,
     "Fraction of checked bytes that were wasted, in the application's last window.", write_ratio},
    {"jxperf_window_end_timestamp_seconds", false,
     "When the application's last window ended, in seconds since 1970.", write_end},
    {"jxperf_numa_accesses", true, "Sampled accesses to the heap whose page's NUMA node was found.",
     write_numa},
    {"jxperf_numa_remote_accesses", true, "Of these, accesses from another node than the page's.",
     write_numa_remote},
    {"jxperf_windows", true, "Windows that ran and ended.", write_windows},
    {"jxperf_windows_ended_early", true, "Of these, windows that ended before their time.",
     write_early},
    {"jxperf_objects_switched_off", true,
     "Of these, windows that switched objects off because the JVM collected more, or kept more.",
     write_switched_off},
    {"jxperf_attach_failures", true, "Windows that could not be run.", write_failures},
    {"jxperf_dropped_events", true, "Events lost between a profiled thread and the reports.",
     write_dropped},
    {"jxperf_overhead_ratio", false,
     "Fraction of the target's CPU time that profiling took, in the application's last window.",
     write_overhead},
    {"jxperf_apps_over_limit", true,
     "Windows counted as app=other because too many applications were seen.", write_over_limit},
    {"jxperf_build_info", false, "The daemon's version; always 1.", write_build_info},
};

void metrics_write(FILE *out, const struct metrics *m, bool openmetrics)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		char name[64];
		const char *family;

		(void)snprintf(name, sizeof(name), "%s%s", families[i].name,
			       families[i].counter ? "_total" : "");
		family = openmetrics ? families[i].name : name;
		fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", family, families[i].help, family,
			families[i].counter ? "counter" : "gauge");
		families[i].write(&(struct writer){.out = out, .metrics = m, .name = name});
	}
	if (openmetrics)
		fputs("# EOF\n", out);
}
