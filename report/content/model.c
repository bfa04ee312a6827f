#include "report/content/model.h"

#include <errno.h>

#include "common/clock.h"
#include "report/content/cpu_tree.h"
#include "report/loops/loop_growth.h"
#include "report/problems/loop_problems.h"
#include "subsume/analysis.h"

/* The most rows of each list; a name may have 8 KiB, and a row names eleven methods. */
#define SUBSUMING_ROWS_MAX 200u

static struct report_period period_of(const struct window_result *w)
{
	bool hardware = w->findings.event_count > 0;

	return (struct report_period){
	    .operations = hardware, .asked = w->findings.period, .effective = w->effective_period};
}

/* Rows of the list of methods that subsume. */
static unsigned subsuming_rows(const struct report_wanted *wanted)
{
	if (wanted->pairs == 0)
		return SUBSUME_TOP_DEFAULT;
	return wanted->pairs < SUBSUMING_ROWS_MAX ? (unsigned)wanted->pairs : SUBSUMING_ROWS_MAX;
}

/* Both are the whole report, as JSON. */
static bool is_document(Jxp__Format format)
{
	return format == JXP__FORMAT__FORMAT_JSON || format == JXP__FORMAT__FORMAT_HTML;
}

/* Text has the list only where that alone is asked for. */
static bool wants_subsuming(const struct report_wanted *wanted)
{
	return wanted->view == JXP__VIEW__VIEW_SUBSUMING ||
	       (wanted->view == JXP__VIEW__VIEW_ALL && is_document(wanted->format));
}

/* Collapsed stacks are written from the tree. */
static bool wants_stacks(const struct report_wanted *wanted)
{
	return wanted->format == JXP__FORMAT__FORMAT_COLLAPSED &&
	       (wanted->view == JXP__VIEW__VIEW_ALL || wanted->view == JXP__VIEW__VIEW_CPU);
}

/* The others have no room for sentences. */
static bool writes_findings(Jxp__Format format)
{
	return format == JXP__FORMAT__FORMAT_TEXT || format == JXP__FORMAT__FORMAT_SARIF ||
	       is_document(format);
}

static struct report_shown shown_of(const struct report_wanted *wanted)
{
	Jxp__View view = wanted->view;
	bool stacks_only = wanted->some_regions && !wanted->regions[JXP__REGION__REGION_HEAP] &&
			   !wanted->regions[JXP__REGION__REGION_OTHER];
	bool all = view == JXP__VIEW__VIEW_ALL, pairs = all || view == JXP__VIEW__VIEW_PAIRS;

	return (struct report_shown){.findings = !stacks_only && writes_findings(wanted->format),
				     .fields = pairs || view == JXP__VIEW__VIEW_FIELDS,
				     .lines = pairs || view == JXP__VIEW__VIEW_LINES,
				     .pairs = pairs,
				     .all_frames = wanted->all_frames,
				     .objects = all || view == JXP__VIEW__VIEW_OBJECTS,
				     .numa = all || view == JXP__VIEW__VIEW_NUMA,
				     .cpu = all || view == JXP__VIEW__VIEW_CPU,
				     .loops = all || view == JXP__VIEW__VIEW_LOOPS,
				     .loops_alone = view == JXP__VIEW__VIEW_LOOPS,
				     .contexts = view == JXP__VIEW__VIEW_CPU,
				     .stacks = wants_stacks(wanted),
				     .subsuming = wants_subsuming(wanted),
				     .quality = all,
				     .quality_whole = view == JXP__VIEW__VIEW_QUALITY};
}

/* Problems are of accesses and allocations; without these all that is found of loops would be one
 * of its own. */
static bool has_problems(const struct report_model *m)
{
	return m->shown.findings && (m->shown.fields || m->shown.lines);
}

/* Their scope is needed no longer than for them. */
static int pairs_init(struct report_model *m, const struct report_wanted *wanted)
{
	struct pair_scope scope;
	int r;

	if (!m->shown.fields && !m->shown.lines)
		return 0;
	r = pair_scope_init(&scope, m->window, wanted->some_regions ? wanted->regions : NULL);
	if (r == 0)
		r = report_kinds_init(m->kinds, &m->kind_count, &scope);
	if (r == 0 && has_problems(m))
		r = problems_init(&m->problems, &scope);
	pair_scope_release(&scope);
	if (r < 0)
		return r;
	if (m->problems.count == 0)
		m->evidence_s =
		    report_evidence_needed(m->kinds, m->kind_count) * clock_s(m->elapsed_ns);
	return 0;
}

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
	int r;

	if (!window_result_tracks_objects(w))
		return 0;
	*o = (struct report_objects){.tracked = true,
				     .metric = metric_of(w),
				     .unit = unit_of(w),
				     .samples = object_profile_samples(l),
				     .whole = strata_all(&l->strata).metric,
				     .uncollected_bytes = object_profile_uncollected(l),
				     .judged_s = window_result_judged_s(w)};
	r = object_ranking_init(&o->ranking, w);
	if (r == 0)
		r = class_ranking_init(&o->classes, w, &o->ranking.rests);
	if (r == 0)
		r = class_origins_init(&o->origins, &o->classes, &o->ranking);
	o->attributed_fraction = o->ranking.sum;
	return r;
}

static void numa_init(struct report_numa *n, const struct window_result *w)
{
	const struct numa_profile *p = &w->numa;
	double all = 0;
	unsigned nodes;

	*n = (struct report_numa){.asked = w->request.kinds[JXP__KIND__KIND_NUMA],
				  .topology = &w->findings.numa};
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
	*q = (struct report_quality){.dropped = window_result_dropped(w),
				     .overhead_known = w->cpu_ns > 0,
				     .overhead_fraction = window_result_overhead_fraction(w),
				     .own_ns = window_result_own_ns(w),
				     .target_idle = window_result_target_was_idle(w),
				     .tracked_s = clock_s(window_result_objects_ns(w))};
	effects_init(&q->effects, &w->side_effects);
}

static int subsuming_init(struct report_model *m, const struct report_wanted *wanted)
{
	static const struct subsume_bounds bounds = {.height = SUBSUME_HEIGHT_DEFAULT,
						     .distance = SUBSUME_DISTANCE_DEFAULT};
	const struct window_result *w = m->window;
	struct report_subsuming *s = &m->subsuming;
	int r;

	if ((!m->shown.stacks && !m->shown.subsuming) || !w->request.kinds[JXP__KIND__KIND_CPU] ||
	    cpu_profile_all(&w->cpu).samples == 0)
		return 0;
	r = cpu_tree_init(&s->tree, w);
	if (r == -ENOSPC) /* More than any window has: a record that somebody made up. */
		return 0;
	s->made = r == 0;
	if (r < 0 || !m->shown.subsuming)
		return r;
	r = subsume_analyse(&s->tree, &bounds, &s->analysis);
	if (r == 0)
		r = subsume_summarise(&s->tree, &s->analysis, subsuming_rows(wanted), &s->summary);
	s->analysed = r == 0;
	return r;
}

/* Pairs are said to be in loops, also where these are not shown. */
static int loops_init(struct report_model *m, const struct window_result *baseline)
{
	int r;

	if (!m->shown.loops && m->kind_count == 0)
		return 0;
	r = report_loops_init(&m->loops, m->window);
	if (r == 0 && baseline)
		r = report_loops_compare(&m->loops, m->window, baseline);
	if (r == 0 && m->loops.taken && has_problems(m))
		problems_take_loops(&m->problems, &m->loops, m->window);
	if (r < 0 || !m->loops.taken || m->window->profile.pair_count == 0)
		return r;
	return loop_pairs_init(&m->loop_pairs, &m->loops, m->window);
}

int report_model_init(struct report_model *m, const struct window_result *w,
		      const struct report_wanted *wanted)
{
	static const struct report_wanted everything = {0};
	int r;

	if (!wanted)
		wanted = &everything;
	*m = (struct report_model){.window = w,
				   .shown = shown_of(wanted),
				   .columns = wanted->columns,
				   .elapsed_ns = window_result_elapsed_ns(w),
				   .gate = window_result_gate(w),
				   .period = period_of(w)};
	if (m->shown.numa)
		numa_init(&m->numa, w);
	quality_init(&m->quality, w);
	r = pairs_init(m, wanted);
	if (r == 0 && m->shown.objects)
		r = objects_init(&m->objects, w);
	if (r == 0 && m->shown.cpu)
		r = report_cpu_init(&m->cpu, w);
	if (r == 0)
		r = loops_init(m, wanted->baseline);
	if (r == 0)
		r = subsuming_init(m, wanted);
	if (r < 0)
		report_model_release(m);
	return r;
}

void report_model_release(struct report_model *m)
{
	report_kinds_release(m->kinds, m->kind_count);
	object_ranking_release(&m->objects.ranking);
	class_ranking_release(&m->objects.classes);
	class_origins_release(&m->objects.origins);
	report_cpu_release(&m->cpu);
	loop_pairs_release(&m->loop_pairs);
	report_loops_release(&m->loops);
	subsume_summary_release(&m->subsuming.summary);
	subsume_analysis_release(&m->subsuming.analysis);
	subsume_tree_release(&m->subsuming.tree);
	*m = (struct report_model){0};
}
