#include "attach/agent/window/budget.h"

#include <math.h>

#include "common/clock.h"
#include "proto/jxperf.pb-c.h"

#define CHANGE_INTERVAL_NS (500 * NS_PER_MS)

/* Before this many ticks their mean cost says little: the first ones decode methods for the caches.
 */
#define TICKS_MIN 10u

/* What a tick is taken to cost until then. Of the bench's programs, by all of the overhead: 0.11 to
 * 1.1 ms. */
#define TICK_COST_FIRST_NS 200e3

/* What the period does not steer may use up to this part of the budget: the session thread, the
 * window's beginning, what is held open. What they use beyond shows in the report. */
#define SESSION_SHARE_MAX 0.5

/* What was not spent so far may be spent from now on, but no more than this part of the budget at a
 * time: a program that turns to something dearer has to be seen first. */
#define UNSPENT_SHARE_MAX 0.25

/* A window that has spent too much goes on with this part of the budget, rather than with nothing.
 */
#define SAMPLING_SHARE_MIN 0.1

void budget_start(struct budget *b, double fraction, uint64_t period,
		  const struct signal_costs *signal_costs, bool operations, uint64_t end_ns)
{
	*b = (struct budget){.fraction = fraction,
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

/* What is open and on costs beside the signals that it sends. */
static uint64_t held_ns(const uint64_t *counters)
{
	return counters[JXP__COUNTER__COUNTER_REGISTERS_NS] +
	       counters[JXP__COUNTER__COUNTER_SWITCHES_NS];
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

void budget_cost(const struct budget *b, const uint64_t *counters, struct window_cost *cost)
{
	cost->cpu_ns = budget_cpu_ns(b);
	cost->session_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - b->session_start_ns;
	cost->overhead_ns = sampling_ns(b, counters) + cost->session_ns + held_ns(counters);
	cost->setup_ns = b->session_start_ns;
	cost->period = b->period;
}

bool budget_session_affordable(const struct budget *b, const struct window_cost *cost)
{
	return (double)cost->session_ns <= b->fraction * SESSION_SHARE_MAX * (double)cost->cpu_ns;
}

/* The longer pairs that it buys are few. */
#define SLOWDOWN_SHARE 0.3

double budget_slowdown_most(double fraction)
{
	return fraction * SLOWDOWN_SHARE;
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
		b->period = budget_period_for(TICK_COST_FIRST_NS, b->fraction, b->floor);
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
static uint64_t wanted_operations(struct budget *b, uint64_t sampling, uint64_t cpu_ns, double left)
{
	double used;

	if (cpu_ns <= b->change_cpu_ns)
		return b->period;
	used = (double)(sampling - b->change_sampling_ns) / (double)(cpu_ns - b->change_cpu_ns);
	b->change_cpu_ns = cpu_ns;
	b->change_sampling_ns = sampling;
	return budget_operations_for(b->period, used, left, b->floor);
}

/* The period holds from a change to the next one, so what is due is added up piece by piece. */
static void note_due(struct budget *b, const struct window_cost *cost)
{
	if (cost->cpu_ns > b->due_cpu_ns) {
		b->due += (double)(cost->cpu_ns - b->due_cpu_ns) / (double)b->period;
		b->due_cpu_ns = cost->cpu_ns;
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

uint64_t budget_period(struct budget *b, const uint64_t *counters, const struct window_cost *cost)
{
	uint64_t ticks = counters[JXP__COUNTER__COUNTER_TICKS];
	uint64_t now = clock_monotonic_ns();
	uint64_t setup_ns = budget_setup_due(cost->setup_ns, b->start_ns, b->end_ns, now);
	double beside, left, excess, wanted;

	note_due(b, cost);
	if (ticks < TICKS_MIN || now < b->next_change_ns || cost->cpu_ns == 0)
		return b->period;
	b->next_change_ns = now + CHANGE_INTERVAL_NS;
	beside = (double)(cost->session_ns + setup_ns + held_ns(counters)) / (double)cost->cpu_ns;
	if (beside > b->fraction * SESSION_SHARE_MAX)
		beside = b->fraction * SESSION_SHARE_MAX;
	left = b->fraction - beside;
	/* What was spent too much so far is saved from now on, in half the time; what was not comes
	 * back. */
	excess = (double)(cost->overhead_ns + setup_ns) / (double)cost->cpu_ns - b->fraction;
	if (excess > 0)
		left -= 2 * excess;
	else
		left += fmin(-excess, b->fraction * UNSPENT_SHARE_MAX);
	if (left < b->fraction * SAMPLING_SHARE_MIN)
		left = b->fraction * SAMPLING_SHARE_MIN;
	if (b->operations)
		wanted = (double)wanted_operations(b, sampling_ns(b, counters), cost->cpu_ns, left);
	else
		wanted = (double)wanted_ns(b, sampling_ns(b, counters), ticks, left);
	/* Every change restarts the events' counts: small corrections are not worth it. */
	if (wanted > 1.1 * (double)b->period || wanted < 0.9 * (double)b->period)
		b->period = (uint64_t)wanted;
	return b->period;
}
