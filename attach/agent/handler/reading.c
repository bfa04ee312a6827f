#include "attach/agent/handler/reading.h"

#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/foretell.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/path/operand.h"
#include "common/clock.h"

/* ---------------------------------------------------------------- the end */

static uint8_t *in_vain(struct thread *t)
{
	return &t->readings_in_vain[t->reading.plan % LIMIT_PLANS];
}

static void tell(struct thread *t, uint8_t end, int32_t stepped, bool left)
{
	struct record r = {.type = RECORD_READING,
			   .reading = {.head = event_head_of(EVENT_READING),
				       .time_ns = clock_monotonic_ns(),
				       .plan = t->reading.plan,
				       .stepped = stepped,
				       .end = end,
				       .left = left}};

	thread_record(t, &r);
}

/* The instance is lost. */
static void leave(struct thread *t)
{
	thread_count(t, JXP__COUNTER__COUNTER_READINGS_LEFT, 1);
	if (t->reading.begun)
		tell(t, 0, 0, true);
	t->reading.begun = false;
}

static void drop(struct thread *t)
{
	leave(t);
	t->reading.active = false;
	if (*in_vain(t) < READING_HALVINGS_MAX)
		++*in_vain(t);
}

void reading_give_up(struct thread *t)
{
	if (!t->reading.active)
		return;
	thread_stop_breaks(t, &t->reading.registers);
	drop(t);
}

void reading_expire(struct thread *t)
{
	if (t->reading.active)
		drop(t);
}

/* ---------------------------------------------------------------- the beginning */

bool reading_fits(const struct thread *t, const struct loop_plan *plan)
{
	return plan->end_count > 0 && plan->end_count < t->burst_registers;
}

bool reading_begin(struct thread *t, const struct loop_plan *plan)
{
	struct register_reading *r = &t->reading;

	*r = (struct register_reading){.end_count = plan->end_count,
				       .plan = plan->plan,
				       .code = plan->code,
				       .start = plan->start,
				       .since_ns = clock_monotonic_ns(),
				       .begin = plan->begin};
	memcpy(r->ends, plan->ends, sizeof(r->ends));
	if (random_below(&t->random, 1u << *in_vain(t)) != 0)
		return false;
	r->active = true;
	thread_count(t, JXP__COUNTER__COUNTER_READINGS, 1);
	if (!thread_break_at(t, 0, r->start + r->begin.offset, &r->registers))
		reading_give_up(t);
	return true;
}

/* ---------------------------------------------------------------- while it goes on */

static uint64_t stack_pointer(const ucontext_t *uc)
{
	return (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
}

static bool read_counter(const struct thread *t, const struct plan_counter_place *place,
			 const ucontext_t *uc, uint32_t *value)
{
	struct machine_view view;
	uint64_t all;

	foretell_view(t, stack_pointer(uc), &view);
	if (!operand_scalar(&view, &place->at, uc, &all))
		return false;
	*value = (uint32_t)all;
	return true;
}

/* The loop is about to be entered. */
static bool enter(struct thread *t, const ucontext_t *uc)
{
	struct register_reading *r = &t->reading;

	if (r->begun && stack_pointer(uc) < r->stack_pointer)
		return true;
	if (r->begun) {
		leave(t);
		thread_count(t, JXP__COUNTER__COUNTER_READINGS, 1);
	}
	if (!read_counter(t, &r->begin, uc, &r->value))
		return false;
	r->stack_pointer = stack_pointer(uc);
	r->begun = true;
	for (unsigned i = 0; i < r->end_count && r->registers <= r->end_count; i++)
		if (!thread_break_at(t, 1 + i, r->start + r->ends[i].offset, &r->registers))
			return false;
	return true;
}

/* The loop is left. */
static bool end(struct thread *t, unsigned i, const ucontext_t *uc)
{
	struct register_reading *r = &t->reading;
	uint32_t value;

	if (!r->begun || stack_pointer(uc) != r->stack_pointer)
		return true;
	if (!read_counter(t, &r->ends[i], uc, &value))
		return false;
	thread_stop_breaks(t, &t->reading.registers);
	r->active = false;
	*in_vain(t) = 0;
	tell(t, (uint8_t)i, (int32_t)(value - r->value), false);
	return true;
}

static bool hit(struct thread *t, const ucontext_t *uc)
{
	struct register_reading *r = &t->reading;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	struct code_blob blob;

	if (++r->signals > READING_SIGNALS_MAX || !codemap_find(ip, &blob) ||
	    blob.serial != r->code)
		return false;
	if (ip == r->start + r->begin.offset)
		return enter(t, uc);
	for (unsigned i = 0; i < r->end_count; i++)
		if (ip == r->start + r->ends[i].offset)
			return end(t, i, uc);
	return true;
}

void reading_hit(struct thread *t, const ucontext_t *uc)
{
	if (!hit(t, uc))
		reading_give_up(t);
}

void reading_tick(struct thread *t, const ucontext_t *uc)
{
	const struct register_reading *r = &t->reading;
	uint64_t age_max = r->begun ? READING_AGE_MAX_NS : READING_WAIT_MAX_NS;
	uint64_t sp = stack_pointer(uc);
	struct code_blob blob;

	if (!codemap_find(r->start, &blob) || blob.serial != r->code ||
	    clock_monotonic_ns() - r->since_ns > age_max ||
	    (r->begun && sp > r->stack_pointer && sp < t->stack_high))
		reading_give_up(t);
}
