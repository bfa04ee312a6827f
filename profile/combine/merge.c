#include "profile/combine/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/proc.h"
#include "profile/combine/method_spread.h"
#include "profile/combine/row_merge.h"
#include "profile/estimate.h"
#include "common/saturate.h"

/* ---------------------------------------------------------------- which windows */

static bool same_nodes(const struct numa_topology *a, const struct numa_topology *b)
{
	return a->node_count == b->node_count &&
	       memcmp(a->node_id, b->node_id, a->node_count * sizeof(a->node_id[0])) == 0;
}

static void note(struct window_merged *facts, enum merged_note which, const struct window_result *w,
		 const char *detail)
{
	merged_note(facts, which, 1, w->number, detail);
}

/* Is w left out? first: NULL when it would be the first one. */
static bool skips(struct window_merged *facts, const struct window_result *first,
		  const struct window_result *w)
{
	const struct window_result *f = first ? first : w;
	uint64_t samples = w->counters[JXP__COUNTER__COUNTER_SAMPLES];

	if (w->state == WINDOW_FAILED)
		note(facts, MERGED_NO_PROFILE, w, w->reason);
	else if (f->findings.sampler != w->findings.sampler ||
		 strcmp(f->request.event, w->request.event) != 0)
		note(facts, MERGED_OTHER_SAMPLER, w, w->request.event);
	else if (w->request.kinds[JXP__KIND__KIND_NUMA] &&
		 !same_nodes(&f->findings.numa, &w->findings.numa))
		note(facts, MERGED_OTHER_NODES, w, "");
	else if (samples > 0 && w->cpu_ns == 0)
		note(facts, MERGED_NO_ACCOUNT, w, "");
	else
		return false;
	facts->skipped++;
	return true;
}

static void note_differences(struct window_merged *facts, const struct window_result *first,
			     const struct window_result *w)
{
	if (strcmp(first->app, w->app) != 0)
		note(facts, MERGED_OTHER_APP, w, w->app);
	if (strcmp(first->jdk, w->jdk) != 0)
		note(facts, MERGED_OTHER_JDK, w, w->jdk);
	if (strcmp(first->gc, w->gc) != 0)
		note(facts, MERGED_OTHER_GC, w, w->gc);
	if (strcmp(first->agent_version, w->agent_version) != 0)
		note(facts, MERGED_OTHER_AGENT, w, w->agent_version);
	if (strcmp(first->version, w->version) != 0)
		note(facts, MERGED_OTHER_VERSION, w, w->version);
	if (first->findings.period != w->findings.period)
		note(facts, MERGED_OTHER_PERIOD, w, "");
	if (first->request.kinds[JXP__KIND__KIND_OBJECTS] &&
	    w->request.kinds[JXP__KIND__KIND_OBJECTS] &&
	    first->request.object_min_size != w->request.object_min_size)
		note(facts, MERGED_OTHER_OBJECT_SIZE, w, "");
	if (w->objects_refused[0])
		note(facts, MERGED_NO_OBJECTS, w, w->objects_refused);
	if (w->state == WINDOW_RUNNING)
		note(facts, MERGED_RUNNING, w, "");
	else if (w->state != WINDOW_DONE)
		note(facts, MERGED_CUT_SHORT, w, w->reason);
}

/* ---------------------------------------------------------------- weights */

/* S_w / T_w of the header. */
static double time_weight(const struct window_result *w)
{
	uint64_t saw_ns = window_result_elapsed_ns(w);

	if (!window_request_is_scheduled(&w->request) || !(w->request.schedule.weight_s > 0))
		return 1;
	if (saw_ns < w->request.duration_ns)
		saw_ns = w->request.duration_ns;
	return saw_ns ? w->request.schedule.weight_s * (double)NS_PER_S / (double)saw_ns : 1;
}

/* C_w, without what profiling took. */
static double cpu_s(const struct window_result *w)
{
	uint64_t own_ns = window_result_own_ns(w);

	return (double)(own_ns ? own_ns : w->cpu_ns) / (double)NS_PER_S;
}

/* ---------------------------------------------------------------- adding */

static bool has_facts(struct merge *m)
{
	if (!m->facts)
		m->facts = window_merged_new();
	return m->facts;
}

int merge_begin(struct merge *m, const struct window_result *first)
{
	struct window_result *w;

	if (!has_facts(m))
		return -ENOMEM;
	w = window_result_restored(0);
	if (!w)
		return -ENOMEM;
	w->id[0] = '\0';
	w->pid = first->pid;
	w->owner = first->owner;
	memcpy(w->app, first->app, sizeof(w->app));
	memcpy(w->version, first->version, sizeof(w->version));
	memcpy(w->jdk, first->jdk, sizeof(w->jdk));
	memcpy(w->vm, first->vm, sizeof(w->vm));
	memcpy(w->gc, first->gc, sizeof(w->gc));
	memcpy(w->agent_version, first->agent_version, sizeof(w->agent_version));
	w->request = first->request;
	w->request.duration_ns = 0;
	w->request.schedule = (struct window_schedule){0};
	w->findings = first->findings;
	w->state = WINDOW_DONE;
	w->start_unix_ns = first->start_unix_ns;
	w->merged = m->facts;
	m->facts->first = m->facts->last = first->number;
	m->result = w;
	return 0;
}

static void count_process(struct merge *m, pid_t pid)
{
	struct window_merged *facts = m->facts;

	for (unsigned i = 0; i < facts->processes; i++)
		if (m->processes[i] == pid)
			return;
	if (facts->processes < MERGE_PROCESSES_MAX)
		m->processes[facts->processes++] = pid;
	else
		facts->more_processes = true;
}

/* The merge is for all that its windows were for. */
static void take_kinds(struct window_request *to, const struct window_request *from)
{
	if (!to->kinds[JXP__KIND__KIND_OBJECTS] && from->kinds[JXP__KIND__KIND_OBJECTS]) {
		to->object_min_size = from->object_min_size;
		to->object_min_size_adapts = from->object_min_size_adapts;
		to->objects_max = from->objects_max;
	}
	for (int kind = 0; kind < KIND_VALUES; kind++)
		to->kinds[kind] |= from->kinds[kind];
}

static void add_facts(struct merge *m, const struct window_result *w)
{
	struct window_result *to = m->result;
	struct window_merged *facts = m->facts;

	facts->windows++;
	facts->first = w->number < facts->first ? w->number : facts->first;
	facts->last = w->number > facts->last ? w->number : facts->last;
	count_process(m, w->pid);
	merged_names_add(&facts->apps, w->app, 1);
	merged_names_add(&facts->schedules, w->request.schedule.name, 1);
	if (to->owner != w->owner)
		to->owner = PROC_ANY_UID;
	if (w->start_unix_ns < to->start_unix_ns)
		to->start_unix_ns = w->start_unix_ns;
	if (w->end_unix_ns > to->end_unix_ns)
		to->end_unix_ns = w->end_unix_ns;
	m->objects_ns += window_result_objects_ns(w);
	saturate_add(&to->request.duration_ns, w->request.duration_ns);
	to->findings.kernel_gate &= w->findings.kernel_gate;
	to->always_pretouch |= w->always_pretouch;
	if (window_result_tracks_objects(w)) {
		to->object_interval = w->object_interval;
		to->object_min_size = w->object_min_size;
	}
	take_kinds(&to->request, &w->request);
}

static bool is_for(const struct window_result *w, int kind)
{
	return kind == JXP__KIND__KIND_NONE || w->request.kinds[kind];
}

struct merge_weights merge_weights_of(const struct window_result *w)
{
	double samples = (double)w->counters[JXP__COUNTER__COUNTER_SAMPLES];
	double whole_ns = window_result_whole_ns(w), time = time_weight(w);

	return (struct merge_weights){
	    .time = time,
	    .objects = time * clock_s(window_result_objects_ns(w)),
	    .pairs = {.observation = samples > 0 ? time * cpu_s(w) / samples : 0,
		      .cpu = whole_ns > 0 ? time * cpu_s(w) / whole_ns : 0}};
}

/* Counts what w is of the whole, and of the kinds that it was for. */
static void weigh(struct merge *m, const struct window_result *w,
		  const struct pair_weights *weights)
{
	double samples = (double)w->counters[JXP__COUNTER__COUNTER_SAMPLES];
	double whole_ns = window_result_whole_ns(w), after_ns = window_result_after_ns(w);

	for (int kind = 0; kind < KIND_VALUES; kind++) {
		struct merge_kind *sums = &m->kinds[kind];
		struct merged_kind *facts = &m->facts->kinds[kind];

		if (!is_for(w, kind))
			continue;
		sums->samples += samples;
		sums->stands_for_s += samples * weights->observation;
		sums->wholes_for_s += whole_ns * weights->cpu;
		sums->after_for_s += after_ns * weights->cpu;
		facts->windows++;
		facts->elapsed_ns += window_result_elapsed_ns(w);
		facts->whole_ns += whole_ns;
		facts->ticks += (double)w->counters[JXP__COUNTER__COUNTER_TICKS];
		facts->tick_ns += (double)w->counters[JXP__COUNTER__COUNTER_TICK_NS];
	}
}

/* The next batch of each kind that w was for. */
static void next_batches(struct merge *m, const struct window_result *w,
			 struct pair_batch batches[KIND_VALUES])
{
	for (int kind = 0; kind < KIND_VALUES; kind++) {
		batches[kind] = (struct pair_batch){.taken = is_for(w, kind)};
		if (batches[kind].taken)
			batches[kind].batch =
			    batch_next(&m->kinds[kind].clock, &batches[kind].fold);
	}
}

static int add_contexts(struct merge *m, const struct row_merge *rows,
			const struct pair_weights *weights, const struct pair_batch *b)
{
	const struct window_result *w = rows->from;
	const struct pair_cluster cluster = {.cpu = weights->cpu *
						    window_result_beside_ns(w, w->cpu.beside.gc_ns),
					     .whole = weights->cpu * window_result_whole_ns(w)};

	if (!b->taken)
		return 0;
	pair_merge_batch(m->facts, JXP__KIND__KIND_CPU, b, &cluster);
	return method_spread_add(rows, &m->context_capacity, b->batch, b->fold);
}

static int add_rows(struct merge *m, const struct row_merge *rows,
		    const struct pair_weights *weights)
{
	struct pair_batch batches[KIND_VALUES];
	int r;

	next_batches(m, rows->from, batches);
	r = pair_merge_add(&m->pairs, rows, weights, batches);
	if (r == 0)
		r = add_contexts(m, rows, weights, &batches[JXP__KIND__KIND_CPU]);
	return r < 0 ? r : object_merge_add(&m->objects, rows, rows->weights[WEIGHT_TIME]);
}

static int add_profiles(struct merge *m, const struct window_result *w)
{
	struct merge_weights weights = merge_weights_of(w);
	const double by[PROFILE_WEIGHTS] = {[WEIGHT_NONE] = 1,
					    [WEIGHT_CPU] = weights.pairs.cpu,
					    [WEIGHT_BESIDE] = weights.pairs.cpu,
					    [WEIGHT_LOOPS] = weights.pairs.cpu,
					    [WEIGHT_PAIRS] = weights.pairs.cpu,
					    [WEIGHT_ACCESS] = weights.time,
					    [WEIGHT_TIME] = weights.objects};
	struct window_result *to = m->result;
	struct names_map map;
	struct row_merge rows = {.to = to, .from = w, .map = &map, .weights = by};
	int r;

	weigh(m, w, &weights.pairs);
	r = names_map_init(&map, &to->profile, &w->profile, NAMES_WITH_LINES, to->losses);
	if (r < 0)
		return r;
	r = row_merge_add(&rows);
	if (r == 0)
		r = add_rows(m, &rows, &weights.pairs);
	row_merge_release(&rows);
	names_map_release(&map);
	return r;
}

int merge_leave_out(struct merge *m, enum merged_note why, unsigned windows, unsigned first,
		    const char *detail)
{
	if (!has_facts(m))
		return -ENOMEM;
	merged_note(m->facts, why, windows, first, detail);
	m->facts->skipped += windows;
	return 0;
}

int merge_add(struct merge *m, const struct window_result *w)
{
	int r = 0;

	if (!has_facts(m))
		return -ENOMEM;
	if (skips(m->facts, m->result, w))
		return 0;
	if (!m->result)
		r = merge_begin(m, w);
	if (r < 0)
		return r;
	note_differences(m->facts, m->result, w);
	add_facts(m, w);
	return add_profiles(m, w);
}

/* ---------------------------------------------------------------- finishing */

/* As if the windows had followed each other, those without objects first. */
static void set_times(struct merge *m)
{
	struct window_result *w = m->result;
	const struct window_merged *facts = m->facts;

	w->start_ns = 1; /* 0: it never began. */
	w->end_ns = w->start_ns + facts->kinds[JXP__KIND__KIND_NONE].elapsed_ns;
	if (m->objects_ns > 0)
		w->objects_from_ns = w->end_ns - m->objects_ns;
	else if (facts->notes[MERGED_NO_OBJECTS].windows > 0)
		(void)snprintf(w->objects_refused, sizeof(w->objects_refused), "%s",
			       facts->notes[MERGED_NO_OBJECTS].detail);
}

/* By what the CPU time of a kind, or (KIND_NONE) of all windows, is multiplied. */
static double cpu_scale(const struct merge *m, Jxp__Kind kind)
{
	return m->kinds[kind].wholes_for_s > 0
		   ? m->facts->kinds[JXP__KIND__KIND_NONE].whole_ns / m->kinds[kind].wholes_for_s
		   : 1;
}

static void finish_rows(struct merge *m)
{
	const double scales[PROFILE_WEIGHTS] = {
	    [WEIGHT_NONE] = 1,
	    [WEIGHT_CPU] = cpu_scale(m, JXP__KIND__KIND_CPU),
	    [WEIGHT_BESIDE] = cpu_scale(m, JXP__KIND__KIND_NONE),
	    [WEIGHT_LOOPS] = cpu_scale(m, JXP__KIND__KIND_LOOPS),
	    [WEIGHT_PAIRS] = 1, /* Each kind has its own. */
	    [WEIGHT_ACCESS] = object_merge_scale(&m->objects),
	    [WEIGHT_TIME] = object_merge_share(&m->objects)};
	struct window_result *w = m->result;

	row_merge_scale(w, scales);
	saturate_add(&w->losses[LOSS_CPU_CONTEXTS], w->cpu.refused);
	saturate_add(&w->losses[LOSS_LOOPS], w->loops.refused);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "cart, shop": whatever the order in which they came. */
static void name_apps(struct window_result *w)
{
	const struct merged_names *apps = &w->merged->apps;
	const char *names[MERGED_NAMES];
	size_t used = 0;

	if (apps->count < 2)
		return;
	for (unsigned i = 0; i < apps->count; i++)
		names[i] = apps->names[i].name;
	qsort(names, apps->count, sizeof(names[0]), by_name);
	w->app[0] = '\0';
	for (unsigned i = 0; i < apps->count && used < sizeof(w->app); i++)
		used += (size_t)snprintf(w->app + used, sizeof(w->app) - used, "%s%s",
					 i > 0 ? ", " : "", names[i]); /* May be cut. */
	if (apps->more > 0 && used < sizeof(w->app))
		(void)snprintf(w->app + used, sizeof(w->app) - used, " and others");
}

static void finish_pairs(struct merge *m)
{
	struct pair_weights scales[KIND_VALUES];

	for (int kind = 0; kind < KIND_VALUES; kind++) {
		const struct merge_kind *sums = &m->kinds[kind];

		scales[kind] = (struct pair_weights){
		    .observation = sums->stands_for_s > 0 ? sums->samples / sums->stands_for_s : 1,
		    .cpu = cpu_scale(m, (Jxp__Kind)kind)};
	}
	pair_merge_finish(&m->pairs, m->result, scales); /* Needs the whole. */
}

static void finish_batches(struct merge *m)
{
	struct window_merged *facts = m->facts;

	for (int kind = 0; kind < KIND_VALUES; kind++) {
		struct merged_kind *k = &facts->kinds[kind];

		k->batches = batch_count(&m->kinds[kind].clock);
		k->after =
		    estimate_fraction(m->kinds[kind].after_for_s, m->kinds[kind].wholes_for_s);
		if (kind != JXP__KIND__KIND_NONE && k->batches > facts->batches)
			facts->batches = k->batches;
	}
	facts->object_batches = batch_count(&m->objects.clock);
}

static int nothing_merged(const struct window_merged *facts, struct err *err)
{
	if (!facts || facts->skipped == 0)
		return err_set(err, ENODATA, "there is no window to merge");
	return err_set(
	    err, ENODATA,
	    "there is no window to merge: all %u have failed, kept no account or cannot be read",
	    facts->skipped);
}

int merge_finish(struct merge *m, struct window_result **w, struct err *err)
{
	if (!m->result)
		return nothing_merged(m->facts, err);
	finish_batches(m);
	if (m->facts->processes > 1)
		m->result->pid = 0;
	name_apps(m->result);
	set_times(m);
	finish_rows(m);
	finish_pairs(m);
	object_merge_finish(&m->objects, m->result);
	*w = m->result;
	m->result = NULL;
	m->facts = NULL;
	merge_release(m);
	return 0;
}

void merge_release(struct merge *m)
{
	if (m->result)
		window_result_free(m->result); /* With the facts. */
	else
		window_merged_free(m->facts);
	pair_merge_release(&m->pairs);
	object_merge_release(&m->objects);
	*m = (struct merge){0};
}
