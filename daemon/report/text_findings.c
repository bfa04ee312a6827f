/* The first lines of the text report: at most three sentences that say which places and lines cost
 * the most CPU time for nothing, and how sure that is. */
#include "daemon/report/text_parts.h"

#include <inttypes.h>
#include <math.h>

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

/* To two digits. */
static double rounded_up(double seconds)
{
	double unit = pow(10, floor(log10(fmax(seconds, 1))) - 1);

	return ceil(seconds / unit) * unit;
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
		fprintf(out,
			"Nothing stands out yet: of %" PRIu64 " pairs of accesses %" PRIu64
			" were wasteful, none of them on the same\nfields and lines %u times or "
			"more. A window of %.0f s may show which matter (this one: %.1f s).\n",
			all, wasteful, PAIRS_EVIDENCE, rounded_up(m->evidence_s),
			(double)m->elapsed_ns / (double)NS_PER_S);
	else
		fprintf(out, "None of the %" PRIu64 " wasteful pairs of accesses is shown.\n",
			wasteful);
}

void report_text_findings(FILE *out, const struct report_model *m)
{
	if (m->finding_count == 0)
		nothing(out, m);
	else
		fputs("What to look at first (in brackets: 95% intervals)\n", out);
	for (size_t i = 0; i < m->finding_count; i++)
		finding(out, m, i);
	fputc('\n', out);
}
