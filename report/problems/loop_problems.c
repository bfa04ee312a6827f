#include "report/problems/loop_problems.h"

#include <math.h>

static bool is_finding(const struct report_loop *loop)
{
	return loop->verdict == LOOP_RESULTLESS || loop->verdict == LOOP_REDUNDANT_INSTANCES ||
	       loop->verdict == LOOP_REDUNDANT_ITERATIONS;
}

/* Is it in the problem's operation, or on the way from that to an access? */
static bool is_of(const struct problem *problem, const struct cct *t, uint32_t method)
{
	uint32_t node = problem->largest ? pair_removable_node(problem->largest) : 0;

	if (problem->method == method)
		return true;
	while (node && cct_node_method(t, node) != problem->method) {
		if (cct_node_method(t, node) == method)
			return true;
		node = cct_node(t, node)->parent;
	}
	return false;
}

/* The part of its turns, or of its instances. */
static struct interval turns_in_vain(const struct report_loop *loop, double *part)
{
	const struct repeat_rate *again = loop->verdict == LOOP_REDUNDANT_INSTANCES
					      ? &loop->again.instance_rate
					      : &loop->again.turn_rate;
	const struct loop_rate *results = &loop->results;

	if (loop->verdict != LOOP_RESULTLESS) {
		*part = again->known ? again->rate : 1;
		return (struct interval){.low = again->ci95.low, .high = again->ci95.high};
	}
	*part = results->known ? fmax(0, 1 - results->rate) : 1;
	return (struct interval){.low = results->known ? fmax(0, 1 - results->ci95.high) : 1,
				 .high = results->known ? 1 - results->ci95.low : 1};
}

/* What is known of the loop says more than what kind of a problem it is. */
static void take_advice(struct problem *out, const struct report_loop *loop)
{
	out->loop = loop;
	if (loop->advice_count > 0 && out->kind != PROBLEM_ALLOCATED)
		out->advice = loop->advice[0]->words;
}

static struct problem problem_of_loop(const struct report_loop *loop, const struct window_result *w)
{
	struct cpu_whole whole = window_result_tick_whole(w, JXP__KIND__KIND_LOOPS);
	const struct cpu_sum *ticks = &loop->row->within;
	struct gain_sums own = gain_all(ticks), saved;
	struct problem out = {.kind = loop->verdict == LOOP_RESULTLESS ? PROBLEM_SEARCHED
								       : PROBLEM_REPEATED,
			      .method = loop->row->key.method,
			      .inclusive = loop->inclusive_fraction,
			      .gain = {.ci95 = {0, 1}}};

	whole.cpu = w->profile.kinds[JXP__KIND__KIND_SILENT_LOAD].application.cpu;
	out.advice = problem_words[out.kind].advice;
	take_advice(&out, loop);
	out.fraction_ci95 = turns_in_vain(loop, &out.fraction);
	saved = gain_part(ticks, out.fraction, fmax(1, (double)loop->row->bursts));
	out.own = cpu_share_estimate(&own.cpu, ticks->samples, &whole);
	out.saved = cpu_share_estimate(&saved.cpu, (uint64_t)ceil(saved.ticks), &whole);
	out.saved_bounds = (struct interval){
	    .low = out.saved.ci95.low, .high = fmax(out.saved.ci95.high, loop->inclusive_fraction)};
	out.sure = problem_is_sure(&out, loop->row->bursts >= PROBLEM_SURE);
	return out;
}

/* At its place in the order, the last one less where there are too many. */
static void insert(struct problems *problems, const struct problem *problem)
{
	size_t at = problems->count;

	while (at > 0 && problem_is_before(problem, &problems->list[at - 1]))
		at--;
	if (at == PROBLEMS_MAX)
		return;
	if (problems->count < PROBLEMS_MAX)
		problems->count++;
	for (size_t i = problems->count - 1; i > at; i--)
		problems->list[i] = problems->list[i - 1];
	problems->list[at] = *problem;
}

void problems_take_loops(struct problems *problems, const struct report_loops *loops,
			 const struct window_result *w)
{
	for (size_t i = 0; i < loops->count; i++) {
		const struct report_loop *loop = &loops->rows[i];
		struct problem problem;
		bool known = false;

		if (!is_finding(loop) || !loop->row->key.method)
			continue;
		for (size_t j = 0; j < problems->count; j++) {
			struct problem *of = &problems->list[j];

			if (!is_of(of, &w->profile.cct, loop->row->key.method))
				continue;
			known = true;
			if (!of->loop)
				take_advice(of, loop);
		}
		problem = problem_of_loop(loop, w);
		if (!known && problem.saved.known && problem.saved.ci95.low >= PROBLEM_SHARE_MIN)
			insert(problems, &problem);
	}
}
