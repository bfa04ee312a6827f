/* A problem in the text report: a sentence with names, and below it where, what it costs, and what
 * has helped others. */
#include "report/text_parts.h"

#include <inttypes.h>

#include "report/writer/text_places.h"
#include "proto/kinds.h"

/* Places that are named one by one. */
#define NAMED_MAX 2

/* Gives what stands before the i-th of so many that are listed. */
static const char *joint(size_t i, size_t count)
{
	if (i == 0)
		return "";
	return i + 1 == count ? " and " : ", ";
}

/* "Attribute.name", "elements of long[] and Attribute.name", "3 fields of Attribute and others". */
static void places(FILE *out, const struct profile *p, const struct problem *problem)
{
	Jxp__Region region = (Jxp__Region)problem->largest->region;
	size_t named = problem->place_count < NAMED_MAX ? problem->place_count : NAMED_MAX;

	if (problem->field_count > NAMED_MAX) {
		fprintf(out, "%zu fields of ", problem->field_count);
		report_text_owner(out, p, problem->places[0]);
		named = problem->field_count;
	} else {
		for (size_t i = 0; i < named; i++) {
			fputs(joint(i, problem->place_count), out);
			report_text_place(out, p, problem->places[i], region);
		}
	}
	if (problem->place_count > named)
		fputs(" and others", out);
}

/* "BigDecimal, ValueNumeric and others". */
static void classes(FILE *out, const struct profile *p, const struct problem_allocation *a)
{
	size_t named = a->class_count < NAMED_MAX ? a->class_count : NAMED_MAX;

	for (size_t i = 0; i < named; i++) {
		fputs(joint(i, a->class_count), out);
		report_text_class(out, p, a->classes[i].name);
	}
	if (a->class_count > named)
		fputs(" and others", out);
}

/* Is it told by a loop, and by nothing else? */
static bool is_loops(const struct problem *problem)
{
	return problem->loop && !problem->largest && problem->kind != PROBLEM_ALLOCATED;
}

static void maker(FILE *out, const struct profile *p, const struct problem *problem)
{
	if (problem->allocated.maker == problem->method)
		return;
	fprintf(out, ", %.0f%% of it in ", 100 * problem->allocated.maker_part);
	report_text_method(out, p, problem->allocated.maker);
}

/* ---------------------------------------------------------------- the sentence */

/* "99%", this, "(98 to 100%)". */
static void part_in_vain(FILE *out, const struct problem *problem, const char *of)
{
	fprintf(out, "%.0f%% of %s (%.0f to %.0f%%)", 100 * problem->fraction, of,
		100 * problem->fraction_ci95.low, 100 * problem->fraction_ci95.high);
}

/* Writes what the part is of: what of the operation's accesses was looked at. */
static void accesses_in_vain(FILE *out, const struct problem *problem)
{
	bool stores = problem->pairs[JXP__KIND__KIND_DEAD_STORE].count +
			  problem->pairs[JXP__KIND__KIND_SILENT_STORE].count >
		      0;
	bool loads = problem->pairs[JXP__KIND__KIND_SILENT_LOAD].count > 0 &&
		     !problem_words[problem->kind].whole;

	if (stores && loads) {
		part_in_vain(out, problem, "its sampled accesses");
		fputs(" are in vain", out);
	} else if (loads) {
		part_in_vain(out, problem, "its sampled loads");
		fputs(" gave the same value", out);
	} else {
		part_in_vain(out, problem, "these stores");
		fputs(problem->pairs_kind == JXP__KIND__KIND_DEAD_STORE
			  ? " are overwritten before anybody reads them"
			  : " write the value that is there already",
		      out);
	}
}

static void loop_in_vain(FILE *out, const struct problem *problem, const char *gap)
{
	fprintf(out, " %s in a loop,%sin ",
		problem->kind == PROBLEM_SEARCHED ? "goes on without a result"
						  : "does again what it did",
		gap);
	part_in_vain(out, problem,
		     problem->loop->verdict == LOOP_REDUNDANT_INSTANCES ? "the times it is entered"
									: "its turns");
}

void report_text_problem_sentence(FILE *out, const struct profile *p, const struct problem *problem,
				  const char *gap)
{
	const struct problem_words *words = &problem_words[problem->kind];

	report_text_method(out, p, problem->method);
	if (is_loops(problem)) {
		loop_in_vain(out, problem, gap);
		return;
	}
	fprintf(out, " %s ", words->verb);
	if (problem->kind == PROBLEM_ALLOCATED) {
		classes(out, p, &problem->allocated);
		maker(out, p, problem);
		fprintf(out, ":%s", gap);
		part_in_vain(out, problem, "all bytes that are allocated");
		return;
	}
	places(out, p, problem);
	fprintf(out, "%s;%s", words->rest, gap);
	accesses_in_vain(out, problem);
}

/* ---------------------------------------------------------------- what it costs */

/* Less than that is 0.0%. */
#define SHOWN_MIN 0.0005

void report_text_problem_saved(FILE *out, const struct problem *problem)
{
	const struct interval *bounds = &problem->saved_bounds;
	const char *change = "a rewrite that does not do it again";

	if (problem->kind == PROBLEM_ALLOCATED)
		change = "a rewrite without these objects";
	else if (is_loops(problem) && problem->loop->verdict == LOOP_RESULTLESS)
		change = "leaving out these turns";
	fprintf(out, "%s could save ", change);
	report_text_percent(out, problem->saved.share);
	fprintf(out, " of CPU time (%.1f to %.1f%%), at least ", 100 * problem->saved.ci95.low,
		100 * problem->saved.ci95.high);
	report_text_percent(out, bounds->low);
	fputs(" and at most ", out);
	report_text_percent(out, bounds->high);
}

static void taken(FILE *out, const struct profile *p, const struct problem *problem)
{
	const char *what = "the methods that make these accesses take ";
	bool themselves = problem->kind != PROBLEM_ALLOCATED && !is_loops(problem);

	if (problem->kind == PROBLEM_ALLOCATED)
		what = "allocating and these objects' methods take ";
	else if (is_loops(problem))
		what = "the loop, with those inside it, takes ";
	fprintf(out, "   of CPU time %s", what);
	report_text_percent(out, problem->own.share);
	fputs(themselves ? " themselves; " : "; ", out);
	if (is_loops(problem))
		fputs("it", out);
	else
		report_text_method(out, p, problem->method);
	fputs(" takes ", out);
	report_text_percent(out, problem->inclusive);
	fputs(" with all that it calls\n", out);
}

static void costs(FILE *out, const struct profile *p, const struct problem *problem)
{
	const struct cpu_share *gain = &problem->gain;

	if (problem->saved.known) {
		fputs("   ", out);
		report_text_problem_saved(out, problem);
		fputc('\n', out);
		taken(out, p, problem);
	}
	if (!gain->known)
		return;
	fprintf(out, "   removing only the %s ", pair_kind_find(problem->pairs_kind)->removable);
	if (gain->ci95.high < SHOWN_MIN) {
		fputs("saves next to nothing\n", out);
		return;
	}
	fputs("could save up to ", out);
	report_text_percent(out, gain->ci95.high);
	fprintf(out,
		gain->share < SHOWN_MIN ? " (estimate: next to nothing)\n" : " (estimate %.1f%%)\n",
		100 * gain->share);
}

/* ---------------------------------------------------------------- what it allocates */

/* Worth a word beside another problem. */
#define ALLOCATED_PART 0.03

static bool tells_of_allocations(const struct problem *problem)
{
	return problem->kind == PROBLEM_ALLOCATED ||
	       problem->allocated.fraction_ci95.low >= ALLOCATED_PART;
}

/* Has a problem before it told of them? */
static bool is_told(const struct problems *problems, size_t rank)
{
	const struct problem_allocation *a = &problems->list[rank].allocated;

	for (size_t i = 0; i < rank; i++) {
		const struct problem_allocation *before = &problems->list[i].allocated;

		if (tells_of_allocations(&problems->list[i]) && before->maker == a->maker &&
		    before->classes[0].name == a->classes[0].name)
			return true;
	}
	return false;
}

/* "1.1 million": to three digits. */
static void rounded(FILE *out, double n)
{
	static const struct {
		double unit;
		const char *word;
	} units[] = {{1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}, {1, ""}};
	size_t i = 0;

	while (i < 3 && n < units[i].unit)
		i++;
	fprintf(out, "%.3g%s", n / units[i].unit, units[i].word);
}

static void allocations(FILE *out, const struct report_model *m, size_t rank)
{
	const struct problem *problem = &m->problems.list[rank];
	const struct profile *p = &m->window->profile;
	const struct problem_allocation *a = &problem->allocated;

	if (!tells_of_allocations(problem) ||
	    (problem->kind != PROBLEM_ALLOCATED && is_told(&m->problems, rank)))
		return;
	if (problem->kind != PROBLEM_ALLOCATED) {
		bool own = a->operation == problem->method;

		fputs(own ? "   the same operation allocates " : "   on behalf of ", out);
		if (!own) {
			report_text_method(out, p, a->operation);
			fputs(", which calls it, ", out);
		}
		fprintf(out, "%.0f%% of all bytes %s(%.0f to %.0f%%): ", 100 * a->fraction,
			own ? "" : "are allocated ", 100 * a->fraction_ci95.low,
			100 * a->fraction_ci95.high);
		classes(out, p, a);
		fputc('\n', out);
	}
	fputs("   ", out);
	rounded(out, a->per_s);
	fprintf(out, " objects a second, %.0f%% garbage by the end", 100 * a->garbage);
	if (problem->saved.known) {
		fputs("; ", out);
		report_text_percent(out, a->gc_share);
		fputs(" of CPU time is the collector's for them, if that goes by bytes", out);
	}
	fputc('\n', out);
}

/* ---------------------------------------------------------------- where it is */

static void line_or_nobody(FILE *out, const struct profile *p, uint32_t node)
{
	if (node)
		report_text_line(out, p, node);
	else
		fputs("[calling context unknown]", out);
}

static void pair_lines(FILE *out, const struct profile *p, const struct problem *problem)
{
	const struct pair *pair = problem->largest;
	const char *access = pair_kind_find(problem->pairs_kind)->access;

	fprintf(out, "mostly %s in ", access);
	line_or_nobody(out, p, pair->watch_node);
	if (report_is_same_line(p, pair->watch_node, pair->trap_node)) {
		fputs(", and again there", out);
	} else {
		fprintf(out, ",\n   %s again in ", access);
		line_or_nobody(out, p, pair->trap_node);
	}
}

/* The caller that most comes from, or two that much comes from. */
static bool callers(FILE *out, const struct profile *p, const struct problem *problem,
		    const char *prefix)
{
	const struct problem_caller *list = problem->callers;

	if (!list[0].method)
		return false;
	if (list[0].part >= PROBLEM_CALLER_MIN) {
		fprintf(out, "%s%.0f%% when called from ", prefix, 100 * list[0].part);
		report_text_method(out, p, list[0].method);
		return true;
	}
	for (size_t i = 0; i < PROBLEM_CALLERS_MAX && list[i].method; i++) {
		fputs(i > 0 ? ", " : prefix, out);
		fputs(i > 0 ? "" : "called from ", out);
		report_text_method(out, p, list[i].method);
		fprintf(out, " (%.0f%%)", 100 * list[i].part);
	}
	return true;
}

/* What is done with collections and strings is their callers' doing: these come first there. */
static void where(FILE *out, const struct report_model *m, const struct problem *problem)
{
	const struct profile *p = &m->window->profile;
	const char *prefix = "   ";

	if (problem->basic && callers(out, p, problem, prefix))
		prefix = ",\n   ";
	if (problem->largest) {
		fputs(prefix, out);
		pair_lines(out, p, problem);
		prefix = ",\n   ";
	}
	if (!problem->basic && callers(out, p, problem, prefix))
		prefix = ",\n   ";
	if (problem->largest)
		report_text_loops_of(out, m, problem->largest, true, prefix, "");
	if (problem->largest || problem->callers[0].method)
		fputc('\n', out);
}

static void part_of(FILE *out, const struct report_model *m, const struct problem *problem)
{
	size_t rank = problems_rank(&m->problems, problem->part_of.method);

	if (rank > 0)
		fprintf(
		    out,
		    "   problem %zu calls this (%.0f%%): a fix of that one may remove it; do not "
		    "add the two\n",
		    rank, 100 * problem->part_of.part);
}

static void loop(FILE *out, const struct report_model *m, const struct problem *problem)
{
	const struct report_loop *l = problem->loop;

	if (!l)
		return;
	fputs("   the loop at ", out);
	report_text_method(out, &m->window->profile, l->row->key.method);
	if (l->row->key.line > 0)
		fprintf(out, ":%d", l->row->key.line);
	fprintf(out, " %s (#%zu of the loops)\n",
		l->verdict == LOOP_RESULTLESS ? "has no results" : "does again what it did",
		(size_t)(l - m->loops.rows) + 1);
}

static void evidence(FILE *out, const struct problem *problem)
{
	fputs("   ", out);
	if (problem->kind == PROBLEM_ALLOCATED)
		fprintf(out, "%" PRIu64 " sampled allocations; ", problem->allocated.samples);
	if (problem->evidence > 0)
		fprintf(out, "%" PRIu64 " wasteful pairs, the method is known for %.0f%%; ",
			problem->evidence, 100 * (double)problem->told / (double)problem->evidence);
	fprintf(out, "perhaps: %s\n", problem->advice);
}

void report_text_problem(FILE *out, const struct report_model *m, size_t rank)
{
	const struct problem *problem = &m->problems.list[rank];
	const struct profile *p = &m->window->profile;

	fprintf(out, "%zu. ", rank + 1);
	report_text_problem_sentence(out, p, problem, "\n   ");
	fputc('\n', out);
	where(out, m, problem);
	costs(out, p, problem);
	part_of(out, m, problem);
	allocations(out, m, rank);
	loop(out, m, problem);
	evidence(out, problem);
}
