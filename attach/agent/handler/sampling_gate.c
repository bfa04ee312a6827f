#include "attach/agent/handler/sampling_gate.h"

#include <errno.h>
#include <stdatomic.h>

#include "attach/agent/handler/thread.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/perf/events.h"
#include "common/perf/gate_limits.h"

/* Global because the SIGTRAP handler applies it. */
static struct gate gate;
static _Atomic bool applied_here;

static void set_limits(const struct sampling_gate *g, uint64_t window_end_ns, uint64_t period)
{
	struct gate_limits limits;

	gate_limits_for(&limits, window_end_ns, period, g->operations, g->cpus);
	gate_set_limits(&gate, &limits);
}

void sampling_gate_start(struct sampling_gate *g, int program, bool expected, uint64_t deadline_ns,
			 uint64_t period, bool operations, double cpu_limit)
{
	*g = (struct sampling_gate){.program_fd = program,
				    .program_expected = expected,
				    .operations = operations,
				    .cpus = gate_cpus(cpu_limit)};
	gate = (struct gate){0};
	set_limits(g, deadline_ns, period);
	atomic_store(&applied_here, program < 0);
}

bool sampling_gate_attach(const struct sampling_gate *g, int event_fd)
{
	int r;

	if (g->program_fd < 0)
		return !g->program_expected;
	r = perf_set_gate(event_fd, g->program_fd);
	/* The daemon puts it on events that it opens for us. */
	if (r == 0 || r == -EEXIST)
		return true;
	atomic_store(&applied_here, true);
	return false;
}

void sampling_gate_set_period(const struct sampling_gate *g, uint64_t period)
{
	set_limits(g, gate.limits.window_end_ns, period);
}

bool sampling_gate_passes(struct thread *t)
{
	static const Jxp__Counter counters[GATE_OUTCOMES] = {
	    [GATE_WINDOW_OVER] = JXP__COUNTER__COUNTER_GATE_WINDOW_OVER,
	    [GATE_BUDGET_SPENT] = JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT,
	    [GATE_CONTENDED] = JXP__COUNTER__COUNTER_GATE_CONTENDED,
	};
	enum gate_outcome outcome;

	/* A CPU timer's signals do not pass the kernel's gate. */
	if (!t->guest && (t->timer < 0 || t->clock_on) &&
	    !atomic_load_explicit(&applied_here, memory_order_relaxed))
		return true;
	outcome = gate_admit(&gate, clock_monotonic_ns());
	if (outcome != GATE_PASSED)
		thread_count(t, counters[outcome], 1);
	return outcome == GATE_PASSED;
}

void sampling_gate_stop(struct sampling_gate *g)
{
	fd_close_all(&g->program_fd, 1);
}
