#include "attach/agent/path/foretell_stop.h"

#include <stdatomic.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/loops.h"
#include "common/code/flow_graph.h"
#include "common/mix.h"

/* Bounds of one exploration, in the application's thread, once for each place that samples stop at.
 */
#define INSNS_MAX  512u
#define BLOCKS_MAX 64u
#define COLD_MAX   32u

/* Answers so far, of all threads' handlers, one word each, in a direct-mapped table: the low half
 * of ip, and the distance to the access in the other half, 0 with NONE set for "there is none". */
#define CACHE_ENTRIES (FORETELL_STOP_BYTES / sizeof(uint64_t))
#define NONE          UINT32_C(0x80000000)
static _Atomic uint64_t cache[CACHE_ENTRIES];

void foretell_stop_clear(void)
{
	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

static _Atomic uint64_t *cache_entry(uint32_t key)
{
	return &cache[(key ^ (key >> 12)) % CACHE_ENTRIES];
}

static bool cache_get(uint32_t key, uint32_t *answer)
{
	uint64_t word = atomic_load_explicit(cache_entry(key), memory_order_relaxed);

	*answer = (uint32_t)word;
	return word != 0 && word >> 32 == key;
}

/* ---------------------------------------------------------------- paths */

/* Where the access is looked for. */
struct foretell_scope {
	struct code_blob blob;
	const struct loop_nest *nest;
	uint64_t header; /* of the loop that counts, or 0 */
	enum access_type wanted;
	bool spills; /* do accesses to the frame count? */
};

struct exploration {
	const struct foretell_scope *scope;
	uint64_t blocks[BLOCKS_MAX]; /* where paths begin: visited ones, then ones to visit */
	unsigned block_count;
	unsigned insns;
	uint64_t access; /* 0: none yet */
	bool leaves;     /* a path goes where nothing counts */
};

static bool inside(const struct code_blob *blob, uint64_t ip)
{
	return ip >= blob->start && ip < blob->start + blob->size;
}

/* Does what is at ip count, or is it in a loop that is passed through? */
static bool in_scope(const struct foretell_scope *s, uint64_t ip)
{
	unsigned loop = loop_at(s->nest, ip);

	return s->header ? loop_has_around(s->nest, loop, s->header) : loop == LOOP_NONE;
}

/* One instruction on a way. */
struct passed {
	struct opcode o;
	enum opcode_flow flow;
	uint64_t ip;
	uint64_t target; /* of a direct jump or call */
};

static bool take(const struct code_blob *blob, uint64_t ip, struct passed *p)
{
	if (!inside(blob, ip) || !opcode_read((const uint8_t *)(uintptr_t)ip,
					      (size_t)(blob->start + blob->size - ip), &p->o))
		return false;
	p->ip = ip;
	p->flow = opcode_flow(&p->o);
	p->target = opcode_target(&p->o, ip);
	return true;
}

static bool is_trap_request(const struct passed *p)
{
	return flow_is_trap_request((const uint8_t *)(uintptr_t)p->ip, p->o.length);
}

static bool is_wanted(const struct foretell_scope *s, const struct passed *p)
{
	return p->flow == OPCODE_NEXT && (s->spills || !loop_is_spill_at(&p->o)) &&
	       loop_counts_at(p->ip, &p->o, s->wanted) &&
	       loop_header(s->nest, loop_at(s->nest, p->ip)) == s->header;
}

static bool is_block(const struct exploration *e, uint64_t ip)
{
	for (unsigned i = 0; i < e->block_count; i++)
		if (e->blocks[i] == ip)
			return true;
	return false;
}

static bool add_block(struct exploration *e, uint64_t target)
{
	if (!inside(&e->scope->blob, target))
		return false;
	if (!in_scope(e->scope, target)) {
		e->leaves = true;
		return true;
	}
	if (is_block(e, target))
		return true;
	if (e->block_count == BLOCKS_MAX)
		return false;
	e->blocks[e->block_count++] = target;
	return true;
}

static bool found(struct exploration *e, uint64_t ip)
{
	if (e->access != 0 && e->access != ip)
		return false;
	e->access = ip;
	return true;
}

static bool is_cold_call(const struct passed *call, bool trap_request)
{
	return call->flow == OPCODE_CALL && loop_call_ends(call->target, trap_request);
}

/* From one block's start to where its path ends or joins another. False: no single access follows.
 */
static bool explore_block(struct exploration *e, unsigned block)
{
	uint64_t ip = e->blocks[block];
	bool trap_request = false;
	struct passed p;

	for (;; ip += p.o.length) {
		if (ip != e->blocks[block] && is_block(e, ip))
			return true;
		if (++e->insns > INSNS_MAX || !inside(&e->scope->blob, ip))
			return false;
		if (!in_scope(e->scope, ip)) {
			e->leaves = true;
			return true;
		}
		if (!take(&e->scope->blob, ip, &p))
			return false;
		if (is_wanted(e->scope, &p))
			return found(e, ip);
		trap_request |= is_trap_request(&p);
		switch (p.flow) {
		case OPCODE_NEXT:
			break;
		case OPCODE_BRANCH:
			if (!add_block(e, p.target))
				return false;
			break;
		case OPCODE_JUMP:
			return add_block(e, p.target);
		case OPCODE_CALL:
			return is_cold_call(&p, trap_request);
		case OPCODE_INDIRECT_CALL:
		case OPCODE_INDIRECT_JUMP:
			return false;
		case OPCODE_RETURN:
			e->leaves = true;
			return e->scope->header != 0;
		case OPCODE_TRAP:
			return true; /* Not reached by a program that works. */
		}
	}
}

/* Follows all paths from ip to the one access that they lead to. Where a loop counts, those that
 * leave it do not matter. */
static bool inevitable_access(const struct foretell_scope *scope, uint64_t ip, uint64_t *stop_ip)
{
	struct exploration e = {.scope = scope, .blocks = {ip}, .block_count = 1};

	for (unsigned i = 0; i < e.block_count; i++)
		if (!explore_block(&e, i))
			return false;
	if (e.access == 0 || (e.leaves && scope->header == 0))
		return false;
	*stop_ip = e.access;
	return true;
}

/* ---------------------------------------------------------------- forward */

/* Does the block end in an uncommon trap? */
static bool is_cold(const struct code_blob *blob, uint64_t ip)
{
	bool trap_request = false;
	struct passed p;

	for (unsigned i = 0; i < COLD_MAX; i++, ip += p.o.length) {
		if (!take(blob, ip, &p))
			return false;
		trap_request |= is_trap_request(&p);
		if (p.flow == OPCODE_CALL)
			return is_cold_call(&p, trap_request);
		if (p.flow != OPCODE_NEXT)
			return false;
	}
	return false;
}

/* Where the two ways out of a branch meet again, if they do without an access, a step backward, a
 * call or a return: the code in between is passed over in the order of its addresses, up to the
 * farthest target seen. */
static bool join_of(const struct foretell_scope *s, const struct passed *branch, unsigned *insns,
		    uint64_t *join)
{
	uint64_t ip = branch->ip + branch->o.length, farthest = branch->target;
	struct passed p;

	for (; ip < farthest; ip += p.o.length) {
		if (--*insns == 0 || !in_scope(s, ip) || !take(&s->blob, ip, &p) ||
		    is_wanted(s, &p))
			return false;
		if (p.flow == OPCODE_NEXT)
			continue;
		if ((p.flow != OPCODE_BRANCH && p.flow != OPCODE_JUMP) || p.target <= ip)
			return false;
		if (p.flow == OPCODE_BRANCH && is_cold(&s->blob, p.target))
			continue;
		if (p.target > farthest)
			farthest = p.target;
	}
	*join = ip;
	return ip == farthest;
}

/* The farthest place that execution is sure to come to before any access. */
static uint64_t inevitable_stop(const struct foretell_scope *s, uint64_t ip)
{
	const struct code_blob *blob = &s->blob;
	unsigned insns = INSNS_MAX;
	struct passed p;
	uint64_t join;

	while (--insns > 0 && in_scope(s, ip) && take(blob, ip, &p)) {
		if (is_wanted(s, &p))
			break;
		if (p.flow == OPCODE_NEXT)
			ip += p.o.length;
		else if (p.flow == OPCODE_JUMP && inside(blob, p.target))
			ip = p.target;
		else if (p.flow != OPCODE_BRANCH)
			break;
		else if (is_cold(blob, p.target))
			ip += p.o.length;
		else if (p.target > ip && join_of(s, &p, &insns, &join))
			ip = join;
		else
			break;
		if (insns == 0)
			break;
	}
	return ip;
}

static bool look(const struct foretell_scope *s, uint64_t ip, uint64_t *stop_ip)
{
	uint64_t stop;

	if (!in_scope(s, ip))
		return false;
	if (inevitable_access(s, ip, stop_ip))
		return true;
	stop = inevitable_stop(s, ip);
	if (stop == ip || !inside(&s->blob, stop))
		return false;
	*stop_ip = stop;
	return true;
}

/* The code cache is smaller than 2 GiB, so the top bit is free to tell loads from stores. Other
 * code may come to lie at the same place, and other loops count there. */
static uint32_t cache_key(const struct foretell_scope *s, uint64_t ip)
{
	uint64_t other =
	    mix_upper(s->header ^ s->blob.serial << 32 ^ (uint64_t)s->spills << 63) >> 33;

	return (uint32_t)(ip ^ other ^ (s->wanted == ACCESS_LOAD ? UINT64_C(0x80000000) : 0));
}

bool foretell_stop(uint64_t ip, enum access_type wanted, uint64_t header, bool spills,
		   uint64_t *stop_ip)
{
	struct foretell_scope s = {.header = header, .wanted = wanted, .spills = spills};
	uint32_t key, answer;
	uint64_t stop;

	if (!codemap_find(ip, &s.blob) || s.blob.type != CODE_COMPILED)
		return false;
	/* Where it cannot be told now it may be next time: that is no answer. */
	s.nest = loops_of(&s.blob);
	if (!s.nest)
		return false;
	key = cache_key(&s, ip);
	if (!cache_get(key, &answer)) {
		/* A method is far smaller than 1 GiB: the distance fits, with its sign. */
		answer = look(&s, ip, &stop) ? (uint32_t)(stop - ip) & ~NONE : NONE;
		atomic_store_explicit(cache_entry(key), (uint64_t)key << 32 | answer,
				      memory_order_relaxed);
	}
	if (answer == NONE)
		return false;
	*stop_ip = ip + (uint64_t)(int64_t)((int32_t)(answer << 1) >> 1);
	return true;
}
