/* The report for people, after figure 7 of the JXPerf paper: call paths root first, the instruction
 * on the leaf's line, the two accesses of a pair one below the other. */
#include "daemon/report/report.h"

#include <inttypes.h>

#include "common/clock.h"
#include "daemon/machine/sampler_choice.h"
#include "daemon/profile/estimate.h"
#include "daemon/report/pair_ranking.h"
#include "daemon/report/text_parts.h"
#include "daemon/report/text_writer.h"
#include "proto/counters.h"
#include "proto/kinds.h"
#include "proto/words.h"

static void access_path(FILE *out, const struct profile *p, uint32_t leaf, uint32_t instruction)
{
	const char *text = strings_get(&p->strings, instruction);

	report_text_path(out, p, leaf, text[0] ? text : "[instruction unknown]");
}

/* The period asked for, and the one that the budget led to. */
static void period(FILE *out, const struct window *w)
{
	const struct pmu_selection *hardware = w->settings.hardware;
	const char *unit = hardware ? "million operations" : "ms";
	double scale = hardware ? 1e6 : (double)NS_PER_MS;
	uint64_t asked = hardware ? hardware->period : w->settings.period_ns;

	fprintf(out, "period %g %s", (double)asked / scale, unit);
	if (w->effective_period > asked)
		fprintf(out, " (%.1f %s in the end, to keep the budget)",
			(double)w->effective_period / scale, unit);
}

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* In seconds, and as a fraction where the target did enough for one to mean something. */
static void overhead(FILE *out, const struct window *w)
{
	uint64_t own_ns = w->cpu_ns > w->overhead_ns ? w->cpu_ns - w->overhead_ns : 0;

	if (w->cpu_ns == 0)
		fputs("overhead not known", out);
	else if (window_target_was_idle(w))
		fprintf(out, "overhead %.3f s of CPU time; the JVM was idle, it used %.3f s itself",
			seconds(w->overhead_ns), seconds(own_ns));
	else
		fprintf(out, "overhead %.2f%%: %.3f s of the JVM's %.1f s of CPU time",
			window_overhead_fraction(w) * 100, seconds(w->overhead_ns),
			seconds(w->cpu_ns));
	fprintf(out, " (and %.3f s to begin)\n", seconds(w->setup_ns));
}

static void header(FILE *out, const struct window *w)
{
	const struct window_settings *s = &w->settings;
	char start[REPORT_TIME_BYTES];

	report_time(start, w->start_unix_ns);
	fprintf(out, "window %s: %s (pid %d), %s %s, %s collector\n", w->id, w->app, (int)w->pid,
		w->vm[0] ? w->vm : "JVM", w->jdk, w->gc[0] ? w->gc : "unknown");
	fprintf(out, "began %s, %.1f s of %.1f s, %s%s%s\n", start,
		(double)window_elapsed_ns(w) / (double)NS_PER_S,
		(double)s->duration_ns / (double)NS_PER_S, window_state_name(w),
		w->reason[0] ? ": " : "", w->reason);
	fprintf(out, "sampler %s (%s)\n", name_of_sampler(s->sampler), s->sampler_reason);
	period(out, w);
	fprintf(out, ", budget %g%%, %u debug registers\n", s->budget * 100, s->registers);
	fprintf(out,
		"%" PRIu64 " samples, %" PRIu64 " watchpoints armed, %" PRIu64
		" pairs completed, %" PRIu64 " threads\n",
		w->counters[JXP__COUNTER__COUNTER_SAMPLES],
		w->counters[JXP__COUNTER__COUNTER_ARMED], w->counters[JXP__COUNTER__COUNTER_TRAPS],
		w->counters[JXP__COUNTER__COUNTER_THREADS]);
	overhead(out, w);
	if (sampler_note(s->sampler))
		report_text_wrapped(out, sampler_note(s->sampler));
	fputc('\n', out);
}

static void summary(FILE *out, const struct window *w)
{
	fprintf(out, "%-14s %9s   %-17s %14s %14s %16s\n", "kind", "fraction", "95% interval",
		"wasteful bytes", "checked bytes", "JVM's own bytes");
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct pair_kind *kind = &pair_kinds[i];
		const struct totals *t = &w->profile.kinds[kind->kind].application;
		struct interval ci = estimate_ci95(
		    (double)t->wasteful_bytes, (double)t->checked_bytes, (double)t->sum_squares);
		char fraction[16] = "-", interval[32];

		if (!w->settings.kinds[kind->kind])
			continue;
		if (t->count > 0)
			(void)snprintf(fraction, sizeof(fraction), "%.1f%%",
				       100 * estimate_fraction((double)t->wasteful_bytes,
							       (double)t->checked_bytes));
		(void)snprintf(interval, sizeof(interval), "%.1f%% to %.1f%%", 100 * ci.low,
			       100 * ci.high);
		fprintf(out, "%-14s %9s   %-17s %14" PRIu64 " %14" PRIu64 " %16" PRIu64 "\n",
			kind->title, fraction, interval, t->wasteful_bytes, t->checked_bytes,
			w->profile.kinds[kind->kind].jvm.checked_bytes);
	}
	fputs("JVM's own: accesses to the virtual machine's memory, kept apart from the "
	      "fractions.\n",
	      out);
}

static void pair(FILE *out, const struct window *w, const struct pair_kind *kind,
		 const struct ranked_pair *ranked, size_t rank)
{
	const struct pair *p = &ranked->sum;
	const struct totals *t = &w->profile.kinds[p->kind].application;

	report_text_rule(out, NULL);
	fprintf(out,
		"#%zu  %.1f%% of checked bytes: %" PRIu64 " wasteful bytes in %" PRIu64
		" of %" PRIu64 " pairs, %s",
		rank, 100 * estimate_fraction((double)p->wasteful_bytes, (double)t->checked_bytes),
		p->wasteful_bytes, p->wasteful_count, p->count,
		name_of_region((Jxp__Region)p->region));
	if (ranked->variants > 1)
		fprintf(out, "; the first of %zu instruction pairs is shown", ranked->variants);
	fputc('\n', out);
	access_path(out, &w->profile, p->watch_node, p->watch_instruction);
	report_text_rule(out, kind->separator);
	access_path(out, &w->profile, p->trap_node, p->trap_instruction);
}

static int pairs_of_kind(FILE *out, const struct window *w, const struct pair_kind *kind,
			 size_t limit)
{
	struct pair_ranking ranking;
	int r = pair_ranking_init(&ranking, &w->profile, kind->kind);
	size_t shown;

	if (r < 0)
		return r;
	fprintf(out, "\n%s\n", kind->heading);
	shown = ranking.count < limit ? ranking.count : limit;
	for (size_t i = 0; i < shown && !ferror(out); i++)
		pair(out, w, kind, &ranking.pairs[i], i + 1);
	if (shown > 0)
		report_text_rule(out, NULL);
	if (ranking.count == 0)
		fputs("none found\n", out);
	else if (shown < ranking.count)
		fprintf(out, "%zu more pairs are not shown\n", ranking.count - shown);
	pair_ranking_release(&ranking);
	return 0;
}

int report_text_write(FILE *out, const struct window *w, size_t pairs)
{
	header(out, w);
	if (window_samples_pairs(&w->settings))
		summary(out, w);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		bool asked = w->settings.kinds[pair_kinds[i].kind];
		int r = asked ? pairs_of_kind(out, w, &pair_kinds[i], pairs) : 0;

		if (r < 0)
			return r;
	}
	if (window_tracks_objects(&w->settings)) {
		int r;

		if (window_samples_pairs(&w->settings))
			fputc('\n', out);
		r = report_text_objects(out, w, pairs);

		if (r < 0)
			return r;
	}
	if (w->settings.numa) {
		int r;

		fputc('\n', out);
		r = report_text_numa(out, w);
		if (r < 0)
			return r;
	}
	report_text_quality(out, w);
	return 0;
}
