/* The first lines of the text report: where most of the CPU time goes, if that is not compiled Java
 * code; then the problems, or why there are none yet. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/clock.h"
#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"

/* Pairs in the application's memory that is no stack. */
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
	double elapsed_s = clock_s(m->elapsed_ns);
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

/* There is evidence, of what nobody can help, or of too little. */
static void no_problem(FILE *out, const struct report_model *m, uint64_t all, uint64_t wasteful)
{
	fprintf(out,
		"Nothing stands out: of %" PRIu64 " pairs of accesses %" PRIu64
		" were wasteful, all of them loads that a walk\nover links, classes and lengths "
		"has to make",
		all, wasteful);
	if (m->problems.small > 0)
		fprintf(
		    out,
		    ", or in one of %zu operations where no saving\nof %g%% of CPU time is shown",
		    m->problems.small, 100 * PROBLEM_SHARE_MIN);
	fputs(".\n", out);
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
		no_problem(out, m, all, wasteful);
}

/* Memory accesses are not the story where so much of the CPU time is elsewhere. */
#define ELSEWHERE_MIN  0.5
#define ELSEWHERE_PART 0.1 /* that is worth a word */

struct elsewhere {
	double fraction;
	const char *words;
};

static int compare_elsewhere(const void *a, const void *b)
{
	const struct elsewhere *x = a, *y = b;

	return DESCENDING(x->fraction, y->fraction);
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
		"Most of the CPU time (%.0f%%) is not in compiled Java code, the only code that "
		"is looked at here:\n",
		100 * sum);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].fraction >= ELSEWHERE_PART || i == 0)
			fprintf(out, "   %.0f%% %s\n", 100 * parts[i].fraction, parts[i].words);
	fputc('\n', out);
}

void report_text_findings(FILE *out, const struct report_model *m)
{
	elsewhere(out, &m->cpu);
	if (m->problems.count == 0)
		nothing(out, m);
	else
		fputs(
		    m->problems.list[0].saved.known
			? "Work in vain, the largest estimated saving first (by the lower end of "
			  "its 95% interval)\n"
			: "Work in vain, by the part of the accesses that is in vain; CPU time is "
			  "not known\n",
		    out);
	for (size_t i = 0; i < m->problems.count; i++) {
		if (!m->problems.list[i].sure && (i == 0 || m->problems.list[i - 1].sure))
			fprintf(out,
				"Less sure, by fewer than %u wasteful pairs or %u allocations: "
				"another window may show others, a longer one more\n",
				PROBLEM_SURE, PROBLEM_SURE_ALLOCATIONS);
		report_text_problem(out, m, i);
	}
	fputc('\n', out);
}
