#include "attach/agent/path/debug_info.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/loops.h"
#include "common/code/insn.h"

/* A walk this long has left the neighbourhood it is about. */
#define WALK_MAX_INSNS    128u
#define WALK_MAX_BRANCHES 16u

/* Where records are dense, so many and more are at no safepoint: one in OTHERS_SHARE. Measured on
 * JDK 17 and 25: none in sparse code, one in five and more in dense code, most often every other.
 */
#define OTHERS_SHARE 8u

/* Answers so far, of all threads' handlers: ip << 16 | (answer - ip + 2^15). An address has 48
 * bits.
 */
#define CACHE_ENTRIES (DEBUG_INFO_BYTES / sizeof(uint64_t))
#define DELTA_LIMIT   32767
static _Atomic uint64_t cache[CACHE_ENTRIES];

struct walk {
	const struct code_blob *blob;
	const struct loop_nest *nest;
	bool nest_wanted;                  /* so it was asked for */
	uint64_t taken[WALK_MAX_BRANCHES]; /* backward branches followed once already */
	unsigned taken_count;
};

void debug_info_clear(void)
{
	for (unsigned i = 0; i < CACHE_ENTRIES; i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

/* The call may be any of HotSpot's that have a record: direct ones, or through a register. Bytes
 * that happen to look like one count as one. */
static bool is_behind_call(const uint8_t *code, uint64_t offset)
{
	if (offset >= 5 && code[offset - 5] == 0xe8)
		return true;
	return offset >= 2 && code[offset - 2] == 0xff && (code[offset - 1] & 0xf8) == 0xd0;
}

/* test [mem], reg */
static bool is_at_poll(const uint8_t *code, uint64_t size, uint64_t offset)
{
	if (offset < size && (code[offset] & 0xf0) == 0x40)
		offset++;
	return offset + 1 < size && code[offset] == 0x85 && code[offset + 1] < 0xc0;
}

bool debug_info_is_dense(const uint8_t *code, uint32_t size, const uint32_t *debug_pcs,
			 uint32_t debug_pc_count)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < debug_pc_count; i++) {
		uint32_t offset = debug_pcs[i];

		if (offset <= size && !is_behind_call(code, offset) &&
		    !is_at_poll(code, size, offset))
			others++;
	}
	return others > debug_pc_count / OTHERS_SHARE;
}

static bool has_record(const struct code_blob *blob, uint64_t ip)
{
	uint64_t offset = ip - blob->start;
	uint32_t i = codemap_debug_pc_from(blob, offset);

	return i < blob->debug_pc_count && blob->debug_pcs[i] == offset;
}

/* Does a backward branch stay in its innermost loop? A search leaves that where it has found
 * something, and what is done with it may come first by address. Where loops cannot be told, yes.
 */
static bool stays_in_loop(struct walk *w, uint64_t ip, uint64_t target)
{
	unsigned loop;

	if (!w->nest_wanted)
		w->nest = loops_of(w->blob);
	w->nest_wanted = true;
	if (!w->nest)
		return true;
	loop = loop_at(w->nest, ip);
	return loop != LOOP_NONE &&
	       loop_has_around(w->nest, loop_at(w->nest, target), loop_header(w->nest, loop));
}

static bool was_taken(const struct walk *w, uint64_t ip)
{
	for (unsigned i = 0; i < w->taken_count; i++)
		if (w->taken[i] == ip)
			return true;
	return false;
}

/* A loop is stayed in the first time round; its exit is what remains after. Forward branches lead
 * to rare paths more often than not. */
static uint64_t after_branch(struct walk *w, uint64_t ip, unsigned length, uint64_t target)
{
	if (!target || target > ip || was_taken(w, ip) || w->taken_count == WALK_MAX_BRANCHES ||
	    !stays_in_loop(w, ip, target))
		return ip + length;
	w->taken[w->taken_count++] = ip;
	return target;
}

static bool moves_stack_pointer(const struct insn *in)
{
	return in->stack_delta != 0 || (in->written_registers & (1u << REG_RSP));
}

/* Behind an instruction of whatever kind: 0 when the way leaves the method or the frame, or ends at
 * a call, *record. */
static uint64_t after_any(struct walk *w, const uint8_t *code, uint64_t left, uint64_t ip,
			  uint64_t *record)
{
	struct insn in;

	if (!insn_decode(code, left, ip, &in))
		return 0;
	/* A call's record is that of its return address. */
	if (in.flow == FLOW_CALL)
		*record = has_record(w->blob, ip + in.length) ? ip + in.length : 0;
	if (in.flow == FLOW_CALL || moves_stack_pointer(&in))
		return 0;
	if (in.flow == FLOW_NEXT)
		return ip + in.length;
	if (in.flow == FLOW_CONDITIONAL)
		return after_branch(w, ip, in.length, in.target_direct ? in.target : 0);
	return in.flow == FLOW_JUMP && in.target_direct ? in.target : 0;
}

/* The same; most need not be decoded, which is what a walk would take its time for. */
static uint64_t after(struct walk *w, uint64_t ip, uint64_t *record)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)ip;
	uint64_t left = w->blob->size - (ip - w->blob->start);
	uint64_t target = insn_jump_target(code, left, ip);
	unsigned length;

	if (target && (code[0] == 0xeb || code[0] == 0xe9))
		return target;
	if (target)
		return after_branch(w, ip, code[0] == 0x0f ? 6 : 2, target);
	length = insn_plain_length(code, left);
	return length ? ip + length : after_any(w, code, left, ip, record);
}

/* The first record met on the way from ip, 0 when the way leaves the method or the frame. */
static uint64_t next_record(struct walk *w, uint64_t ip)
{
	const struct code_blob *blob = w->blob;
	uint32_t next = codemap_debug_pc_from(blob, ip - blob->start);
	uint64_t record = 0;

	for (unsigned i = 0; i < WALK_MAX_INSNS && !record; i++) {
		uint64_t offset = ip - blob->start, to;

		if (ip < blob->start || offset >= blob->size)
			return 0;
		while (next < blob->debug_pc_count && blob->debug_pcs[next] < offset)
			next++;
		if (next < blob->debug_pc_count && blob->debug_pcs[next] == offset)
			return ip;
		to = after(w, ip, &record);
		if (!to)
			return record;
		if (to < ip)
			next = codemap_debug_pc_from(blob, to - blob->start);
		ip = to;
	}
	return 0;
}

/* Does the block that the record at last lies in reach over ip, and end before the record at next
 * with a jump or a loop's way back? False as well where the stack pointer moves. */
static bool is_tail_of_block(const struct code_blob *blob, uint64_t last, uint64_t ip,
			     uint64_t next)
{
	uint64_t at = last;

	for (unsigned i = 0; i < WALK_MAX_INSNS && at < next; i++) {
		const uint8_t *code = (const uint8_t *)(uintptr_t)at;
		struct insn in;

		if (!insn_decode(code, blob->size - (at - blob->start), at, &in) ||
		    moves_stack_pointer(&in))
			return false;
		if (in.flow != FLOW_NEXT)
			return at >= ip && in.target_direct &&
			       (in.flow == FLOW_JUMP ||
				(in.flow == FLOW_CONDITIONAL && in.target <= at));
		at += in.length;
	}
	return false;
}

/* Of dense records pc_desc_near finds the right one, that of the last instruction of a run, but for
 * that instruction itself, since it looks at the instruction pointer plus one. A call's record is
 * not that of the instruction behind. The last instructions of a block, comparison and branch,
 * often belong to no bytecode; the next record may be another loop's, the one before is of the same
 * block. The first record is not used: one less may be in the prologue, without a frame. */
static uint64_t dense_record(const struct code_blob *blob, uint64_t ip)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)blob->start;
	uint64_t offset = ip - blob->start, last, next;
	uint32_t i = codemap_debug_pc_from(blob, offset);

	if (i < blob->debug_pc_count && blob->debug_pcs[i] == offset)
		return i > 0 && !is_behind_call(code, offset) ? ip : 0;
	if (i < 2 || i >= blob->debug_pc_count)
		return 0;
	last = blob->start + blob->debug_pcs[i - 1];
	next = blob->start + blob->debug_pcs[i];
	/* The list may have been cleared under our eyes. */
	if (last >= ip || next > blob->start + blob->size)
		return 0;
	return is_tail_of_block(blob, last, ip, next) ? last : 0;
}

uint64_t debug_info_ip(uint64_t ip)
{
	_Atomic uint64_t *entry = &cache[(ip ^ (ip >> 13)) % CACHE_ENTRIES];
	uint64_t word = atomic_load_explicit(entry, memory_order_relaxed);
	struct code_blob blob;
	struct walk w = {.blob = &blob};
	uint64_t record;
	int64_t delta;

	if (word >> 16 == ip)
		return ip + (word & 0xffff) - DELTA_LIMIT;
	if (!codemap_find(ip, &blob) || blob.type != CODE_COMPILED)
		return ip;
	record = blob.dense ? dense_record(&blob, ip) : next_record(&w, ip);
	/* pc_desc_near looks at the instruction pointer plus one. */
	delta = record ? (int64_t)(record - 1 - ip) : 0;
	/* An answer without the loops is not remembered: another thread was making them. */
	if (delta < -DELTA_LIMIT || delta > DELTA_LIMIT || (w.nest_wanted && !w.nest))
		return ip + (uint64_t)delta;
	atomic_store_explicit(entry, ip << 16 | (uint64_t)(delta + DELTA_LIMIT),
			      memory_order_relaxed);
	return ip + (uint64_t)delta;
}
