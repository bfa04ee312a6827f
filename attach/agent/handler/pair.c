#include "attach/agent/handler/pair.h"

#include <string.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/element.h"
#include "attach/agent/code/value.h"
#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/placing.h"
#include "attach/agent/handler/sample.h"
#include "attach/agent/handler/thread.h"
#include "common/clock.h"
#include "proto/limits.h"

const struct pair_kind *pair_kind_of(const struct watchpoint *w)
{
	return pair_kind_find((Jxp__Kind)w->kind);
}

bool pair_turn(struct watchpoint *w)
{
	if (w->then == JXP__KIND__KIND_NONE)
		return false;
	w->kind = w->then;
	w->then = JXP__KIND__KIND_NONE;
	return true;
}

bool pair_ends(const struct watchpoint *w, bool reads, bool writes)
{
	unsigned types = (reads ? PAIR_LOAD : 0) | (writes ? PAIR_STORE : 0);

	return types & pair_kind_of(w)->ends;
}

void pair_fill_record(struct record *r, const struct watchpoint *w, unsigned reg,
		      enum record_type type)
{
	*r = (struct record){.time_ns = clock_monotonic_ns(),
			     .address = w->address,
			     .watch_context = w->maker.context,
			     .watch_at = w->maker.at,
			     .watch_calls = w->maker.calls,
			     .watch_code = w->code,
			     .place = w->place,
			     .type = (uint8_t)type,
			     .kind = w->kind,
			     .reg = (uint8_t)reg,
			     .length = w->length,
			     .region = w->region};
}

/* What an instruction moves, where that counts: an object's class tells better. */
static enum insn_element element_at(struct thread *t, const struct place *place,
				    const struct insn *in)
{
	ACCOUNT_AS(t, ACCOUNT_CODE);

	return place->kind == PLACE_OBJECT ? ELEMENT_INTEGER : element_of_access(in);
}

bool pair_choose_bytes(struct thread *t, struct watchpoint *w, uint8_t kind, const struct insn *in,
		       const struct extent *extent)
{
	uint64_t start;

	if (extent->address < REGION_LOWEST_ADDRESS || !extent->active) {
		thread_count(t, JXP__COUNTER__COUNTER_SEARCHES_FAILED, 1);
		return false;
	}
	w->kind = kind;
	w->length = (uint8_t)sample_part(extent, random_bit(&t->random, extent->active), &start);
	w->width = (uint8_t)extent->width;
	w->address = start;
	w->after = in->ip + in->length;
	w->again = in->repeats ? in->ip : w->after;
	w->ignored = 0;
	w->value_taken = false;
	w->swaps = in->compares_and_swaps && sample_access(kind) == ACCESS_STORE;
	w->foretold_first = false;
	return true;
}

/* The registers that made the access's address, as they were: what it has overwritten of them
 * follows from the address. False when it does not. */
static bool registers_before(const struct sample *s, const gregset_t regs, gregset_t before)
{
	const struct operand *m = &s->insn.memory;
	uint64_t index = m->index >= 0 ? register_value(regs, m->index) * m->scale : 0;

	memcpy(before, regs, sizeof(gregset_t));
	if (!s->executed || !insn_writes(&s->insn, m->base))
		return !(s->executed && insn_writes(&s->insn, m->index)) || m->base >= 0;
	if (insn_writes(&s->insn, m->index))
		return false;
	register_set(before, m->base, s->extent.address - (uint64_t)m->displacement - index);
	return true;
}

bool pair_describe(struct thread *t, struct watchpoint *w, const struct sample *s,
		   const gregset_t regs, const ucontext_t *uc)
{
	struct insn in = s->insn;
	gregset_t before;

	if (!sample_capture(t, uc, s->insn.ip, &w->maker))
		return false;
	w->region = (uint8_t)sample_region(t, s, regs);
	in.has_memory = in.has_memory && registers_before(s, regs, before);
	w->placed =
	    placing_find(t, w->region, w->address, &in, in.has_memory ? before : regs, &w->place);
	w->element = element_at(t, &w->place, &s->insn);
	sample_code(&w->code, &s->insn);
	return true;
}

/* Are the shared bytes (bits of a set) of two values the same? Each run of them by itself: the
 * lanes between belong to nobody. */
static bool same_bytes(const uint8_t *first, const uint8_t *second, unsigned shared,
		       enum insn_element element)
{
	while (shared) {
		unsigned from = (unsigned)__builtin_ctz(shared);
		unsigned bytes = (unsigned)__builtin_ctz(~(shared >> from));

		if (!value_same(first + from, second + from, bytes, element))
			return false;
		shared &= ~(((1u << bytes) - 1) << from);
	}
	return true;
}

/* Did the second access load or store the value of the first one, if values of this type lie there?
 */
static bool is_same_value(const struct watchpoint *w, const struct trap_access *a,
			  const uint8_t *now, unsigned shared, enum insn_element element)
{
	const uint8_t *second = now;

	/* A read-modify-write loaded what was there before it. */
	if (pair_kind_of(w)->ends == PAIR_LOAD && a->writes)
		second = w->last_value;
	return same_bytes(w->value, second, shared, element);
}

/* record.wasteful_as */
static uint8_t wasteful_as(const struct watchpoint *w, const struct trap_access *a,
			   const uint8_t *now, unsigned shared)
{
	unsigned as = 0;

	for (unsigned e = ELEMENT_INTEGER; e <= ELEMENT_FLOAT64; e++) {
		bool wasteful = pair_kind_of(w)->waste == PAIR_WASTE_OVERWRITTEN
				    ? a->writes && !a->reads
				    : is_same_value(w, a, now, shared, (enum insn_element)e);

		as |= (unsigned)wasteful << e;
	}
	return (uint8_t)as;
}

/* The second access touches the same bytes in the same epoch, so its registers may tell the object
 * where those of the first did not, or where the first came before the object was made. */
static void place_again(struct thread *t, struct watchpoint *w, const struct trap_access *a,
			const gregset_t regs)
{
	struct insn in = a->insn;

	if (w->region != JXP__REGION__REGION_HEAP ||
	    (w->placed == PLACE_FOUND &&
	     place_holds(&handlers.layout, &handlers.regions, w->address, &w->place)))
		return;
	in.has_memory = in.has_memory && !insn_overwrites(&in, &in.memory);
	w->placed = placing_find(t, w->region, w->address, &in, regs, &w->place);
}

/* The CPU time that the pair stands for; its sample stands for less if the second access touched
 * only some of the watched bytes. */
static uint64_t cpu_ns_of(const struct watchpoint *w, double kept, unsigned shared)
{
	return (uint64_t)((double)w->weight * kept * __builtin_popcount(shared) / w->length);
}

/* bytes times weight, rounded up or down at random, right on average. */
static uint32_t weighted(unsigned bytes, double weight, struct random *random)
{
	double product = bytes * weight + random_next(random) / 4294967296.0;

	return product < LIMIT_PAIR_BYTES ? (uint32_t)product : LIMIT_PAIR_BYTES;
}

/* Both accesses meet at the bytes that they share: the second may touch a later field than that at
 * which the first one's bytes begin. */
static void place_where_they_meet(struct place *p, unsigned shared)
{
	unsigned before = shared ? (unsigned)__builtin_ctz(shared) : 0;

	if (p->kind != PLACE_OBJECT || p->offset >= UINT32_MAX - before)
		return;
	p->offset += before;
	p->element = p->header_bytes > 0 && p->offset >= p->header_bytes;
}

bool pair_describe_end(struct thread *t, struct watchpoint *w, struct pair_end *end,
		       const ucontext_t *uc)
{
	place_again(t, w, end->access, end->regs);
	end->jvm_access = false;
	if (sample_capture(t, uc, end->access->insn.ip, &end->maker))
		return true;
	if (codemap_covers(end->access->insn.ip))
		return false;
	/* The JVM moved or cleared the object itself: no Java frame made this access. */
	end->maker.context = 0;
	end->jvm_access = true;
	return true;
}

void pair_complete(struct thread *t, const struct watchpoint *w, const struct pair_end *end)
{
	const struct trap_access *a = end->access;
	unsigned shared = trap_shared(&a->extent, w->address, w->length);
	struct record r;

	placing_count(t, w->region, w->placed);
	pair_fill_record(&r, w, end->reg, RECORD_TRAPPED);
	place_where_they_meet(&r.place, shared);
	r.trap_context = end->maker.context;
	r.jvm_access = end->jvm_access;
	r.checked_bytes = weighted(
	    sample_weight((unsigned)__builtin_popcount(shared), w->length, w->width, &t->random),
	    end->kept, &t->random);
	r.wasteful_as = wasteful_as(w, a, end->now, shared);
	r.element = (uint8_t)w->element;
	if (w->element == ELEMENT_INTEGER)
		r.element = (uint8_t)element_at(t, &w->place, &a->insn);
	r.cpu_ns = cpu_ns_of(w, end->kept, shared);
	r.trap_at = end->maker.at;
	r.trap_calls = end->maker.calls;
	sample_code(&r.trap_code, &a->insn);
	thread_record(t, &r);
}
