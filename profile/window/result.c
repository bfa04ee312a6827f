#include "profile/window/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/utf8.h"
#include "profile/estimate.h"
#include "proto/counters.h"

/* A part of one CPU. */
#define IDLE_SHARE 0.05

bool window_result_tracks_objects(const struct window_result *w)
{
	return window_request_tracks_objects(&w->request, w->findings.numa.node_count);
}

uint64_t window_result_object_min_size(const struct window_result *w)
{
	return w->request.object_min_size_adapts ? w->object_min_size : w->request.object_min_size;
}

bool window_result_samples_pairs(const struct window_result *w)
{
	return window_request_samples_pairs(&w->request);
}

bool window_result_profiles_cpu(const struct window_result *w)
{
	return window_request_profiles_cpu(&w->request, w->findings.sampler);
}

bool window_result_profiles_loops(const struct window_result *w)
{
	return w->request.kinds[JXP__KIND__KIND_LOOPS] && window_result_profiles_cpu(w);
}

bool window_result_profiles_cpu_alone(const struct window_result *w)
{
	return window_result_profiles_cpu(w) && !window_result_samples_pairs(w) &&
	       !window_result_tracks_objects(w);
}

uint64_t window_result_samples(const struct window_result *w)
{
	return w->counters[window_result_profiles_cpu_alone(w) ? JXP__COUNTER__COUNTER_CPU_SAMPLES
							       : JXP__COUNTER__COUNTER_SAMPLES];
}

bool window_result_measures_numa(const struct window_result *w)
{
	return w->request.kinds[JXP__KIND__KIND_NUMA] && w->findings.numa.node_count > 1;
}

void window_id(char id[WINDOW_ID_BYTES], unsigned number)
{
	(void)snprintf(id, WINDOW_ID_BYTES, "w%u", number); /* Fits. */
}

int window_absent(const char *id, struct err *err)
{
	return err_set(err, ENOENT, "no window '%s': see 'jxperfctl windows'", id);
}

int window_without_report(unsigned number, pid_t pid, const char *reason, struct err *err)
{
	return err_set(err, ECANCELED, "window w%u of pid %d has no report, it could not run: %s",
		       number, (int)pid, reason);
}

struct window_result *window_result_new(unsigned number, pid_t pid,
					const struct window_request *request,
					const struct window_findings *findings)
{
	struct window_result *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->keepers = 1;
	w->number = number;
	window_id(w->id, number);
	w->pid = pid;
	w->owner = PROC_ANY_UID;
	w->request = *request;
	w->object_min_size = request->object_min_size;
	w->findings = *findings;
	w->state = WINDOW_ATTACHING;
	w->asked_ns = clock_monotonic_ns();
	w->start_unix_ns = clock_ns(CLOCK_REALTIME);
	return w;
}

struct window_result *window_result_restored(unsigned number)
{
	struct window_result *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->keepers = 1;
	w->finished = true;
	w->number = number;
	window_id(w->id, number);
	return w;
}

struct window_result *window_result_keep(const struct window_result *w)
{
	struct window_result *kept =
	    (struct window_result *)w; /* Made by window_result_new, so not constant. */

	kept->keepers++;
	return kept;
}

void window_result_free(struct window_result *w)
{
	if (!w || --w->keepers > 0)
		return;
	profile_release(&w->profile);
	object_profile_release(&w->objects);
	numa_profile_release(&w->numa);
	cpu_profile_release(&w->cpu);
	thread_table_release(&w->threads);
	loop_profile_release(&w->loops);
	window_merged_free(w->merged);
	free(w);
}

void window_result_start(struct window_result *w)
{
	w->state = WINDOW_RUNNING;
	w->start_unix_ns = clock_ns(CLOCK_REALTIME);
	w->start_ns = clock_monotonic_ns();
}

static void end(struct window_result *w, enum window_state state, const char *reason)
{
	if (w->state != WINDOW_ATTACHING && w->state != WINDOW_RUNNING)
		return;
	w->state = state;
	(void)utf8_sanitize(w->reason, sizeof(w->reason), reason ? reason : ""); /* May be cut. */
	w->end_unix_ns = clock_ns(CLOCK_REALTIME);
	w->end_ns = clock_monotonic_ns();
}

void window_result_end(struct window_result *w, const char *reason)
{
	if (w->start_ns == 0)
		end(w, WINDOW_FAILED, reason);
	else
		end(w, reason ? WINDOW_ENDED_EARLY : WINDOW_DONE, reason);
}

void window_result_fail(struct window_result *w, const char *reason)
{
	end(w, WINDOW_FAILED, reason);
}

void window_result_withdraw(struct window_result *w)
{
	w->number = 0;
	w->id[0] = '\0';
}

const char *window_state_name(enum window_state state)
{
	static const char *const names[] = {
	    [WINDOW_ATTACHING] = "attaching", [WINDOW_RUNNING] = "running",
	    [WINDOW_DONE] = "done",           [WINDOW_ENDED_EARLY] = "ended early",
	    [WINDOW_FAILED] = "failed",       [WINDOW_SALVAGED] = "salvaged",
	};

	return names[state];
}

const char *window_result_state_name(const struct window_result *w)
{
	return window_state_name(w->state);
}

double window_result_design_effect(const struct window_result *w, Jxp__Kind kind)
{
	return w->merged ? fmax(1, w->merged->fractions[kind].effect) : 1;
}

struct interval window_result_part_ci95(const struct window_result *w, Jxp__Kind kind,
					uint64_t wasteful_bytes)
{
	const struct totals *t = &w->profile.kinds[kind].application;

	return estimate_ci95((double)wasteful_bytes, (double)t->checked_bytes,
			     (double)t->sum_squares * window_result_design_effect(w, kind));
}

struct interval window_result_fraction_ci95(const struct window_result *w, Jxp__Kind kind)
{
	return window_result_part_ci95(w, kind, w->profile.kinds[kind].application.wasteful_bytes);
}

/* ---------------------------------------------------------------- what shares are of */

static double counted(const struct window_result *w, Jxp__Counter counter)
{
	return (double)w->counters[counter];
}

uint64_t window_result_own_ns(const struct window_result *w)
{
	return w->cpu_ns > w->overhead_ns ? w->cpu_ns - w->overhead_ns : 0;
}

/* What profiling took that all ticks stand for alike: in handlers, and in the kernel for them. The
 * session's thread has no ticks. The JVM's events come in threads that have, but at allocations
 * most of all: they make those ticks more, and do not make others stand for more. */
static double taken_ns(const struct window_result *w)
{
	return fmax((double)w->overhead_ns - counted(w, JXP__COUNTER__COUNTER_SESSION_NS) -
			counted(w, JXP__COUNTER__COUNTER_EVENTS_NS),
		    0);
}

/* By how much ticks that stand for so much stand for more than the program's own time. Where it is
 * said that most was ours, that is not believed. */
static double stretch(double ticks_ns, double taken)
{
	return ticks_ns > 0 ? ticks_ns / fmax(ticks_ns - taken, ticks_ns / 2) : 1;
}

/* By how much ticks that lead to pairs do, which are all. */
static double stretch_of_pairs(const struct window_result *w)
{
	return stretch(counted(w, JXP__COUNTER__COUNTER_TICK_NS), taken_ns(w));
}

double window_result_kernel_taken_ns(const struct window_result *w)
{
	double taken = fmax(taken_ns(w) - counted(w, JXP__COUNTER__COUNTER_HANDLER_NS), 0);

	return fmin(taken, fmin(cpu_profile_outside_ns(&w->cpu), cpu_profile_kernel(&w->cpu).ns));
}

double window_result_outside_ns(const struct window_result *w)
{
	return cpu_profile_outside_ns(&w->cpu) - window_result_kernel_taken_ns(w);
}

/* By how much ticks of kind cpu do: our time in the kernel is told apart (above), so that handlers'
 * alone is in the others. They run for ticks of either side. */
static double stretch_of_ticks(const struct window_result *w)
{
	double ns = cpu_profile_all(&w->cpu).ns - window_result_kernel_taken_ns(w);

	return ns > 0 ? stretch(ns, counted(w, JXP__COUNTER__COUNTER_HANDLER_NS))
		      : stretch_of_pairs(w);
}

double window_result_beside_ns(const struct window_result *w, double seen_ns)
{
	return stretch_of_ticks(w) * seen_ns *
	       estimate_fraction((double)window_result_elapsed_ns(w),
				 (double)w->cpu.beside.span_ns);
}

double window_result_after_ns(const struct window_result *w)
{
	double tick_ns = counted(w, JXP__COUNTER__COUNTER_TICK_NS);
	double mean_ns = estimate_fraction(tick_ns, counted(w, JXP__COUNTER__COUNTER_TICKS));
	double told_ns = fmax(cpu_profile_all(&w->cpu).ns, tick_ns) -
			 window_result_kernel_taken_ns(w) +
			 window_result_beside_ns(w, w->cpu.beside.gc_ns + w->cpu.beside.jit_ns);
	double left_ns = fmax(window_result_whole_ns(w) - told_ns, 0);

	return fmin(left_ns, mean_ns * (counted(w, JXP__COUNTER__COUNTER_THREADS) + 1) / 2);
}

double window_result_whole_ns(const struct window_result *w)
{
	double beside = window_result_beside_ns(w, w->cpu.beside.gc_ns + w->cpu.beside.jit_ns);
	double ticks = cpu_profile_all(&w->cpu).ns, taken = window_result_kernel_taken_ns(w);

	/* Its ticks are weighted, those that are counted are not. */
	if (w->merged)
		return fmax(w->merged->kinds[JXP__KIND__KIND_NONE].whole_ns,
			    ticks - taken + beside);
	/* Kind cpu has all ticks but those that were lost, other kinds have a number of them. */
	ticks = fmax(ticks, counted(w, JXP__COUNTER__COUNTER_TICK_NS)) - taken;
	return ticks > 0
		   ? fmax(stretch_of_ticks(w) * (double)window_result_own_ns(w), ticks + beside)
		   : 0;
}

double window_result_expansion(const struct window_result *w, Jxp__Kind kind)
{
	double all_ns, kind_ns;

	if (!w->merged)
		return 1;
	all_ns = w->merged->kinds[JXP__KIND__KIND_NONE].whole_ns;
	kind_ns = w->merged->kinds[kind].whole_ns;
	return kind_ns > 0 ? all_ns / kind_ns : 1;
}

double window_result_own_part(const struct window_result *w)
{
	return 1 / stretch_of_ticks(w);
}

double window_result_whole_s(const struct window_result *w)
{
	return window_result_own_part(w) * window_result_whole_ns(w) / (double)NS_PER_S;
}

struct cpu_whole window_result_tick_whole(const struct window_result *w, Jxp__Kind kind)
{
	double tick_ns = counted(w, JXP__COUNTER__COUNTER_TICK_NS);
	double ticks = counted(w, JXP__COUNTER__COUNTER_TICKS);
	double whole_ns = window_result_whole_ns(w), part = 1, after = 0;

	/* The kind's windows have so much of the whole, and these ticks in it. */
	if (w->merged) {
		part = 1 / window_result_expansion(w, kind);
		tick_ns = w->merged->kinds[kind].tick_ns;
		ticks = w->merged->kinds[kind].ticks;
		after = w->merged->kinds[kind].after;
	} else {
		after = estimate_fraction(window_result_after_ns(w), whole_ns);
	}
	if (w->findings.sampler != JXP__SAMPLER__SAMPLER_CLOCK || !(tick_ns > 0))
		return (struct cpu_whole){.design_effect = 1};
	return (struct cpu_whole){.ns = whole_ns,
				  .ticks = ticks * part * whole_ns / tick_ns,
				  .after = fmin(after, LIMIT_CPU_AFTER),
				  .cpu = w->profile.kinds[kind].application.cpu,
				  .design_effect =
				      w->merged ? fmax(1, w->merged->cpu_shares[kind].effect) : 1};
}

struct cpu_whole window_result_cpu_whole(const struct window_result *w, Jxp__Kind kind)
{
	struct cpu_whole whole = window_result_tick_whole(w, kind);
	double longer = stretch_of_pairs(w) / stretch_of_ticks(w);

	whole.ns *= longer;
	whole.ticks *= longer;
	return whole;
}

uint64_t window_result_kind_elapsed_ns(const struct window_result *w, Jxp__Kind kind)
{
	return w->merged ? w->merged->kinds[kind].elapsed_ns : window_result_elapsed_ns(w);
}

uint64_t window_result_elapsed_ns(const struct window_result *w)
{
	if (w->start_ns == 0)
		return 0;
	return (w->end_ns ? w->end_ns : clock_monotonic_ns()) - w->start_ns;
}

void window_result_plan_objects(struct window_result *w)
{
	uint64_t now = clock_monotonic_ns();
	uint64_t wait_ns = side_effects_baseline_ns(w->request.duration_ns);

	if (w->side_effects.watched && window_result_tracks_objects(w) && wait_ns > 0)
		w->objects_from_ns = now + wait_ns;
	side_effects_begin(&w->side_effects, w->objects_from_ns ? w->objects_from_ns : now);
}

static uint64_t objects_begin_ns(const struct window_result *w)
{
	return w->objects_from_ns ? w->objects_from_ns : w->start_ns;
}

uint64_t window_result_objects_ns(const struct window_result *w)
{
	uint64_t begin = objects_begin_ns(w),
		 end = w->objects_off_ns ? w->objects_off_ns : w->end_ns;

	if (w->start_ns == 0 || !window_result_tracks_objects(w) ||
	    (w->objects_refused[0] && !w->objects_off_ns))
		return 0;
	if (end == 0)
		end = clock_monotonic_ns();
	return end > begin ? end - begin : 0;
}

void window_result_switch_off_objects(struct window_result *w, const char *line)
{
	w->objects_off_ns = clock_monotonic_ns();
	side_effects_switch_off(&w->side_effects, w->objects_off_ns);
	(void)snprintf(w->objects_refused, sizeof(w->objects_refused),
		       "objects were switched off after %.1f s: %s while they were tracked",
		       clock_s(window_result_objects_ns(w)), line); /* May be cut. */
}

double window_result_overhead_fraction(const struct window_result *w)
{
	return estimate_fraction((double)w->overhead_ns, (double)w->cpu_ns);
}

const char *window_result_gate(const struct window_result *w)
{
	/* An event without the kernel's gate makes the agent apply it to all. */
	return w->findings.kernel_gate && w->counters[JXP__COUNTER__COUNTER_GATE_UNATTACHED] == 0
		   ? "bpf"
		   : "agent";
}

double window_result_judged_s(const struct window_result *w)
{
	uint64_t judged_ns = object_profile_judged_ns(&w->objects);

	return judged_ns > w->start_ns ? (double)(judged_ns - w->start_ns) / (double)NS_PER_S : 0;
}

bool window_result_target_was_idle(const struct window_result *w)
{
	double limit = w->findings.cpu_limit;
	double cpus = limit > 0 && limit < 1 ? limit : 1;

	return (double)w->cpu_ns < IDLE_SHARE * cpus * (double)window_result_elapsed_ns(w);
}

uint64_t window_result_dropped(const struct window_result *w)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < JXP__COUNTER__COUNTER_MAX; i++)
		if (counter_table[i].lost)
			dropped += w->counters[counter_table[i].counter];
	for (size_t i = 0; i < LOSS_MAX; i++)
		if (loss_words[i].lost)
			dropped += w->losses[i];
	return dropped;
}
