#include "attach/agent/window/window.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/epoch/pauses.h"
#include "attach/agent/epoch/perf_number.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/sampling_gate.h"
#include "attach/agent/handler/signals.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/jvm/code_facts.h"
#include "attach/agent/jvm/installed_code.h"
#include "attach/agent/jvm/session_wake.h"
#include "attach/agent/jvm/klass_fields.h"
#include "attach/agent/jvm/known_classes.h"
#include "attach/agent/jvm/layout_facts.h"
#include "attach/agent/jvm/vm_version.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/objects/alloc_event.h"
#include "attach/agent/objects/fixed_objects.h"
#include "attach/agent/window/budget.h"
#include "attach/agent/window/calibrate.h"
#include "attach/agent/window/census.h"
#include "attach/agent/window/guests.h"
#include "attach/agent/window/loop_phase.h"
#include "attach/agent/window/modules.h"
#include "attach/agent/window/monitor.h"
#include "attach/agent/window/object_phase.h"
#include "common/clock.h"
#include "common/proc.h"

/* How often rings are drained: as often as the fullest of them and the queue of allocations ask
 * for, which at the default period is seldom. At once at the beginning, when threads wait for their
 * registers and handlers for maps of code; and never often while the session thread uses more than
 * its part of the budget, as it does in a JVM that has next to nothing to do. */
#define DRAIN_INTERVAL_NS      (50 * NS_PER_MS)
#define DRAIN_INTERVAL_LONG_NS (200 * NS_PER_MS)
#define DRAIN_EAGER_NS         NS_PER_S

/* More than this part of a ring, or of the queue, and they are drained more often. */
#define DRAIN_FILL_PART 8u

/* While registers are lent, it is looked so often whether they are still in use. */
#define PHASE_INTERVAL_NS (20 * NS_PER_MS)

#define REPORT_INTERVAL_NS (250 * NS_PER_MS)

/* Handlers take microseconds; a thread that is not scheduled may hold one up. */
#define QUIESCE_TIMEOUT_MS 2000u

struct window {
	struct settings own; /* what was asked, as far as it is done */
	const struct settings *settings;
	JavaVM *jvm;
	struct vm vm; /* where the JVM is asked for something: asks */
	bool asks;
	bool spares_virtual_threads; /* objects are left out for that */
	struct link *link;
	struct orders orders;
	struct opener opener;
	struct sampling_gate gate;
	struct drain *drain;
	struct monitor monitor;
	struct census census;
	struct object_phase objects;
	struct loop_phase loops;
	struct budget budget;
	uint64_t next_drain_ns;
	uint64_t next_report_ns;
	uint64_t eager_until_ns;
	bool stopping; /* ordered, or the JVM has died */
};

/* ---------------------------------------------------------------- preparation */

/* The program comes with WindowStart. A JVM that is not permitted to have it (a security module,
 * its own RLIMIT_NOFILE) receives the frame without, as where the daemon has none: then the agent
 * applies the gate itself. */
static void start_gate(struct window *w)
{
	const struct settings *s = w->settings;
	int program = -1;

	(void)link_take_fds(w->link, &program, 1); /* None: stays -1. */
	sampling_gate_start(&w->gate, program, s->kernel_gate, s->deadline_ns, s->period,
			    s->sampling.event_count > 0, s->cpu_limit);
}

/* Where the JVM's performance data is; 0: it keeps none. */
static uint64_t perf_memory(uint64_t *size_bytes)
{
	uint64_t start;

	return vmstructs_static_word("PerfMemory", "_start", &start) &&
		       vmstructs_static_word("PerfMemory", "_capacity", size_bytes)
		   ? start
		   : 0;
}

/* Positions of objects belong to epochs whose beginning and end are told. Others need to know only
 * whether it is still the same, which the JVM's own count says, if it keeps one. */
static void choose_epochs(const struct window *w)
{
	uint64_t size_bytes = 0, start = perf_memory(&size_bytes);
	bool counted = pauses_find(&handlers.pauses, start, size_bytes);

	handlers.epoch_is_counted = counted && w->settings->objects.max == 0;
}

/* How many threads have started, as far as the JVM counts that. */
static const _Atomic uint64_t *count_of_starts(void)
{
	uint64_t size_bytes = 0, start = perf_memory(&size_bytes);

	return perf_number_find(start, size_bytes, "java.threads.started");
}

/* What handlers are to look at. */
static int prepare_handlers(const struct window *w, struct err *err)
{
	const char *missing;

	handlers.sampling = w->settings->sampling;
	choose_epochs(w);
	vmstructs_regions(&handlers.regions);
	missing = code_facts_read(vm_release(), &handlers.walker.layout);
	return missing ? err_set(err, EOPNOTSUPP,
				 "this JVM's own tables (vmStructs) do not tell of its stacks what "
				 "jxperf needs (%s): not a HotSpot jxperf knows",
				 missing)
		       : 0;
}

/* Those that nobody has asked for by name. */
static void spare_virtual_threads(struct window *w)
{
	const struct sampling *sampling = &w->settings->sampling;
	struct object_settings *objects = &w->own.objects;

	w->spares_virtual_threads = objects->max > 0 && objects->optional &&
				    (sampling->kind_count > 0 || sampling->cpu) &&
				    known_classes_virtual_threads();
	if (w->spares_virtual_threads)
		objects->max = 0;
}

static int prepare(struct window *w, struct err *err)
{
	int r;

	spare_virtual_threads(w);
	start_gate(w);
	r = prepare_handlers(w, err);
	/* Without an own count of pauses collections have to be told of. */
	w->asks = w->settings->objects.max > 0 || !handlers.epoch_is_counted;
	if (r == 0 && w->asks)
		r = vm_open(&w->vm, w->jvm, err);
	if (r == 0)
		r = modules_prepare(err);
	if (r < 0)
		return r;
	handlers.walker.tables.methods = method_table();
	layout_facts_read(&handlers.regions, &handlers.layout);
	(void)klass_fields_init(); /* Without it places have no names. */
	r = session_wake_open();
	atomic_store(&handlers.wake_fd, session_wake_fd());
	w->drain = r == 0 ? drain_new(w->link, handlers.contexts, method_table(),
				      &handlers.walker.layout.method)
			  : NULL;
	if (!w->drain)
		return err_set_errno(err, r < 0 ? -r : ENOMEM, "cannot set up the agent's tables");
	monitor_init(&w->monitor, w->settings, &w->budget.ledger, &w->opener, &w->gate, w->drain);
	census_init(&w->census, &w->monitor, &w->budget.ledger, count_of_starts());
	return 0;
}

/* ---------------------------------------------------------------- threads */

/* Tracked objects may have moved: the session thread is to look at once. Which humongous ones are
 * dead is found out before the new epoch begins, so that it is known in all of it. */
static void gc_finished(void)
{
	fixed_objects_pause_ends();
	handlers_gc_finished();
	if (handlers.objects_on)
		session_wake_send();
}

/* Handlers must not ask the JVM for a stack any more: on JDK 11 that may wait for ever. */
static void on_vm_died(void)
{
	atomic_store(&handlers.stopping, true);
	vm_note_end();
	session_wake_send();
}

/* Windows that ask the JVM for nothing learn of its end by that of the process. */
__attribute__((destructor)) static void process_ends(void)
{
	on_vm_died();
}

static const struct vm_hooks hooks = {
    .gc_started = handlers_gc_started,
    .gc_finished = gc_finished,
    .allocated = alloc_event_callback,
    .vm_died = on_vm_died,
};

static int no_descriptors(struct err *err)
{
	return err_set(
	    err, EMFILE,
	    "the JVM has too few file descriptors left below its limit (RLIMIT_NOFILE), or "
	    "a security module keeps it from having them: raise the limit with prlimit(1)");
}

static int start_objects(struct window *w, struct err *err)
{
	const struct settings *s = w->settings;
	bool alone = s->sampling.kind_count == 0 && !s->sampling.cpu;
	int r = object_phase_start(&w->objects, &s->objects, &w->budget.ledger, alone, &w->vm,
				   w->drain, err);

	w->monitor.holdings.objects = object_phase_is_wanted(&w->objects);
	if (w->spares_virtual_threads)
		drain_refuse_objects(
		    w->drain,
		    "this JVM has virtual threads, whose mounts objects would make dearer until it "
		    "ends: name kind objects to have them all the same");
	return r;
}

/* Ticks need no breakpoints: a window of nothing else goes on without. */
static int without_breakpoints(struct window *w, int error, struct err *err)
{
	const struct settings *s = w->settings;

	if (error == -EMFILE)
		return no_descriptors(err);
	if (s->sampling.kind_count > 0 || s->objects.max > 0)
		return err_set_errno(
		    err, -error, "cannot use hardware breakpoints in this JVM (perf_event_open)");
	w->monitor.holdings.registers_refused = true;
	return 0;
}

static int measure_machine(struct window *w, struct calibration *machine, struct err *err)
{
	int r;

	handlers.switch_costs = w->settings->switch_costs;
	handlers.scheduler_tick_ns = cpu_timer_scheduler_tick_ns();
	if (calibrate_signal(machine) < 0)
		return err_set(err, EOPNOTSUPP, "cannot send SIGTRAP to a thread of this JVM");
	r = calibrate_trap(&w->opener, machine);
	if (r < 0)
		return without_breakpoints(w, r, err);
	if (w->settings->sampling.loops)
		r = calibrate_hit(&w->opener, machine);
	if (r < 0)
		return err_set_errno(err, -r, "cannot count with hardware breakpoints");
	handlers.burst_hit_ns = machine->hit_ns;
	/* An estimate's part: without it registers count for nothing. */
	(void)calibrate_registers(&w->opener, machine);
	handlers.register_costs = machine->registers;
	return 0;
}

static int start_sampling(struct window *w, struct err *err)
{
	const struct settings *s = w->settings;
	const uint64_t *totals = w->monitor.totals;
	struct calibration machine = {0};
	sigset_t trap;
	int r = signals_install(s->sampling.event_count ? &sampler_hardware : &sampler_clock);

	if (r < 0)
		return err_set_errno(err, -r, "cannot handle SIGTRAP");
	/* A thread of its own has all signals blocked. */
	(void)sigemptyset(&trap);
	(void)sigaddset(&trap, SIGTRAP);
	(void)pthread_sigmask(SIG_UNBLOCK, &trap, NULL); /* A valid set: cannot fail. */
	atomic_store(&handlers.stopping, false);
	r = measure_machine(w, &machine, err);
	if (r < 0)
		return r;
	r = w->asks ? vm_start(&w->vm, &hooks, err) : 0;
	if (r == 0)
		r = installed_code_read(&handlers.walker.layout);
	if (r == -ENOMEM)
		return err_set_errno(err, ENOMEM, "cannot read the JVM's code");
	if (r == 0 && !handlers.epoch_is_counted)
		r = vm_tell_of_collections(&w->vm, err);
	if (r < 0)
		return r;
	budget_start(&w->budget, s->budget, s->period, &machine.signals,
		     s->sampling.event_count > 0, s->deadline_ns);
	handlers.period = budget_first_period(&w->budget);
	/* A hardware sampler's events come by operations: none would come for a look in time. */
	handlers.slowdown_most =
	    s->sampling.event_count > 0 ? 1 : ledger_most(&w->budget.ledger, LEDGER_REGISTERS);
	loop_phase_start(&w->loops, s->sampling.loops, &w->orders, w->drain);
	r = start_objects(w, err);
	if (r == 0)
		r = census_start(&w->census, err);
	budget_cpu_begins(&w->budget);
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

static void set_objects_pace(struct window *w, uint64_t cpu_ns)
{
	struct tracker_use use = {.accesses = w->orders.accesses,
				  .met = w->orders.met,
				  .accessed_bytes = w->orders.accessed_bytes};

	tracker_set_pace(&w->objects.tracker, cpu_ns, &use);
}

/* Sends what has gathered, with the account up to now. */
static int report(struct window *w)
{
	uint64_t counters[JXP__COUNTER__COUNTER_MAX];
	uint64_t before = w->budget.period, period, other_ns;

	monitor_counters(&w->monitor, counters);
	census_counters(&w->census, counters);
	guests_counters(counters);
	counters[JXP__COUNTER__COUNTER_ENVIRONMENTS] = w->asks;
	counters[JXP__COUNTER__COUNTER_FOREIGN_SIGTRAPS] = signals_foreign();
	counters[JXP__COUNTER__COUNTER_STALE_TRAPS] = signals_stale();
	counters[JXP__COUNTER__COUNTER_CODE_DROPPED] = codemap_dropped();
	counters[JXP__COUNTER__COUNTER_RING_FULL] += drain_records_lost(w->drain);
	counters[JXP__COUNTER__COUNTER_NAMES_LOST] = drain_names_lost(w->drain);
	counters[JXP__COUNTER__COUNTER_PLACES_LOST] = drain_places_lost(w->drain);
	tracker_counters(&w->objects.tracker, counters);
	loop_phase_counters(&w->loops, counters);
	other_ns =
	    tracker_cost_ns(&w->objects.tracker) + guests_cost_ns(w->budget.signal_costs.tick_ns);
	budget_note(&w->budget, counters, other_ns);
	counters[JXP__COUNTER__COUNTER_KERNEL_NS] = w->budget.ledger.spent_ns[LEDGER_TICKS] -
						    counters[JXP__COUNTER__COUNTER_HANDLER_NS] -
						    counters[JXP__COUNTER__COUNTER_BURST_NS];
	counters[JXP__COUNTER__COUNTER_SESSION_NS] =
	    w->budget.ledger.spent_ns[LEDGER_SESSION] - other_ns;
	counters[JXP__COUNTER__COUNTER_EVENTS_NS] = other_ns;
	set_objects_pace(w, w->budget.ledger.cpu_ns);
	loop_phase_pace(&w->loops, &w->budget.ledger, counters, w->budget.signal_costs.trap_ns);
	guests_steer(w->budget.ledger.cpu_ns, counters[JXP__COUNTER__COUNTER_TICK_NS],
		     census_strangers_ns(&w->census));
	period = budget_period(&w->budget, counters);
	if (period != handlers.period) {
		handlers.period = period;
		sampling_gate_set_period(&w->gate, period);
	}
	return drain_flush(w->drain, counters, &w->budget.ledger, w->budget.session_start_ns,
			   before);
}

/* The account is closed now and then only: it asks the kernel for the CPU time of every thread. */
static int flush(struct window *w)
{
	if (clock_monotonic_ns() < w->next_report_ns)
		return drain_send(w->drain);
	w->next_report_ns = clock_monotonic_ns() + REPORT_INTERVAL_NS;
	return report(w);
}

/* 0, or -errno when the session cannot go on. */
static int read_orders(struct window *w)
{
	Jxp__EngineFrame *frame;
	int r;

	while ((r = link_receive(w->link, 0, &frame)) > 0) {
		orders_note(&w->orders, frame);
		jxp__engine_frame__free_unpacked(frame, NULL);
	}
	return r;
}

/* Are threads that start profiled at once? */
static bool is_eager(const struct window *w)
{
	return ledger_affords(&w->budget.ledger, LEDGER_NEWS) &&
	       !turnover_is_high(&w->monitor.turnover);
}

/* Until the rings are to be drained, the engine says something, code is to be read, a collection
 * has ended or, while they are taken on at once, a thread starts. */
static void sleep_until_news(const struct window *w)
{
	struct pollfd fds[] = {{.fd = w->link->fd, .events = POLLIN},
			       {.fd = session_wake_fd(), .events = POLLIN}};
	uint64_t now = clock_monotonic_ns();
	uint64_t news = census_next_ns(&w->census, is_eager(w));
	uint64_t next = news < w->next_drain_ns ? news : w->next_drain_ns;
	uint64_t left = next > now ? next - now : 0;

	if (monitor_has_phases(&w->monitor) && left > PHASE_INTERVAL_NS)
		left = PHASE_INTERVAL_NS;
	if (w->objects.more || (ledger_affords(&w->budget.ledger, LEDGER_IMAGES) && !w->stopping &&
				loop_phase_is_asked(&w->loops)))
		left = 0;
	(void)poll(fds, 2,
		   (int)((left + NS_PER_MS - 1) /
			 NS_PER_MS)); /* Whatever it says, all is looked at next. */
}

static uint64_t drain_interval(const struct window *w)
{
	bool begins = clock_monotonic_ns() < w->eager_until_ns;
	bool fills = w->monitor.fullest > RING_RECORDS / DRAIN_FILL_PART ||
		     w->objects.tracker.taken > ALLOC_QUEUE_EVENTS / DRAIN_FILL_PART;

	return ledger_affords(&w->budget.ledger, LEDGER_SESSION) &&
		       (begins || fills || w->monitor.newcomers)
		   ? DRAIN_INTERVAL_NS
		   : DRAIN_INTERVAL_LONG_NS;
}

/* What costs something for each profiled thread, and so is done at intervals, not each time there
 * is news. */
static int drain_rings(struct window *w, struct err *err)
{
	int r;

	if (clock_monotonic_ns() < w->next_drain_ns && !w->stopping)
		return 0;
	w->next_drain_ns = clock_monotonic_ns() + drain_interval(w);
	r = w->stopping ? 0 : census_scan(&w->census, w->budget.ledger.cpu_ns, err);
	if (r == 0)
		r = monitor_update(&w->monitor);
	if (r == 0)
		object_phase_settle(&w->objects, w->monitor.settled_ns);
	return r == 0 ? flush(w) : r;
}

static int update_objects(struct window *w, struct err *err)
{
	int r = w->orders.stop_objects ? object_phase_end(&w->objects) : 0;

	if (r == 0)
		r = object_phase_update(&w->objects, err);
	w->monitor.holdings.objects = object_phase_is_wanted(&w->objects);
	if (r == 0 && tracker_is_dear(&w->objects.tracker))
		set_objects_pace(w, budget_cpu_ns(&w->budget));
	return r;
}

/* Looks what has happened to the JVM, and what the engine has to say. */
static int take_news(struct window *w)
{
	int r;

	session_wake_taken(); /* Before anything is looked at that it may be about. */
	r = read_orders(w);
	w->stopping |= w->orders.stop;
	if (vm_has_ended()) {
		drain_vm_died(w->drain);
		w->stopping = true;
	}
	return r;
}

static int update_phases(struct window *w)
{
	if (!handlers_were_asked() && !monitor_has_phases(&w->monitor))
		return 0;
	return monitor_phases(&w->monitor);
}

static int run(struct window *w, struct err *err)
{
	int r = 0;

	while (r == 0 && !w->stopping && clock_monotonic_ns() < w->settings->deadline_ns) {
		sleep_until_news(w);
		r = take_news(w);
		/* Before rings are drained: contexts go with what is known of their methods. */
		installed_code_read_met(&handlers.walker.layout);
		if (r == 0 && !w->stopping)
			r = update_phases(w);
		if (r == 0 && !w->stopping)
			r = census_news(&w->census, is_eager(w), err);
		if (r == 0 && !w->stopping)
			r = update_objects(w, err);
		if (r == 0)
			r = drain_rings(w, err);
		/* Less urgent than anything else. */
		if (r == 0 && !w->stopping && ledger_affords(&w->budget.ledger, LEDGER_IMAGES))
			r = loop_phase_answer(&w->loops);
		if (r == 0 && !w->stopping)
			loop_phase_plan(&w->loops);
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
	bool vm_alive, closed;
	int r;

	atomic_store(&handlers.stopping, true);
	budget_cpu_ends(&w->budget);
	guests_stop();
	closed = monitor_close_events(&w->monitor);
	census_settle(&w->census);
	/* When this fails the handler stays, to swallow what a thread with SIGTRAP blocked has
	 * pending; it does nothing else from now on. So it does where one is at work that sets its
	 * timer when it is done. It may yet wake us, too: the descriptor must not become another
	 * file's. */
	if (closed && signals_remove(QUIESCE_TIMEOUT_MS, &untouched)) {
		atomic_store(&handlers.wake_fd, -1);
		session_wake_close();
	}
	vm_alive = !vm_has_ended();
	if (!vm_alive)
		drain_vm_died(w->drain);
	r = object_phase_stop(&w->objects, vm_alive);
	if (*result == 0)
		*result = r;
	r = monitor_finish(&w->monitor); /* Also when the socket is lost: it empties the table. */
	if (*result == 0)
		*result = r;
	/* Nothing is collected any more. */
	if (object_phase_is_wanted(&w->objects))
		drain_set_settled(w->drain, clock_monotonic_ns());
	if (*result == 0)
		*result = report(w);
	object_phase_release(&w->objects, !vm_has_ended());
}

int window_run(JavaVM *jvm, struct link *link, const struct settings *settings, struct err *err)
{
	struct window w = {.jvm = jvm,
			   .link = link,
			   .own = *settings,
			   .opener = {.link = link,
				      .events = settings->sampling.events,
				      .through_daemon = settings->through_daemon ||
							proc_self_has_seccomp_filter()},
			   .eager_until_ns = clock_monotonic_ns() + DRAIN_EAGER_NS};
	int r;

	w.settings = &w.own;
	w.opener.orders = &w.orders;
	r = prepare(&w, err);
	if (r == 0) {
		r = start_sampling(&w, err);
		if (r == 0)
			r = run(&w, err);
		stop_sampling(&w, &r);
	}
	sampling_gate_stop(&w.gate);
	drain_free(w.drain);
	census_release(&w.census);
	vm_close(&w.vm);
	return r;
}
