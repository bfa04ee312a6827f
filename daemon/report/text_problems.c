/* A problem in the text report: a sentence with names, and below it where, what it costs, and what
 * has helped others. */
#include "daemon/report/text_parts.h"

#include <inttypes.h>

#include "daemon/report/writer/text_places.h"
#include "proto/kinds.h"

/* Places that are named one by one. */
#define NAMED_MAX 2

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
			fputs(i > 0 && i + 1 == problem->place_count ? " and "
			      : i > 0                                ? ", "
								     : "",
			      out);
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
		fputs(i > 0 && i + 1 == a->class_count ? " and " : i > 0 ? ", " : "", out);
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

const char *report_problem_advice(const struct problem *problem)
{
	return is_loops(problem) && problem->loop->advice_count > 0
		   ? problem->loop->advice[0]->words
		   : problem_words[problem->kind].advice;
}

static void maker(FILE *out, const struct profile *p, const struct problem *problem)
{
	if (problem->allocated.maker == problem->method)
		return;
	fprintf(out, ", %.0f%% of it in ", 100 * problem->allocated.maker_part);
	report_text_method(out, p, problem->allocated.maker);
}

void report_text_problem_sentence(FILE *out, const struct profile *p, const struct problem *problem,
				  const char *gap)
{
	const struct problem_words *words = &problem_words[problem->kind];

	report_text_method(out, p, problem->method);
	if (is_loops(problem)) {
		bool searches = problem->kind == PROBLEM_SEARCHED;

		fprintf(out, " %s in a loop,%sin %.0f%% of its %s",
			searches ? "goes on without a result" : "does again what it did", gap,
			100 * problem->fraction,
			problem->loop->verdict == LOOP_REDUNDANT_INSTANCES ? "instances" : "turns");
		return;
	}
	fprintf(out, " %s ", words->verb);
	if (problem->kind == PROBLEM_ALLOCATED) {
		classes(out, p, &problem->allocated);
		maker(out, p, problem);
		fprintf(out, ":%s%.0f%% of all bytes that are allocated", gap,
			100 * problem->fraction);
		return;
	}
	places(out, p, problem);
	fprintf(out, "%s%s%s %.0f%% of its %s", words->stop, gap, words->rest,
		100 * problem->fraction, words->whole ? "stores" : "accesses");
}

static void percents(FILE *out, const struct cpu_share *share)
{
	report_text_percent(out, share->share);
	fprintf(out, " of CPU time (%.1f to %.1f%%)", 100 * share->ci95.low,
		100 * share->ci95.high);
}

static void costs(FILE *out, const struct problem *problem)
{
	bool allocates = problem->kind == PROBLEM_ALLOCATED;

	if (problem->saved.known) {
		fprintf(out, "   %s could save ",
			allocates ? "without these objects one" : "not doing it again");
		percents(out, &problem->saved);
		fprintf(out, "; in bounds of %.1f to %.1f%%:\n   ", 100 * problem->saved_bounds.low,
			100 * problem->saved_bounds.high);
		fputs(allocates           ? "allocating and these objects' methods take "
		      : is_loops(problem) ? "the loop takes "
					  : "its methods that make these accesses take ",
		      out);
		report_text_percent(out, problem->own.share);
		fputs(", ", out);
		report_text_percent(out, problem->inclusive);
		fputs(" with all that it calls\n", out);
	}
	if (!problem->gain.known)
		return;
	fprintf(out, "   removing only the %s could save at most about ",
		pair_kind_find(problem->pairs_kind)->removable);
	percents(out, &problem->gain);
	fputc('\n', out);
}

/* Worth a word beside another problem. */
#define ALLOCATED_PART 0.03

static void allocations(FILE *out, const struct profile *p, const struct problem *problem)
{
	const struct problem_allocation *a = &problem->allocated;

	if (problem->kind != PROBLEM_ALLOCATED) {
		if (a->fraction_ci95.low < ALLOCATED_PART)
			return;
		fprintf(out,
			"   the same operation allocates %.0f%% of all bytes (%.0f to %.0f%%): ",
			100 * a->fraction, 100 * a->fraction_ci95.low, 100 * a->fraction_ci95.high);
		classes(out, p, a);
		fputc('\n', out);
	}
	fprintf(out, "   %.3g objects a second, %.0f%% garbage by the end; ", a->per_s,
		100 * a->garbage);
	report_text_percent(out, a->gc_share);
	fputs(" of CPU time is the collector's for them, if that goes by bytes\n", out);
}

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

static void where(FILE *out, const struct report_model *m, const struct problem *problem)
{
	const struct profile *p = &m->window->profile;
	const char *prefix = "   ";

	if (problem->largest) {
		fputs(prefix, out);
		pair_lines(out, p, problem);
		prefix = ",\n   ";
	}
	if (problem->caller) {
		fprintf(out, "%s%.0f%% when called from ", prefix, 100 * problem->caller_part);
		report_text_method(out, p, problem->caller);
		prefix = ",\n   ";
	}
	if (problem->largest)
		report_text_loops_of(out, m, problem->largest, true, prefix, "");
	if (problem->largest || problem->caller)
		fputc('\n', out);
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
	fprintf(out, "worth trying: %s\n", report_problem_advice(problem));
}

void report_text_problem(FILE *out, const struct report_model *m, size_t rank)
{
	const struct problem *problem = &m->problems.list[rank];
	const struct profile *p = &m->window->profile;

	fprintf(out, "%zu. ", rank + 1);
	report_text_problem_sentence(out, p, problem, "\n   ");
	fprintf(out, " (%.0f to %.0f%%)\n", 100 * problem->fraction_ci95.low,
		100 * problem->fraction_ci95.high);
	where(out, m, problem);
	costs(out, problem);
	allocations(out, p, problem);
	loop(out, m, problem);
	evidence(out, problem);
}
