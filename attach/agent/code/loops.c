#include "attach/agent/code/loops.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "attach/agent/code/reserved.h"
#include "common/code/flow_graph.h"
#include "common/code/opcode.h"
#include "common/array.h"
#include "common/mix.h"

/* A method with more is taken to make accesses of every type in them. */
#define MAKES_MAX 64u

#define NESTS_MAX  4096u
#define PROBES_MAX 8u

#define PAGE_BYTES 4096u

/* More than this is not kept from one window to the next: nests of code that is gone are among
 * them. */
#define KEPT_BYTES_MAX (LOOPS_NESTS_BYTES / 2)

/* ---------------------------------------------------------------- nests */

/* What a loop does itself; found when it is first asked for. */
struct nest_loop {
	uint32_t header; /* offset in the method */
	uint16_t parent;
	_Atomic uint16_t known;
	_Atomic uint32_t first_load; /* offset + 1 of the first one, 0: none */
	_Atomic uint32_t first_store;
	_Atomic uint32_t first_call;
	_Atomic uint8_t framed; /* bits 1 << enum access_type: the first one is to the frame */
};

/* Straight code from here on, to the next block, in the loop. */
struct block {
	uint32_t start : 20;
	uint32_t loop : 12;
};

_Static_assert(FLOW_BYTES_MAX <= 1u << 20 && FLOW_LOOPS_MAX < 1u << 12, "bits of a block");

struct loop_nest {
	_Atomic uint64_t serial; /* of the blob that it was last found to be of */
	uint64_t start;
	uint64_t digest; /* of the code that it was made of */
	uint32_t size;
	uint32_t block_count; /* 0: of this code the loops cannot be told */
	uint32_t loop_count;  /* loops[0] is LOOP_NONE */
	uint32_t blocks_at;   /* bytes from the nest */
	struct nest_loop loops[];
};

/* The nests, one behind the other, and the table that finds them by where their code starts: high
 * half of its hash, and the nest's offset in units of 8 bytes, plus 1. */
static struct {
	uint8_t *nests;
	struct flow_graph *scratch;
	_Atomic uint64_t table[NESTS_MAX];
	_Atomic uint32_t used;
	atomic_flag making;
	bool full;            /* whoever is making one, as the next */
	uint64_t lent_digest; /* of all nests, as they were when the window ended */
} memory = {.making = ATOMIC_FLAG_INIT};

static const struct block *blocks_of(const struct loop_nest *nest)
{
	return (const struct block *)(const void *)((const uint8_t *)nest + nest->blocks_at);
}

/* NULL where ip is not in the code. The first block begins where the code does. */
static const struct block *block_at(const struct loop_nest *nest, uint64_t ip)
{
	const struct block *blocks = blocks_of(nest);
	uint64_t offset = ip - nest->start;

	if (offset >= nest->size)
		return NULL;
	return &blocks[SEARCH_FIRST(i, nest->block_count, blocks[i].start > offset) - 1];
}

unsigned loop_at(const struct loop_nest *nest, uint64_t ip)
{
	const struct block *block = block_at(nest, ip);

	return block ? block->loop : LOOP_NONE;
}

uint64_t loop_block(const struct loop_nest *nest, uint64_t ip)
{
	const struct block *block = block_at(nest, ip);

	return block ? nest->start + block->start : 0;
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

static struct loop_nest *keep_bare(const struct code_blob *blob, uint64_t digest, uint32_t bytes)
{
	struct loop_nest *nest = take_room((uint32_t)sizeof(*nest) + bytes);

	if (!nest)
		return NULL;
	memset(nest, 0, sizeof(*nest) + bytes); /* Forgotten nests leave what they were. */
	atomic_store_explicit(&nest->serial, blob->serial, memory_order_relaxed);
	nest->start = blob->start;
	nest->digest = digest;
	nest->size = blob->size;
	return nest;
}

static struct loop_nest *keep(const struct flow_graph *g, const struct code_blob *blob,
			      uint64_t digest)
{
	unsigned block_count = g->block_count - 1; /* without FLOW_ROOT */
	uint32_t loops_bytes = g->loop_count * (uint32_t)sizeof(struct nest_loop);
	struct loop_nest *nest =
	    keep_bare(blob, digest, loops_bytes + block_count * (uint32_t)sizeof(struct block));
	struct block *blocks;

	if (!nest)
		return NULL;
	nest->block_count = block_count;
	nest->loop_count = g->loop_count;
	nest->blocks_at = (uint32_t)sizeof(struct loop_nest) + loops_bytes;
	for (unsigned l = 1; l < g->loop_count; l++) {
		nest->loops[l].header = g->starts[g->headers[l]];
		nest->loops[l].parent = g->parents[l];
	}
	blocks = (struct block *)(void *)((uint8_t *)nest + nest->blocks_at);
	for (unsigned b = 0; b < block_count; b++) {
		blocks[b].start = g->starts[b + 1] & (FLOW_BYTES_MAX - 1);
		blocks[b].loop = g->loop[b + 1] & ((1u << 12) - 1);
	}
	return nest;
}

static uint64_t digest_of(const void *bytes, uint32_t size)
{
	uint64_t digest = size, word;
	uint32_t at = 0;

	for (; at + sizeof(word) <= size; at += (uint32_t)sizeof(word)) {
		memcpy(&word, (const uint8_t *)bytes + at, sizeof(word));
		digest = mix_upper(digest ^ word);
		digest ^= digest >> 32;
	}
	word = 0;
	memcpy(&word, (const uint8_t *)bytes + at, size - at);
	return mix(digest ^ word);
}

static uint64_t digest_of_code(const struct code_blob *blob)
{
	return digest_of((const void *)(uintptr_t)blob->start, blob->size);
}

/* NULL when there is no room. What has too much of anything gets a nest of no blocks: it is not to
 * be tried again. */
static struct loop_nest *make(struct flow_graph *g, const struct code_blob *blob)
{
	const struct flow_code code = {.bytes = (const uint8_t *)(uintptr_t)blob->start,
				       .size = blob->size,
				       .start = blob->start,
				       .call_ends = call_ends};
	uint64_t digest = digest_of_code(blob);
	struct loop_nest *nest = flow_graph_make(g, &code) ? keep(g, blob, digest) : NULL;

	return nest ? nest : keep_bare(blob, digest, 0);
}

/* ---------------------------------------------------------------- the table */

static void forget_table(void)
{
	for (unsigned i = 0; i < NESTS_MAX; i++)
		atomic_store_explicit(&memory.table[i], 0, memory_order_relaxed);
}

static void forget_nests(void)
{
	forget_table();
	atomic_store(&memory.used, 0);
	memory.full = false;
}

/* Does what is to be done when no handler makes a nest; a late one keeps the room that it works in.
 * False where there is one. */
static bool while_idle(void (*act)(void))
{
	if (atomic_flag_test_and_set(&memory.making))
		return false;
	act();
	atomic_flag_clear(&memory.making);
	return true;
}

/* From the first write on the kernel takes no page any more; until then it may have. */
static void take_back(void)
{
	uint32_t used = atomic_load(&memory.used);

	for (uint32_t at = 0; at < used; at += PAGE_BYTES)
		*(volatile uint8_t *)&memory.nests[at] = memory.nests[at];
	if (used && digest_of(memory.nests, used) != memory.lent_digest)
		forget_nests();
}

static void lend(void)
{
	uint32_t used = atomic_load(&memory.used);

	empty_memory(memory.scratch, LOOPS_SCRATCH_BYTES);
	if (memory.full || used > KEPT_BYTES_MAX) {
		forget_nests();
		empty_memory(memory.nests, LOOPS_NESTS_BYTES);
		return;
	}
	memory.lent_digest = digest_of(memory.nests, used);
	lend_memory(memory.nests, used);
}

int loops_init(void)
{
	if (!memory.nests)
		memory.nests = reserve_memory(LOOPS_NESTS_BYTES);
	if (!memory.scratch)
		memory.scratch = reserve_memory(LOOPS_SCRATCH_BYTES);
	if (!memory.nests || !memory.scratch)
		return -ENOMEM;
	/* What was not held against its digest is not to be found. */
	if (!while_idle(take_back))
		forget_table();
	return 0;
}

void loops_release(void)
{
	(void)while_idle(lend); /* Else the next window forgets them. */
}

/* The nest of code that starts there, or NULL. *entry: where it is found or would be, NULL when
 * there is no room for it. */
static struct loop_nest *find_nest(uint64_t start, _Atomic uint64_t **entry)
{
	uint64_t hash = mix(start);

	*entry = NULL;
	for (unsigned i = 0; i < PROBES_MAX; i++) {
		_Atomic uint64_t *e = &memory.table[(hash + i) % NESTS_MAX];
		uint64_t word = atomic_load_explicit(e, memory_order_acquire);
		struct loop_nest *nest;

		if (word >> 32 != hash >> 32 && word)
			continue;
		nest = word ? (void *)(memory.nests + ((uint32_t)word - 1) * UINT64_C(8)) : NULL;
		if (nest && nest->start != start)
			continue;
		*entry = e;
		return nest;
	}
	return NULL;
}

/* Code that a new number was given to, at another window's beginning, or that other code has come
 * in place of, is told by what it consists of. */
static bool is_of(struct loop_nest *nest, const struct code_blob *blob)
{
	if (atomic_load_explicit(&nest->serial, memory_order_relaxed) == blob->serial)
		return true;
	if (nest->size != blob->size || nest->digest != digest_of_code(blob))
		return false;
	atomic_store_explicit(&nest->serial, blob->serial, memory_order_relaxed);
	return true;
}

/* What there is no room for is given up, and no other is made then: each tick would try again. */
static struct loop_nest *make_and_remember(const struct code_blob *blob, _Atomic uint64_t *entry)
{
	struct loop_nest *nest = entry ? make(memory.scratch, blob) : NULL;

	memory.full = !nest;
	if (nest)
		atomic_store_explicit(
		    entry,
		    (mix(blob->start) >> 32 << 32) |
			((uint64_t)((const uint8_t *)nest - memory.nests) / 8 + 1),
		    memory_order_release);
	return nest;
}

const struct loop_nest *loops_of(const struct code_blob *blob)
{
	_Atomic uint64_t *entry;
	struct loop_nest *nest;
	bool known;

	if (!memory.nests || !memory.scratch)
		return NULL;
	nest = find_nest(blob->start, &entry);
	known = nest && is_of(nest, blob);
	/* Whoever makes one may be preempted: nobody waits for it. */
	if (!known && !atomic_flag_test_and_set(&memory.making)) {
		nest = find_nest(blob->start, &entry);
		known = nest && is_of(nest, blob);
		if (!known && !memory.full) {
			nest = make_and_remember(blob, entry);
			known = nest;
		}
		atomic_flag_clear(&memory.making);
	}
	return known && nest->block_count ? nest : NULL;
}

/* ---------------------------------------------------------------- what a loop does */

bool loop_counts(const struct insn *in, enum access_type type)
{
	const struct operand *m = &in->memory;

	if (!search_is_access(in, type))
		return false;
	if (!in->has_memory)
		return true;
	if (m->base == R15 || (m->base == RSP && m->index < 0 && m->displacement < 0))
		return false;
	return !(in->tests_memory && m->base >= 0 && m->index < 0 && m->displacement == 0);
}

/* String instructions name no operand. */
static bool is_string(const struct opcode *o)
{
	return o->map == OPCODE_ONE_BYTE && !o->vex &&
	       ((o->code & 0xfc) == 0xa4 || (o->code >= 0xaa && o->code <= 0xaf));
}

/* Tells what loop_counts says of both types, without decoding the whole instruction. */
static enum opcode_use use_of(const struct opcode *o)
{
	enum opcode_use use;

	if (!o->has_memory)
		return is_string(o) ? OPCODE_USE_UNKNOWN : OPCODE_USES_NOT;
	if (o->memory.base == R15 ||
	    (o->memory.base == RSP && o->memory.index < 0 && o->memory.displacement < 0))
		return OPCODE_USES_NOT;
	use = opcode_use(o);
	if (o->map != OPCODE_ONE_BYTE || use != OPCODE_LOADS)
		return use;
	if ((o->code == 0x84 || o->code == 0x85) && o->memory.base >= 0 && o->memory.index < 0 &&
	    o->memory.displacement == 0)
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
	return in->has_memory && in->memory.base == RSP;
}

bool loop_is_spill_at(const struct opcode *o)
{
	return o->has_memory && o->memory.base == RSP;
}

/* The first accesses of one type: offset + 1 each, 0 for none. */
struct first {
	uint32_t spill, other;
};

struct loop_survey {
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

static void survey_block(const struct loop_nest *nest, uint32_t from, uint32_t to,
			 struct loop_survey *found)
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
static const struct nest_loop *surveyed(const struct loop_nest *nest, unsigned number)
{
	/* Nests are written once; what their loops do is filled in later. */
	struct nest_loop *loop = (struct nest_loop *)(uintptr_t)&nest->loops[number];
	const struct block *blocks = blocks_of(nest);
	struct loop_survey found = {0};

	if (atomic_load_explicit(&loop->known, memory_order_acquire))
		return loop;
	for (uint32_t i = 0; i < nest->block_count; i++)
		if (blocks[i].loop == number)
			survey_block(nest, blocks[i].start,
				     i + 1 < nest->block_count ? blocks[i + 1].start : nest->size,
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
	const struct nest_loop *l = surveyed(nest, loop);
	uint32_t at = type == ACCESS_LOAD ? l->first_load : l->first_store;

	return at ? nest->start + at - 1 : 0;
}

bool loops_make(const struct loop_nest *nest, enum access_type type)
{
	/* Looking at each takes a pass over all blocks. */
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
