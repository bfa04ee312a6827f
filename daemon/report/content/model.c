#include "daemon/report/content/model.h"

#include "common/clock.h"

static struct report_period period_of(const struct window_result *w)
{
	bool hardware = w->findings.event_count > 0;

	return (struct report_period){
	    .operations = hardware, .asked = w->findings.period, .effective = w->effective_period};
}

static struct report_shown shown_of(const struct report_wanted *wanted)
{
	Jxp__View view = wanted->view;
	bool stacks_only = wanted->some_regions && !wanted->regions[JXP__REGION__REGION_HEAP] &&
			   !wanted->regions[JXP__REGION__REGION_OTHER];
	bool all = view == JXP__VIEW__VIEW_ALL, pairs = all || view == JXP__VIEW__VIEW_PAIRS;

	return (struct report_shown){.findings = !stacks_only,
				     .fields = pairs || view == JXP__VIEW__VIEW_FIELDS,
				     .lines = pairs || view == JXP__VIEW__VIEW_LINES,
				     .pairs = pairs,
				     .objects = all || view == JXP__VIEW__VIEW_OBJECTS,
				     .numa = all || view == JXP__VIEW__VIEW_NUMA,
				     .quality = all};
}

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
static int pairs_init(struct report_model *m, const struct report_wanted *wanted)
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

/* ---------------------------------------------------------------- the rest */

static const char *metric_of(const struct window_result *w)
{
	if (w->request.event[0])
		return w->request.event;
	return w->findings.sampler == JXP__SAMPLER__SAMPLER_CLOCK ? "CPU time"
								  : "memory operations";
}

static const char *unit_of(const struct window_result *w)
{
	if (w->request.event[0])
		return "events";
	return w->findings.sampler == JXP__SAMPLER__SAMPLER_CLOCK ? "ns" : "operations";
}

static int objects_init(struct report_objects *o, const struct window_result *w)
{
	const struct object_profile *l = &w->objects;

	if (!window_result_tracks_objects(w))
		return 0;
	*o = (struct report_objects){.tracked = true,
				     .metric = metric_of(w),
				     .unit = unit_of(w),
				     .samples = object_profile_samples(l),
				     .whole = object_profile_whole(l),
				     .attributed_fraction =
					 estimate_fraction(l->estimated, object_profile_whole(l)),
				     .uncollected_bytes = object_profile_uncollected(l),
				     .judged_s = window_result_judged_s(w)};
	return object_ranking_init(&o->ranking, w);
}

static void numa_init(struct report_numa *n, const struct window_result *w)
{
	const struct numa_profile *p = &w->numa;
	double all = 0;
	unsigned nodes;

	*n = (struct report_numa){.asked = w->request.numa, .topology = &w->findings.numa};
	if (!n->asked || n->topology->node_count < 2)
		return;
	nodes = n->topology->node_count;
	n->measured = true;
	n->remote_fraction = numa_remote_fraction(p);
	for (unsigned from = 0; from < nodes; from++)
		for (unsigned page = 0; page < nodes; page++)
			all += p->matrix[from][page];
	for (unsigned from = 0; from < nodes; from++)
		for (unsigned page = 0; page < nodes; page++)
			n->matrix[from][page] = estimate_fraction(p->matrix[from][page], all);
}

/* GC threads' CPU time is judged as a number of CPUs, and said as a part of the process's. */
static double figure(const struct side_effects *s, enum effect e, enum effect_time t)
{
	return e == EFFECT_GC_CPU ? side_effects_gc_cpu_fraction(s, t) : side_effects_mean(s, e, t);
}

static void effects_init(struct report_effects *e, const struct side_effects *s)
{
	for (int time = 0; time < EFFECT_TIMES; time++) {
		e->seconds[time] = side_effects_seconds(s, (enum effect_time)time);
		for (int effect = 0; effect < EFFECT_MAX; effect++)
			e->figures[time][effect] =
			    figure(s, (enum effect)effect, (enum effect_time)time);
	}
	/* Windows for pairs alone may begin as soon as the JVM is looked at. */
	e->baseline = e->seconds[EFFECT_BEFORE] > 0 ? EFFECT_BEFORE : EFFECT_LIFETIME;
}

static void quality_init(struct report_quality *q, const struct window_result *w)
{
	*q = (struct report_quality){
	    .dropped = window_result_dropped(w),
	    .overhead_known = w->cpu_ns > 0,
	    .overhead_fraction = window_result_overhead_fraction(w),
	    .own_ns = w->cpu_ns > w->overhead_ns ? w->cpu_ns - w->overhead_ns : 0,
	    .target_idle = window_result_target_was_idle(w),
	    .tracked_s = (double)window_result_objects_ns(w) / (double)NS_PER_S};
	effects_init(&q->effects, &w->side_effects);
}

int report_model_init(struct report_model *m, const struct window_result *w)
{
	return report_model_init_wanted(m, w, &(struct report_wanted){0});
}

int report_model_init_wanted(struct report_model *m, const struct window_result *w,
			     const struct report_wanted *wanted)
{
	int r;

	*m = (struct report_model){.window = w,
				   .shown = shown_of(wanted),
				   .elapsed_ns = window_result_elapsed_ns(w),
				   .gate = window_result_gate(w),
				   .period = period_of(w)};
	if (m->shown.numa)
		numa_init(&m->numa, w);
	quality_init(&m->quality, w);
	r = pairs_init(m, wanted);
	if (r == 0)
		findings_init(m);
	if (r == 0 && m->shown.objects)
		r = objects_init(&m->objects, w);
	if (r < 0)
		report_model_release(m);
	return r;
}

void report_model_release(struct report_model *m)
{
	for (size_t i = 0; i < m->kind_count; i++) {
		pair_ranking_release(&m->kinds[i].by_location);
		pair_ranking_release(&m->kinds[i].by_lines);
		pair_ranking_release(&m->kinds[i].pairs);
	}
	object_ranking_release(&m->objects.ranking);
	*m = (struct report_model){0};
}
