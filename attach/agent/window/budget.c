#include "attach/agent/window/budget.h"

#include <math.h>

#include "common/clock.h"
#include "proto/jxperf.pb-c.h"

#define CHANGE_INTERVAL_NS (500 * NS_PER_MS)

/* Before this many ticks their mean cost says little: the first ones decode methods for the caches.
 */
#define TICKS_MIN 10u

void budget_start(struct budget *b, double fraction, uint64_t period,
		  const struct signal_costs *signal_costs, bool operations, uint64_t end_ns)
{
	*b = (struct budget){.ledger.budget = fraction,
			     .floor = period,
			     .period = period,
			     .operations = operations,
			     .signal_costs = *signal_costs,
			     .start_ns = clock_monotonic_ns(),
			     .end_ns = end_ns,
			     .process_start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
			     .session_start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static uint64_t sampling_ns(const struct budget *b, const uint64_t *counters)
{
	uint64_t ticks = counters[JXP__COUNTER__COUNTER_SIGNALS_TICKS] +
			 counters[JXP__COUNTER__COUNTER_SIGNALS_STOPS] +
			 counters[JXP__COUNTER__COUNTER_SIGNALS_LOOKS];
	uint64_t traps = counters[JXP__COUNTER__COUNTER_SIGNALS] - ticks;

	return counters[JXP__COUNTER__COUNTER_HANDLER_NS] + ticks * b->signal_costs.tick_ns +
	       traps * b->signal_costs.trap_ns + counters[JXP__COUNTER__COUNTER_BURST_NS];
}

void budget_cpu_begins(struct budget *b)
{
	b->process_start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void budget_cpu_ends(struct budget *b)
{
	b->process_end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t budget_cpu_ns(const struct budget *b)
{
	uint64_t end_ns =
	    b->process_end_ns ? b->process_end_ns : clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	return end_ns - b->process_start_ns;
}

void budget_note(struct budget *b, const uint64_t *counters, uint64_t other_ns)
{
	struct ledger *l = &b->ledger;

	l->cpu_ns = budget_cpu_ns(b);
	l->spent_ns[LEDGER_TICKS] = sampling_ns(b, counters);
	l->spent_ns[LEDGER_SETUP] =
	    budget_setup_due(b->session_start_ns, b->start_ns, b->end_ns, clock_monotonic_ns());
	l->spent_ns[LEDGER_SESSION] =
	    clock_ns(CLOCK_THREAD_CPUTIME_ID) - b->session_start_ns + other_ns;
	l->spent_ns[LEDGER_OPEN] = counters[JXP__COUNTER__COUNTER_REGISTERS_NS] +
				   counters[JXP__COUNTER__COUNTER_SWITCHES_NS];
}

uint64_t budget_setup_due(uint64_t setup_ns, uint64_t start_ns, uint64_t end_ns, uint64_t now_ns)
{
	if (now_ns >= end_ns || end_ns <= start_ns)
		return setup_ns;
	if (now_ns <= start_ns)
		return 0;
	return (uint64_t)((double)setup_ns * (double)(now_ns - start_ns) /
			  (double)(end_ns - start_ns));
}

uint64_t budget_period_for(double tick_cost_ns, double fraction, uint64_t floor_ns)
{
	double period = tick_cost_ns / fraction;

	if (period < (double)floor_ns)
		return floor_ns;
	if (period > (double)BUDGET_PERIOD_MAX_NS)
		return floor_ns > BUDGET_PERIOD_MAX_NS ? floor_ns : BUDGET_PERIOD_MAX_NS;
	return (uint64_t)period;
}

uint64_t budget_first_period(struct budget *b)
{
	if (!b->operations)
		b->period = budget_period_for(LEDGER_TICK_NS, b->ledger.budget, b->floor);
	return b->period;
}

/* Half a second has a dozen ticks, or fewer: were every chance rise taken for one, as often as not
 * the budget would not be used. */
#define RECENT_DEVIATIONS 1

double budget_density(double ticks, double due, double recent_ticks, double recent_due)
{
	double density = due > 0 ? ticks / due : 1;
	double certain = recent_ticks - RECENT_DEVIATIONS * sqrt(recent_ticks);
	double recent = recent_due > 0 ? certain / recent_due : 0;

	if (density < recent)
		density = recent;
	if (density < BUDGET_DENSITY_MIN)
		density = BUDGET_DENSITY_MIN;
	return density < 1 ? density : 1;
}

uint64_t budget_operations_for(uint64_t period, double used, double fraction, uint64_t floor)
{
	double factor = used / fraction;
	double wanted;

	if (factor > BUDGET_STEP_MAX)
		factor = BUDGET_STEP_MAX;
	if (factor < 1 / BUDGET_STEP_MAX)
		factor = 1 / BUDGET_STEP_MAX;
	wanted = (double)period * factor;
	if (wanted < (double)floor)
		return floor;
	if (wanted > (double)floor * BUDGET_OPERATIONS_MAX)
		return floor * BUDGET_OPERATIONS_MAX;
	return (uint64_t)wanted;
}

/* Judged by what sampling has used since the last change, not since the beginning: the first ticks
 * cost more than others and are to count once. */
static uint64_t wanted_operations(struct budget *b, uint64_t sampling, double left)
{
	uint64_t cpu_ns = b->ledger.cpu_ns;
	double used;

	if (cpu_ns <= b->change_cpu_ns)
		return b->period;
	used = (double)(sampling - b->change_sampling_ns) / (double)(cpu_ns - b->change_cpu_ns);
	b->change_cpu_ns = cpu_ns;
	b->change_sampling_ns = sampling;
	return budget_operations_for(b->period, used, left, b->floor);
}

/* The period holds from a change to the next one, so what is due is added up piece by piece. */
static void note_due(struct budget *b)
{
	uint64_t cpu_ns = b->ledger.cpu_ns;

	if (cpu_ns > b->due_cpu_ns) {
		b->due += (double)(cpu_ns - b->due_cpu_ns) / (double)b->period;
		b->due_cpu_ns = cpu_ns;
	}
}

static uint64_t wanted_ns(struct budget *b, uint64_t sampling_ns, uint64_t ticks, double left)
{
	double density = budget_density((double)ticks, b->due, (double)(ticks - b->change_ticks),
					b->due - b->change_due);

	b->change_ticks = ticks;
	b->change_due = b->due;
	return budget_period_for((double)sampling_ns / (double)ticks, left / density, b->floor);
}

uint64_t budget_period(struct budget *b, const uint64_t *counters)
{
	uint64_t ticks = counters[JXP__COUNTER__COUNTER_TICKS];
	uint64_t now = clock_monotonic_ns();
	double left, wanted;

	note_due(b);
	if (ticks < TICKS_MIN || now < b->next_change_ns || b->ledger.cpu_ns == 0)
		return b->period;
	b->next_change_ns = now + CHANGE_INTERVAL_NS;
	left = ledger_left_for_ticks(&b->ledger);
	if (b->operations)
		wanted = (double)wanted_operations(b, sampling_ns(b, counters), left);
	else
		wanted = (double)wanted_ns(b, sampling_ns(b, counters), ticks, left);
	/* Every change restarts the events' counts: small corrections are not worth it. */
	if (wanted > 1.1 * (double)b->period || wanted < 0.9 * (double)b->period)
		b->period = (uint64_t)wanted;
	return b->period;
}
