#include "attach/agent/code/ahead.h"

#include <stdatomic.h>

#include "attach/agent/code/codemap.h"

/* Bounds of one exploration: decoding takes about 0.2 µs an instruction, in the application's
 * thread, once for each place that samples stop at. */
#define INSNS_MAX  512u
#define BLOCKS_MAX 64u
#define COLD_MAX   32u

/* A method that is longer is not scanned for its loops: finding lengths takes about 20 ns an
 * instruction. */
#define SCAN_MAX_BYTES (32u * 1024u)

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

/* The code cache is smaller than 2 GiB, so the top bit is free to tell loads from stores. */
static uint32_t cache_key(uint64_t ip, enum access_type wanted)
{
	return (uint32_t)(ip ^ (wanted == ACCESS_LOAD ? UINT64_C(0x80000000) : 0));
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

struct exploration {
	struct code_blob blob;
	enum access_type wanted;
	uint64_t blocks[BLOCKS_MAX]; /* where paths begin: visited ones, then ones to visit */
	unsigned block_count;
	unsigned insns;
	uint64_t access; /* 0: none yet */
	bool cyclic;     /* a path goes backward */
};

static bool inside(const struct code_blob *blob, uint64_t ip)
{
	return ip >= blob->start && ip < blob->start + blob->size;
}

static bool is_block(const struct exploration *e, uint64_t ip)
{
	for (unsigned i = 0; i < e->block_count; i++)
		if (e->blocks[i] == ip)
			return true;
	return false;
}

static bool add_block(struct exploration *e, uint64_t from, uint64_t target)
{
	if (!inside(&e->blob, target))
		return false;
	e->cyclic |= target <= from;
	if (is_block(e, target))
		return true;
	if (e->block_count == BLOCKS_MAX)
		return false;
	e->blocks[e->block_count++] = target;
	return true;
}

/* C2 passes the uncommon trap stub its request, always a negative number, in esi: mov esi, imm32
 * (SharedRuntime, opto/callnode; Deoptimization::make_trap_request). */
static bool is_trap_request(const struct insn *in)
{
	return in->length == 5 && in->bytes[0] == 0xbe && in->bytes[4] & 0x80;
}

static bool found(struct exploration *e, uint64_t ip)
{
	if (e->access != 0 && e->access != ip)
		return false;
	e->access = ip;
	return true;
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
		if (++e->insns > INSNS_MAX || !inside(&e->blob, ip) || !search_fetch(ip, &in))
			return false;
		if (search_is_access(&in, e->wanted))
			return found(e, ip);
		trap_request |= is_trap_request(&in);
		switch (in.flow) {
		case FLOW_NEXT:
			break;
		case FLOW_CONDITIONAL:
			if (!in.target_direct || !add_block(e, ip, in.target))
				return false;
			break;
		case FLOW_JUMP:
			return in.target_direct && add_block(e, ip, in.target);
		case FLOW_CALL:
			return trap_request;
		case FLOW_RETURN:
			return false;
		case FLOW_STOP:
			return true; /* Not reached by a program that works. */
		}
	}
}

/* ---------------------------------------------------------------- loops */

/* Does the innermost loop around inner have outer in it, too? */
static bool same_loop(const struct code_blob *blob, uint64_t inner, uint64_t outer)
{
	uint64_t end = blob->start + blob->size, low = 0, high = 0;
	unsigned length;

	if (blob->size > SCAN_MAX_BYTES)
		return false;
	for (uint64_t ip = blob->start; ip < end; ip += length) {
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)ip;
		uint64_t target;

		length = insn_length(bytes, (size_t)(end - ip));
		if (length == 0)
			break; /* Data at the method's end. */
		target = insn_jump_target(bytes, length, ip);
		if (target < blob->start || target > inner || ip < inner)
			continue;
		if (low == 0 || ip - target < high - low) {
			low = target;
			high = ip;
		}
	}
	return low != 0 && outer >= low && outer <= high;
}

/* Follows all paths from ip to the one access that they lead to. */
static bool inevitable_access(const struct code_blob *blob, uint64_t ip, enum access_type wanted,
			      uint64_t *stop_ip)
{
	struct exploration e = {.blob = *blob, .wanted = wanted, .blocks = {ip}, .block_count = 1};

	for (unsigned i = 0; i < e.block_count; i++)
		if (!explore_block(&e, i))
			return false;
	if (e.access == 0 || (e.cyclic && !same_loop(blob, e.access, ip)))
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
		trap_request |= is_trap_request(&in);
		if (in.flow == FLOW_CALL)
			return trap_request;
		if (in.flow != FLOW_NEXT)
			return false;
	}
	return false;
}

/* Where the two ways out of a branch meet again, if they do without an access, a step backward, a
 * call or a return: the code in between is passed over in the order of its addresses, up to the
 * farthest target seen. */
static bool join_of(const struct code_blob *blob, const struct insn *branch,
		    enum access_type wanted, unsigned *insns, uint64_t *join)
{
	uint64_t ip = branch->ip + branch->length, farthest = branch->target;
	struct insn in;

	for (; ip < farthest; ip += in.length) {
		if (--*insns == 0 || !inside(blob, ip) || !search_fetch(ip, &in) ||
		    search_is_access(&in, wanted))
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
static uint64_t inevitable_stop(const struct code_blob *blob, uint64_t ip, enum access_type wanted)
{
	unsigned insns = INSNS_MAX;
	struct insn in;
	uint64_t join;

	while (--insns > 0 && inside(blob, ip) && search_fetch(ip, &in)) {
		if (search_is_access(&in, wanted))
			break;
		if (in.flow == FLOW_NEXT)
			ip += in.length;
		else if (in.flow == FLOW_JUMP && in.target_direct && inside(blob, in.target))
			ip = in.target;
		else if (in.flow != FLOW_CONDITIONAL || !in.target_direct)
			break;
		else if (is_cold(blob, in.target))
			ip += in.length;
		else if (in.target > ip && join_of(blob, &in, wanted, &insns, &join))
			ip = join;
		else
			break;
		if (insns == 0)
			break;
	}
	return ip;
}

static bool look(uint64_t ip, enum access_type wanted, uint64_t *stop_ip)
{
	struct code_blob blob;
	uint64_t stop;

	if (!codemap_find(ip, &blob) || blob.type != CODE_COMPILED)
		return false;
	if (inevitable_access(&blob, ip, wanted, stop_ip))
		return true;
	stop = inevitable_stop(&blob, ip, wanted);
	if (stop == ip || !inside(&blob, stop))
		return false;
	*stop_ip = stop;
	return true;
}

bool ahead_find(uint64_t ip, enum access_type wanted, uint64_t *stop_ip)
{
	uint32_t key = cache_key(ip, wanted), answer;
	uint64_t stop;

	if (!cache_get(key, &answer)) {
		/* A method is far smaller than 1 GiB: the distance fits, with its sign. */
		answer = look(ip, wanted, &stop) ? (uint32_t)(stop - ip) & ~NONE : NONE;
		atomic_store_explicit(cache_entry(key), (uint64_t)key << 32 | answer,
				      memory_order_relaxed);
	}
	if (answer == NONE)
		return false;
	*stop_ip = ip + (uint64_t)(int64_t)((int32_t)(answer << 1) >> 1);
	return true;
}
