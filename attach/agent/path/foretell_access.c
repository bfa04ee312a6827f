#include "attach/agent/path/foretell_access.h"

#include <string.h>

/* They take less than the two traps that are saved. */
#define INSNS_MAX 200u

/* What pushes and pops says nothing of what it touches: it lies where the stack pointer moved. */
static bool stack_passed(const struct foretell_watch *watch, uint64_t from, uint64_t to)
{
	uint64_t low = from < to ? from : to, high = from < to ? to : from;

	return extent_overlap(low, high - low, watch->address, watch->length);
}

static bool take_bytes(struct machine *m, const struct foretell_watch *watch, uint8_t to[8])
{
	struct machine_value v = machine_memory(m, watch->address, watch->length);

	memcpy(to, &v.bits, sizeof(v.bits));
	return v.known || !watch->values;
}

/* Does the instruction, which has been passed, end the wait? False in *fine when that cannot be
 * told. */
static bool ends(const struct foretell_watch *watch, uint64_t ip, const struct machine_effect *e,
		 struct foretold_access *out, bool *fine)
{
	const struct insn *in = &out->insn;

	*fine = search_fetch(ip, &out->insn) && in->has_memory && !in->string && !in->unsupported &&
		!in->compares_and_swaps && !insn_is_masked(in);
	if (!*fine)
		return false;
	out->extent = extent_whole(e->address, e->size);
	out->reads = in->memory.loads;
	out->writes = in->memory.stores;
	if (watch->stores_only && !out->writes)
		return false;
	return (out->reads && watch->ends_with_load) || (out->writes && watch->ends_with_store);
}

bool foretell_access(struct walk *walk, const struct foretell_watch *watch,
		     struct foretold_access *out)
{
	struct machine *m = &walk->machine;
	uint64_t start = walk->blob.start, end = start + walk->blob.size;
	bool fine = true;

	if (!take_bytes(m, watch, out->first))
		return false;
	memcpy(out->before, out->first, sizeof(out->before));
	for (unsigned i = 0; i < INSNS_MAX; i++) {
		struct machine_effect e;
		uint64_t ip = m->ip, stack = machine_stack(m).bits;

		if (ip < start || ip >= end ||
		    machine_pass(m, (const uint8_t *)(uintptr_t)ip, (size_t)(end - ip), &e) !=
			MACHINE_PASSED ||
		    e.called || e.returned || stack_passed(watch, stack, machine_stack(m).bits))
			return false;
		if (!e.loads && !e.stores)
			continue;
		if (!e.address_known)
			return false;
		if (!extent_overlap(e.address, e.size, watch->address, watch->length))
			continue;
		if (ends(watch, ip, &e, out, &fine))
			return machine_stack(m).known && machine_stack(m).bits == m->stack_low &&
			       take_bytes(m, watch, out->after);
		if (!fine || (e.stores && !take_bytes(m, watch, out->before)))
			return false;
	}
	return false;
}
