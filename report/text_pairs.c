/* Pairs in the text report: the shares of all kinds, then of each kind its pairs by the place that
 * they touch, by the lines that they are of, and by their whole contexts. */
#include "report/text_parts.h"

#include <inttypes.h>

#include "report/writer/text_places.h"
#include "report/writer/text_writer.h"
#include "proto/words.h"

#define CELL_BYTES 48
/* One frame says no more than the line that would stand for it. */
#define FOLDED_MIN 2

/* "3.1% (2.0 to 4.6)"; "-": there was nothing to tell from. */
static const char *cell(char text[CELL_BYTES], bool known, double share, const struct interval *ci)
{
	(void)snprintf(text, CELL_BYTES, known ? "%.1f%% (%.1f to %.1f)" : "-", 100 * share,
		       100 * ci->low, 100 * ci->high);
	return text;
}

static const struct report_region *region_of(const struct report_kind *k, Jxp__Region region)
{
	for (size_t i = 0; i < PROFILE_REGIONS; i++)
		if (k->regions[i].region == region)
			return &k->regions[i];
	return NULL;
}

static void fraction_row(FILE *out, const struct report_kind *k)
{
	const struct report_region *heap = region_of(k, JXP__REGION__REGION_HEAP);
	const struct report_region *stack = region_of(k, JXP__REGION__REGION_STACK);
	char cells[4][CELL_BYTES];

	fprintf(
	    out, "%-14s %-22s %-22s %-22s %s\n", k->kind->title,
	    cell(cells[0], k->cpu.known && k->application->count > 0, k->cpu.share, &k->cpu.ci95),
	    cell(cells[1], k->application->count > 0, k->fraction, &k->ci95),
	    cell(cells[2], heap->totals->count > 0, heap->fraction, &heap->ci95),
	    cell(cells[3], stack->totals->count > 0, stack->fraction, &stack->ci95));
}

/* Writes what the columns are of. */
static void legend(FILE *out, const struct report_model *m)
{
	uint64_t jvm = 0;
	char text[512];

	for (size_t i = 0; i < m->kind_count; i++)
		jvm += m->kinds[i].jvm->checked_bytes;
	if (m->kinds[0].cpu.known)
		(void)snprintf(
		    text, sizeof(text),
		    "CPU time: at first accesses of wasteful pairs, of the %.1f s that "
		    "the program used itself%s; not what removing them saves. Checked bytes: "
		    "those of accesses "
		    "whose memory was accessed again, and how many of them in vain. In "
		    "brackets: 95%% intervals.",
		    window_result_whole_s(m->window),
		    m->window->merged && window_merged_kinds_differ(m->window->merged)
			? ", by what a kind's own windows show"
			: "");
	else
		(void)snprintf(text, sizeof(text),
			       "Checked bytes: those of accesses whose memory was accessed again, "
			       "and how many of them in vain. In brackets: 95%% intervals.");
	report_text_wrapped(out, text, m->columns);
	if (jvm > 0)
		fprintf(out,
			"%" PRIu64 " checked bytes of the virtual machine's own memory are kept "
			"apart.\n",
			jvm);
}

static void fractions(FILE *out, const struct report_model *m)
{
	fprintf(out, "%-14s %-22s %-22s %-22s %s\n", "kind", "of CPU time", "of checked bytes",
		"on the heap", "on stacks");
	for (size_t i = 0; i < m->kind_count; i++)
		fraction_row(out, &m->kinds[i]);
	legend(out, m);
}

/* ---------------------------------------------------------------- tables */

static void columns(FILE *out, const char *title)
{
	fprintf(out, "%8s  %-15s %8s %9s %9s  %s\n", "CPU time", "95% interval", "of bytes",
		"wasteful", "of pairs", title);
}

/* The share of CPU time, that of checked bytes, and of how many pairs these are. */
static void figures(FILE *out, const struct ranked_pair *row)
{
	char interval[CELL_BYTES] = "";

	if (row->cpu.known) {
		(void)snprintf(interval, sizeof(interval), "%.1f to %.1f%%",
			       100 * row->cpu.ci95.low, 100 * row->cpu.ci95.high);
		fprintf(out, "%7.1f%%", 100 * row->cpu.share);
	} else {
		fprintf(out, "%8s", "-");
	}
	fprintf(out, "  %-15s %7.1f%% %9" PRIu64 " %9" PRIu64 "  ", interval, 100 * row->fraction,
		row->sum.wasteful_count, row->sum.count);
}

static void place_row(FILE *out, const struct report_model *m, const struct ranked_pair *row)
{
	figures(out, row);
	report_text_place(out, &m->window->profile, row->sum.location,
			  (Jxp__Region)row->sum.region);
	fputc('\n', out);
}

static void line_row(FILE *out, const struct report_model *m, const struct ranked_pair *row)
{
	const struct profile *p = &m->window->profile;

	figures(out, row);
	report_text_line(out, p, row->sum.watch_node);
	fputs(", then ", out);
	if (report_is_same_line(p, row->sum.watch_node, row->sum.trap_node))
		fputs("again", out);
	else
		report_text_line(out, p, row->sum.trap_node);
	fputs(row->parts > 1 ? ": mostly " : ": ", out);
	report_text_place(out, p, row->sum.location, (Jxp__Region)row->sum.region);
	report_text_loops_of(out, m, &row->sum, false, ", ", "");
	fputc('\n', out);
}

/* A view and its words. */
struct view {
	const struct pair_ranking *ranking;
	const char *title;
	const char *one; /* "place", */
	const char *many;
	void (*row)(FILE *out, const struct report_model *m, const struct ranked_pair *row);
};

/* Writes what is too little to be shown by itself. */
static void folded(FILE *out, const struct view *v)
{
	size_t rows = v->ranking->folded_rows;

	if (rows == 0)
		return;
	figures(out, &v->ranking->folded);
	fprintf(out, "%zu %s%s with fewer than %u wasteful pairs\n", rows,
		rows == 1 ? v->one : v->many, rows == 1 ? "" : ", each", PAIRS_EVIDENCE);
}

static void table(FILE *out, const struct report_model *m, const struct view *v, size_t limit)
{
	const struct pair_ranking *r = v->ranking;
	size_t shown = r->count < limit ? r->count : limit;

	if (shown == 0 && r->folded_rows == 0)
		return;
	fputc('\n', out);
	columns(out, v->title);
	for (size_t i = 0; i < shown && !ferror(out); i++)
		v->row(out, m, &r->pairs[i]);
	if (shown < r->count)
		fprintf(out, "%zu more %s are not shown\n", r->count - shown, v->many);
	folded(out, v);
}

/* ---------------------------------------------------------------- whole contexts */

static void access_path(FILE *out, const struct profile *p, uint32_t leaf, uint32_t instruction,
			size_t left_out)
{
	const char *text = strings_get(&p->strings, instruction);

	report_text_path(out, p, leaf, text[0] ? text : "[instruction unknown]", left_out);
}

/* Where the two contexts of a pair part is what it is about: the way there, which they have in
 * common, is one line. Returns how many frames that tells of, 0 where there is nothing to fold. */
static size_t common_frames(FILE *out, const struct report_model *m, const struct pair *sum)
{
	const struct profile *p = &m->window->profile;
	uint32_t last;
	size_t common = report_text_common(p, sum->watch_node, sum->trap_node, &last);

	if (m->shown.all_frames || common < FOLDED_MIN)
		return 0;
	fprintf(out, "... (%zu frames in common, up to ", common);
	report_text_frame(out, p, last);
	fputs(")\n", out);
	return common;
}

static void pair(FILE *out, const struct report_model *m, const struct pair_kind *kind,
		 const struct ranked_pair *ranked, size_t rank)
{
	const struct profile *p = &m->window->profile;
	const struct pair *sum = &ranked->sum;
	char share[CELL_BYTES];
	size_t common;

	report_text_rule(out, NULL);
	fprintf(out, "#%zu  ", rank);
	if (ranked->cpu.known)
		fprintf(out, "%s of CPU time, ",
			cell(share, true, ranked->cpu.share, &ranked->cpu.ci95));
	fprintf(out,
		"%.1f%% of checked bytes: %" PRIu64 " wasteful bytes in %" PRIu64 " of %" PRIu64
		" pairs, %s",
		100 * ranked->fraction, sum->wasteful_bytes, sum->wasteful_count, sum->count,
		name_of_region((Jxp__Region)sum->region));
	if (sum->location) {
		fputs(", ", out);
		report_text_place(out, p, sum->location, (Jxp__Region)sum->region);
	}
	if (ranked->variants > 1)
		fprintf(out, "; the first of %zu instruction pairs is shown", ranked->variants);
	fputc('\n', out);
	common = common_frames(out, m, sum);
	access_path(out, p, sum->watch_node, sum->watch_instruction, common);
	report_text_rule(out, kind->separator);
	access_path(out, p, sum->trap_node, sum->trap_instruction, common);
	report_text_loops_of(out, m, sum, true, "", "\n");
}

/* Those with evidence, as paths, whatever the depth of recursion; what is left is one row. */
static void whole_contexts(FILE *out, const struct report_model *m, const struct report_kind *k,
			   size_t limit)
{
	const struct pair_ranking *r = &k->by_turns;
	size_t evidence = 0;

	fputs("\nWhole calling contexts\n", out);
	for (size_t i = 0; i < r->count && !ferror(out); i++)
		if (ranked_pair_is_evidence(&r->pairs[i]) && ++evidence <= limit)
			pair(out, m, k->kind, &r->pairs[i], evidence);
	if (evidence > 0 && limit > 0)
		report_text_rule(out, NULL);
	if (evidence > limit)
		fprintf(out, "%zu more pairs are not shown\n", evidence - limit);
	if (r->folded_rows == 0)
		return;
	columns(out, "whole calling contexts");
	folded(out, &(struct view){.ranking = r,
				   .one = "pair of calling contexts",
				   .many = "pairs of calling contexts"});
}

/* ---------------------------------------------------------------- a kind */

static void spills(FILE *out, const struct report_model *m, const struct report_kind *k)
{
	char share[CELL_BYTES], text[256];

	if (k->spills.sum.wasteful_count == 0)
		return;
	(void)snprintf(text, sizeof(text),
		       "%s of checked bytes are compiler's spills, values that did not fit into "
		       "registers: little can be done about these.",
		       cell(share, true, k->spills.fraction, &k->spills.ci95));
	report_text_wrapped(out, text, m->columns);
}

static void kind(FILE *out, const struct report_model *m, const struct report_kind *k, size_t limit)
{
	fprintf(out, "\n%s\n", k->kind->heading);
	spills(out, m, k);
	if (k->pairs.count == 0) {
		fputs("none found\n", out);
		return;
	}
	if (m->shown.fields)
		table(out, m,
		      &(struct view){&k->by_location, "field or other place", "place", "places",
				     place_row},
		      limit);
	if (m->shown.lines)
		table(out, m,
		      &(struct view){&k->by_lines, "lines", "pair of lines", "pairs of lines",
				     line_row},
		      limit);
	if (m->shown.pairs)
		whole_contexts(out, m, k, limit);
}

void report_text_pairs(FILE *out, const struct report_model *m, size_t limit)
{
	fractions(out, m);
	for (size_t i = 0; i < m->kind_count; i++)
		kind(out, m, &m->kinds[i], limit);
}
