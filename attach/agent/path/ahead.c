#include "attach/agent/path/ahead.h"

#include <stdatomic.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/path/loops.h"

/* Bounds of one exploration: decoding takes about 0.2 µs an instruction, in the application's
 * thread, once for each place that samples stop at. */
#define INSNS_MAX  512u
#define BLOCKS_MAX 64u
#define COLD_MAX   32u

/* Answers so far, of all threads' handlers, one word each, in a direct-mapped table: the low half
 * of ip, and the distance to the access in the other half, 0 with NONE set for "there is none". */
#define CACHE_ENTRIES (AHEAD_BYTES / sizeof(uint64_t))
#define NONE          UINT32_C(0x80000000)
static _Atomic uint64_t cache[CACHE_ENTRIES];

void ahead_clear(void)
{
	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

/* The code cache is smaller than 2 GiB, so the top bit is free to tell loads from stores. Of the
 * loop that counts, what is near to ip differs in few of the lower bits. */
static uint32_t cache_key(uint64_t ip, enum access_type wanted, uint64_t header)
{
	uint64_t loop = header * UINT64_C(0x9e3779b97f4a7c15) >> 33;

	return (uint32_t)(ip ^ loop ^ (wanted == ACCESS_LOAD ? UINT64_C(0x80000000) : 0));
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
struct scope {
	struct code_blob blob;
	const struct loop_nest *nest;
	uint64_t header; /* of the loop that counts, or 0 */
	enum access_type wanted;
};

struct exploration {
	const struct scope *scope;
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
static bool in_scope(const struct scope *s, uint64_t ip)
{
	unsigned loop = loop_at(s->nest, ip);

	return s->header ? loop_has_around(s->nest, loop, s->header) : loop == LOOP_NONE;
}

static bool is_wanted(const struct scope *s, const struct insn *in)
{
	return loop_counts(in, s->wanted) &&
	       loop_header(s->nest, loop_at(s->nest, in->ip)) == s->header;
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

static bool is_cold_call(const struct insn *call, bool trap_request)
{
	return call->target_direct && loop_call_ends(call->target, trap_request);
}

/* From one block's start to where its path ends or joins another. False: no single access follows.
 */
static bool explore_block(struct exploration *e, unsigned block)
{
	uint64_t ip = e->blocks[block];
	bool trap_request = false;
	struct insn in;

	for (;; ip += in.length) {
		if (ip != e->blocks[block] && is_block(e, ip))
			return true;
		if (++e->insns > INSNS_MAX || !inside(&e->scope->blob, ip))
			return false;
		if (!in_scope(e->scope, ip)) {
			e->leaves = true;
			return true;
		}
		if (!search_fetch(ip, &in))
			return false;
		if (is_wanted(e->scope, &in))
			return found(e, ip);
		trap_request |= loop_is_trap_request(in.bytes, in.length);
		switch (in.flow) {
		case FLOW_NEXT:
			break;
		case FLOW_CONDITIONAL:
			if (!in.target_direct || !add_block(e, in.target))
				return false;
			break;
		case FLOW_JUMP:
			return in.target_direct && add_block(e, in.target);
		case FLOW_CALL:
			return is_cold_call(&in, trap_request);
		case FLOW_RETURN:
			e->leaves = true;
			return e->scope->header != 0;
		case FLOW_STOP:
			return true; /* Not reached by a program that works. */
		}
	}
}

/* Follows all paths from ip to the one access that they lead to. Where a loop counts, those that
 * leave it do not matter. */
static bool inevitable_access(const struct scope *scope, uint64_t ip, uint64_t *stop_ip)
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
	struct insn in;

	for (unsigned i = 0; i < COLD_MAX; i++, ip += in.length) {
		if (!inside(blob, ip) || !search_fetch(ip, &in))
			return false;
		trap_request |= loop_is_trap_request(in.bytes, in.length);
		if (in.flow == FLOW_CALL)
			return is_cold_call(&in, trap_request);
		if (in.flow != FLOW_NEXT)
			return false;
	}
	return false;
}

/* Where the two ways out of a branch meet again, if they do without an access, a step backward, a
 * call or a return: the code in between is passed over in the order of its addresses, up to the
 * farthest target seen. */
static bool join_of(const struct scope *s, const struct insn *branch, unsigned *insns,
		    uint64_t *join)
{
	const struct code_blob *blob = &s->blob;
	uint64_t ip = branch->ip + branch->length, farthest = branch->target;
	struct insn in;

	for (; ip < farthest; ip += in.length) {
		if (--*insns == 0 || !inside(blob, ip) || !in_scope(s, ip) ||
		    !search_fetch(ip, &in) || is_wanted(s, &in))
			return false;
		if (in.flow == FLOW_NEXT)
			continue;
		if ((in.flow != FLOW_CONDITIONAL && in.flow != FLOW_JUMP) || !in.target_direct ||
		    in.target <= ip)
			return false;
		if (in.flow == FLOW_CONDITIONAL && is_cold(blob, in.target))
			continue;
		if (in.target > farthest)
			farthest = in.target;
	}
	*join = ip;
	return ip == farthest;
}

/* The farthest place that execution is sure to come to before any access. */
static uint64_t inevitable_stop(const struct scope *s, uint64_t ip)
{
	const struct code_blob *blob = &s->blob;
	unsigned insns = INSNS_MAX;
	struct insn in;
	uint64_t join;

	while (--insns > 0 && inside(blob, ip) && in_scope(s, ip) && search_fetch(ip, &in)) {
		if (is_wanted(s, &in))
			break;
		if (in.flow == FLOW_NEXT)
			ip += in.length;
		else if (in.flow == FLOW_JUMP && in.target_direct && inside(blob, in.target))
			ip = in.target;
		else if (in.flow != FLOW_CONDITIONAL || !in.target_direct)
			break;
		else if (is_cold(blob, in.target))
			ip += in.length;
		else if (in.target > ip && join_of(s, &in, &insns, &join))
			ip = join;
		else
			break;
		if (insns == 0)
			break;
	}
	return ip;
}

static bool look(uint64_t ip, enum access_type wanted, uint64_t header, uint64_t *stop_ip)
{
	struct scope s = {.header = header, .wanted = wanted};
	uint64_t stop;

	if (!codemap_find(ip, &s.blob) || s.blob.type != CODE_COMPILED)
		return false;
	s.nest = loops_of(&s.blob);
	if (!s.nest || !in_scope(&s, ip))
		return false;
	if (inevitable_access(&s, ip, stop_ip))
		return true;
	stop = inevitable_stop(&s, ip);
	if (stop == ip || !inside(&s.blob, stop))
		return false;
	*stop_ip = stop;
	return true;
}

bool ahead_find(uint64_t ip, enum access_type wanted, uint64_t header, uint64_t *stop_ip)
{
	uint32_t key = cache_key(ip, wanted, header), answer;
	uint64_t stop;

	if (!cache_get(key, &answer)) {
		/* A method is far smaller than 1 GiB: the distance fits, with its sign. */
		answer = look(ip, wanted, header, &stop) ? (uint32_t)(stop - ip) & ~NONE : NONE;
		atomic_store_explicit(cache_entry(key), (uint64_t)key << 32 | answer,
				      memory_order_relaxed);
	}
	if (answer == NONE)
		return false;
	*stop_ip = ip + (uint64_t)(int64_t)((int32_t)(answer << 1) >> 1);
	return true;
}
