/* A comparison for people. */
#include "compare/output.h"

#include <inttypes.h>
#include <math.h>

#include "common/clock.h"

#define PARTS_SHOWN 3u
#define PATH_SHOWN  4u

/* The share for which it is said what a difference would have had to be. */
#define EXAMPLE_SHARE 0.1

/* So much of the CPU time is too much for compilers in a program that has run for a while. */
#define COMPILERS_MANY 0.2

/* Which windows of a merge its kinds are of, where these differ, and which are not in it. */
static void windows(FILE *out, const struct compare_side *s)
{
	for (int kind = 0; kind < KIND_VALUES; kind++)
		if (s->kinds[kind].windows > 0 && s->kinds[kind].windows < s->windows)
			fprintf(out, "   %s: of %u of the windows, %.1f s\n",
				kind_option((Jxp__Kind)kind), s->kinds[kind].windows,
				s->kinds[kind].elapsed_s);
	for (size_t i = 0; i < s->note_count; i++)
		fprintf(out, "   %s%u of the windows %s\n", s->notes[i].skipped ? "left out: " : "",
			s->notes[i].windows, s->notes[i].words);
}

static void side(FILE *out, char letter, const struct compare_side *s)
{
	fprintf(out, "%c  %s", letter, s->name);
	if (s->windows > 1)
		fprintf(out, ": %u windows", s->windows);
	else if (s->id[0])
		fprintf(out, ": window %s (pid %d)", s->id, s->pid);
	fprintf(out, " of %s, JDK %s, from %s, %.1f s", s->app, s->jdk, s->start, s->elapsed_s);
	if (s->unit == COMPARE_CHECKED) {
		fputs(", not of kind cpu\n", out);
		windows(out, s);
		return;
	}
	fprintf(out, ", %.1f s of CPU time (%.2f CPUs), %.0f ticks\n",
		s->whole_ns / (double)NS_PER_S, comparison_cpus(s), s->ticks);
	if (comparison_compilers_ns(s) >= COMPILERS_MANY * s->whole_ns)
		fprintf(out,
			"   left out: %.1f s of the compilers' threads; the JVM may still be "
			"warming up\n",
			comparison_compilers_ns(s) / (double)NS_PER_S);
	windows(out, s);
}

static const char *word(const struct change *c)
{
	if (!c->shown)
		return "no";
	return c->difference < 0 ? "less" : "more";
}

static void points(FILE *out, const struct change *c)
{
	fprintf(out, "%5.1f%% to %5.1f%%: %+.1f (%+.1f to %+.1f)", 100 * c->share[0],
		100 * c->share[1], 100 * c->difference, 100 * c->low, 100 * c->high);
}

/* ---------------------------------------------------------------- rows */

static void path(FILE *out, const struct comparison *c, const struct comparison_row *row)
{
	if (row->path_length < 2)
		return;
	fputs("    called by", out);
	for (unsigned i = 1; i < row->path_length && i <= PATH_SHOWN; i++)
		fprintf(out, "%s %s", i > 1 ? " <" : "", c->tree.methods[row->path[i]].name);
	fputs(row->path_length > PATH_SHOWN + 1 ? " < more\n" : "\n", out);
}

static void problem(FILE *out, const struct comparison_row *row)
{
	static const char *const others[2] = {", not among B's first five",
					      ", not among A's first five"};

	bool both = row->problem[0] && row->problem[1];

	for (int s = 0; s < 2; s++)
		if (row->problem[s])
			fprintf(out, "    problem of %c%s: %s\n", "AB"[s], both ? "" : others[s],
				row->problem[s]);
}

static void parts(FILE *out, const struct comparison *c, size_t position)
{
	unsigned shown = 0;

	for (size_t i = 0; i < c->shown_count && shown < PARTS_SHOWN; i++) {
		const struct comparison_row *part = &c->rows[i];

		if (part->part_of != position)
			continue;
		fputs(shown++ ? ", " : "    of it ", out);
		fprintf(out, "%s %.1f%% to %.1f%%", c->tree.methods[part->at.method].name,
			100 * part->change.share[0], 100 * part->change.share[1]);
	}
	if (shown > 0)
		fputc('\n', out);
}

static const char *place_words(const struct comparison_row *r)
{
	if (r->at.spill)
		return "values that the compiler keeps on a stack";
	return r->at.name[0] ? r->at.name : "memory without a name";
}

static void row(FILE *out, const struct comparison *c, size_t position, unsigned rank)
{
	const struct comparison_row *r = &c->rows[position];
	const char *method = c->tree.methods[r->at.method].name;

	fprintf(out, "#%-3u %s  ", rank, word(&r->change));
	points(out, &r->change);
	if (r->kind) {
		fprintf(out, "\n    %s of %s in %s\n", r->kind->title, place_words(r), method);
		problem(out, r);
		return;
	}
	fprintf(out, "\n    %s, its own time %.1f%% to %.1f%%\n", method, 100 * r->own.share[0],
		100 * r->own.share[1]);
	if (r->moved)
		fprintf(
		    out,
		    "    other code in %s became %s by about as much: perhaps renamed, or inlined "
		    "in another way\n",
		    c->tree.methods[r->path[1]].name, r->change.difference < 0 ? "more" : "less");
	problem(out, r);
	parts(out, c, position);
	path(out, c, r);
}

/* How many would be there. */
static unsigned rows(FILE *out, const struct comparison *c, size_t limit)
{
	unsigned count = 0;

	for (size_t i = 0; i < c->shown_count; i++) {
		if (!comparison_row_leads(&c->rows[i]))
			continue;
		if (count++ == 0)
			fprintf(out, "\n%s, in A and B, difference in points\n",
				c->unit == COMPARE_CPU
				    ? "Methods, with what they call, and wasteful accesses: "
				      "percent of CPU time without the compilers'"
				    : "Wasteful accesses: percent of the bytes that were checked "
				      "for their kind");
		if (count <= limit)
			row(out, c, i, count);
	}
	return count;
}

static void kinds(FILE *out, const struct comparison *c)
{
	bool begun = false;

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct comparison_kind *k = &c->kinds[pair_kinds[i].kind];

		if (!k->compared)
			continue;
		if (!begun)
			fputs(c->unit == COMPARE_CPU ? "\nCPU time at first accesses of wasteful "
						       "pairs (not what removing them saves)\n"
						     : "\nWasteful part of the checked bytes\n",
			      out);
		begun = true;
		fprintf(out, "%-14s ", pair_kinds[i].title);
		points(out, &k->change);
		fprintf(out, "  %s\n", k->change.shown ? word(&k->change) : "no difference shown");
	}
}

/* ---------------------------------------------------------------- what it means */

static void basis(FILE *out, const struct comparison *c)
{
	const struct compare_work *w = &c->work;

	if (c->unit == COMPARE_CHECKED) {
		fputs("What it costs is not known: profile with kind cpu, and CPU time is "
		      "compared.\n",
		      out);
		return;
	}
	switch (w->basis) {
	case COMPARE_BY_OPERATIONS:
		fprintf(out,
			"B's shares are multiplied by %.3f: they are of the CPU time that A takes "
			"for as many "
			"operations, of which %g and %g were done a second.\n",
			w->factor.factor, w->per_second[0], w->per_second[1]);
		break;
	case COMPARE_BY_METHODS:
		fprintf(out,
			"%u methods with %.0f%% of A's CPU time agree on how much the same work "
			"takes%s.\n",
			w->methods, 100 * w->share[0],
			w->shown ? "; B's shares are multiplied by that"
				 : "; it is not shown to differ");
		break;
	default:
		fputs("Too few methods agree on how much CPU time the same work takes: where a "
		      "share falls, the others rise.\nWhat was done is not known: say it with "
		      "--operations A,B, how many a second in each.\n",
		      out);
	}
}

/* Tells what a part of EXAMPLE_SHARE would have had to change by. */
static double visible(const struct comparison *c, const struct change_whole whole[2])
{
	struct compare_sums sums[2];

	for (int i = 0; i < 2; i++) {
		double tick = whole[i].amount / whole[i].ticks;

		sums[i].amount = EXAMPLE_SHARE * whole[i].amount;
		sums[i].squares = sums[i].amount * tick;
		sums[i].count = sums[i].amount / tick;
	}
	return change_of(sums, whole, &(struct change_factor){1, 0}, c->quantile).high;
}

static void examples(FILE *out, const struct comparison *c)
{
	if (c->unit == COMPARE_CPU)
		fprintf(out,
			"A method of %.0f%% would have had to change by %.1f points to be "
			"shown.\n",
			100 * EXAMPLE_SHARE, 100 * visible(c, c->whole));
	for (size_t i = 0; i < PAIR_KINDS && c->unit == COMPARE_CHECKED; i++) {
		const struct comparison_kind *k = &c->kinds[pair_kinds[i].kind];

		if (k->compared)
			fprintf(out,
				"Of %s what has %.0f%% would have had to change by %.1f points to "
				"be shown.\n",
				pair_kinds[i].title, 100 * EXAMPLE_SHARE,
				100 * visible(c, k->whole));
	}
}

static void footer(FILE *out, const struct comparison *c, const struct compare_gate *gate)
{
	fprintf(out,
		"\n%u %s were compared. Intervals are corrected for that (Bonferroni): all of "
		"them are right together\nin %g%% of comparisons, and a difference is shown where "
		"its interval excludes 0. Shares of one program are taken\nto vary by %g%% of "
		"themselves between windows.\n",
		c->looked_at,
		c->unit == COMPARE_CPU ? "methods, places and kinds" : "places and kinds",
		100 * (1 - CHANGE_LEVEL), 100 * CHANGE_DRIFT);
	examples(out, c);
	basis(out, c);
	if (gate && gate->fails)
		fprintf(out, "\nGate: fails: %s\n", gate->reason);
	else if (gate)
		fprintf(out, "\nGate: passes: no rise of more than %g%% is shown\n",
			100 * gate->above);
}

void compare_text_write(FILE *out, const struct comparison *c, const struct compare_gate *gate,
			size_t limit)
{
	char line[COMPARE_HEADLINE_BYTES];
	unsigned count;

	compare_headline(c, line);
	fprintf(out, "%s\n\n", line);
	side(out, 'A', &c->sides[0]);
	side(out, 'B', &c->sides[1]);
	count = rows(out, c, limit);
	if (count > limit)
		fprintf(out, "%zu more rows differ and are not shown: use --rows\n", count - limit);
	kinds(out, c);
	footer(out, c, gate);
}
