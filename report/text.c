/* The report for people, after figure 7 of the JXPerf paper: call paths root first, the instruction
 * on the leaf's line, the two accesses of a pair one below the other. */
#include "report/formats.h"

#include <inttypes.h>

#include "common/clock.h"
#include "machine/sampler_choice.h"
#include "profile/estimate.h"
#include "report/text_parts.h"
#include "report/writer/text_writer.h"
#include "proto/counters.h"
#include "proto/words.h"
#include "subsume/output.h"

/* The period asked for, and the one that the budget led to. */
static void period(FILE *out, const struct report_period *p)
{
	const char *unit = p->operations ? "million operations" : "ms";
	double scale = p->operations ? 1e6 : (double)NS_PER_MS;

	fprintf(out, "period %g %s", (double)p->asked / scale, unit);
	if (p->effective > p->asked)
		fprintf(out, " (%.1f %s in the end, to keep the budget)",
			(double)p->effective / scale, unit);
}

/* In seconds, and as a fraction where the target did enough for one to mean something. */
static void overhead(FILE *out, const struct report_model *m)
{
	const struct report_quality *q = &m->quality;
	const struct window_result *w = m->window;

	if (!q->overhead_known)
		fputs("overhead not known", out);
	else if (q->target_idle)
		fprintf(out, "overhead %.3f s of CPU time; the JVM was idle, it used %.3f s itself",
			clock_s(w->overhead_ns), clock_s(q->own_ns));
	else
		fprintf(out, "overhead %.2f%%: %.3f s of the JVM's %.1f s of CPU time",
			q->overhead_fraction * 100, clock_s(w->overhead_ns), clock_s(w->cpu_ns));
	fprintf(out, " (and %.3f s to begin)\n", clock_s(w->setup_ns));
}

/* Whose the window is, when it was, and how it ended. */
static void one_window(FILE *out, const struct report_model *m)
{
	const struct window_result *w = m->window;
	char start[REPORT_TIME_BYTES];

	report_time(start, w->start_unix_ns);
	fprintf(out, "window %s: %s%s%s (pid %d), %s %s, %s collector\n", w->id, w->app,
		w->version[0] ? " " : "", w->version, (int)w->pid, w->vm[0] ? w->vm : "JVM", w->jdk,
		w->gc[0] ? w->gc : "unknown");
	fprintf(out, "began %s, %.1f s of %.1f s, %s%s%s\n", start, clock_s(m->elapsed_ns),
		clock_s(w->request.duration_ns), window_result_state_name(w),
		w->reason[0] ? ": " : "", w->reason);
}

static void difference(FILE *out, enum merged_note which, const struct merged_difference *d)
{
	const struct merged_note_words *words = &merged_note_words[which];

	fprintf(out, "%s%u of the windows %s", words->skipped ? "left out: " : "", d->windows,
		words->sentence);
	if (d->first > 0)
		fprintf(out, " (first w%u%s%s)", d->first, d->detail[0] ? ": " : "", d->detail);
	fputc('\n', out);
}

static void cut(FILE *out, const struct merged_cut *c)
{
	fprintf(out,
		"not listed: %.1f%% of the observations of %s (%" PRIu64 " of %" PRIu64
		"), in contexts that weigh less than those that are; sums have them\n",
		100 * estimate_fraction((double)c->observations, (double)c->all), c->table,
		c->observations, c->all);
}

/* Windows with their schedule, "" being people. */
static void schedules(FILE *out, const struct merged_names *n)
{
	const char *between = "schedules: ";

	if (n->count == 1 && !n->names[0].name[0])
		return;
	for (unsigned i = 0; i < n->count; i++) {
		fprintf(out, "%s%u %s%s", between, n->names[i].windows,
			n->names[i].name[0] ? "by " : "that somebody asked for", n->names[i].name);
		between = ", ";
	}
	if (n->more > 0)
		fprintf(out, "%s%u by others", between, n->more);
	fputs(" of the windows\n", out);
}

/* Those that are of the same windows as the first of them, which is the i-th. */
static void kinds_of_same(FILE *out, const struct window_result *w, const Jxp__Kind *kinds,
			  size_t count, size_t i)
{
	const struct merged_kind *of = w->merged->kinds, *first = &of[kinds[i]];

	for (size_t before = 0; before < i; before++)
		if (merged_kind_is_of_same(&of[kinds[before]], first))
			return;
	for (size_t k = i; k < count; k++)
		if (merged_kind_is_of_same(&of[kinds[k]], first))
			fprintf(out, "%s%s", k > i ? ", " : "", kind_option(kinds[k]));
	fprintf(out, ": of %u window%s, %.1f s, which used %.1f s of CPU time\n", first->windows,
		first->windows == 1 ? "" : "s", clock_s(first->elapsed_ns),
		window_result_own_part(w) * first->whole_ns / (double)NS_PER_S);
}

/* Where not all of them are for the same. */
static void kinds(FILE *out, const struct window_result *w)
{
	Jxp__Kind kinds[KIND_VALUES];
	size_t count = kinds_list(w->request.kinds, kinds);

	if (!window_merged_kinds_differ(w->merged))
		return;
	for (size_t i = 0; i < count; i++)
		kinds_of_same(out, w, kinds, count, i);
	fputs("a kind's figures are of the windows that were for it, and shares of CPU "
	      "time are of what these used\n",
	      out);
}

/* The same for a window that was merged from others. */
static void merged_windows(FILE *out, const struct window_result *w)
{
	const struct window_merged *m = w->merged;
	char start[REPORT_TIME_BYTES], end[REPORT_TIME_BYTES];

	report_time(start, w->start_unix_ns);
	report_time(end, w->end_unix_ns);
	fprintf(
	    out,
	    "merged from %u windows (w%u to w%u) of %s%u process%s: %s%s%s, %s %s, %s collector\n",
	    m->windows, m->first, m->last, m->more_processes ? "more than " : "", m->processes,
	    m->processes == 1 ? "" : "es", w->app, w->version[0] ? " " : "", w->version,
	    w->vm[0] ? w->vm : "JVM", w->jdk, w->gc[0] ? w->gc : "unknown");
	fprintf(out, "began %s, ended %s, %.1f s in all\n", start, end,
		clock_s(window_result_elapsed_ns(w)));
	schedules(out, &m->schedules);
	kinds(out, w);
	for (int i = 0; i < MERGED_NOTES; i++)
		if (m->notes[i].windows > 0)
			difference(out, (enum merged_note)i, &m->notes[i]);
	for (unsigned i = 0; i < m->cut_count; i++)
		cut(out, &m->cuts[i]);
	if (m->hosts > 0)
		fprintf(out, "of %u host%s\n", m->hosts, m->hosts == 1 ? "" : "s");
	if (m->by_hosts)
		fputs("intervals say how these hosts differ\n", out);
	else if (m->batches > 1)
		fprintf(out, "intervals say how these windows differ, in %u batches\n", m->batches);
	if (m->object_batches > 0 && m->object_batches < MERGED_SITE_BATCHES)
		fprintf(out,
			"those of allocation sites are of sampling: %u windows are too few to tell "
			"how their objects differ\n",
			m->object_batches);
}

static void samples(FILE *out, const struct window_result *w)
{
	const uint64_t *counters = w->counters;

	if (window_result_profiles_cpu_alone(w))
		fprintf(out, "%" PRIu64 " ticks", window_result_samples(w));
	else
		fprintf(out,
			"%" PRIu64 " samples, %" PRIu64 " watchpoints armed, %" PRIu64
			" pairs completed",
			counters[JXP__COUNTER__COUNTER_SAMPLES],
			counters[JXP__COUNTER__COUNTER_ARMED], counters_pairs(counters));
	fprintf(out, ", %" PRIu64 " threads\n", counters[JXP__COUNTER__COUNTER_THREADS]);
}

/* Else it says nothing of what accesses are weighted by. */
static bool shows_accesses(const struct report_model *m)
{
	return m->kind_count > 0 || m->objects.tracked || m->numa.asked;
}

static void header(FILE *out, const struct report_model *m)
{
	const struct window_result *w = m->window;

	if (w->merged)
		merged_windows(out, w);
	else
		one_window(out, m);
	fprintf(out, "sampler %s (%s)\n", name_of_sampler(w->findings.sampler),
		w->findings.sampler_reason);
	period(out, &m->period);
	fprintf(out, ", budget %g%%, %u debug registers\n", w->request.budget * 100,
		w->request.registers);
	samples(out, w);
	overhead(out, m);
	if (shows_accesses(m) && sampler_note(w->findings.sampler))
		report_text_wrapped(out, sampler_note(w->findings.sampler), m->columns);
	fputc('\n', out);
}

int report_text_write(FILE *out, const struct report_model *m, size_t pairs)
{
	if ((m->kind_count > 0 || m->problems.count > 0) && m->shown.findings)
		report_text_findings(out, m);
	header(out, m);
	if (m->kind_count > 0)
		report_text_pairs(out, m, pairs);
	if (m->objects.tracked) {
		if (m->kind_count > 0)
			fputc('\n', out);
		report_text_classes(out, m, pairs);
		report_text_objects(out, m, pairs);
	}
	if (m->numa.asked) {
		fputc('\n', out);
		report_text_numa(out, m);
	}
	if (m->cpu.taken) {
		if (shows_accesses(m))
			fputc('\n', out);
		report_text_cpu(out, m, pairs);
	}
	if (m->loops.taken && m->shown.loops) {
		if (shows_accesses(m) || m->cpu.taken)
			fputc('\n', out);
		report_text_loops(out, m, pairs);
	} else if (m->shown.loops_alone) {
		fputs("The window was not for loops (kind loops): nothing is known of them.\n",
		      out);
	}
	if (m->subsuming.analysed)
		subsume_write_text(out, &m->subsuming.summary);
	else if (m->shown.subsuming)
		fputs("No ticks were taken (kind cpu): nothing is known of methods that subsume "
		      "others.\n",
		      out);
	else if (m->shown.contexts && !m->cpu.taken)
		fputs("No ticks were taken (kind cpu): where the CPU time went is not known.\n",
		      out);
	if (m->shown.quality_whole)
		report_text_quality_whole(out, m);
	else if (m->shown.quality)
		report_text_quality(out, m);
	return 0;
}
