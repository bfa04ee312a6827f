#include "attach/agent/handler/cpu_sample.h"

#include "attach/agent/code/codemap.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sample.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"

/* What runs at ip, where the thread has Java frames. The code cache holds compiled code, the stubs
 * that it calls, and the interpreter. */
static Jxp__CpuSample__State state_at(uint64_t ip)
{
	if (interpreter_contains(&handlers.walker.layout.interpreter, ip))
		return JXP__CPU_SAMPLE__STATE__INTERPRETED;
	return codemap_covers(ip) ? JXP__CPU_SAMPLE__STATE__COMPILED
				  : JXP__CPU_SAMPLE__STATE__NATIVE;
}

/* Where in compiled code, for whoever looks for its loops, and for the method there. */
static void note_place(struct event_tick *tick, uint64_t ip)
{
	struct code_blob blob;

	if (!codemap_find(ip, &blob) || blob.type != CODE_COMPILED)
		return;
	tick->code = blob.serial;
	tick->offset = (uint32_t)(ip - blob.start);
}

enum cpu_side cpu_sample_side(const ucontext_t *uc)
{
	const greg_t *regs = uc->uc_mcontext.gregs;

	return regs[REG_RCX] == regs[REG_RIP] && regs[REG_R11] == regs[REG_EFL] ? CPU_KERNEL
										: CPU_USER;
}

void cpu_sample_take_unseen(struct thread *t, uint64_t cpu_ns)
{
	const struct record r = {.type = RECORD_CPU,
				 .tick = {.head = event_head_of(EVENT_TICK),
					  .time_ns = clock_monotonic_ns(),
					  .state = JXP__CPU_SAMPLE__STATE__KERNEL,
					  .cpu_ns = cpu_ns}};

	thread_count(t, JXP__COUNTER__COUNTER_CPU_SAMPLES, 1);
	thread_record(t, &r);
}

void cpu_sample_take(struct thread *t, uint64_t cpu_ns, const ucontext_t *uc)
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	bool kernel = t->side == CPU_KERNEL;
	struct record r = {
	    .type = RECORD_CPU,
	    .tick = {.head = event_head_of(EVENT_TICK),
		     .time_ns = clock_monotonic_ns(),
		     .state = (uint8_t)(kernel ? JXP__CPU_SAMPLE__STATE__KERNEL : state_at(ip)),
		     .cpu_ns = cpu_ns}};
	struct event_tick *tick = &r.tick;
	struct sample_maker maker;
	enum stack_result result;

	thread_count(t, JXP__COUNTER__COUNTER_CPU_SAMPLES, 1);
	note_place(tick, ip);
	result = sample_stack(t, uc, ip, &maker);
	if (!tick->code && maker.at & CODEMAP_CALLED) {
		tick->called = true;
		note_place(tick, codemap_address(maker.at & ~CODEMAP_CALLED));
	}
	tick->node = maker.context;
	switch (result) {
	case STACK_OK:
		break;
	case STACK_TRUNCATED:
		tick->truncated = true;
		thread_count(t, JXP__COUNTER__COUNTER_CPU_TRUNCATED, 1);
		break;
	case STACK_NO_JAVA:
		tick->state = kernel ? JXP__CPU_SAMPLE__STATE__NO_JAVA_KERNEL
				     : JXP__CPU_SAMPLE__STATE__NO_JAVA;
		break;
	case STACK_TABLE_FULL:
		tick->state = JXP__CPU_SAMPLE__STATE__UNKNOWN;
		thread_count(t, JXP__COUNTER__COUNTER_CONTEXTS_FULL, 1);
		break;
	case STACK_UNWALKABLE:
		tick->state = JXP__CPU_SAMPLE__STATE__UNKNOWN;
		thread_count(t, JXP__COUNTER__COUNTER_CPU_UNWALKABLE, 1);
		break;
	}
	thread_record(t, &r);
}
