#include "attach/agent/window/loop_phase.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/burst.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/path/plans.h"
#include "attach/agent/stack/code_copy.h"
#include "common/clock.h"
#include "common/code/opcode.h"
#include "common/siphash.h"
#include "proto/limits.h"

/* For hashes of values that leave the JVM: what nobody knows who does not know the bytes that the
 * kernel has given the process (getauxval(3)), and another one for each window. */
static void draw_key(void)
{
	const void *given = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t secret[2] = {0}, now[2] = {clock_monotonic_ns(), 0};

	if (given)
		memcpy(secret, given, sizeof(secret));
	for (unsigned i = 0; i < 2; i++) {
		now[1] = i;
		handlers.trace_key[i] = siphash(secret, now, sizeof(now));
	}
}

void loop_phase_start(struct loop_phase *l, bool wanted, struct orders *orders, struct drain *drain)
{
	*l = (struct loop_phase){.wanted = wanted, .orders = orders, .drain = drain};
	atomic_store(&handlers.burst_chance, 0);
	atomic_store(&handlers.burst_ticks, 0);
	atomic_store(&handlers.trace_signals, 0);
	atomic_store(&handlers.trace_ns, 0);
	atomic_store(&handlers.trace_signal_ns, 0);
	draw_key();
}

static const char *reason_of(int error)
{
	switch (error) {
	case -ENOENT:
		return "it was unloaded";
	case -E2BIG:
		return "it is too large";
	default:
		return "the agent has no memory for it";
	}
}

/* The number of a method's code, 0: it has none. */
static uint64_t code_of(const struct loop_phase *l, uint32_t number)
{
	uint64_t method = drain_method_of(l->drain, number);
	struct code_blob blob;

	return method && codemap_find_method(method, &blob) ? blob.serial : 0;
}

/* A method that was not compiled, and so has no code, is no loss. */
static int answer_method(struct loop_phase *l, uint32_t method, uint64_t *code)
{
	*code = code_of(l, method);
	return *code ? 0 : drain_code_refused(l->drain, 0, method, "it is not compiled");
}

static int answer(struct loop_phase *l, struct code_order order)
{
	uint64_t code = order.code;
	struct code_copy *copy;
	int r;

	if (order.method) {
		r = answer_method(l, order.method, &code);
		if (r < 0 || !code)
			return r;
	}
	r = code_copy_take(&copy, &handlers.walker.layout, code);
	if (r < 0) {
		l->codes_gone++;
		return drain_code_refused(l->drain, order.code, order.method, reason_of(r));
	}
	r = drain_code_image(l->drain, copy, &copy->cut);
	l->codes_sent++;
	l->codes_cut += copy->cut;
	free(copy);
	return r;
}

bool loop_phase_is_asked(const struct loop_phase *l)
{
	return l->orders->codes_answered != l->orders->codes_asked;
}

/* In one turn: events wait meanwhile. */
#define ANSWERS_MAX 4u

int loop_phase_answer(struct loop_phase *l)
{
	uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct orders *o = l->orders;
	int r = 0;

	for (unsigned i = 0; i < ANSWERS_MAX && r == 0 && o->codes_answered != o->codes_asked; i++)
		r = answer(l, o->codes[o->codes_answered++ % LIMIT_CODES_OPEN]);
	l->images_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	return r;
}

/* ---------------------------------------------------------------- plans */

/* For each byte of a method: does an instruction begin there? */
struct instruction_starts {
	uint64_t code; /* whose they are; 0: nobody's */
	uint32_t size;
	uint64_t bits[LIMIT_CODE_BYTES / 64];
	uint8_t bytes[LIMIT_CODE_BYTES];
};

static bool find_starts(struct instruction_starts *s, const struct code_blob *blob)
{
	struct opcode o;

	if (s->code == blob->serial)
		return true;
	s->code = 0;
	if (blob->size > LIMIT_CODE_BYTES || !code_copy_bytes(blob, s->bytes))
		return false;
	memset(s->bits, 0, sizeof(s->bits));
	for (uint32_t at = 0; at < blob->size; at += o.length) {
		if (!opcode_read(s->bytes + at, blob->size - at, &o))
			break;
		s->bits[at / 64] |= UINT64_C(1) << at % 64;
	}
	s->code = blob->serial;
	s->size = blob->size;
	return true;
}

static bool is_start(const struct instruction_starts *s, uint32_t offset)
{
	return offset < s->size && s->bits[offset / 64] >> offset % 64 & 1;
}

enum plan_check { PLAN_GOOD, PLAN_REFUSED, PLAN_BUSY };

static bool check_input(const struct plan_input *in, const struct instruction_starts *s,
			uint64_t start)
{
	struct insn insn;

	if (!is_start(s, in->offset))
		return false;
	return in->bytes == 0 ? in->reg < 16
			      : plan_input_fits(s->bytes + in->offset, s->size - in->offset,
						start + in->offset, in->bytes, &insn);
}

static bool check_inputs(const struct plan_input *in, unsigned count,
			 const struct instruction_starts *s, uint64_t start)
{
	for (unsigned i = 0; i < count; i++)
		if (!check_input(&in[i], s, start))
			return false;
	return true;
}

static bool check_scalar(const struct plan_scalar *s)
{
	return s->reg < 16 && s->bytes >= 1 && s->bytes <= 8;
}

/* Two breakpoints at one place would be one signal. */
static bool check_instances(const struct loop_plan *p, const struct instruction_starts *s,
			    uint64_t start)
{
	if (p->load_count == 0)
		return true;
	for (unsigned i = 0; i < p->load_count; i++)
		if (p->loads[i].offset == p->entry)
			return false;
	for (unsigned i = 0; i < p->scalar_count; i++)
		if (!check_scalar(&p->scalars[i]))
			return false;
	return is_start(s, p->entry) && check_inputs(p->loads, p->load_count, s, start);
}

static bool check_counter_place(const struct plan_counter_place *p,
				const struct instruction_starts *s)
{
	return is_start(s, p->offset) && check_scalar(&p->at);
}

static bool check_reading(const struct loop_plan *p, const struct instruction_starts *s)
{
	if (p->end_count == 0)
		return true;
	for (unsigned i = 0; i < p->end_count; i++) {
		if (!check_counter_place(&p->ends[i], s) || p->ends[i].offset == p->begin.offset)
			return false;
		for (unsigned j = 0; j < i; j++)
			if (p->ends[j].offset == p->ends[i].offset)
				return false;
	}
	return check_counter_place(&p->begin, s);
}

/* Are all the places instructions, and of the sort that they are to be? */
static bool check_places(const struct loop_plan *p, const struct instruction_starts *s,
			 uint64_t start)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (!is_start(s, p->places[i]))
			return false;
	return is_start(s, p->header) && check_instances(p, s, start) && check_reading(p, s) &&
	       check_inputs(p->turn_inputs, p->turn_input_count, s, start);
}

/* The code may be unloaded at any time: a plan that fits now is looked for by the number of the
 * code, and what it set is off when that has changed. */
static enum plan_check check_plan(const struct loop_plan *order, struct instruction_starts *s,
				  struct loop_plan *out)
{
	const struct loop_nest *nest;
	struct code_blob blob;
	uint64_t header;

	if (!codemap_find_serial(order->code, &blob) || blob.type != CODE_COMPILED ||
	    !find_starts(s, &blob) || !check_places(order, s, blob.start) || !loop_plan_asks(order))
		return PLAN_REFUSED;
	nest = loops_of(&blob);
	if (!nest)
		return PLAN_BUSY;
	header = blob.start + order->header;
	if (!order->recursion && loop_header(nest, loop_at(nest, header)) != header)
		return PLAN_REFUSED;
	*out = *order;
	out->start = blob.start;
	return PLAN_GOOD;
}

/* loops_of has no answer while a handler makes one; where it still has none after so many turns,
 * the code has too many loops for it. */
#define PLAN_TRIES_MAX 5u

/* Is this the first answer to the plan? */
static bool is_news(struct loop_phase *l, uint32_t plan)
{
	for (unsigned i = 0; i < l->plans_known_count; i++)
		if (l->plans_known[i] == plan)
			return false;
	if (l->plans_known_count == LOOP_PLANS_KNOWN)
		return false;
	l->plans_known[l->plans_known_count++] = plan;
	return true;
}

static void check_plans(struct loop_phase *l, struct instruction_starts *s)
{
	struct orders *o = l->orders;
	struct loop_plan plans[LIMIT_PLANS];
	enum plan_check checks[LIMIT_PLANS];
	unsigned count = 0, busy = 0;

	for (unsigned i = 0; i < o->plan_count; i++) {
		checks[i] = check_plan(&o->plans[i], s, &plans[count]);
		count += checks[i] == PLAN_GOOD;
		busy += checks[i] == PLAN_BUSY;
	}
	if (busy > 0 && ++l->plans_tried < PLAN_TRIES_MAX)
		return;
	for (unsigned i = 0; i < o->plan_count; i++)
		if (is_news(l, o->plans[i].plan))
			l->plans_refused += checks[i] != PLAN_GOOD;
	l->plans_refused += o->plans_cut;
	l->plans_tried = 0;
	o->plans_new = false;
	l->plans_changed = true;
	plans_set(plans, count);
}

void loop_phase_plan(struct loop_phase *l)
{
	struct instruction_starts *s;

	if (!l->wanted || !l->orders->plans_new)
		return;
	s = calloc(1, sizeof(*s));
	if (!s)
		return; /* There may be memory at the next turn. */
	check_plans(l, s);
	free(s);
}

/* ---------------------------------------------------------------- how many */

uint32_t loop_phase_chance(double left_ns, double most_ns, double burst_ns, double ticks)
{
	double may_ns = left_ns < most_ns ? left_ns : most_ns;
	double chance;

	if (may_ns <= 0)
		return 0;
	chance = may_ns / (burst_ns * (ticks > 1 ? ticks : 1));
	return chance < 1 ? (uint32_t)(chance * BURST_CHANCE_ONE) : BURST_CHANCE_ONE;
}

/* A program may turn to a planned loop at any time: at least this part of the ticks is expected to
 * come in one. */
#define PLANNED_MIN 0.125

/* How many ticks will come in planned loops until the next look: as many as lately, and of new
 * plans nothing is known. */
static double expected_ticks(struct loop_phase *l, double ticks)
{
	uint64_t planned = atomic_load(&handlers.burst_ticks);
	double recent = (double)(planned - l->planned_ticks);
	double expected = recent > l->planned_recent ? recent : l->planned_recent;

	if (expected < PLANNED_MIN * ticks)
		expected = PLANNED_MIN * ticks;
	if (l->plans_changed)
		expected = ticks;
	l->planned_ticks = planned;
	l->planned_recent = recent;
	l->plans_changed = false;
	return expected;
}

/* Looks in which what is left over is spent: some four seconds. */
#define SAVINGS_LOOKS 16.0

/* Before so many bursts, traces and readings their mean cost says little: then the most that one
 * may cost. */
#define BURSTS_KNOWN 8u

/* Signals of traces, likewise. */
#define TRACES_KNOWN 64u

/* The cost of all traces, and on the way what one signal of theirs takes. */
static uint64_t cost_of_traces(uint64_t trap_cost_ns)
{
	uint64_t signals = atomic_load(&handlers.trace_signals);
	uint64_t handled = atomic_load(&handlers.trace_ns);
	uint64_t each = signals < TRACES_KNOWN ? LEDGER_TRACE_NS : handled / signals;

	atomic_store(&handlers.trace_signal_ns, trap_cost_ns + each);
	return signals * trap_cost_ns + handled;
}

void loop_phase_pace(struct loop_phase *l, struct ledger *ledger, const uint64_t *counters,
		     uint64_t trap_cost_ns)
{
	uint64_t bursts = counters[JXP__COUNTER__COUNTER_BURSTS];
	uint64_t all = bursts + counters[JXP__COUNTER__COUNTER_TRACES] +
		       counters[JXP__COUNTER__COUNTER_READINGS];
	uint64_t spent = counters[JXP__COUNTER__COUNTER_BURST_NS] +
			 bursts * BURST_SIGNALS * trap_cost_ns + cost_of_traces(trap_cost_ns);
	double recent = ledger_most(ledger, LEDGER_LOOPS) * (double)(ledger->cpu_ns - l->cpu_ns);
	double ticks = (double)(counters[JXP__COUNTER__COUNTER_TICKS] - l->ticks);
	double left, most;

	if (!l->wanted)
		return;
	l->ticks = counters[JXP__COUNTER__COUNTER_TICKS];
	l->cpu_ns = ledger->cpu_ns;
	ledger->spent_ns[LEDGER_LOOPS] = spent;
	left = ledger_left_ns(ledger, LEDGER_LOOPS);
	/* What was left over for want of plans is not spent at once. */
	most = left / SAVINGS_LOOKS;
	if (most < 2 * recent)
		most = 2 * recent;
	atomic_store(&handlers.burst_chance,
		     loop_phase_chance(left, most,
				       all < BURSTS_KNOWN ? (double)BURST_NS_MAX
							  : (double)spent / (double)all,
				       expected_ticks(l, ticks)));
}

void loop_phase_counters(const struct loop_phase *l, uint64_t *counters)
{
	counters[JXP__COUNTER__COUNTER_CODES_SENT] = l->codes_sent;
	counters[JXP__COUNTER__COUNTER_CODES_GONE] = l->codes_gone;
	counters[JXP__COUNTER__COUNTER_IMAGES_NS] = l->images_ns;
	/* Like what the code map has no room for: a part of the code is not known. */
	counters[JXP__COUNTER__COUNTER_CODE_DROPPED] += l->codes_cut;
	if (!l->wanted)
		return;
	counters[JXP__COUNTER__COUNTER_PLANS_REFUSED] = l->plans_refused;
	counters[JXP__COUNTER__COUNTER_BURST_NS] =
	    counters[JXP__COUNTER__COUNTER_BURST_HITS] * handlers.burst_hit_ns;
}
