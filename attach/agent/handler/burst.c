#include "attach/agent/handler/burst.h"

#include <unistd.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/path/plans.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/reading.h"
#include "attach/agent/handler/trace.h"
#include "attach/agent/code/loops.h"
#include "common/clock.h"

static uint32_t bounded(uint64_t period)
{
	if (period > BURST_PERIOD_MAX)
		return BURST_PERIOD_MAX;
	return period < BURST_PERIOD_MIN ? BURST_PERIOD_MIN : (uint32_t)period;
}

struct burst_periods burst_periods(uint64_t hit_ns, unsigned others)
{
	uint64_t hits = BURST_NS_MAX / (hit_ns ? hit_ns : 1), least = others * BURST_PERIOD_MIN;
	struct burst_periods p;

	p.header = bounded(hits > least ? hits - least : 0);
	p.others = bounded(others && hits > p.header ? (hits - p.header) / others : 0);
	if (p.others > p.header)
		p.others = p.header;
	return p;
}

bool burst_owns(const struct thread *t, unsigned reg)
{
	return reg >= t->burst_first && reg - t->burst_first < t->burst_registers;
}

void burst_own(struct thread *t, unsigned first, unsigned count)
{
	t->burst_first = first;
	t->burst_registers = count;
}

/* ---------------------------------------------------------------- the events */

/* Sets a counter, whose event is off. */
static bool count_at(struct thread *t, unsigned reg, uint64_t address, uint32_t period)
{
	return perf_break_at(t->register_fd[reg], address, period,
			     thread_sig_data(t, THREAD_ROLE_REGISTER + reg)) == 0;
}

/* The descriptor must be the event's: of anything else bytes would be taken from the application.
 * It is closed only while no handler of the thread runs (close_events in window/monitor.c), or once
 * handlers are to stop. */
static bool count_of(const struct thread *t, unsigned reg, uint64_t *count)
{
	return !atomic_load(&handlers.stopping) && !atomic_load(&t->ended) &&
	       read(t->register_fd[reg], count, sizeof(*count)) == (ssize_t)sizeof(*count);
}

static void stop_counting(struct thread *t, unsigned others)
{
	for (unsigned i = 0; i <= others; i++)
		if (perf_disable(t->register_fd[t->burst_first + i]) < 0)
			thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
}

/* ---------------------------------------------------------------- the end */

static uint32_t difference(uint64_t now, uint64_t before)
{
	uint64_t d = now > before ? now - before : 0;

	return d < UINT32_MAX ? (uint32_t)d : UINT32_MAX;
}

/* What was counted until now; within a turn: it counts, too, though the header that it began at
 * does not. Of code that was replaced meanwhile, nothing. */
static void tell(struct thread *t, const uint64_t now[PERF_DEBUG_REGISTERS], bool left, bool within)
{
	struct burst *b = &t->burst;
	struct record r = {.type = RECORD_BURST,
			   .burst = {.head = event_head_of(EVENT_BURST),
				     .time_ns = clock_monotonic_ns(),
				     .plan = b->plan,
				     .headers = difference(now[0], b->before[0]) + within,
				     .others = b->others,
				     .left = left}};
	uint64_t hits = r.burst.headers - within;
	struct code_blob blob;

	for (unsigned i = 0; i < b->others; i++) {
		r.burst.places[i] = b->places[i];
		r.burst.counts[i] = difference(now[1 + i], b->before[1 + i]);
		hits += r.burst.counts[i];
	}
	for (unsigned i = 0; i <= b->others; i++)
		b->before[i] = now[i];
	b->active = false;
	thread_count(t, JXP__COUNTER__COUNTER_BURSTS, 1);
	thread_count(t, JXP__COUNTER__COUNTER_BURST_HITS, hits);
	if (left)
		thread_count(t, JXP__COUNTER__COUNTER_BURSTS_LEFT, 1);
	if (codemap_find(b->start, &blob) && blob.serial == b->code)
		thread_record(t, &r);
}

static void close_burst(struct thread *t, bool left, bool within)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	uint64_t now[PERF_DEBUG_REGISTERS] = {0};

	if (t->burst.seeks) {
		stop_counting(t, 0);
		t->burst.active = false;
		return;
	}
	stop_counting(t, t->burst.others);
	for (unsigned i = 0; i <= t->burst.others; i++)
		if (!count_of(t, t->burst_first + i, &now[i]))
			now[i] = t->burst.before[i];
	tell(t, now, left, within);
}

void burst_give_up(struct thread *t)
{
	if (t->burst.active)
		close_burst(t, true, true);
}

void burst_note_counts(struct thread *t)
{
	for (unsigned i = 0; i < t->burst_registers; i++) {
		int fd = t->register_fd[t->burst_first + i];
		uint64_t count;

		if (fd >= 0 && read(fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
			t->burst_counts[i] = count;
	}
}

void burst_expire(struct thread *t)
{
	if (t->burst.active && !t->burst.seeks)
		tell(t, t->burst_counts, true, true);
	t->burst.active = false;
}

/* ---------------------------------------------------------------- the beginning */

/* Is something to be done of the plan at ip, with the registers that there are? */
static bool plan_fits(const struct thread *t, const struct loop_plan *plan,
		      const struct code_blob *blob, uint64_t ip)
{
	if (!plan->counted && !trace_fits(t, plan) && !reading_fits(t, plan))
		return false;
	return plan->recursion || loop_covers(blob, plan->start + plan->header, ip);
}

/* Turns are counted in so many of the times that two loops are in question and what the other one
 * goes by is to be compared: else of a loop in another one, whose ticks are few, little would be
 * known. */
#define COUNTED_WEIGHT 4u

/* One of the plans whose loop ip lies in. */
static bool choose_plan(struct thread *t, uint64_t ip, struct loop_plan *out)
{
	unsigned fitting = 0;
	struct code_blob blob;

	if (!codemap_find(ip, &blob) || blob.type != CODE_COMPILED)
		return false;
	for (unsigned i = 0; i < plans_count(); i++) {
		struct loop_plan plan;

		unsigned weight;

		if (!plans_read(i, blob.serial, &plan) || !plan_fits(t, &plan, &blob, ip))
			continue;
		weight = plan.counted ? COUNTED_WEIGHT : 1;
		fitting += weight;
		if (random_below(&t->random, fitting) < weight)
			*out = plan;
	}
	return fitting > 0;
}

/* Draws so many of the plan's places, the first one of those that are ahead; where there is but
 * one, every other time of all. Their indices. */
static void draw_places(struct thread *t, struct loop_plan *plan, unsigned count, uint8_t *indices)
{
	uint8_t all[LIMIT_PLAN_PLACES];

	for (unsigned i = 0; i < plan->count; i++)
		all[i] = (uint8_t)i;
	for (unsigned i = 0; i < count; i++) {
		bool ahead =
		    i == 0 && plan->ahead > 0 && (count > 1 || random_below(&t->random, 2) == 0);
		unsigned from = ahead ? plan->count - plan->ahead : i;
		unsigned j = from + random_below(&t->random, plan->count - from);
		uint8_t index = all[j];

		all[j] = all[i];
		all[i] = index;
		indices[i] = index;
	}
}

static void begin_burst(struct thread *t, struct loop_plan *plan)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	unsigned others = t->burst_registers - 1;
	struct burst *b = &t->burst;

	if (others > plan->count)
		others = plan->count;
	if (others > BURST_OTHERS_MAX)
		others = BURST_OTHERS_MAX;
	b->others = (uint8_t)others;
	b->plan = plan->plan;
	b->code = plan->code;
	b->start = plan->start;
	b->header = plan->start + plan->header;
	b->since_ns = clock_monotonic_ns();
	draw_places(t, plan, others, b->places);
	for (unsigned i = 0; i < others; i++)
		b->others_at[i] = plan->start + plan->places[b->places[i]];
	b->active = b->seeks = true;
	if (!count_at(t, t->burst_first, b->header, 1)) {
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
		burst_give_up(t);
	}
}

/* The header is reached. */
static void start_counting(struct thread *t)
{
	ACCOUNT_AS(t, ACCOUNT_CONTROLS);
	struct burst *b = &t->burst;
	unsigned first = t->burst_first;
	struct burst_periods periods = burst_periods(handlers.burst_hit_ns, b->others);
	bool set;

	stop_counting(t, 0); /* Its period is to be changed. */
	/* Traces have counted with the same registers since the last burst. */
	set = count_of(t, first, &b->before[0]);
	for (unsigned i = 0; i < b->others && set; i++)
		set = count_of(t, first + 1 + i, &b->before[1 + i]);
	if (!set) {
		b->active = false;
		return;
	}
	b->seeks = false;
	b->seen = b->before[0];
	for (unsigned i = 0; i < b->others && set; i++)
		set = count_at(t, first + 1 + i, b->others_at[i], periods.others);
	set = set && count_at(t, first, b->header, periods.header);
	if (!set) {
		thread_count(t, JXP__COUNTER__COUNTER_EVENT_ERRORS, 1);
		burst_give_up(t);
	}
}

void burst_is_full(struct thread *t, unsigned reg)
{
	/* Two may be full at the same instruction, each with its signal: the second one's event is
	 * off already, unless that failed. */
	if (t->burst.active && t->burst.seeks)
		start_counting(t);
	else if (t->burst.active)
		close_burst(t, false, reg != t->burst_first);
	else
		(void)perf_disable(t->register_fd[reg]); /* Counted when it failed. */
}

/* ---------------------------------------------------------------- while it goes on */

/* A thread that is elsewhere may be in something that the loop calls: then the count will rise. */
static bool goes_on(struct thread *t, uint64_t ip)
{
	struct burst *b = &t->burst;
	struct code_blob blob;
	uint64_t count, seen = b->seen;

	if (!codemap_find(b->start, &blob) || blob.serial != b->code ||
	    clock_monotonic_ns() - b->since_ns > BURST_AGE_MAX_NS)
		return false;
	if (loop_covers(&blob, b->header, ip))
		return true;
	if (b->seeks || !count_of(t, t->burst_first, &count))
		return false;
	b->seen = count;
	return count != seen;
}

/* Readings take the least, and are all that some turns are known by: few are wanted, and these
 * soon. Of the others one is as much wanted as the other. */
static void begin_something(struct thread *t, struct loop_plan *plan)
{
	bool others = plan->counted || trace_fits(t, plan);

	if (reading_fits(t, plan) && (!others || random_below(&t->random, READING_TICKS) == 0) &&
	    reading_begin(t, plan))
		return;
	if (trace_fits(t, plan) && (!plan->counted || random_below(&t->random, 2) == 0) &&
	    trace_begin(t, plan))
		return;
	if (plan->counted)
		begin_burst(t, plan);
}

void burst_tick(struct thread *t, const ucontext_t *uc)
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	struct loop_plan plan = {0};

	if (t->trace.active) {
		trace_tick(t, uc);
		return;
	}
	if (t->reading.active) {
		reading_tick(t, uc);
		return;
	}
	if (t->burst.active) {
		if (!goes_on(t, ip))
			close_burst(t, true, true);
		return;
	}
	if (t->burst_registers == 0 || !choose_plan(t, ip, &plan))
		return;
	atomic_fetch_add_explicit(&handlers.burst_ticks, 1, memory_order_relaxed);
	if (random_below(&t->random, BURST_CHANCE_ONE) >=
	    atomic_load_explicit(&handlers.burst_chance, memory_order_relaxed))
		return;
	begin_something(t, &plan);
}
