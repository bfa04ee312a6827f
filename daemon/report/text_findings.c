/* The first lines of the text report: where most of the CPU time goes, if that is not compiled Java
 * code; then at most three sentences that say which places and lines cost the most CPU time for
 * nothing, and how sure that is. */
#include "daemon/report/text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/clock.h"
#include "daemon/report/text_places.h"
#include "daemon/report/writer/text_writer.h"

/* "3.1% of CPU time (2.0 to 4.6%)", or of checked bytes where that is all that is known. */
static void share(FILE *out, const struct report_finding *f)
{
	const struct ranked_pair *row = f->row;
	const struct interval *ci = row->cpu.known ? &row->cpu.ci95 : &row->ci95;

	report_text_percent(out, row->cpu.known ? row->cpu.share : row->fraction);
	if (row->cpu.known)
		fputs(" of CPU time", out);
	else
		fprintf(out, " of the bytes checked for %s", f->kind->kind->title);
	fprintf(out, " (%.1f to %.1f%%)", 100 * ci->low, 100 * ci->high);
}

static void leaf(FILE *out, const struct profile *p, uint32_t node)
{
	if (node)
		report_text_frame(out, p, node);
	else
		fputs("[calling context unknown]", out);
}

/* "removing the second load could save up to 0.4% of CPU time (0.2 to 0.9%)". */
static void gain(FILE *out, const struct report_finding *f)
{
	const struct cpu_share *gain = &f->row->gain;

	if (!gain->known)
		return;
	fprintf(out, ",\n   removing the %s could save up to ", f->kind->kind->removable);
	report_text_percent(out, gain->share);
	fprintf(out, " of CPU time (%.1f to %.1f%%)", 100 * gain->ci95.low, 100 * gain->ci95.high);
}

static void finding(FILE *out, const struct report_model *m, size_t rank)
{
	const struct report_finding *f = &m->findings[rank];
	const struct profile *p = &m->window->profile;
	const struct pair *sum = &f->row->sum;
	const char *access = f->kind->kind->access;

	fprintf(out, "%zu. ", rank + 1);
	report_text_place(out, p, sum->location, (Jxp__Region)sum->region);
	fprintf(out, " %s %s: ", report_place_is_plural(p, sum->location) ? "are" : "is",
		f->kind->kind->finding);
	share(out, f);
	fputs("\n   ", out);
	if (report_is_same_line(p, sum->watch_node, sum->trap_node)) {
		fprintf(out, "%s, and %s again, in ", access, access);
	} else {
		fprintf(out, "%s in ", access);
		leaf(out, p, sum->watch_node);
		fprintf(out, ",\n   %s again in ", access);
	}
	leaf(out, p, sum->trap_node);
	report_text_loops_of(out, m, sum, false, ",\n   ", "");
	gain(out, f);
	fputc('\n', out);
}

/* Of the application's memory that is no stack. */
static uint64_t wasteful_pairs(const struct report_model *m)
{
	uint64_t count = 0;

	for (size_t i = 0; i < m->kind_count; i++)
		for (size_t j = 0; j < PROFILE_REGIONS; j++)
			if (m->kinds[i].regions[j].region != JXP__REGION__REGION_STACK)
				count += m->kinds[i].regions[j].totals->wasteful_count;
	return count;
}

static uint64_t all_pairs(const struct report_model *m)
{
	uint64_t count = 0;

	for (size_t i = 0; i < m->kind_count; i++)
		count += m->kinds[i].application->count;
	return count;
}

/* A window at this budget brings evidence in less time, and is what people can bear for once. */
#define BUDGET_ADVISED 0.05

/* To two digits. */
static double rounded_up(double seconds)
{
	double unit = pow(10, floor(log10(fmax(seconds, 1))) - 1);

	return ceil(seconds / unit) * unit;
}

/* Evidence comes with the budget and with the time. */
static void too_little(FILE *out, const struct report_model *m, uint64_t all, uint64_t wasteful)
{
	double budget = m->window->request.budget;
	double elapsed_s = (double)m->elapsed_ns / (double)NS_PER_S;
	double advised_s = m->evidence_s * budget / BUDGET_ADVISED;

	fprintf(out,
		"Nothing stands out yet: of %" PRIu64 " pairs of accesses %" PRIu64
		" were wasteful, none of them on the same\nfields and lines %u times or more. %u "
		"of one place are to be expected in a window of %.0f s",
		all, wasteful, PAIRS_EVIDENCE, PAIRS_EVIDENCE, rounded_up(m->evidence_s));
	if (budget > 0 && budget < BUDGET_ADVISED)
		fprintf(out, ",\nor of %.0f s with --budget %g%%", rounded_up(advised_s),
			100 * BUDGET_ADVISED);
	fprintf(out, " (this one: %.1f s, %g%%).\n", elapsed_s, 100 * budget);
}

static void nothing(FILE *out, const struct report_model *m)
{
	uint64_t wasteful = wasteful_pairs(m), all = all_pairs(m);

	if (all == 0)
		fputs("Nothing can be said of waste: no pair of accesses was completed.\n", out);
	else if (wasteful == 0)
		fprintf(out,
			"No waste was found outside stacks: %" PRIu64 " pairs of accesses were "
			"checked.\n",
			all);
	else if (m->evidence_s > 0)
		too_little(out, m, all, wasteful);
	else
		fprintf(out, "None of the %" PRIu64 " wasteful pairs of accesses is shown.\n",
			wasteful);
}

/* What memory accesses are not the story of, where that is most of the CPU time. */
#define ELSEWHERE_MIN  0.5
#define ELSEWHERE_PART 0.1 /* that is worth a word */

struct elsewhere {
	double fraction;
	const char *words;
};

static int compare_elsewhere(const void *a, const void *b)
{
	const struct elsewhere *x = a, *y = b;

	return x->fraction < y->fraction ? 1 : x->fraction > y->fraction ? -1 : 0;
}

static void elsewhere(FILE *out, const struct report_cpu *c)
{
	struct elsewhere parts[] = {
	    {c->jit, "in the compilers' threads"},
	    {c->gc, "in the collector's threads"},
	    {c->kernel, "in the kernel"},
	    {c->interpreted, "in interpreted code"},
	    {c->native, "in native code, and in the JVM for Java code"},
	    {c->no_java + c->other, "in threads that run no Java code, or were not sampled"},
	};
	double sum = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		sum += parts[i].fraction;
	if (!c->taken || sum < ELSEWHERE_MIN)
		return;
	qsort(parts, sizeof(parts) / sizeof(parts[0]), sizeof(parts[0]), compare_elsewhere);
	fprintf(out,
		"Memory accesses are not where most of the CPU time goes: %.0f%% is not in "
		"compiled Java code.\n",
		100 * sum);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].fraction >= ELSEWHERE_PART || i == 0)
			fprintf(out, "   %.0f%% %s\n", 100 * parts[i].fraction, parts[i].words);
	fputc('\n', out);
}

void report_text_findings(FILE *out, const struct report_model *m)
{
	elsewhere(out, &m->cpu);
	if (m->finding_count == 0)
		nothing(out, m);
	else
		fputs("What to look at first (in brackets: 95% intervals)\n", out);
	for (size_t i = 0; i < m->finding_count; i++)
		finding(out, m, i);
	fputc('\n', out);
}
