#include "daemon/http/metrics.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "common/clock.h"
#include "common/saturate.h"
#include "daemon/http/exposition.h"
#include "daemon/http/metrics_sums.h"
#include "proto/kinds.h"
#include "proto/limits.h"

struct family;

struct family_writer {
	FILE *out;
	bool openmetrics;
	const struct metrics *metrics;
	double now_s;
	const struct family *family;
	const char *name; /* of the samples */
};

/* Writes a metric that has a series for each application, or for each and kind: */
typedef void write_app_fn(const struct family_writer *w, const struct app_metrics *app);

/* Counters are named without "_total". */
struct family {
	const char *name;
	enum exposition_type type;
	const char *help;
	void (*write)(const struct family_writer *w); /* all series, or */
	write_app_fn *write_app;                      /* those of one application */
	size_t member; /* offset of the uint64_t that write_app shows, where it shows one */
};

static uint64_t member_of(const struct family_writer *w, const void *structure)
{
	return *(const uint64_t *)((const char *)structure + w->family->member);
}

/* A series: its name and labels. Labels need no escaping: app names are letters, digits and "._-",
 * the rest our own words. */
static void series_app(const struct family_writer *w, const struct app_metrics *app)
{
	fprintf(w->out, "%s{app=\"%s\"} ", w->name, app->app);
}

static void series_kind(const struct family_writer *w, const struct app_metrics *app,
			const struct pair_kind *kind)
{
	fprintf(w->out, "%s{app=\"%s\",kind=\"%s\"} ", w->name, app->app, kind->name);
}

/* The value, and of which window it is; none for one that brought nothing to it. */
static void write_value(const struct family_writer *w, uint64_t value,
			const struct metrics_origin *from, uint64_t brought)
{
	fprintf(w->out, "%" PRIu64, value);
	exposition_end_line(w->out, w->openmetrics, brought > 0 ? from->window : 0, (double)brought,
			    from->time_s);
}

static void for_each_app(const struct family_writer *w, write_app_fn *write_app)
{
	for (size_t i = 0; i < w->metrics->app_count; i++)
		write_app(w, &w->metrics->apps[i]);
	if (w->metrics->other_used)
		write_app(w, &w->metrics->apps[METRICS_APPS_MAX]);
}

/* A member of struct totals, of every kind: an increase from nothing is one only if the nothing was
 * there to be seen. */
static void write_totals(const struct family_writer *w, const struct app_metrics *app)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		series_kind(w, app, &pair_kinds[i]);
		write_value(w, member_of(w, &app->kinds[kind]), &app->kind_origins[kind],
			    member_of(w, &app->brought[kind]));
	}
}

/* CPU time at wasteful accesses, of every kind. */
static void write_waste(const struct family_writer *w, const struct app_metrics *app)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		series_kind(w, app, &pair_kinds[i]);
		fprintf(w->out, "%.9g\n",
			(double)app->wasted_ns[pair_kinds[i].kind] / (double)NS_PER_S);
	}
}

/* Is a window that ended then still what happens? */
static bool is_recent(const struct family_writer *w, double end_s)
{
	return w->now_s - end_s <= METRICS_LAST_S;
}

static void write_ratio(const struct family_writer *w, const struct app_metrics *app)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		Jxp__Kind kind = pair_kinds[i].kind;

		if (!app->last_has_kind[kind] || !is_recent(w, app->last_kind_end_s[kind]))
			continue;
		series_kind(w, app, &pair_kinds[i]);
		fprintf(w->out, "%.9g\n", app->last_ratio[kind]);
	}
}

/* A member of struct app_counts. */
static void write_count(const struct family_writer *w, const struct app_metrics *app)
{
	series_app(w, app);
	write_value(w, member_of(w, &app->counts), &app->counts_origin,
		    member_of(w, &app->counts_brought));
}

/* A member of struct app_counts that is a time. */
static void write_seconds(const struct family_writer *w, const struct app_metrics *app)
{
	double brought_s = (double)member_of(w, &app->counts_brought) / (double)NS_PER_S;

	series_app(w, app);
	fprintf(w->out, "%.9g", (double)member_of(w, &app->counts) / (double)NS_PER_S);
	exposition_end_line(w->out, w->openmetrics, brought_s > 0 ? app->counts_origin.window : 0,
			    brought_s, app->counts_origin.time_s);
}

static void write_end(const struct family_writer *w, const struct app_metrics *app)
{
	if (!app->ended)
		return;
	series_app(w, app);
	fprintf(w->out, "%.3f\n", app->last_end_s);
}

static void write_overhead(const struct family_writer *w, const struct app_metrics *app)
{
	if (!app->last_has_overhead || !is_recent(w, app->last_end_s))
		return;
	series_app(w, app);
	fprintf(w->out, "%.9g\n", app->last_overhead);
}

static void write_failures(const struct family_writer *w)
{
	for (unsigned i = 0; i < ATTACH_REASONS; i++)
		fprintf(w->out, "%s{reason=\"%s\"} %" PRIu64 "\n", w->name, attach_reason_name(i),
			w->metrics->failures[i]);
}

static void write_dropped(const struct family_writer *w)
{
	char stage[METRICS_STAGE_BYTES];

	for (unsigned i = 0; i < METRICS_STAGES; i++) {
		metrics_stage_name(i, stage);
		fprintf(w->out, "%s{stage=\"%s\"} %" PRIu64 "\n", w->name, stage,
			w->metrics->dropped[i]);
	}
}

static void write_over_limit(const struct family_writer *w)
{
	fprintf(w->out, "%s %" PRIu64 "\n", w->name, w->metrics->windows_over_limit);
}

/* Buckets have what is in those below them, too. Bounds are written as OpenMetrics wants them in
 * both forms, so that a series keeps its name. */
static void write_latency(const struct family_writer *w)
{
	const struct metrics *m = w->metrics;
	uint64_t count = 0;

	for (size_t i = 0; i < METRICS_LATENCIES; i++) {
		double bound = i < METRICS_LATENCIES - 1 ? metrics_latency_bounds_s[i] : 0;

		saturate_add(&count, m->latencies[i]);
		if (i == METRICS_LATENCIES - 1)
			fprintf(w->out, "%s_bucket{le=\"+Inf\"} ", w->name);
		else
			fprintf(w->out,
				bound < 1 ? "%s_bucket{le=\"%g\"} " : "%s_bucket{le=\"%.1f\"} ",
				w->name, bound);
		fprintf(w->out, "%" PRIu64, count);
		exposition_end_line(w->out, w->openmetrics, m->latency_origins[i].window,
				    m->latency_brought_s[i], m->latency_origins[i].time_s);
	}
	fprintf(w->out, "%s_sum %.9g\n%s_count %" PRIu64 "\n", w->name,
		(double)m->latency_sum_ns / (double)NS_PER_S, w->name, count);
}

static void write_build_info(const struct family_writer *w)
{
	fprintf(w->out, "%s{version=\"" JXPERF_VERSION "\"} 1\n", w->name);
}

static const struct family families[] = {
    {"jxperf_checked_bytes", EXPOSITION_COUNTER,
     "Bytes of completed access pairs that were checked for waste, in the application's memory.",
     .write_app = write_totals, .member = offsetof(struct totals, checked_bytes)},
    {"jxperf_inefficient_bytes", EXPOSITION_COUNTER, "Checked bytes that were wasted.",
     .write_app = write_totals, .member = offsetof(struct totals, wasteful_bytes)},
    {"jxperf_checked_accesses", EXPOSITION_COUNTER,
     "Completed access pairs that were checked for waste.", .write_app = write_totals,
     .member = offsetof(struct totals, count)},
    {"jxperf_inefficient_accesses", EXPOSITION_COUNTER, "Checked access pairs that were wasteful.",
     .write_app = write_totals, .member = offsetof(struct totals, wasteful_count)},
    {"jxperf_checked_bytes_squares", EXPOSITION_COUNTER,
     "The sum of the squares of checked pairs' bytes: the square of a sum of bytes, divided by it, "
     "is how "
     "many pairs alike would say as much.",
     .write_app = write_totals, .member = offsetof(struct totals, sum_squares)},
    {"jxperf_wasted_cpu_seconds", EXPOSITION_COUNTER,
     "CPU time of profiled JVMs at wasteful accesses, in windows; at least so much.",
     .write_app = write_waste},
    {"jxperf_target_cpu_seconds", EXPOSITION_COUNTER,
     "CPU time that profiled JVMs used within windows, what profiling took included.",
     .write_app = write_seconds, .member = offsetof(struct app_counts, cpu_ns)},
    {"jxperf_overhead_cpu_seconds", EXPOSITION_COUNTER, "Of it, what profiling took.",
     .write_app = write_seconds, .member = offsetof(struct app_counts, overhead_ns)},
    {"jxperf_setup_cpu_seconds", EXPOSITION_COUNTER,
     "CPU time that beginning windows took in the JVMs, before these two begin.",
     .write_app = write_seconds, .member = offsetof(struct app_counts, setup_ns)},
    {"jxperf_window_inefficiency_ratio", EXPOSITION_GAUGE,
     "Fraction of checked bytes that were wasted, in the application's last window that checked "
     "any of the kind; for two hours.",
     .write_app = write_ratio},
    {"jxperf_window_end_timestamp_seconds", EXPOSITION_GAUGE,
     "When the application's last window ended, in seconds since 1970.", .write_app = write_end},
    {"jxperf_numa_accesses", EXPOSITION_COUNTER,
     "Sampled accesses to the heap whose page's NUMA node was found.", .write_app = write_count,
     .member = offsetof(struct app_counts, numa_samples)},
    {"jxperf_numa_remote_accesses", EXPOSITION_COUNTER,
     "Of these, accesses from another node than the page's.", .write_app = write_count,
     .member = offsetof(struct app_counts, numa_remote_samples)},
    {"jxperf_windows", EXPOSITION_COUNTER, "Windows that ran and ended.", .write_app = write_count,
     .member = offsetof(struct app_counts, windows)},
    {"jxperf_window_seconds", EXPOSITION_COUNTER, "How long these took together.",
     .write_app = write_seconds, .member = offsetof(struct app_counts, length_ns)},
    {"jxperf_windows_ended_early", EXPOSITION_COUNTER,
     "Of these, windows that ended before their time.", .write_app = write_count,
     .member = offsetof(struct app_counts, windows_early)},
    {"jxperf_windows_too_large", EXPOSITION_COUNTER,
     "Windows that were ended early because they took more memory than the daemon has for them.",
     .write_app = write_count, .member = offsetof(struct app_counts, windows_large)},
    {"jxperf_objects_switched_off", EXPOSITION_COUNTER,
     "Of these, windows that switched objects off because the JVM collected more, or kept more.",
     .write_app = write_count, .member = offsetof(struct app_counts, switched_off)},
    {"jxperf_attach_failures", EXPOSITION_COUNTER, "Windows that could not be run.",
     .write = write_failures},
    {"jxperf_attach_duration_seconds", EXPOSITION_HISTOGRAM,
     "From the request for a window to its start, of windows that started.",
     .write = write_latency},
    {"jxperf_dropped_events", EXPOSITION_COUNTER,
     "Events lost between a profiled thread and the reports.", .write = write_dropped},
    {"jxperf_overhead_ratio", EXPOSITION_GAUGE,
     "Fraction of the target's CPU time that profiling took, in the application's last window; "
     "for two hours.",
     .write_app = write_overhead},
    {"jxperf_apps_over_limit", EXPOSITION_COUNTER,
     "Windows counted as app=other because too many applications were seen.",
     .write = write_over_limit},
    {"jxperf_build_info", EXPOSITION_GAUGE, "The daemon's version; always 1.",
     .write = write_build_info},
};

static void write_family(FILE *out, const struct metrics *m, const struct family *f, double now_s,
			 bool openmetrics)
{
	char name[64];
	const struct family_writer w = {.out = out,
					.openmetrics = openmetrics,
					.metrics = m,
					.now_s = now_s,
					.family = f,
					.name = name};

	exposition_head(out, openmetrics, f->type, f->name, f->help);
	(void)snprintf(name, sizeof(name), "%s%s", f->name,
		       f->type == EXPOSITION_COUNTER ? "_total" : ""); /* Fits. */
	if (f->write_app)
		for_each_app(&w, f->write_app);
	else
		f->write(&w);
}

void metrics_write(FILE *out, const struct metrics *m, double now_s, bool openmetrics)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		write_family(out, m, &families[i], now_s, openmetrics);
	if (openmetrics)
		fputs("# EOF\n", out);
}
