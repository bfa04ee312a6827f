#include "daemon/report/content/kind_findings.h"

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

/* ---------------------------------------------------------------- findings */

struct findings {
	struct report_finding *list;
	size_t count;
};

/* Keeps the best in order. */
static void offer(struct findings *f, const struct report_kind *k, const struct ranked_pair *row)
{
	double bound = ranked_pair_lower_bound(row);
	size_t at = f->count;

	while (at > 0 && ranked_pair_lower_bound(f->list[at - 1].row) < bound)
		at--;
	if (at == REPORT_FINDINGS_MAX)
		return;
	if (f->count < REPORT_FINDINGS_MAX)
		f->count++;
	for (size_t i = f->count - 1; i > at; i--)
		f->list[i] = f->list[i - 1];
	f->list[at] = (struct report_finding){k, row};
}

/* Rows of places that have a name, or of those that have none. */
static void offer_rows(struct findings *f, const struct report_kind *k,
		       const struct pair_ranking *rows, const struct profile *p, bool named)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct pair *sum = &rows->pairs[i].sum;
		struct location l = locations_get(&p->locations, sum->location);
		bool has_name = l.kind != JXP__LOCATION__KIND__UNKNOWN || l.class_name;

		if (has_name == named && sum->region != JXP__REGION__REGION_STACK)
			offer(f, k, &rows->pairs[i]);
	}
}

size_t report_findings_init(struct report_finding findings[REPORT_FINDINGS_MAX],
			    const struct report_kind *kinds, size_t count, const struct profile *p)
{
	struct findings f = {.list = findings};

	for (size_t i = 0; i < count; i++) {
		offer_rows(&f, &kinds[i], &kinds[i].by_location, p, true);
		offer_rows(&f, &kinds[i], &kinds[i].by_lines, p, false);
	}
	return f.count;
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
