#include "attach/agent/handler/trace.h"

#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/foretell.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/operand.h"
#include "common/clock.h"
#include "common/siphash.h"

unsigned trace_signals_max(uint64_t signal_ns)
{
	uint64_t signals = TRACE_NS_MAX / (signal_ns ? signal_ns : 1);

	if (signals > TRACE_SIGNALS_MAX)
		return TRACE_SIGNALS_MAX;
	return signals < TRACE_SIGNALS_MIN ? TRACE_SIGNALS_MIN : (unsigned)signals;
}

/* Three entries, and after the last value of either the load that tells that there are more. */
#define SIGNALS_BESIDE_VALUES 5u

_Static_assert((TRACE_SIGNALS_MIN - SIGNALS_BESIDE_VALUES) / 2 == TRACE_VALUES_MIN,
	       "by definition");

unsigned trace_values_max(unsigned signals)
{
	unsigned values = (signals - SIGNALS_BESIDE_VALUES) / 2;

	return values < LIMIT_TRACE_VALUES ? values : LIMIT_TRACE_VALUES;
}

/* ---------------------------------------------------------------- the end */

static bool has_values(const struct trace *r)
{
	return r->told.counts[0] > 0 || r->told.turn_values > 0;
}

static bool code_is_there(const struct trace *r, struct code_blob *blob)
{
	return codemap_find(r->start, blob) && blob->serial == r->code;
}

/* How often in a row traces of this sort came to nothing. */
static uint8_t *in_vain(struct thread *t, const struct trace *r)
{
	return &t->traces_in_vain[r->turns][r->told.plan % LIMIT_PLANS];
}

/* The events are off, or closed. */
static void tell_trace(struct thread *t)
{
	struct trace *r = &t->trace;
	const uint8_t *bytes = (const uint8_t *)&r->told;
	struct record parts[RECORD_TRACE_PARTS];

	r->active = false;
	*in_vain(t, r) = 0;
	r->told.time_ns = clock_monotonic_ns();
	for (unsigned i = 0; i < RECORD_TRACE_PARTS; i++) {
		size_t from = (size_t)i * RECORD_TRACE_BYTES, left = sizeof(r->told) - from;

		parts[i] = (struct record){.type = RECORD_TRACE, .part = (uint8_t)i};
		memcpy(parts[i].bytes, bytes + from,
		       left < RECORD_TRACE_BYTES ? left : RECORD_TRACE_BYTES);
	}
	thread_record_all(t, parts, RECORD_TRACE_PARTS);
}

static void drop_trace(struct thread *t, Jxp__Counter why)
{
	uint8_t *before = in_vain(t, &t->trace);

	t->trace.active = false;
	thread_count(t, why, 1);
	if (why == JXP__COUNTER__COUNTER_TRACES_LEFT && *before < TRACE_HALVINGS_MAX)
		(*before)++;
}

/* Is it of use as it is, without knowing how it would go on? */
static bool is_enough(const struct trace *r)
{
	return r->turns ? r->told.turn_values > 0 : r->begun == 2 && r->told.counts[1] == r->most;
}

/* Wherever it is. Of an instance that has all values and was not seen to go on, nobody knows. */
static void settle_trace(struct thread *t)
{
	struct trace *r = &t->trace;
	struct code_blob blob;

	if (!is_enough(r) || !code_is_there(r, &blob)) {
		drop_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
		return;
	}
	r->told.cut[1] = !r->turns;
	tell_trace(t);
}

void trace_give_up(struct thread *t)
{
	if (!t->trace.active)
		return;
	thread_stop_breaks(t, &t->trace.registers);
	settle_trace(t);
}

void trace_expire(struct thread *t)
{
	if (t->trace.active)
		settle_trace(t);
}

static void complete_trace(struct thread *t)
{
	thread_stop_breaks(t, &t->trace.registers);
	tell_trace(t);
}

static void lose_trace(struct thread *t, Jxp__Counter why)
{
	thread_stop_breaks(t, &t->trace.registers);
	drop_trace(t, why);
}

/* ---------------------------------------------------------------- values */

static uint32_t keyed(const void *bytes, size_t size)
{
	return (uint32_t)siphash(handlers.trace_key, bytes, size);
}

static bool read_scalars(struct thread *t, unsigned instance, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	struct machine_view view;

	foretell_view(t, (uint64_t)uc->uc_mcontext.gregs[REG_RSP], &view);
	for (unsigned i = 0; i < r->scalar_count; i++) {
		const struct plan_scalar *s = &r->scalars[i];
		uint64_t value;

		if (!operand_scalar(&view, s, uc, &value))
			return false;
		r->told.scalars[instance][i] = keyed(&value, s->bytes);
	}
	r->told.scalar_counts[instance] = r->scalar_count;
	return true;
}

/* What the instruction at which the thread stands is about to use. */
static bool read_input(const struct thread *t, const struct plan_input *input,
		       const struct code_blob *blob, const ucontext_t *uc, uint32_t *hash)
{
	const greg_t *regs = uc->uc_mcontext.gregs;
	uint64_t ip = (uint64_t)regs[REG_RIP];
	uint8_t bytes[PLAN_INPUT_BYTES_MAX];
	struct machine_view view;
	struct insn insn;

	if (input->bytes == 0) {
		uint64_t value = operand_register(uc, input->reg);

		*hash = keyed(&value, sizeof(value));
		return true;
	}
	foretell_view(t, (uint64_t)regs[REG_RSP], &view);
	/* Compilers patch their code: it is taken as it is now. */
	if (!plan_input_fits((const uint8_t *)(uintptr_t)ip, blob->start + blob->size - ip, ip,
			     input->bytes, &insn) ||
	    !operand_memory(&view, uc, insn_effective_address(&insn, regs), bytes, input->bytes))
		return false;
	*hash = keyed(bytes, input->bytes);
	return true;
}

static bool read_value(struct thread *t, const struct plan_input *input,
		       const struct code_blob *blob, const ucontext_t *uc, uint32_t *hash)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	struct trace *r = &t->trace;

	if (!has_values(r))
		r->epoch = t->epoch;
	return read_input(t, input, blob, uc, hash);
}

/* ---------------------------------------------------------------- instances */

/* The loop is entered. */
static void enter_instance(struct thread *t, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];

	if (r->begun > 0 && sp != r->entry_pointer) {
		r->deeper = true;
		return;
	}
	if (r->begun == 2) {
		complete_trace(t);
		return;
	}
	r->begun = r->told.counts[0] > 0 ? 2 : 1;
	r->entry_pointer = sp;
	r->deeper = false;
	if (r->on)
		return;
	r->on = thread_break_at(t, 1, r->start + r->inputs[0].offset, &r->registers);
	if (!r->on)
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
}

/* Is the thread in the frame that the trace is of? The first load behind an entry tells which that
 * is, unless an activation deeper was entered in between. */
static bool is_in_frame(struct trace *r, uint64_t sp)
{
	if (!r->framed && !r->deeper) {
		r->framed = true;
		r->stack_pointer = sp;
	}
	return r->framed && sp == r->stack_pointer;
}

/* The instance goes on after all the values that it may have. */
static void cut_instance(struct thread *t, unsigned instance)
{
	struct trace *r = &t->trace;

	r->told.cut[instance] = true;
	if (instance == 1) {
		complete_trace(t);
		return;
	}
	thread_break_no_more(t, 1);
	r->on = false;
}

static void reach_load(struct thread *t, const struct code_blob *blob, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	unsigned instance = r->begun - 1u;
	uint8_t *count = &r->told.counts[instance];
	uint32_t hash;

	if (!is_in_frame(r, (uint64_t)uc->uc_mcontext.gregs[REG_RSP]))
		return;
	if (*count == r->most) {
		cut_instance(t, instance);
		return;
	}
	if (!read_value(t, &r->inputs[0], blob, uc, &hash) ||
	    (*count == 0 && !read_scalars(t, instance, uc))) {
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
		return;
	}
	r->told.values[instance][(*count)++] = hash;
}

static void hit_of_instances(struct thread *t, const struct code_blob *blob, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	if (ip == r->entry)
		enter_instance(t, uc);
	else if (r->on && ip == r->start + r->inputs[0].offset)
		reach_load(t, blob, uc);
}

/* ---------------------------------------------------------------- turns */

/* Is there an input before this one that the same instruction uses? */
static bool shares_place(const struct plan_input *inputs, unsigned i)
{
	for (unsigned j = 0; j < i; j++)
		if (inputs[j].offset == inputs[i].offset)
			return true;
	return false;
}

/* The header is reached. */
static bool begin_turns(struct thread *t, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	unsigned next = 0;

	r->begun = 1;
	r->framed = !r->recursion;
	r->stack_pointer = r->entry_pointer = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
	thread_break_no_more(t, 0); /* An event that is on is not changed. */
	for (unsigned i = 0; i < r->input_count; i++)
		if (!shares_place(r->inputs, i) &&
		    !thread_break_at(t, next++, r->start + r->inputs[i].offset, &r->registers))
			return false;
	r->on = true;
	return true;
}

static bool add_turn_value(struct thread *t, unsigned i, const struct code_blob *blob,
			   const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	unsigned n = r->told.turn_values;

	if (!read_value(t, &r->inputs[i], blob, uc, &r->told.values[0][n]))
		return false;
	r->told.places[n] = (uint8_t)i;
	if (n == 0)
		r->first_cpu_ns = t->signal_cpu_ns;
	r->told.elapsed_ns = t->signal_cpu_ns - r->first_cpu_ns;
	r->told.turn_values++;
	return true;
}

static void hit_of_turns(struct thread *t, const struct code_blob *blob, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	bool good = true;

	if (r->begun == 0 && ip == r->entry)
		good = begin_turns(t, uc);
	if (!r->on && good)
		return;
	if (r->framed && (uint64_t)uc->uc_mcontext.gregs[REG_RSP] != r->stack_pointer)
		return;
	for (unsigned i = 0; i < r->input_count && good; i++)
		if (ip == r->start + r->inputs[i].offset &&
		    r->told.turn_values < LIMIT_TRACE_VALUES)
			good = add_turn_value(t, i, blob, uc);
	if (!good)
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
	else if (r->told.turn_values == LIMIT_TRACE_VALUES)
		complete_trace(t);
}

/* ---------------------------------------------------------------- the beginning */

static bool fits_instances(const struct thread *t, const struct loop_plan *plan)
{
	return plan->load_count > 0 && !plan->recursion && t->burst_registers >= 2;
}

static bool fits_turns(const struct thread *t, const struct loop_plan *plan)
{
	unsigned places = 0;

	for (unsigned i = 0; i < plan->turn_input_count; i++)
		places += !shares_place(plan->turn_inputs, i);
	return places > 0 && places <= t->burst_registers;
}

bool trace_fits(const struct thread *t, const struct loop_plan *plan)
{
	return fits_instances(t, plan) || fits_turns(t, plan);
}

static void choose_inputs(struct thread *t, const struct loop_plan *plan)
{
	struct trace *r = &t->trace;

	if (r->turns) {
		r->input_count = plan->turn_input_count;
		memcpy(r->inputs, plan->turn_inputs, sizeof(r->inputs));
		return;
	}
	r->told.load = (uint8_t)random_below(&t->random, plan->load_count);
	r->input_count = 1;
	r->inputs[0] = plan->loads[r->told.load];
	r->scalar_count = plan->scalar_count;
	memcpy(r->scalars, plan->scalars, sizeof(r->scalars));
}

bool trace_begin(struct thread *t, const struct loop_plan *plan)
{
	struct trace *r = &t->trace;
	bool both = fits_instances(t, plan) && fits_turns(t, plan);

	*r = (struct trace){.turns = both ? random_below(&t->random, 2) : fits_turns(t, plan),
			    .recursion = plan->recursion,
			    .code = plan->code,
			    .start = plan->start,
			    .header = plan->start + plan->header,
			    .since_ns = clock_monotonic_ns(),
			    .told = {.head = event_head_of(EVENT_TRACE), .plan = plan->plan}};
	if (random_below(&t->random, 1u << *in_vain(t, r)) != 0)
		return false;
	r->active = true;
	choose_inputs(t, plan);
	r->entry = r->turns ? r->header : plan->start + plan->entry;
	r->signals_max = trace_signals_max(
	    atomic_load_explicit(&handlers.trace_signal_ns, memory_order_relaxed));
	r->most = (uint8_t)trace_values_max(r->signals_max);
	thread_count(t, JXP__COUNTER__COUNTER_TRACES, 1);
	if (!thread_break_at(t, 0, r->entry, &r->registers))
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
	return true;
}

/* ---------------------------------------------------------------- while it goes on */

void trace_hit(struct thread *t, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	struct code_blob blob;

	r->signals++;
	if (!codemap_find((uint64_t)uc->uc_mcontext.gregs[REG_RIP], &blob) ||
	    blob.serial != r->code)
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
	else if (has_values(r) && r->epoch != t->epoch)
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_MOVED);
	else if (r->turns)
		hit_of_turns(t, &blob, uc);
	else
		hit_of_instances(t, &blob, uc);
	if (r->signals >= r->signals_max)
		trace_give_up(t);
}

/* Has the thread left the instance, or the turns, for sure? What is deeper may be called from
 * there. Between the entry and the first value it is not in the loop yet. */
static bool has_left(const struct thread *t, const struct code_blob *blob, const ucontext_t *uc)
{
	const struct trace *r = &t->trace;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];

	if (!r->framed || sp < t->stack_low || sp >= t->stack_high)
		return false;
	if (!(r->turns ? r->told.turn_values : r->told.counts[r->begun - 1]))
		return sp > r->entry_pointer;
	return sp > r->stack_pointer ||
	       (sp == r->stack_pointer && ip >= blob->start && ip - blob->start < blob->size &&
		!loop_covers(blob, r->header, ip));
}

void trace_tick(struct thread *t, const ucontext_t *uc)
{
	struct trace *r = &t->trace;
	uint64_t age_max = r->begun ? TRACE_AGE_MAX_NS : TRACE_WAIT_MAX_NS;
	struct code_blob blob;

	if (!code_is_there(r, &blob))
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_LEFT);
	else if (has_values(r) && r->epoch != t->epoch)
		lose_trace(t, JXP__COUNTER__COUNTER_TRACES_MOVED);
	else if (clock_monotonic_ns() - r->since_ns > age_max)
		trace_give_up(t);
	else if (!has_left(t, &blob, uc))
		return;
	else if (r->turns)
		trace_give_up(t);
	else if (r->begun == 2)
		complete_trace(t);
}
