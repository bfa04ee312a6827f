/* The report for people, after figure 7 of the JXPerf paper: call paths root first, the instruction
 * on the leaf's line, the two accesses of a pair one below the other. */
#include "daemon/report/text.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/machine/sampler_choice.h"
#include "daemon/profile/estimate.h"
#include "daemon/report/report.h"
#include "daemon/report/side_effects_format.h"
#include "proto/counters.h"
#include "proto/kinds.h"
#include "proto/limits.h"
#include "proto/words.h"

#define RULE_COLUMNS 80
#define WRAP_COLUMNS 100

void report_text_rule(FILE *out, const char *title)
{
	int left = (RULE_COLUMNS - (int)(title ? strlen(title) : 0)) / 2;

	for (int i = 0; i < RULE_COLUMNS; i++) {
		if (title && i == left) {
			fputs(title, out);
			i += (int)strlen(title) - 1;
		} else {
			fputc(title ? '*' : '-', out);
		}
	}
	fputc('\n', out);
}

/* Writes text in lines of at most WRAP_COLUMNS, broken at blanks. */
void report_text_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > 0 && column + 1 + word > WRAP_COLUMNS) {
			fputc('\n', out);
			column = 0;
		}
		if (column > 0)
			fputc(' ', out);
		fprintf(out, "%.*s", (int)word, text);
		column += word + (column > 0);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void report_text_frame(FILE *out, const struct profile *p, uint32_t id)
{
	const struct cct_node *node = cct_node(&p->cct, id);
	const struct cct_method *method = cct_method(&p->cct, node->method);
	const char *file;

	if (!method) {
		fputs("[frame without a name]", out);
		return;
	}
	file = strings_get(&p->strings, method->file);
	fprintf(out, "%s.%s(", strings_get(&p->strings, method->class_name),
		strings_get(&p->strings, method->name));
	if (node->tier == JXP__TIER__TIER_NATIVE)
		fputs("Native Method)", out);
	else if (node->line > 0)
		fprintf(out, "%s:%d)", file[0] ? file : "Unknown Source", node->line);
	else
		fprintf(out, "%s)", file[0] ? file : "Unknown Source");
}

void report_text_path(FILE *out, const struct profile *p, uint32_t leaf, const char *label)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent)
		path[depth++] = id; /* The tree admits no deeper path. */
	while (depth > 1 && !ferror(out)) {
		report_text_frame(out, p, path[--depth]);
		fputc('\n', out);
	}
	if (label)
		fprintf(out, "%s: ", label);
	if (leaf)
		report_text_frame(out, p, leaf);
	else
		fputs("[calling context unknown]", out);
	fputc('\n', out);
}

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
	struct ranking ranking;
	int r = ranking_init(&ranking, &w->profile, kind->kind);
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
	ranking_release(&ranking);
	return 0;
}

static void quality(FILE *out, const struct window *w)
{
	const uint64_t *counters = w->counters;

	fputs("\nQuality\n", out);
	fprintf(out,
		"%10" PRIu64 " sampling ticks led to %" PRIu64 " signals, %" PRIu64
		" breakpoints on the way to an access and %.3f s in handlers\n",
		counters[JXP__COUNTER__COUNTER_TICKS], counters[JXP__COUNTER__COUNTER_SIGNALS],
		counters[JXP__COUNTER__COUNTER_HOPS],
		seconds(counters[JXP__COUNTER__COUNTER_HANDLER_NS]));
	for (size_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++) {
		uint64_t n = w->counters[counter_table[i].counter];

		if (n > 0 && counter_table[i].sentence)
			fprintf(out, "%10" PRIu64 " %s\n", n, counter_table[i].sentence);
	}
	for (int i = 0; i < LOSS_MAX; i++)
		if (w->losses[i] > 0)
			fprintf(out, "%10" PRIu64 " %s\n", w->losses[i], loss_words[i].sentence);
	if (w->gate_reason[0])
		fprintf(out, "           samples beyond the budget cost a signal: %s\n",
			w->gate_reason);
	report_side_effects_text(out, w);
	fprintf(out, "%10" PRIu64 " events were lost between a thread and this report\n",
		window_dropped(w));
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
	quality(out, w);
	return 0;
}
