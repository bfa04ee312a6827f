#include "attach/agent/window/window.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/agent/code/ahead.h"
#include "attach/agent/code/barrier.h"
#include "attach/agent/code/boundaries.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/code/debug_info.h"
#include "attach/agent/code/element.h"
#include "attach/agent/code/interrupted.h"
#include "attach/agent/code/xstate.h"
#include "attach/agent/handler/gate.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/alloc_sampling.h"
#include "attach/agent/jvm/gc_wake.h"
#include "attach/agent/jvm/method_set.h"
#include "attach/agent/jvm/roster.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/objects/alloc_event.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/objects/tracker.h"
#include "attach/agent/window/budget.h"
#include "attach/agent/window/calibrate.h"
#include "attach/agent/window/census.h"
#include "attach/agent/window/monitor.h"
#include "common/clock.h"
#include "common/proc.h"
#include "proto/limits.h"

/* How often rings are drained: far more often than a ring can fill at the default period. Less
 * often while the session thread uses more than its part of the budget, as it does in a JVM that
 * has next to nothing to do. */
#define DRAIN_INTERVAL_NS      (50 * NS_PER_MS)
#define DRAIN_INTERVAL_LONG_NS (200 * NS_PER_MS)

#define REPORT_INTERVAL_NS (250 * NS_PER_MS)

/* Handlers take microseconds; a thread that is not scheduled may hold one up. */
#define QUIESCE_TIMEOUT_MS 2000u

struct window {
	struct vm *vm;
	struct link *link;
	struct opener opener;
	struct drain *drain;
	struct monitor monitor;
	struct census census;
	uint64_t deadline_ns;
	struct budget budget;
	struct window_cost cost; /* at the last report */
	uint64_t next_drain_ns;
	struct tracker tracker;
	bool tracking; /* ... has more to do at once */
	const Jxp__WindowStart *start;
	bool objects_wait;  /* they begin at start->objects_from_ns */
	bool objects_ended; /* before the window did */
	uint64_t next_report_ns;
	bool stopping;
	bool affordable; /* the session thread is within its part of the budget */
};

/* ---------------------------------------------------------------- preparation */

static void take_event(const Jxp__HardwareEvent *from, struct perf_hardware_event *to)
{
	*to = (struct perf_hardware_event){
	    .type = from->type,
	    .precise_ip = from->precise_ip,
	    .config = from->config,
	    .config1 = from->config1,
	    .config2 = from->config2,
	    .user_only = from->user_only,
	    .access = from->access == JXP__HARDWARE_EVENT__ACCESS__LOADS    ? PERF_ACCESS_LOADS
		      : from->access == JXP__HARDWARE_EVENT__ACCESS__STORES ? PERF_ACCESS_STORES
									    : PERF_ACCESS_ANY};
}

static int take_sampler(const Jxp__WindowStart *start, struct err *err)
{
	bool clock = start->sampler == JXP__SAMPLER__SAMPLER_CLOCK;
	bool hardware = start->sampler == JXP__SAMPLER__SAMPLER_PEBS ||
			start->sampler == JXP__SAMPLER__SAMPLER_IBS;

	handlers.period = clock ? start->period_ns : start->event_period;
	if ((!clock && !hardware) || hardware != (start->n_events > 0) || handlers.period == 0 ||
	    start->n_events > PERF_HARDWARE_EVENTS)
		return err_set(err, EINVAL,
			       "the daemon asked for a sampler that this agent does not have");
	handlers.event_count = (unsigned)start->n_events;
	for (unsigned i = 0; i < handlers.event_count; i++)
		take_event(start->events[i], &handlers.events[i]);
	return 0;
}

/* Objects and NUMA nodes share their samples, so they are one kind here. */
static int take_kinds(const Jxp__WindowStart *start, struct err *err)
{
	handlers.kind_count = 0;
	handlers.objects = false;
	handlers.objects_on = false;
	for (size_t i = 0; i < start->n_kinds; i++) {
		Jxp__Kind kind = start->kinds[i];

		if (kind == JXP__KIND__KIND_OBJECTS || kind == JXP__KIND__KIND_NUMA)
			handlers.objects = true;
		else if (kind < JXP__KIND__KIND_DEAD_STORE || kind > JXP__KIND__KIND_SILENT_LOAD)
			return err_set(err, EINVAL, "this agent does not know kind %d", kind);
		else if (handlers.kind_count == KINDS_MAX)
			return err_set(err, EINVAL, "the daemon named a kind twice");
		else
			handlers.kinds[handlers.kind_count++] = (uint8_t)kind;
	}
	if (handlers.objects && start->objects_max == 0)
		return err_set(err, EINVAL, "the daemon asked for objects, and none of them");
	return 0;
}

static int take_settings(const Jxp__WindowStart *start, struct err *err)
{
	int r;

	if (start->n_kinds == 0 || start->registers < 1 ||
	    start->registers > PERF_DEBUG_REGISTERS || start->max_frames < 1 ||
	    start->max_frames > MAX_FRAMES_LIMIT)
		return err_set(err, EINVAL,
			       "the daemon asked for a window outside the agent's limits");
	if (!(start->budget > 0 && start->budget <= 1))
		return err_set(
		    err, EINVAL,
		    "the daemon asked for a budget of %g of the target's CPU time: 0 to 1",
		    start->budget);
	if ((r = take_kinds(start, err)) < 0)
		return r;
	handlers.registers = start->registers;
	handlers.max_frames = start->max_frames;
	return take_sampler(start, err);
}

/* The program comes with WindowStart. A JVM that is not permitted to have it (a security module,
 * its own RLIMIT_NOFILE) receives the frame without, as where the daemon has none: then the agent
 * applies the gate itself. */
static void start_gate(struct window *w, const Jxp__WindowStart *start)
{
	int program = -1;

	(void)link_take_fds(w->link, &program, 1); /* None: stays -1. */
	gate_start(program, start->kernel_gate, start->deadline_ns, handlers.period,
		   handlers.event_count > 0);
}

/* The context table is one mapping for the life of the process; between windows its pages go back.
 */
static int prepare_contexts(void)
{
	if (!handlers.contexts) {
		void *p = mmap(NULL, sizeof(struct context_table), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			return -ENOMEM;
		handlers.contexts = p;
	}
	return madvise(handlers.contexts, sizeof(struct context_table), MADV_DONTNEED) < 0 ? -errno
											   : 0;
}

static int prepare(struct window *w, const Jxp__WindowStart *start, struct err *err)
{
	uint64_t low, high;
	int r = take_settings(start, err);

	if (r < 0)
		return r;
	start_gate(w, start);
	*(void **)&handlers.walker.get_trace = vmstructs_symbol("AsyncGetCallTrace");
	handlers.walker.vm = w->vm->jvm;
	if (!handlers.walker.get_trace || !vmstructs_code_cache(&low, &high))
		return err_set(err, EOPNOTSUPP,
			       "this JVM has no AsyncGetCallTrace or no vmStructs: not a HotSpot "
			       "jxperf knows");
	vmstructs_regions(&handlers.regions);
	/* Before JDK 21 ZGC has none, and nothing looks like one. */
	barrier_init(strcmp(vmstructs_gc(), "ZGC") == 0);
	if ((r = codemap_init(low, high)) < 0 || (r = boundaries_init()) < 0 ||
	    (r = threads_init()) < 0 || (r = prepare_contexts()) < 0 || (r = roster_open()) < 0)
		return err_set_errno(err, -r, "cannot set up the agent's tables");
	method_set_clear();
	ahead_clear();
	debug_info_clear();
	xstate_init();
	element_clear();
	interrupted_clear();
	w->drain = drain_new(w->link, w->vm, handlers.contexts);
	if (!w->drain)
		return err_set_errno(err, ENOMEM, "cannot set up the agent's tables");
	monitor_init(&w->monitor, &w->opener, w->drain);
	census_init(&w->census, w->vm, &w->monitor, start->budget);
	return 0;
}

/* ---------------------------------------------------------------- threads */

static void thread_started(pid_t tid)
{
	alloc_events_thread_started();
	roster_add(tid);
}

/* In the ending thread. One that ends before its events are opened must not be taken on: nothing
 * would tell us of its end again. */
static void thread_ended(pid_t tid)
{
	roster_remove(tid);
	monitor_thread_ended(tid);
}

/* Tracked objects may have moved: the session thread is to look at once. Which humongous ones are
 * dead is found out before the new epoch begins, so that it is known in all of it. */
static void gc_finished(void)
{
	fixed_objects_pause_ends();
	handlers_gc_finished();
	if (handlers.objects_on)
		gc_wake_send();
}

/* Handlers must not ask the JVM for a stack any more: on JDK 11 that may wait for ever. */
static void on_vm_died(void)
{
	atomic_store(&handlers.stopping, true);
	roster_vm_died();
}

static const struct vm_hooks hooks = {
    .thread_started = thread_started,
    .thread_ended = thread_ended,
    .gc_started = handlers_gc_started,
    .gc_finished = gc_finished,
    .allocated = alloc_event_callback,
    .vm_died = on_vm_died,
};

/* Whether they can be had is tried at once also where they begin later: nothing is tracked yet. */
static int try_objects(struct window *w, struct err *why)
{
	int r = alloc_sampling_start(w->vm, ALLOC_SAMPLING_DEFAULT, why);

	if (r == 0)
		alloc_sampling_stop(w->vm);
	return r;
}

/* A window for other things, too, runs without the objects where they are not to be had. */
static int track_objects(struct window *w, struct err *err)
{
	struct err why = {0};
	int r;

	if (!handlers.objects)
		return 0;
	w->objects_wait = w->start->objects_from_ns > clock_monotonic_ns();
	if (w->objects_wait)
		r = try_objects(w, &why);
	else
		r = tracker_start(&w->tracker, w->vm, w->drain, w->start, &why);
	if (r == 0 || handlers.kind_count == 0) {
		if (r < 0)
			*err = why;
		else
			handlers.objects_on = !w->objects_wait;
		return r;
	}
	handlers.objects = false;
	w->objects_wait = false;
	drain_refuse_objects(w->drain, why.message);
	return 0;
}

static int no_descriptors(struct err *err)
{
	return err_set(
	    err, EMFILE,
	    "the JVM has too few file descriptors left below its limit (RLIMIT_NOFILE), or "
	    "a security module keeps it from having them: raise the limit with prlimit(1)");
}

static int stop_objects(struct window *w)
{
	handlers.objects_on = false;
	w->objects_wait = false;
	w->objects_ended = true;
	return tracker_switch_off(&w->tracker);
}

static int start_sampling(struct window *w, const Jxp__WindowStart *start, struct err *err)
{
	const uint64_t *totals = w->monitor.totals;
	uint64_t trap_cost_ns;
	int r = signals_install(handlers.event_count ? &sampler_hardware : &sampler_clock);

	if (r < 0)
		return err_set_errno(err, -r, "cannot handle SIGTRAP");
	atomic_store(&handlers.stopping, false);
	r = calibrate_trap_cost(&w->opener, &trap_cost_ns);
	if (r == -EMFILE)
		return no_descriptors(err);
	if (r < 0)
		return err_set_errno(
		    err, -r, "cannot use hardware breakpoints in this JVM (perf_event_open)");
	r = vm_start(w->vm, &hooks, err);
	if (r < 0)
		return r;
	budget_start(&w->budget, start->budget, handlers.period, trap_cost_ns,
		     handlers.event_count > 0);
	r = track_objects(w, err);
	if (r == 0)
		r = census_start(&w->census, err);
	/* A JVM whose threads are all idle is no failure: they may wake. */
	if (r == 0 && totals[JXP__COUNTER__COUNTER_THREADS] > 0)
		return 0;
	if (r == 0 && totals[JXP__COUNTER__COUNTER_THREADS_NO_DESCRIPTORS] > 0)
		return no_descriptors(err);
	if (r == 0 && totals[JXP__COUNTER__COUNTER_THREADS_FAILED] > 0)
		return err_set(err, EPERM,
			       "no event could be opened for any thread of the JVM: let the daemon "
			       "do it as root, or lower kernel.perf_event_paranoid");
	return r;
}

/* ---------------------------------------------------------------- the loop */

/* Sends what has gathered, with the account up to now. */
static int report(struct window *w)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX];
	uint64_t period, other_ns;

	monitor_counters(&w->monitor, counters);
	census_counters(&w->census, counters);
	counters[JXP__COUNTER__COUNTER_FOREIGN_SIGTRAPS] = signals_foreign();
	counters[JXP__COUNTER__COUNTER_CODE_DROPPED] = codemap_dropped();
	counters[JXP__COUNTER__COUNTER_NAMES_LOST] = drain_names_lost(w->drain);
	tracker_counters(&w->tracker, counters);
	budget_cost(&w->budget, counters, &w->cost);
	/* Like the session thread's own, not steered by the sampler's period. */
	other_ns = tracker_cost_ns(&w->tracker) + vm_thread_events_ns();
	w->cost.session_ns += other_ns;
	w->cost.overhead_ns += other_ns;
	tracker_set_pace(&w->tracker, w->cost.cpu_ns);
	w->affordable = budget_session_affordable(&w->budget, &w->cost);
	period = budget_period(&w->budget, counters, &w->cost);
	if (period != handlers.period) {
		handlers.period = period;
		gate_set_period(period);
	}
	return drain_flush(w->drain, counters, &w->cost);
}

/* The account is closed now and then only: it asks the kernel for the CPU time of every thread. */
static int flush(struct window *w)
{
	if (clock_monotonic_ns() < w->next_report_ns)
		return drain_send(w->drain);
	w->next_report_ns = clock_monotonic_ns() + REPORT_INTERVAL_NS;
	return report(w);
}

static int read_orders(struct window *w)
{
	Jxp__EngineFrame *frame;
	int r;

	while ((r = link_receive(w->link, 0, &frame)) > 0) {
		if (frame->body_case == JXP__ENGINE_FRAME__BODY_STOP_OBJECTS)
			w->opener.stop_objects_seen = true;
		else if (frame->body_case == JXP__ENGINE_FRAME__BODY_STOP)
			w->stopping = true;
		jxp__engine_frame__free_unpacked(frame, NULL);
	}
	return r;
}

/* Are threads that start not kept waiting? */
static bool is_eager(const struct window *w)
{
	return w->affordable && !turnover_is_high(&w->monitor.turnover);
}

/* Until the rings are to be drained, the engine says something, a collection has ended or, while
 * they are taken on at once, a thread starts. */
static void sleep_until_news(const struct window *w)
{
	struct pollfd fds[] = {{.fd = w->link->fd, .events = POLLIN},
			       {.fd = is_eager(w) ? roster_fd() : -1, .events = POLLIN},
			       {.fd = gc_wake_fd(), .events = POLLIN}};
	uint64_t now = clock_monotonic_ns();
	uint64_t left = w->next_drain_ns > now ? w->next_drain_ns - now : 0;

	if (w->tracking)
		left = 0;
	(void)poll(fds, 3,
		   (int)((left + NS_PER_MS - 1) / NS_PER_MS)); /* Everything is looked at. */
}

/* Up to when the engine has all allocations and accesses. */
static void settle(struct window *w)
{
	uint64_t allocations = w->tracker.settled_ns, accesses = w->monitor.settled_ns;

	if (w->tracker.running)
		drain_set_settled(w->drain, allocations < accesses ? allocations : accesses);
	else if (w->objects_ended)
		drain_set_settled(w->drain, accesses);
}

/* What costs something for each profiled thread is not done each time a thread starts. */
static int drain_rings(struct window *w, struct err *err)
{
	int r;

	if (clock_monotonic_ns() < w->next_drain_ns && !w->stopping)
		return 0;
	w->next_drain_ns =
	    clock_monotonic_ns() + (w->affordable ? DRAIN_INTERVAL_NS : DRAIN_INTERVAL_LONG_NS);
	r = w->stopping ? 0 : census_scan(&w->census, w->cost.cpu_ns, err);
	if (r == 0)
		r = monitor_update(&w->monitor);
	if (r == 0)
		settle(w);
	return r == 0 ? flush(w) : r;
}

static int run(struct window *w, struct err *err)
{
	int r = 0;

	while (r == 0 && !w->stopping && clock_monotonic_ns() < w->deadline_ns) {
		sleep_until_news(w);
		boundaries_make();
		r = read_orders(w);
		w->stopping |= w->opener.stop_seen;
		if (roster_vm_is_dead()) {
			drain_vm_died(w->drain);
			w->stopping = true;
		}
		if (r == 0 && !w->stopping && w->opener.stop_objects_seen && !w->objects_ended)
			r = stop_objects(w);
		if (r == 0 && !w->stopping)
			r = census_news(&w->census, is_eager(w), err);
		if (r == 0 && !w->stopping && w->objects_wait &&
		    clock_monotonic_ns() >= w->start->objects_from_ns)
			r = track_objects(w, err);
		if (r == 0 && !w->stopping)
			r = tracker_update(&w->tracker, &w->tracking);
		if (r == 0)
			r = drain_rings(w, err);
		/* A handler that the application set over ours would get our signals. */
		if (r == 0 && !signals_installed())
			r = err_set(err, EBUSY,
				    "the application took over SIGTRAP: the window ended");
	}
	return r;
}

/* ---------------------------------------------------------------- the end */

static void stop_sampling(struct window *w, int *result)
{
	const struct signals_untouched untouched = {census_is_dormant, &w->census};
	int r;

	atomic_store(&handlers.stopping, true);
	monitor_close_events(&w->monitor);
	/* When this fails the handler stays, to swallow what a thread with SIGTRAP blocked has
	 * pending; it does nothing else from now on. */
	census_settle(&w->census);
	(void)signals_remove(QUIESCE_TIMEOUT_MS, &untouched);
	if (roster_vm_is_dead())
		drain_vm_died(w->drain);
	r = tracker_stop(&w->tracker, !roster_vm_is_dead());
	if (*result == 0)
		*result = r;
	if (*result == 0)
		*result = monitor_finish(&w->monitor);
	else
		(void)monitor_finish(&w->monitor); /* The socket is lost already. */
	/* Nothing is collected any more. */
	if (handlers.objects)
		drain_set_settled(w->drain, clock_monotonic_ns());
	if (*result == 0)
		*result = report(w);
	if (roster_vm_is_dead())
		objects_clear(&w->tracker.objects);
	tracker_release(&w->tracker);
}

int window_run(struct vm *vm, struct link *link, const Jxp__WindowStart *start, struct err *err)
{
	struct window w = {.vm = vm,
			   .link = link,
			   .opener = {.link = link,
				      .through_daemon = start->open_through_daemon ||
							proc_self_has_seccomp_filter()},
			   .start = start,
			   .deadline_ns = start->deadline_ns};
	int r = prepare(&w, start, err);

	if (r == 0) {
		r = start_sampling(&w, start, err);
		if (r == 0)
			r = run(&w, err);
		stop_sampling(&w, &r);
	}
	gate_stop();
	roster_close();
	drain_free(w.drain);
	census_release(&w.census);
	return r;
}

void window_release_memory(void)
{
	codemap_clear();
	boundaries_clear();
	if (handlers.contexts)
		(void)madvise(handlers.contexts, sizeof(struct context_table), MADV_DONTNEED);
}
