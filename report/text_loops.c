/* The hot loops, in text: how much of the CPU time, what type, what was counted of their turns, and
 * what helped others. */
#include "report/text_parts.h"

#include <inttypes.h>
#include <math.h>

#include "common/clock.h"
#include "report/writer/text_places.h"

#define LOOPS_SHOWN  10 /* beside other parts of a report */
#define PLACES_SHOWN 3

#define GROUPED_BYTES 32

/* "4,980"; with one digit behind the point below ten. */
static const char *grouped(char text[GROUPED_BYTES], double value)
{
	char digits[GROUPED_BYTES];
	int length, out = 0;

	if (value < 10 && value != floor(value)) {
		(void)snprintf(text, GROUPED_BYTES, "%.1f", value);
		return text;
	}
	length = snprintf(digits, sizeof(digits), "%.0f", fmin(value, 1e18));
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[out++] = ',';
		text[out++] = digits[i];
	}
	text[out] = '\0';
	return text;
}

_Static_assert(GROUPED_BYTES > 19 + 6 + 1, "1e18 with its commas");

/* So many turns for one event: "4,980 iterations per result (4,100 to 6,200)". */
static void turns_for_each(FILE *out, const struct loop_rate *r, const char *event)
{
	char turns[GROUPED_BYTES], low[GROUPED_BYTES], high[GROUPED_BYTES];

	fprintf(out, "%s iterations %s (", grouped(turns, 1 / r->rate), event);
	if (r->ci95.low > 0)
		fprintf(out, "%s to %s)", grouped(low, 1 / r->ci95.high),
			grouped(high, 1 / r->ci95.low));
	else
		fprintf(out, "at least %s)", grouped(low, 1 / r->ci95.high));
}

static void results(FILE *out, const struct report_loop *l)
{
	const struct loop_rate *r = &l->results;
	char turns[GROUPED_BYTES], least[GROUPED_BYTES];

	if (l->row->key.recursion)
		fputs("calls itself", out);
	else if (l->type == LOOP_EVERY)
		fputs("each iteration has a result", out);
	else if (l->type == LOOP_NEVER)
		fputs("no iteration can have a result", out);
	else if (!r->known)
		fputs("not counted", out);
	else if (r->rate > 0)
		turns_for_each(out, r, "per result");
	else if (!r->bound)
		fprintf(out, "no result in %s iterations (at least %s per result)",
			grouped(turns, l->row->results.turns), grouped(least, 1 / r->ci95.high));
	else
		fprintf(out, "at least %s iterations per result", grouped(least, 1 / r->ci95.high));
}

static void judgement(FILE *out, const struct report_loop *l)
{
	char seconds[GROUPED_BYTES];

	switch (l->verdict) {
	case LOOP_RESULTLESS:
	case LOOP_REDUNDANT_INSTANCES:
	case LOOP_REDUNDANT_ITERATIONS:
		for (unsigned i = 0; i < l->advice_count; i++)
			fprintf(out, "%s%s", i == 0 ? ": " : "; beside that, ",
				l->advice[i]->words);
		break;
	case LOOP_WAITING:
		fputs(": it waits for another thread", out);
		break;
	case LOOP_UNDECIDED:
		fputs(": undecided", out);
		if (l->needs_s > 0)
			fprintf(out, "; a window of %s s might tell",
				grouped(seconds, ceil(l->needs_s)));
		break;
	case LOOP_NOT_JUDGED:
	case LOOP_VERDICT_NONE:
	case LOOP_VERDICTS:
		break;
	}
	fputc('\n', out);
}

/* "java.util.ArrayList.indexOf:297", or what is known of one that is not mapped. */
static void name(FILE *out, const struct profile *p, const struct loop_key *key)
{
	report_text_method_whole(out, p, key->method);
	if (!key->mapped)
		fprintf(out, " (a loop at offset 0x%x of its machine code)", key->header);
	else if (key->line > 0)
		fprintf(out, ":%d", key->line);
	else
		fprintf(out, " (bytecode %u)", key->header);
}

/* Says in which method something is that is inlined in the loop's, or called there. */
static void in_method(FILE *out, const struct profile *p, const struct report_loop *l,
		      uint32_t method)
{
	if (!method || method == l->row->key.method)
		return;
	fputs(" in ", out);
	report_text_method_whole(out, p, method);
}

static void length(FILE *out, const struct report_loop *l)
{
	char turns[GROUPED_BYTES], low[GROUPED_BYTES], high[GROUPED_BYTES];

	fprintf(out, "%s iterations each time it is entered (%s to %s), by %" PRIu64 " readings",
		grouped(turns, l->length.turns), grouped(low, l->length.ci95.low),
		grouped(high, l->length.ci95.high), l->row->lengths.read);
}

static void counted(FILE *out, const struct report_loop *l)
{
	const struct loop *row = l->row;
	char turns[GROUPED_BYTES];
	double all = fmax(row->results.turns, row->entries.turns);

	if (row->bursts == 0 && !l->length.known)
		return;
	fputs("   ", out);
	if (row->bursts > 0)
		fprintf(out, "counted %s iterations in %" PRIu64 " bursts%s", grouped(turns, all),
			row->bursts, l->length.known || l->entries.known ? "; " : "");
	if (l->length.known)
		length(out, l);
	else if (l->entries.known && l->entries.rate > 0)
		turns_for_each(out, &l->entries, "each time it is entered");
	else if (l->entries.known && l->entries.bound)
		fprintf(out, "at least %s each time it is entered",
			grouped(turns, 1 / l->entries.ci95.high));
	else if (l->entries.known)
		fprintf(out, "it was not entered, so at least %s each time",
			grouped(turns, 1 / l->entries.ci95.high));
	fputc('\n', out);
}

static void places(FILE *out, const struct report_model *m, const struct report_loop *l)
{
	static const char *const words[LOOP_RESULTS] = {
	    [LOOP_RESULT_STORE] = "stored to the heap",
	    [LOOP_RESULT_CALL] = "a call",
	    [LOOP_RESULT_VALUE] = "a value used behind it",
	    [LOOP_RESULT_EXIT] = "left early",
	};
	const struct profile *p = &m->window->profile;

	for (size_t i = 0; i < l->place_count && i < PLACES_SHOWN; i++) {
		const struct loop_place *place = &m->loops.places[l->first_place + i];

		fprintf(out, "%s%s", i == 0 ? "   results: " : "; ", words[place->result]);
		in_method(out, p, l, place->method);
		if (place->line > 0)
			fprintf(out, ", line %d", place->line);
		if (place->bursts > 0)
			fprintf(out, " (counted %" PRIu64 ")", place->counted);
	}
	if (l->place_count > PLACES_SHOWN)
		fprintf(out, "; and %zu more places", l->place_count - PLACES_SHOWN);
	if (l->place_count > 0)
		fputc('\n', out);
}

/* "0.97 (0.92 to 1.00)" */
static void rate(FILE *out, const struct repeat_rate *r)
{
	fprintf(out, "%.2f (%.2f to %.2f)", r->rate, r->ci95.low, r->ci95.high);
}

static void inputs(FILE *out, const struct report_model *m, const struct report_loop *l)
{
	const struct profile *p = &m->window->profile;
	size_t scalars = 0, loads = 0, elsewhere = 0;
	double same = 0, same_elsewhere = 0;

	for (size_t i = 0; i < l->input_count; i++) {
		const struct loop_compared *c = &m->loops.inputs[l->first_input + i];
		double part = estimate_fraction(c->same.sum, (double)c->same.pairs);

		if (c->scalar) {
			scalars++;
			same += part;
			continue;
		}
		if (c->line <= 0) {
			elsewhere++;
			same_elsewhere += part;
			continue;
		}
		if (++loads > PLACES_SHOWN)
			continue;
		fprintf(out, "%sa load", loads == 1 ? "   goes by: " : "; ");
		in_method(out, p, l, c->method);
		fprintf(out, ", line %d (%.2f the same)", c->line, part);
	}
	if (loads > PLACES_SHOWN)
		fprintf(out, "; and %zu more loads", loads - PLACES_SHOWN);
	if (elsewhere > 0)
		fprintf(out, "%s%zu %s whose line is not known (%.2f the same)",
			loads > 0 ? "; " : "   goes by: ", elsewhere,
			elsewhere == 1 ? "load" : "loads", same_elsewhere / (double)elsewhere);
	if (scalars > 0)
		fprintf(out, "; %zu %s that it begins with (%.2f the same)", scalars,
			scalars == 1 ? "value" : "values", same / (double)scalars);
	if (loads + elsewhere > 0)
		fputc('\n', out);
}

static void instances_again(FILE *out, const struct report_model *m, const struct report_loop *l)
{
	const struct loop *row = l->row;

	if (!l->again.instance_rate.known)
		return;
	fputs("   does again what it did the time before: ", out);
	rate(out, &l->again.instance_rate);
	fprintf(out, " of what it goes by, in %" PRIu64 " comparisons", row->pairs);
	if (row->pairs_cut > 0)
		fprintf(out, ", in %" PRIu64 " of them of its first turns alone", row->pairs_cut);
	if (l->again.sameness == LOOP_SAME_NOT &&
	    l->again.instance_rate.rate >= LOOP_REDUNDANT_RATE)
		fputs("; but some of it is another each time", out);
	fputc('\n', out);
	inputs(out, m, l);
}

static void turns_again(FILE *out, const struct report_loop *l)
{
	const struct turn_sums *t = &l->row->turns;
	char turns[GROUPED_BYTES], seen[GROUPED_BYTES], different[GROUPED_BYTES];

	if (!l->again.turn_rate.known)
		return;
	fprintf(out, "   its %s do again what others did: ",
		l->row->key.recursion ? "calls" : "iterations");
	rate(out, &l->again.turn_rate);
	fprintf(out, " of %s or more; %s different ones in the %s that were compared\n",
		grouped(turns, floor(t->turns)), grouped(different, (double)t->distinct),
		grouped(seen, (double)t->tuples));
}

static void doubts(FILE *out, const struct report_loop *l)
{
	for (unsigned i = 0; i < LOOP_DOUBTS; i++)
		if (l->doubts >> i & 1 && l->verdict != LOOP_NOT_JUDGED)
			fprintf(out, "   not sure: %s\n", loop_doubt_sentence(i));
}

static void called_from(FILE *out, const struct report_model *m, const struct report_loop *l)
{
	const struct loop_context *c;

	if (l->context_count == 0)
		return;
	c = &m->loops.contexts[l->first_context];
	if (!c->node)
		return;
	fprintf(out, "   called from ");
	report_text_frame(out, &m->window->profile, c->node);
	if (l->context_count > 1)
		fprintf(out, " (%.0f%% of its ticks, and %zu more)",
			100 * estimate_fraction(c->sum.ns, l->row->own.ns), l->context_count - 1);
	fputc('\n', out);
}

/* A line for each kind of pairs that enough is known of in a loop. */
static void pairs(FILE *out, const struct report_model *m, size_t rank)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct loop_waste *w = loop_pairs_waste(&m->loop_pairs, rank, i);

		if (w)
			fprintf(out,
				"   %s here: %.0f%% (%.0f to %.0f%%) of the %" PRIu64
				" %s that were checked\n",
				pair_kinds[i].title, 100 * w->fraction, 100 * w->ci95.low,
				100 * w->ci95.high, w->pairs,
				pair_kinds[i].sampled == PAIR_LOAD ? "loads" : "stores");
	}
}

/* "30% of CPU time", and where much more is in what the loop calls, or in loops inside it, that:
 * "(93% with what it calls)". */
static void time_of(FILE *out, const struct report_loop *l)
{
	fprintf(out, "%.*f%% of CPU time", l->fraction < 0.1 ? 1 : 0, 100 * l->fraction);
	if (l->calls || l->around)
		fprintf(out, " (%.*f%% with %s)", l->inclusive_fraction < 0.1 ? 1 : 0,
			100 * l->inclusive_fraction,
			l->calls ? "what it calls" : "loops inside it");
}

/* In points of percent. */
static void growth(FILE *out, const struct report_model *m, const struct loop_growth *g)
{
	double points = 100 * g->growth;

	if (!g->compared)
		return;
	fprintf(out, "   in %s %s%.1f%%: ", m->loops.baseline, g->known ? "" : "not found, ",
		100 * g->baseline);
	if (g->significant)
		fprintf(out, "%.1f points %s now", fabs(points), points > 0 ? "more" : "less");
	else
		fputs("no certain difference now", out);
	fprintf(out, " (%+.1f to %+.1f)\n", 100 * g->among_all.low, 100 * g->among_all.high);
}

static void loop(FILE *out, const struct report_model *m, size_t rank)
{
	const struct report_loop *l = &m->loops.rows[rank];
	const char *type = loop_type_name(l->type);

	fprintf(out, "#%zu ", rank + 1);
	time_of(out, l);
	fputs(": ", out);
	name(out, &m->window->profile, &l->row->key);
	if (!l->row->key.recursion)
		fprintf(out, ", %s", type[0] ? type : "of unknown type");
	fputs(", ", out);
	results(out, l);
	judgement(out, l);
	growth(out, m, &l->growth);
	called_from(out, m, l);
	counted(out, l);
	if (l->verdict != LOOP_NOT_JUDGED)
		places(out, m, l);
	instances_again(out, m, l);
	turns_again(out, l);
	pairs(out, m, rank);
	doubts(out, l);
	for (unsigned i = 0; i < l->advice_count; i++)
		fprintf(out, "   why: %s\n", l->advice[i]->why);
}

void report_text_loops(FILE *out, const struct report_model *m, size_t limit)
{
	const struct report_loops *l = &m->loops;
	size_t shown = m->shown.loops_alone || limit < LOOPS_SHOWN ? limit : LOOPS_SHOWN;

	fprintf(
	    out,
	    "Loops\n%.1f%% of the CPU time is in compiled code; of this, %.1f%% is in code that "
	    "was looked at,\nof this, %.1f%% in loops, and of that, %.1f%% in loops whose source "
	    "is known\n",
	    100 * l->compiled, 100 * l->looked_at, 100 * l->in_loops, 100 * l->mapped);
	if (l->baseline[0])
		fprintf(out, "those that take more of it than in window %s come first\n",
			l->baseline);
	for (size_t i = 0; i < l->count && i < shown && !ferror(out); i++)
		loop(out, m, i);
	if (l->count > shown)
		fprintf(out, "and %zu more loops\n", l->count - shown);
}

/* ---------------------------------------------------------------- loops of pairs */

/* "the loop of Table.find:22 (#1 of the loops)". */
static void loop_name(FILE *out, const struct profile *p, const struct loop_around *around)
{
	const struct loop_key *key = &around->loop->row->key;

	fputs(around->called ? "what the loop at " : "the loop at ", out);
	report_text_method(out, p, key->method);
	if (key->line > 0)
		fprintf(out, ":%d", key->line);
	else
		fprintf(out, " (bytecode %u)", key->header);
	fprintf(out, "%s (#%zu of the loops)", around->called ? " calls" : "", around->rank + 1);
}

static struct loop_around loop_around(const struct report_model *m, uint32_t node, bool called)
{
	const struct cct *t = &m->window->profile.cct;

	return called ? loop_pairs_context(&m->loop_pairs, t, node)
		      : loop_pairs_frame(&m->loop_pairs, t, node);
}

void report_text_loops_of(FILE *out, const struct report_model *m, const struct pair *pair,
			  bool called, const char *prefix, const char *suffix)
{
	const struct profile *p = &m->window->profile;
	struct loop_around watch = loop_around(m, pair->watch_node, called);
	struct loop_around trap = loop_around(m, pair->trap_node, called);

	if (!watch.loop && !trap.loop)
		return;
	fputs(prefix, out);
	if (watch.loop == trap.loop && watch.called == trap.called) {
		fputs("both in ", out);
		loop_name(out, p, &watch);
	} else {
		if (watch.loop) {
			fputs("the first in ", out);
			loop_name(out, p, &watch);
		}
		if (trap.loop) {
			fprintf(out, "%sthe second in ", watch.loop ? ", " : "");
			loop_name(out, p, &trap);
		}
	}
	fputs(suffix, out);
}
