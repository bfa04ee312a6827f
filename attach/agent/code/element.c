#include "attach/agent/code/element.h"

#include <stdatomic.h>

#include "attach/agent/code/boundaries.h"
#include "attach/agent/code/codemap.h"
#include "attach/agent/code/loops.h"
#include "common/code/effects.h"
#include "common/code/opcode.h"
#include "common/mix.h"

/* Instructions decoded in all for one answer: some 50 microseconds, once for an instruction. */
#define LOOK_MAX 256u

/* Instructions looked at in one direction. */
#define LOOK_ONWARD 64u
#define LOOK_BACK   BOUNDARIES_BEFORE_MAX

/* Jumps into the access's straight line that are followed back, of those that lie before this many
 * bytes behind it. */
#define LOOK_JUMPS       4u
#define LOOK_JUMPS_BYTES 512u

/* Answers so far, of all threads' handlers, in a direct-mapped cache of single words, which needs
 * no lock: a hash of the instruction's address and its method's serial << 2 | the element + 1. */
#define CACHE_ENTRIES (ELEMENT_BYTES / sizeof(uint64_t))
static _Atomic uint64_t cache[CACHE_ENTRIES];

struct look {
	const struct code_blob *blob;
	unsigned left; /* instructions that may still be decoded */
};

enum verdict { NOTHING_YET, IS_INTEGER, IS_FLOAT32, IS_FLOAT64 };

void element_clear(void)
{
	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

static uint64_t hash_of(uint64_t ip, uint64_t serial)
{
	return mix(ip ^ serial << 48 ^ serial >> 16) >> 2;
}

/* An instruction does this with vectors. */
struct moves {
	struct effects does;
	uint64_t reads, writes; /* vectors alone */
	bool goes_on;           /* to the next instruction, if no condition is true */
};

static bool decode_at(struct look *l, uint64_t ip, struct moves *out)
{
	const struct code_blob *blob = l->blob;
	uint64_t offset = ip - blob->start;
	const uint8_t *code = (const uint8_t *)(uintptr_t)ip;
	enum opcode_flow flow;

	if (!l->left || !l->left-- || ip < blob->start || offset >= blob->size ||
	    !effects_decode(code, (size_t)(blob->size - offset), &out->does))
		return false;
	flow = opcode_flow(&out->does.code);
	out->reads = out->does.reads & REGISTER_VECTORS;
	out->writes = out->does.writes & REGISTER_VECTORS;
	out->goes_on = flow == OPCODE_NEXT || flow == OPCODE_BRANCH;
	return true;
}

static enum verdict verdict_of(const struct effects *v, uint64_t registers)
{
	if (v->float32 & registers)
		return IS_FLOAT32;
	if (v->float64 & registers)
		return IS_FLOAT64;
	return v->integer & registers ? IS_INTEGER : NOTHING_YET;
}

/* What are the values in these registers used as, from ip on? Loops are followed as far as the
 * first jump; a conditional one is taken not to be taken. */
static enum verdict used_as(struct look *l, uint64_t ip, uint64_t carriers)
{
	for (unsigned i = 0; i < LOOK_ONWARD && carriers; i++) {
		struct moves v;
		enum verdict verdict;

		if (!decode_at(l, ip, &v))
			break;
		verdict = verdict_of(&v.does, carriers & v.reads);
		if (verdict != NOTHING_YET)
			return verdict;
		if (!v.goes_on)
			break;
		/* Copies, shuffles and the like pass the value on. */
		carriers = v.reads & carriers ? carriers | v.writes : carriers & ~v.writes;
		ip += v.does.code.length;
	}
	return NOTHING_YET;
}

/* What were the values in these registers produced as, or used as, on the straight line that leads
 * to ip? *barrier is where that begins: behind a jump or a call, or 0 when the look back ends
 * before. */
static enum verdict made_as(struct look *l, uint64_t ip, uint64_t carriers, uint64_t *barrier)
{
	uint64_t starts[LOOK_BACK];
	size_t count = boundaries_before(l->blob, ip, starts, LOOK_BACK);

	*barrier = 0;
	for (size_t i = 0; i < count && carriers; i++) {
		struct moves v;
		enum verdict verdict;
		uint64_t written;

		if (!decode_at(l, starts[i], &v))
			break;
		if (!v.goes_on) {
			*barrier = starts[i] + v.does.code.length;
			break;
		}
		verdict = verdict_of(&v.does, carriers & (v.reads | v.writes));
		written = carriers & v.writes;
		/* What was loaded as it is may have been used otherwise, too. */
		if (verdict == NOTHING_YET && written && v.does.code.memory.loads)
			verdict = used_as(l, starts[i] + v.does.code.length, written);
		if (verdict != NOTHING_YET)
			return verdict;
		if (written)
			carriers = (carriers & ~written) | v.reads;
	}
	return NOTHING_YET;
}

/* Where a direct jump leads, conditional or not; 0 for any other instruction. */
static uint64_t jump_target(uint64_t ip, uint64_t end)
{
	enum opcode_flow flow;
	struct opcode o;

	if (!opcode_read_at(ip, end, &o))
		return 0;
	flow = opcode_flow(&o);
	return flow == OPCODE_BRANCH || flow == OPCODE_JUMP ? opcode_target(&o, ip) : 0;
}

/* The straight line to ip begins at barrier, so execution jumps into it: C2 puts the loop that does
 * the rest of a vector loop's work before it. The lines that lead to such jumps, near enough, go
 * on. */
static enum verdict made_before_jumps(struct look *l, uint64_t barrier, uint64_t ip,
				      uint64_t carriers)
{
	const struct code_blob *blob = l->blob;
	uint64_t starts[LOOK_BACK], end = ip + LOOK_JUMPS_BYTES;
	enum verdict verdict = NOTHING_YET;
	unsigned jumps = 0;
	size_t count;

	if (end > blob->start + blob->size)
		end = blob->start + blob->size;
	count = boundaries_before(blob, end, starts, LOOK_BACK);
	for (size_t i = 0; i < count && verdict == NOTHING_YET && jumps < LOOK_JUMPS; i++) {
		uint64_t target = jump_target(starts[i], blob->start + blob->size), ignored;

		if (target < barrier || target > ip || (starts[i] >= barrier && starts[i] <= ip))
			continue;
		jumps++;
		verdict = made_as(l, starts[i], carriers, &ignored);
	}
	return verdict;
}

static enum verdict infer(struct look *l, const struct insn *in)
{
	uint64_t after = in->ip + in->length, barrier = 0;
	enum verdict verdict = NOTHING_YET;
	struct moves v;

	if (!decode_at(l, in->ip, &v))
		return NOTHING_YET;
	if (in->memory.stores)
		verdict = made_as(l, in->ip, v.reads, &barrier);
	if (verdict == NOTHING_YET && barrier)
		verdict = made_before_jumps(l, barrier, in->ip, v.reads);
	if (verdict == NOTHING_YET)
		verdict = used_as(l, after, in->memory.stores ? v.reads : v.writes);
	return verdict;
}

static enum insn_element element_of(enum verdict verdict)
{
	if (verdict == IS_FLOAT32)
		return ELEMENT_FLOAT32;
	return verdict == IS_FLOAT64 ? ELEMENT_FLOAT64 : ELEMENT_INTEGER;
}

enum insn_element element_of_access(const struct insn *in)
{
	struct look look = {.left = LOOK_MAX};
	struct code_blob blob;
	_Atomic uint64_t *entry;
	enum verdict verdict;
	uint64_t hash, word;

	if (!in->has_memory || !in->lanes.untyped || !codemap_find(in->ip, &blob))
		return in->lanes.element;
	hash = hash_of(in->ip, blob.serial);
	entry = &cache[hash % CACHE_ENTRIES];
	word = atomic_load_explicit(entry, memory_order_relaxed);
	if (word >> 2 == hash)
		return element_of((enum verdict)(word & 3));
	look.blob = &blob;
	verdict = infer(&look, in);
	/* Without the method's blocks the look back may have been too short. */
	if (verdict != NOTHING_YET || loops_of(&blob))
		atomic_store_explicit(entry, hash << 2 | (uint64_t)verdict, memory_order_relaxed);
	return element_of(verdict);
}
