#include "attach/agent/handler/sampler.h"

#include <linux/perf_event.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/search.h"
#include "attach/agent/handler/access.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/handler/watchpoint.h"

/* Beside enum access_type: by its data source the sampled operation is neither load nor store. */
#define ACCESS_NEITHER (-1)

/* A record and what kind of access its event says it is. */
struct hardware_sample {
	struct perf_ring_sample record;
	int access; /* enum access_type or ACCESS_NEITHER */
};

static int access_of(enum perf_access counted, uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};

	if (counted == PERF_ACCESS_LOADS)
		return ACCESS_LOAD;
	if (counted == PERF_ACCESS_STORES)
		return ACCESS_STORE;
	if (source.mem_op & PERF_MEM_OP_LOAD)
		return ACCESS_LOAD;
	return source.mem_op & PERF_MEM_OP_STORE ? ACCESS_STORE : ACCESS_NEITHER;
}

static void count_records(struct thread *t, const struct perf_ring_counts *counts)
{
	if (counts->samples > 1)
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_OVERTAKEN, counts->samples - 1);
	if (counts->lost)
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_LOST, counts->lost);
	if (counts->malformed)
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_MALFORMED, counts->malformed);
	if (counts->throttled)
		thread_count(t, JXP__COUNTER__COUNTER_THROTTLED, counts->throttled);
}

/* Empties the rings. Only the newest record is worth having: what an older one accessed may have
 * been accessed again since. */
static bool newest(struct thread *t, struct hardware_sample *out)
{
	struct perf_ring_counts counts = {0};
	bool found = false;

	for (unsigned i = 0; i < handlers.sampling.event_count; i++) {
		struct perf_ring_sample record;

		if (!t->sampling_ring[i].control ||
		    !perf_ring_newest(&t->sampling_ring[i], &record, &counts))
			continue;
		if (found && record.time_ns < out->record.time_ns)
			continue;
		out->record = record;
		out->access = access_of(handlers.sampling.events[i].access, record.data_source);
		found = true;
	}
	count_records(t, &counts);
	return found;
}

/* Decodes the sampled access. False when it is none: no explicit memory operand, no address, or a
 * compare-and-swap that may have failed to store or a masked move: flags and mask are gone. */
static bool decode(const struct hardware_sample *h, struct sample *out)
{
	const struct operand *m = &out->insn.memory;

	if (h->access == ACCESS_NEITHER || !h->record.exact || !h->record.address ||
	    !search_fetch(h->record.ip, &out->insn) || !out->insn.has_memory ||
	    out->insn.flow != FLOW_NEXT || insn_is_masked(&out->insn))
		return false;
	if (h->access == ACCESS_LOAD ? !m->loads : !m->stores || out->insn.compares_and_swaps)
		return false;
	out->extent = extent_whole(h->record.address, m->size);
	out->executed = true;
	return true;
}

/* What a load's own instruction has overwritten since cannot be compared. */
static bool fits_a_pair(const struct hardware_sample *h, const struct sample *s)
{
	return h->access == ACCESS_STORE || !s->insn.memory.stores;
}

/* The thread has run on since the access. While it is in the same method, its stack still shows the
 * calling context of the access. */
static bool same_method(uint64_t ip, const ucontext_t *uc)
{
	struct code_blob sampled, now;

	return codemap_find(ip, &sampled) &&
	       codemap_find((uint64_t)uc->uc_mcontext.gregs[REG_RIP], &now) &&
	       sampled.start == now.start;
}

/* One of the window's kinds that sample this type of access, at random, of *count; -1: there is
 * none. */
static int choose_kind(struct thread *t, enum access_type access, unsigned *fitting_count)
{
	uint8_t fitting[PAIR_KINDS + 1];
	unsigned count = 0;

	for (unsigned i = 0; i < handlers.sampling.kind_count; i++)
		if (sample_access(handlers.sampling.kinds[i]) == access)
			fitting[count++] = handlers.sampling.kinds[i];
	if (atomic_load_explicit(&handlers.objects_on, memory_order_relaxed))
		fitting[count++] = JXP__KIND__KIND_OBJECTS;
	*fitting_count = count;
	return count ? fitting[random_below(&t->random, count)] : -1;
}

static void take_sample(struct thread *t, const struct hardware_sample *h, const ucontext_t *uc)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);
	struct sample s = {0};
	unsigned kinds;
	int kind, reg;

	if (!decode(h, &s)) {
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_UNUSABLE, 1);
		return;
	}
	kind = choose_kind(t, (enum access_type)h->access, &kinds);
	if (kind < 0) {
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_UNWANTED, 1);
		return;
	}
	if (!same_method(h->record.ip, uc)) {
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_SKIDDED, 1);
		return;
	}
	if (kind == JXP__KIND__KIND_OBJECTS) {
		/* An event counts for one of the kinds that sample its type, so it stands for that
		 * many periods. */
		access_record(t, &s, h->access == ACCESS_STORE, handlers.period * kinds,
			      h->record.cpu, uc);
		return;
	}
	if (!fits_a_pair(h, &s)) {
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_UNUSABLE, 1);
		return;
	}
	thread_count(t, JXP__COUNTER__COUNTER_SAMPLES, 1);
	reg = sampler_take_register(t);
	if (reg < 0)
		return;
	t->watchpoints[reg].weight = 0; /* Operations, not time. */
	t->watchpoints[reg].then = JXP__KIND__KIND_NONE;
	watchpoint_arm(t, (unsigned)reg, (uint8_t)kind, &s, uc);
}

static void on_record(struct thread *t, const ucontext_t *uc)
{
	struct hardware_sample h = {0};

	thread_count(t, JXP__COUNTER__COUNTER_TICKS, 1);
	sampler_note_slowdown(t, uc);
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_READY)
		/* It has no rings yet; where it stands tells whether it should. */
		(void)sampler_admits(t, uc, (uint64_t)uc->uc_mcontext.gregs[REG_RIP]);
	else if (!newest(t, &h))
		thread_count(t, JXP__COUNTER__COUNTER_RECORDS_MISSING, 1);
	else if (sampler_admits(t, uc, h.record.ip))
		take_sample(t, &h, uc);
}

/* This sampler sets no execution breakpoints; a register that claims one is given back. */
static void on_breakpoint(struct thread *t, unsigned reg, const ucontext_t *uc)
{
	(void)uc;
	watchpoint_drop(t, reg, RECORD_ABANDONED);
}

bool sampler_wants_event(unsigned event, bool objects)
{
	enum perf_access counted = handlers.sampling.events[event].access;

	if (objects)
		return true;
	for (unsigned i = 0; i < handlers.sampling.kind_count; i++) {
		bool loads = sample_access(handlers.sampling.kinds[i]) == ACCESS_LOAD;

		if (counted == PERF_ACCESS_ANY || loads == (counted == PERF_ACCESS_LOADS))
			return true;
	}
	return false;
}

const struct sampler sampler_hardware = {
    .on_event = on_record,
    .on_breakpoint = on_breakpoint,
};
