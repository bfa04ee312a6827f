#include "attach/agent/path/loops.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "attach/agent/code/reserved.h"
#include "common/code/flow_graph.h"
#include "common/code/opcode.h"

/* A method with more is taken to make accesses of every type in them. */
#define MAKES_MAX 64u

#define NESTS_MAX  4096u
#define PROBES_MAX 8u

/* ---------------------------------------------------------------- nests */

/* What a loop does itself; found when it is first asked for. */
struct loop {
	uint32_t header; /* offset in the method */
	uint16_t parent;
	_Atomic uint16_t known;
	_Atomic uint32_t first_load; /* offset + 1 of the first one, 0: none */
	_Atomic uint32_t first_store;
	_Atomic uint32_t first_call;
	_Atomic uint8_t framed; /* bits 1 << enum access_type: the first one is to the frame */
};

/* Instructions from here on, to the next part, are in the loop. */
struct part {
	uint32_t start;
	uint32_t loop;
};

struct loop_nest {
	uint64_t serial; /* of the blob */
	uint64_t start;
	uint32_t size;
	uint32_t part_count;
	uint32_t loop_count; /* loops[0] is LOOP_NONE */
	uint32_t parts_at;   /* bytes from the nest */
	struct loop loops[];
};

/* A window's nests, one behind the other, and the table that finds them: low half of the serial,
 * and the nest's offset in units of 8 bytes, plus 1. */
static struct {
	uint8_t *nests;
	struct flow_graph *scratch;
	_Atomic uint64_t table[NESTS_MAX];
	_Atomic uint32_t used;
	atomic_flag making;
	bool full; /* whoever is making one */
} memory = {.making = ATOMIC_FLAG_INIT};

static const struct part *parts_of(const struct loop_nest *nest)
{
	return (const struct part *)(const void *)((const uint8_t *)nest + nest->parts_at);
}

unsigned loop_at(const struct loop_nest *nest, uint64_t ip)
{
	const struct part *parts = parts_of(nest);
	uint32_t low = 0, high = nest->part_count;
	uint64_t offset = ip - nest->start;

	if (offset >= nest->size)
		return LOOP_NONE;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (parts[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? parts[low - 1].loop : LOOP_NONE;
}

uint64_t loop_header(const struct loop_nest *nest, unsigned loop)
{
	return loop == LOOP_NONE ? 0 : nest->start + nest->loops[loop].header;
}

bool loop_has_around(const struct loop_nest *nest, unsigned loop, uint64_t header)
{
	while (loop != LOOP_NONE && loop_header(nest, loop) != header)
		loop = nest->loops[loop].parent;
	return loop != LOOP_NONE;
}

bool loop_covers(const struct code_blob *blob, uint64_t header, uint64_t ip)
{
	const struct loop_nest *nest;

	if (ip < blob->start || ip - blob->start >= blob->size)
		return false;
	nest = loops_of(blob);
	return nest && loop_has_around(nest, loop_at(nest, ip), header);
}

/* ---------------------------------------------------------------- making one */

_Static_assert(sizeof(struct flow_graph) <= LOOPS_SCRATCH_BYTES, "the sum of the agent's tables");

bool loop_call_ends(uint64_t callee, bool trap_request)
{
	struct code_blob blob;

	if (codemap_find(callee, &blob))
		return blob.type == CODE_NO_RETURN;
	return trap_request;
}

static bool call_ends(const void *arg, uint64_t callee, bool trap_request)
{
	(void)arg;
	return loop_call_ends(callee, trap_request);
}

static unsigned count_parts(const struct flow_graph *g)
{
	unsigned parts = 1;

	for (unsigned b = 2; b < g->block_count; b++)
		parts += g->loop[b] != g->loop[b - 1];
	return parts;
}

static struct loop_nest *take_room(uint32_t bytes)
{
	uint32_t at = atomic_load_explicit(&memory.used, memory_order_relaxed);

	bytes = (bytes + 7) & ~7u;
	if (bytes > LOOPS_NESTS_BYTES - at)
		return NULL;
	/* Only whoever is making one takes room. */
	atomic_store_explicit(&memory.used, at + bytes, memory_order_relaxed);
	return (struct loop_nest *)(void *)(memory.nests + at);
}

static struct loop_nest *keep(const struct flow_graph *g, const struct code_blob *blob)
{
	unsigned part_count = count_parts(g), part = 0;
	uint32_t loops_bytes = g->loop_count * (uint32_t)sizeof(struct loop);
	uint32_t parts_at = (uint32_t)sizeof(struct loop_nest) + loops_bytes;
	struct loop_nest *nest = take_room(parts_at + part_count * (uint32_t)sizeof(struct part));
	struct part *parts;

	if (!nest)
		return NULL;
	nest->serial = blob->serial;
	nest->start = blob->start;
	nest->size = blob->size;
	nest->part_count = part_count;
	nest->loop_count = g->loop_count;
	nest->parts_at = parts_at;
	for (unsigned l = 1; l < g->loop_count; l++) {
		nest->loops[l].header = g->starts[g->headers[l]];
		nest->loops[l].parent = g->parents[l];
	}
	parts = (struct part *)(void *)((uint8_t *)nest + parts_at);
	for (unsigned b = 1; b < g->block_count; b++) {
		if (b > 1 && g->loop[b] == g->loop[b - 1])
			continue;
		parts[part++] =
		    (struct part){.start = b == 1 ? 0 : g->starts[b], .loop = g->loop[b]};
	}
	return nest;
}

static struct loop_nest *make(struct flow_graph *g, const struct code_blob *blob)
{
	const struct flow_code code = {.bytes = (const uint8_t *)(uintptr_t)blob->start,
				       .size = blob->size,
				       .start = blob->start,
				       .call_ends = call_ends};

	return flow_graph_make(g, &code) ? keep(g, blob) : NULL;
}

/* ---------------------------------------------------------------- the table */

int loops_init(void)
{
	if (!memory.nests)
		memory.nests = reserve_memory(LOOPS_NESTS_BYTES);
	if (!memory.scratch)
		memory.scratch = reserve_memory(LOOPS_SCRATCH_BYTES);
	return memory.nests && memory.scratch ? 0 : -ENOMEM;
}

void loops_clear(void)
{
	/* A handler that is late may still be making one: it keeps the room that it works in. */
	bool idle = !atomic_flag_test_and_set(&memory.making);

	for (unsigned i = 0; i < NESTS_MAX; i++)
		atomic_store_explicit(&memory.table[i], 0, memory_order_relaxed);
	if (!idle)
		return;
	atomic_store(&memory.used, 0);
	memory.full = false;
	empty_memory(memory.nests, LOOPS_NESTS_BYTES);
	empty_memory(memory.scratch, LOOPS_SCRATCH_BYTES);
	atomic_flag_clear(&memory.making);
}

static _Atomic uint64_t *entry(uint64_t serial, unsigned probe)
{
	return &memory.table[((serial * UINT64_C(0x9e3779b97f4a7c15) >> 40) + probe) % NESTS_MAX];
}

/* The entry of a nest that cannot be made. */
#define NO_NEST UINT32_MAX

/* True when it is known, also that there is none. */
static bool find_nest(uint64_t serial, const struct loop_nest **nest)
{
	*nest = NULL;
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		uint64_t word = atomic_load_explicit(entry(serial, i), memory_order_acquire);

		if (word == 0)
			return false;
		if (word >> 32 != (uint32_t)serial)
			continue;
		if ((uint32_t)word == NO_NEST)
			return true;
		*nest = (const void *)(memory.nests + ((uint32_t)word - 1) * UINT64_C(8));
		if ((*nest)->serial != serial)
			*nest = NULL;
		return true;
	}
	return false;
}

/* False when there is no room for it. NULL: that there is none. */
static bool remember(uint64_t serial, const struct loop_nest *nest)
{
	uint64_t at =
	    nest ? (uint64_t)((const uint8_t *)nest - memory.nests) / 8 + 1 : (uint64_t)NO_NEST;

	for (unsigned i = 0; i < PROBES_MAX; i++) {
		_Atomic uint64_t *e = entry(serial, i);

		if (atomic_load_explicit(e, memory_order_relaxed) == 0) {
			atomic_store_explicit(e, serial << 32 | at, memory_order_release);
			return true;
		}
	}
	return false;
}

/* What there is no room for is given up, and no other is made then: each tick would try again. */
static const struct loop_nest *make_and_remember(const struct code_blob *blob)
{
	uint32_t used = atomic_load_explicit(&memory.used, memory_order_relaxed);
	const struct loop_nest *nest = make(memory.scratch, blob);

	if (remember(blob->serial, nest))
		return nest;
	atomic_store_explicit(&memory.used, used, memory_order_relaxed);
	memory.full = true;
	return NULL;
}

const struct loop_nest *loops_of(const struct code_blob *blob)
{
	const struct loop_nest *nest;

	if (!memory.nests || !memory.scratch || find_nest(blob->serial, &nest))
		return memory.nests && memory.scratch ? nest : NULL;
	/* Whoever makes one may be preempted: nobody waits for it. */
	if (atomic_flag_test_and_set(&memory.making))
		return NULL;
	if (!find_nest(blob->serial, &nest) && !memory.full)
		nest = make_and_remember(blob);
	atomic_flag_clear(&memory.making);
	return nest;
}

/* ---------------------------------------------------------------- what a loop does */

bool loop_counts(const struct insn *in, enum access_type type)
{
	const struct insn_memory *m = &in->memory;

	if (!search_is_access(in, type))
		return false;
	if (!in->has_memory)
		return true;
	if (m->base == REG_R15 || (m->base == REG_RSP && m->index < 0 && m->displacement < 0))
		return false;
	return !(in->tests_memory && m->base >= 0 && m->index < 0 && m->displacement == 0);
}

/* String instructions name no operand. */
static bool is_string(const struct opcode *o)
{
	return o->map == OPCODE_ONE_BYTE && !o->vex &&
	       ((o->code & 0xfc) == 0xa4 || (o->code >= 0xaa && o->code <= 0xaf));
}

/* What loop_counts says of both types, without decoding the whole instruction. */
static enum opcode_use use_of(const struct opcode *o)
{
	enum opcode_use use;

	if (!o->has_memory)
		return is_string(o) ? OPCODE_USE_UNKNOWN : OPCODE_USES_NOT;
	if (o->base == 15 || (o->base == 4 && o->index < 0 && o->displacement < 0))
		return OPCODE_USES_NOT;
	use = opcode_use(o);
	if (o->map != OPCODE_ONE_BYTE || use != OPCODE_LOADS)
		return use;
	if ((o->code == 0x84 || o->code == 0x85) && o->base >= 0 && o->index < 0 &&
	    o->displacement == 0)
		return OPCODE_USES_NOT;
	/* A test against an immediate may be a store barrier's. */
	return (o->code & 0xfc) == 0x80 || (o->code & 0xfe) == 0xf6 ? OPCODE_USE_UNKNOWN : use;
}

bool loop_counts_at(uint64_t ip, const struct opcode *o, enum access_type type)
{
	enum opcode_use use = use_of(o);
	struct insn in;

	if (use != OPCODE_USE_UNKNOWN)
		return use & (type == ACCESS_LOAD ? OPCODE_LOADS : OPCODE_STORES);
	return search_fetch(ip, &in) && loop_counts(&in, type);
}

bool loop_is_spill(const struct insn *in)
{
	return in->has_memory && in->memory.base == REG_RSP;
}

bool loop_is_spill_at(const struct opcode *o)
{
	return o->has_memory && o->base == 4;
}

/* Of one type: offset + 1 of the first one, 0 for none. */
struct first {
	uint32_t spill, other;
};

struct survey {
	struct first load, store;
	uint32_t call; /* offset + 1 */
};

static void note_access(struct first *f, uint32_t at, const struct opcode *o)
{
	uint32_t *first = loop_is_spill_at(o) ? &f->spill : &f->other;

	if (!*first)
		*first = at + 1;
}

static bool comes_back(const struct opcode *call, uint64_t ip, bool trap_request)
{
	return opcode_flow(call) == OPCODE_INDIRECT_CALL ||
	       !loop_call_ends(opcode_target(call, ip), trap_request);
}

static void survey_part(const struct loop_nest *nest, uint32_t from, uint32_t to,
			struct survey *found)
{
	bool trap_request = false;
	struct opcode o;

	for (uint32_t at = from; at < to; at += o.length) {
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)(nest->start + at);

		if (!opcode_read(bytes, nest->size - at, &o))
			return;
		trap_request |= flow_is_trap_request(bytes, o.length);
		switch (opcode_flow(&o)) {
		case OPCODE_CALL:
		case OPCODE_INDIRECT_CALL:
			if (!found->call && comes_back(&o, nest->start + at, trap_request))
				found->call = at + 1;
			trap_request = false;
			continue;
		case OPCODE_NEXT:
			break;
		default:
			trap_request = false;
			continue;
		}
		if (!found->load.other && loop_counts_at(nest->start + at, &o, ACCESS_LOAD))
			note_access(&found->load, at, &o);
		if (!found->store.other && loop_counts_at(nest->start + at, &o, ACCESS_STORE))
			note_access(&found->store, at, &o);
	}
}

static uint32_t first_of(const struct first *f)
{
	return f->other ? f->other : f->spill;
}

static bool is_framed(const struct first *f)
{
	return f->spill && !f->other;
}

/* Threads that do this at the same time find the same. */
static const struct loop *surveyed(const struct loop_nest *nest, unsigned number)
{
	/* Nests are written once; what their loops do is filled in later. */
	struct loop *loop = (struct loop *)(uintptr_t)&nest->loops[number];
	const struct part *parts = parts_of(nest);
	struct survey found = {0};

	if (atomic_load_explicit(&loop->known, memory_order_acquire))
		return loop;
	for (uint32_t i = 0; i < nest->part_count; i++)
		if (parts[i].loop == number)
			survey_part(nest, parts[i].start,
				    i + 1 < nest->part_count ? parts[i + 1].start : nest->size,
				    &found);
	atomic_store_explicit(&loop->first_load, first_of(&found.load), memory_order_relaxed);
	atomic_store_explicit(&loop->first_store, first_of(&found.store), memory_order_relaxed);
	atomic_store_explicit(&loop->framed,
			      (uint8_t)(is_framed(&found.load) << ACCESS_LOAD |
					is_framed(&found.store) << ACCESS_STORE),
			      memory_order_relaxed);
	atomic_store_explicit(&loop->first_call, found.call, memory_order_relaxed);
	atomic_store_explicit(&loop->known, 1, memory_order_release);
	return loop;
}

uint64_t loop_access(const struct loop_nest *nest, unsigned loop, enum access_type type)
{
	const struct loop *l = surveyed(nest, loop);
	uint32_t at = type == ACCESS_LOAD ? l->first_load : l->first_store;

	return at ? nest->start + at - 1 : 0;
}

bool loops_make(const struct loop_nest *nest, enum access_type type)
{
	/* Looking at each takes a pass over all parts. */
	if (nest->loop_count > MAKES_MAX)
		return true;
	for (unsigned loop = 1; loop < nest->loop_count; loop++)
		if (loop_access(nest, loop, type))
			return true;
	return false;
}

bool loop_calls(const struct loop_nest *nest, unsigned loop)
{
	return surveyed(nest, loop)->first_call;
}

bool loop_is_framed(const struct loop_nest *nest, unsigned loop, enum access_type type)
{
	return loop != LOOP_NONE && (surveyed(nest, loop)->framed & (1u << type));
}
