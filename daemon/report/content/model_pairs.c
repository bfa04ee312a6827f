#include "daemon/report/content/model_pairs.h"

#include "common/clock.h"

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

static int kinds_init(struct report_model *m, const struct pair_scope *s)
{
	const struct window_result *w = m->window;

	for (size_t i = 0; i < PAIR_KINDS; i++) {
		int r;

		if (!w->request.kinds[pair_kinds[i].kind])
			continue;
		r = kind_init(&m->kinds[m->kind_count++], s, &pair_kinds[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Of a scope that is needed no longer than for them. */
static int rank_pairs(struct report_model *m, const struct report_wanted *wanted)
{
	struct pair_scope scope;
	int r;

	if (!m->shown.fields && !m->shown.lines)
		return 0;
	r = pair_scope_init(&scope, m->window, wanted->some_regions ? wanted->regions : NULL);
	if (r == 0)
		r = kinds_init(m, &scope);
	pair_scope_release(&scope);
	return r;
}

/* ---------------------------------------------------------------- findings */

/* Keeps the best in order. */
static void offer(struct report_model *m, const struct report_kind *k,
		  const struct ranked_pair *row)
{
	struct report_finding finding = {k, row};
	double bound = ranked_pair_lower_bound(row);
	size_t at = m->finding_count;

	while (at > 0 && ranked_pair_lower_bound(m->findings[at - 1].row) < bound)
		at--;
	if (at == REPORT_FINDINGS_MAX)
		return;
	if (m->finding_count < REPORT_FINDINGS_MAX)
		m->finding_count++;
	for (size_t i = m->finding_count - 1; i > at; i--)
		m->findings[i] = m->findings[i - 1];
	m->findings[at] = finding;
}

/* Those of places that have a name, or those of places that have none. */
static void offer_rows(struct report_model *m, const struct report_kind *k,
		       const struct pair_ranking *rows, bool named)
{
	const struct profile *p = &m->window->profile;

	for (size_t i = 0; i < rows->count; i++) {
		const struct pair *sum = &rows->pairs[i].sum;
		struct location l = locations_get(&p->locations, sum->location);
		bool has_name = l.kind != JXP__LOCATION__KIND__UNKNOWN || l.class_name;

		if (has_name == named && sum->region != JXP__REGION__REGION_STACK)
			offer(m, k, &rows->pairs[i]);
	}
}

/* Of the row that has been seen most often: here no row of places or lines has evidence. */
static double evidence_s(const struct report_model *m)
{
	uint64_t most = 0;

	for (size_t i = 0; i < m->kind_count; i++) {
		const struct report_kind *k = &m->kinds[i];

		if (k->by_location.folded_most > most)
			most = k->by_location.folded_most;
		if (k->by_lines.folded_most > most)
			most = k->by_lines.folded_most;
	}
	return most ? (double)m->elapsed_ns / (double)NS_PER_S * PAIRS_EVIDENCE / (double)most : 0;
}

static void findings_init(struct report_model *m)
{
	for (size_t i = 0; i < m->kind_count; i++) {
		const struct report_kind *k = &m->kinds[i];

		offer_rows(m, k, &k->by_location, true);
		offer_rows(m, k, &k->by_lines, false);
	}
	if (m->finding_count == 0)
		m->evidence_s = evidence_s(m);
}

int report_model_init_pairs(struct report_model *m, const struct report_wanted *wanted)
{
	int r = rank_pairs(m, wanted);

	if (r == 0)
		findings_init(m);
	return r;
}

void report_model_release_pairs(struct report_model *m)
{
	for (size_t i = 0; i < m->kind_count; i++) {
		pair_ranking_release(&m->kinds[i].by_location);
		pair_ranking_release(&m->kinds[i].by_lines);
		pair_ranking_release(&m->kinds[i].pairs);
	}
}
