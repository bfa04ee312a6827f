#include "daemon/report/pairs/kind_findings.h"

static void regions_init(struct report_kind *k, const struct window_result *w)
{
	static const Jxp__Region order[PROFILE_REGIONS] = {
	    JXP__REGION__REGION_HEAP, JXP__REGION__REGION_STACK, JXP__REGION__REGION_OTHER};
	Jxp__Kind kind = k->kind->kind;
	double effect = window_result_design_effect(w, kind);

	for (size_t i = 0; i < PROFILE_REGIONS; i++) {
		const struct totals *t = &w->profile.kinds[kind].regions[order[i]];
		double wasteful = (double)t->wasteful_bytes, checked = (double)t->checked_bytes;

		k->regions[i] = (struct report_region){
		    .region = order[i],
		    .totals = t,
		    .fraction = estimate_fraction(wasteful, checked),
		    .ci95 = estimate_ci95(wasteful, checked, effect * (double)t->sum_squares)};
	}
}

static int rankings_init(struct report_kind *k, const struct pair_scope *s)
{
	Jxp__Kind kind = k->kind->kind;
	int r = pair_ranking_init(&k->by_location, s, kind, PAIRS_BY_LOCATION);

	if (r == 0)
		r = pair_ranking_init(&k->by_lines, s, kind, PAIRS_BY_LINES);
	if (r == 0)
		r = pair_ranking_init(&k->pairs, s, kind, PAIRS_BY_CONTEXTS);
	if (r == 0)
		r = pair_ranking_init(&k->by_turns, s, kind, PAIRS_BY_TURNS);
	return r;
}

static int kind_init(struct report_kind *k, const struct pair_scope *s,
		     const struct pair_kind *kind)
{
	const struct window_result *w = s->window;
	const struct totals *t = &w->profile.kinds[kind->kind].application;
	struct cpu_whole whole = window_result_cpu_whole(w, kind->kind);

	*k = (struct report_kind){
	    .kind = kind,
	    .application = t,
	    .jvm = &w->profile.kinds[kind->kind].jvm,
	    .fraction = estimate_fraction((double)t->wasteful_bytes, (double)t->checked_bytes),
	    .ci95 = window_result_fraction_ci95(w, kind->kind),
	    .cpu = cpu_share_estimate(&t->wasteful_cpu, t->wasteful_count, &whole)};
	regions_init(k, w);
	ranked_pair_of_places(&k->spills, s, kind->kind, JXP__LOCATION__KIND__SPILL);
	return rankings_init(k, s);
}

int report_kinds_init(struct report_kind kinds[PAIR_KINDS], size_t *count,
		      const struct pair_scope *scope)
{
	int r = 0;

	*count = 0;
	for (size_t i = 0; i < PAIR_KINDS && r == 0; i++)
		if (scope->window->request.kinds[pair_kinds[i].kind])
			r = kind_init(&kinds[(*count)++], scope, &pair_kinds[i]);
	return r;
}

void report_kinds_release(struct report_kind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		pair_ranking_release(&kinds[i].by_location);
		pair_ranking_release(&kinds[i].by_lines);
		pair_ranking_release(&kinds[i].pairs);
		pair_ranking_release(&kinds[i].by_turns);
	}
}

/* From the row that has been seen most often: none of places or lines has evidence. */
double report_evidence_needed(const struct report_kind *kinds, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		if (kinds[i].by_location.folded_most > most)
			most = kinds[i].by_location.folded_most;
		if (kinds[i].by_lines.folded_most > most)
			most = kinds[i].by_lines.folded_most;
	}
	return most ? (double)PAIRS_EVIDENCE / (double)most : 0;
}
