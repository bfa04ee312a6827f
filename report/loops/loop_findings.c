#include "report/loops/loop_findings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"

/* A doubt about less of a loop's time is none. */
#define DOUBT_MIN 0.05

/* With fewer bursts a rate above the threshold may be one burst's. */
#define BURSTS_FOR_RESULTS 5

/* Longer windows that are tried, each by a quarter longer than the one before: up to a thousand
 * times. */
#define LONGER_STEPS 31

static const struct loop_advice advice_of_type[LOOP_TYPES] = {
    [LOOP_NEVER] = {"delete", "delete it, or what needs it",
		    "no turn changes anything that is seen behind it; of the 45 loops that LDoctor "
		    "studied none was such"},
    [LOOP_LAST] = {"data_structure", "change the data structure",
		   "a search that takes long: developers fixed 4 of 5 such loops by a data "
		   "structure that needs none, and 1 by skipping it (LDoctor, table 1)"},
    [LOOP_SOME] = {"skip", "skip it where nothing will come of it",
		   "few turns have results: developers fixed 4 of 4 such loops by skipping them on "
		   "a condition (LDoctor, table 1)"},
};

const char *loop_verdict_name(enum loop_verdict verdict)
{
	static const char *const names[LOOP_VERDICTS] = {
	    [LOOP_NOT_JUDGED] = "",
	    [LOOP_VERDICT_NONE] = "none",
	    [LOOP_RESULTLESS] = "resultless",
	    [LOOP_WAITING] = "waiting",
	    [LOOP_UNDECIDED] = "undecided",
	    [LOOP_REDUNDANT_INSTANCES] = "redundant_instances",
	    [LOOP_REDUNDANT_ITERATIONS] = "redundant_iterations",
	};

	return names[verdict];
}

const char *loop_result_name(enum loop_result result)
{
	static const char *const names[LOOP_RESULTS] = {
	    [LOOP_RESULT_STORE] = "store",
	    [LOOP_RESULT_CALL] = "call",
	    [LOOP_RESULT_VALUE] = "value",
	    [LOOP_RESULT_EXIT] = "exit",
	};

	return names[result];
}

static const struct {
	const char *name, *sentence;
} doubts[LOOP_DOUBTS] = {
    {"conditional_move", "a value is set by a conditional move, and how often cannot be counted"},
    {"unroll", "its machine code may make several turns at a time: there are at least as many as "
	       "were counted"},
    {"sites", "not all places where it has results can be counted"},
    {"code", "some of its machine code was not understood"},
    {"entry", "where it is entered cannot be counted"},
    {"folded", "what it adds up may have been left to its counter by the compiler"},
    {"reads", "it reads, or calls what reads, more than was compared, which may have changed: "
	      "whether what it computed could be kept is not told"},
};

const char *loop_doubt_name(unsigned i)
{
	return doubts[i].name;
}

const char *loop_doubt_sentence(unsigned i)
{
	return doubts[i].sentence;
}

/* ---------------------------------------------------------------- judging */

/* What most of its time says. */
static enum loop_type type_of(const struct loop *row)
{
	enum loop_type type = LOOP_TYPE_UNKNOWN;

	for (unsigned i = 0; i < LOOP_TYPES; i++)
		if (row->type_ns[i] > row->type_ns[type])
			type = (enum loop_type)i;
	return type;
}

static unsigned doubts_of(const struct loop *row)
{
	unsigned found = 0;

	for (unsigned i = 0; i < LOOP_DOUBTS; i++)
		if (row->doubt_ns[i] > DOUBT_MIN * row->within.ns)
			found |= 1u << i;
	/* Copies whose turns are not known were not counted. */
	if (row->bursts > 0 && row->bursts_least == 0)
		found &= ~(unsigned)LOOP_DOUBT_UNROLL;
	return found;
}

/* Does what was counted miss results? */
static bool misses_results(unsigned found)
{
	return found & (LOOP_DOUBT_CONDITIONAL_MOVE | LOOP_DOUBT_SITES | LOOP_DOUBT_CODE |
			LOOP_DOUBT_FOLDED);
}

/* The rate by turns that are more than were counted: its machine code may make several at a time.
 */
static struct loop_rate rate_of(const struct report_loop *l, const struct loop_counts *counts,
				double times)
{
	struct loop_rate r = loop_rate_of(counts, times);

	if (l->row->bursts_least == 0)
		return r;
	r.bound = true;
	r.rate = r.ci95.low = 0;
	return r;
}

/* The rate of results, and the bound that entries set. */
static struct loop_rate result_rate(const struct report_loop *l, double times)
{
	struct loop_rate results = rate_of(l, &l->row->results, times);
	struct loop_rate entries = rate_of(l, &l->row->entries, times);

	if (misses_results(l->doubts))
		results.ci95.high = INFINITY;
	if (l->type != LOOP_LAST || !entries.known || !(entries.ci95.high < results.ci95.high))
		return results;
	if (!results.known || results.bound) {
		entries.bound = true;
		entries.rate = entries.ci95.low = 0;
		return entries;
	}
	results.rate = fmin(results.rate, entries.rate > 0 ? entries.rate : entries.ci95.high);
	results.ci95.low = fmin(results.ci95.low, entries.ci95.high);
	results.ci95.high = entries.ci95.high;
	results.bursts = fmax(results.bursts, entries.bursts);
	results.seen = fmax(results.seen, entries.seen);
	return results;
}

/* By counts, were there times as many. */
static enum loop_verdict counted_verdict(const struct report_loop *l, double times)
{
	struct loop_rate r = result_rate(l, times);

	if (!r.known)
		return LOOP_UNDECIDED;
	if (r.ci95.low > LOOP_RESULT_RATE && r.bursts >= BURSTS_FOR_RESULTS)
		return LOOP_VERDICT_NONE;
	if (r.ci95.high < LOOP_RESULT_RATE && r.bursts >= LOOP_BURSTS_MIN &&
	    r.seen >= LOOP_TURNS_MIN)
		return LOOP_RESULTLESS;
	return LOOP_UNDECIDED;
}

/* Without counts nothing but the analysis says that a loop is for nothing. So it must have
 * understood the code, and no other loop may lie in it: what that one finds is something, too. */
static enum loop_verdict verdict_of_never(const struct report_loop *l)
{
	bool around_others = l->calls || l->row->within.ns > (1 + DOUBT_MIN) * l->row->own.ns;

	return l->doubts & (LOOP_DOUBT_CODE | LOOP_DOUBT_FOLDED) || around_others ? LOOP_UNDECIDED
										  : LOOP_RESULTLESS;
}

/* By results alone. Of a recursion no results are told. */
static enum loop_verdict verdict_by_results(const struct report_loop *l)
{
	if (l->fraction < LOOP_CPU_MIN && l->inclusive_fraction < LOOP_CPU_MIN)
		return LOOP_NOT_JUDGED;
	if (l->row->waits_ns > 0.5 * l->row->within.ns)
		return LOOP_WAITING;
	if (l->row->key.recursion)
		return LOOP_VERDICT_NONE;
	switch (l->type) {
	case LOOP_EVERY:
		return LOOP_VERDICT_NONE;
	case LOOP_NEVER:
		return verdict_of_never(l);
	case LOOP_SOME:
	case LOOP_LAST:
		return counted_verdict(l, 1);
	case LOOP_TYPE_UNKNOWN:
	case LOOP_TYPES:
		break;
	}
	return LOOP_UNDECIDED;
}

static enum loop_verdict verdict_of(const struct report_loop *l)
{
	enum loop_verdict verdict = verdict_by_results(l);

	if (verdict != LOOP_VERDICT_NONE && verdict != LOOP_UNDECIDED)
		return verdict;
	if (l->again.instance_advice)
		return LOOP_REDUNDANT_INSTANCES;
	if (l->again.turn_advice)
		return LOOP_REDUNDANT_ITERATIONS;
	if (l->again.instances == LOOP_AGAIN_OPEN || l->again.turns == LOOP_AGAIN_OPEN)
		return LOOP_UNDECIDED;
	return verdict;
}

/* How long a window would take to tell, if it went on like this. */
static double needed_s(const struct report_loop *l, double elapsed_s)
{
	if (l->type != LOOP_SOME && l->type != LOOP_LAST)
		return 0;
	for (unsigned i = 1; i <= LONGER_STEPS; i++)
		if (counted_verdict(l, pow(1.25, i)) != LOOP_UNDECIDED)
			return pow(1.25, i) * elapsed_s;
	return 0;
}

static void advise(struct report_loop *l, const struct loop_advice *advice)
{
	for (unsigned i = 0; advice && i < l->advice_count; i++)
		if (strcmp(l->advice[i]->strategy, advice->strategy) == 0)
			return;
	if (advice)
		l->advice[l->advice_count++] = advice;
}

/* What a loop's calls go by is not read. Where they take the most of its time, that its own loads
 * are the same again says little of an instance; turns are compared by what they hand to calls. */
static void leave_calls_open(struct report_loop *l)
{
	if (!l->calls || l->again.instances == LOOP_AGAIN_NO)
		return;
	l->again.instances = LOOP_AGAIN_UNKNOWN;
	l->again.instance_advice = NULL;
}

/* An evaluator of expressions is handed the same expression again and again, and goes by the row
 * that it finds somewhere: keeping what it computed would break the program. Input and output is
 * told by the calls themselves. */
static void leave_reads_open(struct report_loop *l)
{
	struct loop_redundancy *again = &l->again;
	bool found = again->instances == LOOP_AGAIN_YES || again->instances == LOOP_AGAIN_OPEN ||
		     again->turns == LOOP_AGAIN_YES || again->turns == LOOP_AGAIN_OPEN;

	if (!(l->doubts & LOOP_DOUBT_READS))
		return;
	if (!found)
		l->doubts &= ~(unsigned)LOOP_DOUBT_READS;
	if (again->instances != LOOP_AGAIN_NO)
		again->instances = LOOP_AGAIN_UNKNOWN;
	again->instance_advice = NULL;
	if (again->io)
		return;
	if (again->turns != LOOP_AGAIN_NO)
		again->turns = LOOP_AGAIN_UNKNOWN;
	again->turn_advice = NULL;
}

static void judge(struct report_loop *l, const struct loop_profile *p, double elapsed_s)
{
	l->type = type_of(l->row);
	l->again = loop_redundancy_of(p, l->row, l->type);
	leave_calls_open(l);
	l->doubts = doubts_of(l->row);
	leave_reads_open(l);
	l->entries = rate_of(l, &l->row->entries, 1);
	l->length = loop_length_of(&l->row->lengths);
	l->results = result_rate(l, 1);
	l->verdict = verdict_of(l);
	if (l->verdict == LOOP_UNDECIDED) {
		l->needs_s = loop_redundancy_needs(&l->again, p, l->row) * elapsed_s;
		if (verdict_by_results(l) == LOOP_UNDECIDED)
			l->needs_s = fmax(l->needs_s, needed_s(l, elapsed_s));
	}
	if (l->verdict == LOOP_RESULTLESS)
		advise(l, &advice_of_type[l->type]);
	if (l->verdict == LOOP_RESULTLESS || l->verdict == LOOP_REDUNDANT_INSTANCES ||
	    l->verdict == LOOP_REDUNDANT_ITERATIONS) {
		advise(l, l->again.instance_advice);
		advise(l, l->again.turn_advice);
	}
}

/* ---------------------------------------------------------------- lists */

/* Loops with time of their own, those around what takes it, and the rest. */
static int rank_of(const struct report_loop *l)
{
	if (l->fraction >= LOOP_CPU_MIN)
		return 0;
	return l->calls || l->around ? 1 : 2;
}

static int by_own(const void *x, const void *y)
{
	const struct report_loop *a = x, *b = y;
	bool by_reach = rank_of(a) == 1 && rank_of(b) == 1;

	return ORDER(ASCENDING(rank_of(a), rank_of(b)),
		     by_reach ? DESCENDING(a->nearest_fraction, b->nearest_fraction) : 0,
		     by_reach ? DESCENDING(a->inclusive_fraction, b->inclusive_fraction) : 0,
		     DESCENDING(a->row->own.ns, b->row->own.ns), ASCENDING(a->row, b->row));
}

static int by_context(const void *x, const void *y)
{
	const struct loop_context *a = x, *b = y;

	return ORDER(ASCENDING(a->loop, b->loop), DESCENDING(a->sum.ns, b->sum.ns),
		     ASCENDING(a->node, b->node));
}

static int by_place(const void *x, const void *y)
{
	const struct loop_place *a = x, *b = y;

	return ORDER(ASCENDING(a->loop, b->loop), DESCENDING(a->counted, b->counted),
		     ASCENDING(a->line, b->line), ASCENDING(a->bci, b->bci));
}

static int by_input(const void *x, const void *y)
{
	const struct loop_compared *a = x, *b = y;

	return ORDER(ASCENDING(a->loop, b->loop), ASCENDING(a->scalar, b->scalar),
		     ASCENDING(a->line, b->line), ASCENDING(a->bci, b->bci),
		     ASCENDING(a->at, b->at), ASCENDING(a->method, b->method));
}

/* A list of the profile's in another order. */
static int copy_sorted(void *to, const void *from, size_t count, size_t size,
		       int (*compare)(const void *, const void *))
{
	int r = array_copy(to, from, count, size);

	if (r == 0 && count)
		qsort(*(void **)to, count, size, compare);
	return r;
}

static int copy_lists(struct report_loops *l, const struct loop_profile *p)
{
	int r = copy_sorted(&l->contexts, p->contexts, p->context_count, sizeof(*p->contexts),
			    by_context);

	if (r == 0)
		r = copy_sorted(&l->places, p->places, p->place_count, sizeof(*p->places),
				by_place);
	if (r == 0)
		r = copy_sorted(&l->inputs, p->inputs, p->input_count, sizeof(*p->inputs),
				by_input);
	return r;
}

/* The rows still are in the profile's order. */
static void assign_lists(struct report_loops *l, const struct loop_profile *p)
{
	size_t context = 0, place = 0, input = 0;

	for (size_t i = 0; i < p->row_count; i++) {
		struct report_loop *row = &l->rows[i];

		row->first_context = context;
		context = SEARCH_FIRST(k, p->context_count, l->contexts[k].loop > i);
		row->context_count = context - row->first_context;
		row->first_place = place;
		place = SEARCH_FIRST(k, p->place_count, l->places[k].loop > i);
		row->place_count = place - row->first_place;
		row->first_input = input;
		input = SEARCH_FIRST(k, p->input_count, l->inputs[k].loop > i);
		row->input_count = input - row->first_input;
	}
}

int report_loops_bodies(const struct report_loops *l, struct loop_bodies *bodies)
{
	struct loop_body *list = calloc(l->count + 1, sizeof(*list));
	size_t count = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++) {
		const struct loop *row = l->rows[i].row;

		if (row->key.mapped && row->key.method && row->key.header <= INT32_MAX)
			list[count++] = (struct loop_body){row->key, row->latch_bci, (uint32_t)i};
	}
	loop_bodies_init(bodies, list, count);
	return 0;
}

/* Contexts say a little less well than code which loop a tick came in, and what is inlined has
 * frames, too. So a loop calls what takes its time only if that is more than all of its code does.
 * Where contexts were lost less is known of them. */
static void set_reach(struct report_loop *row, double whole_ns, const struct loop_reach *reach)
{
	double called;

	row->inclusive_fraction = fmin(1, estimate_fraction(reach->inclusive.ns, whole_ns));
	row->nearest_fraction = fmin(1, estimate_fraction(reach->nearest.ns, whole_ns));
	called = fmin(1, estimate_fraction(reach->called.ns, whole_ns));
	row->calls = called - row->within_fraction >= LOOP_CPU_MIN;
	row->inclusive_fraction = fmax(row->inclusive_fraction, row->within_fraction);
}

/* The rows still are in the profile's order. */
static int find_reach(struct report_loops *l, const struct window_result *w)
{
	_cleanup_free_ struct loop_reach *reach = calloc(l->count + 1, sizeof(*reach));
	struct loop_bodies bodies = {0};
	int r = reach ? report_loops_bodies(l, &bodies) : -ENOMEM;

	for (size_t i = 0; i < l->count; i++) {
		struct report_loop *row = &l->rows[i];

		row->inclusive_fraction = row->within_fraction;
		row->around = row->within_fraction - row->fraction >= LOOP_CPU_MIN;
	}
	if (r == 0)
		r = loop_bodies_reach(&bodies, &w->profile.cct, &w->cpu, reach);
	for (size_t i = 0; r == 0 && i < bodies.count; i++)
		set_reach(&l->rows[bodies.bodies[i].id], l->whole_ns, &reach[i]);
	loop_bodies_release(&bodies);
	return r;
}

static void judge_all(struct report_loops *l, const struct window_result *w)
{
	for (size_t i = 0; i < l->count; i++)
		judge(&l->rows[i], &w->loops,
		      clock_s(window_result_kind_elapsed_ns(w, JXP__KIND__KIND_LOOPS)));
}

/* The first of those without ticks of their own that call what takes CPU time stay. */
static void drop_idle(struct report_loops *l)
{
	size_t kept = 0, calls = 0;

	for (size_t i = 0; i < l->count; i++)
		if (l->rows[i].row->own.samples > 0 ||
		    (rank_of(&l->rows[i]) == 1 && calls++ < LOOP_CALLS_MAX))
			l->rows[kept++] = l->rows[i];
	l->count = kept;
}

static void weigh(struct report_loops *l, const struct window_result *w)
{
	double ticks = cpu_profile_ticks_of(&w->cpu, l->whole_ns);

	for (size_t i = 0; i < l->count; i++) {
		struct report_loop *row = &l->rows[i];
		struct wilson ci;

		row->row = &w->loops.rows[i];
		row->fraction = fmin(1, estimate_fraction(row->row->own.ns, l->whole_ns));
		row->within_fraction = fmin(1, estimate_fraction(row->row->within.ns, l->whole_ns));
		ci = wilson_ci95(row->fraction, ticks);
		row->fraction_ci95 = (struct interval){ci.low, ci.high};
	}
}

/* There is nothing to say of a method that calls itself, and whose calls nothing was compared of.
 */
static void leave_out_recursions(struct report_loops *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->count; i++)
		if (!l->rows[i].row->key.recursion || l->rows[i].again.turn_rate.known)
			l->rows[kept++] = l->rows[i];
	l->count = kept;
}

int report_loops_init(struct report_loops *l, const struct window_result *w)
{
	const struct loop_profile *p = &w->loops;
	int r;

	*l = (struct report_loops){0};
	if (!w->request.kinds[JXP__KIND__KIND_LOOPS] || cpu_profile_all(&w->cpu).samples == 0)
		return 0;
	l->taken = true;
	l->whole_ns = window_result_whole_ns(w);
	l->compiled = estimate_fraction(p->compiled.ns, l->whole_ns);
	l->looked_at = estimate_fraction(p->looked_at.ns, p->compiled.ns);
	l->in_loops = estimate_fraction(p->in_loops.ns, p->looked_at.ns);
	l->mapped = estimate_fraction(p->mapped.ns, p->in_loops.ns);
	l->rows = calloc(p->row_count + 1, sizeof(*l->rows));
	l->count = p->row_count;
	r = l->rows ? copy_lists(l, p) : -ENOMEM;
	if (r == 0) {
		assign_lists(l, p);
		weigh(l, w);
		r = find_reach(l, w);
	}
	if (r < 0) {
		report_loops_release(l);
		return r;
	}
	judge_all(l, w);
	leave_out_recursions(l);
	qsort(l->rows, l->count, sizeof(*l->rows), by_own);
	drop_idle(l);
	return 0;
}

void report_loops_release(struct report_loops *l)
{
	free(l->rows);
	free(l->contexts);
	free(l->places);
	free(l->inputs);
	*l = (struct report_loops){0};
}
