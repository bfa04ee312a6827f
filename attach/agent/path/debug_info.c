#include "attach/agent/path/debug_info.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <ucontext.h>

#include "attach/agent/code/codemap.h"
#include "common/code/insn.h"

/* Blocks are not longer, but for some. */
#define BLOCK_MAX_INSNS 128u

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

static bool moves_stack_pointer(const struct insn *in)
{
	return in->stack_delta != 0 || insn_writes(in, RSP);
}

/* Does the block that the record at last lies in reach over ip, and end before the record at next
 * with a jump or a loop's way back? False as well where the stack pointer moves. */
static bool is_tail_of_block(const struct code_blob *blob, uint64_t last, uint64_t ip,
			     uint64_t next)
{
	uint64_t at = last;

	for (unsigned i = 0; i < BLOCK_MAX_INSNS && at < next; i++) {
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

/* Among dense records pc_desc_near finds the right one, that of the last instruction of a run, but
 * for that instruction itself, since it looks at the instruction pointer plus one. A call's record
 * is not that of the instruction behind. The last instructions of a block, comparison and branch,
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

/* At safepoints alone: the record that pc_desc_near finds, so that all instructions before it are
 * one place to whoever remembers frames; but a poll's own. The first is not used, as above. */
static uint64_t sparse_record(const struct code_blob *blob, uint64_t ip)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)blob->start;
	uint64_t offset = ip - blob->start;
	uint32_t i = codemap_debug_pc_from(blob, offset);

	if (i < blob->debug_pc_count && blob->debug_pcs[i] == offset &&
	    !is_at_poll(code, blob->size, offset))
		i++;
	return i > 0 && i < blob->debug_pc_count ? blob->start + blob->debug_pcs[i] : 0;
}

uint64_t debug_info_ip(uint64_t ip)
{
	_Atomic uint64_t *entry = &cache[(ip ^ (ip >> 13)) % CACHE_ENTRIES];
	uint64_t word = atomic_load_explicit(entry, memory_order_relaxed);
	struct code_blob blob;
	uint64_t record;
	int64_t delta;

	if (word >> 16 == ip)
		return ip + (word & 0xffff) - DELTA_LIMIT;
	if (!codemap_find(ip, &blob) || blob.type != CODE_COMPILED)
		return ip;
	record = blob.dense ? dense_record(&blob, ip) : sparse_record(&blob, ip);
	/* pc_desc_near looks at the instruction pointer plus one. */
	delta = record ? (int64_t)(record - 1 - ip) : 0;
	if (delta < -DELTA_LIMIT || delta > DELTA_LIMIT)
		return ip + (uint64_t)delta;
	atomic_store_explicit(entry, ip << 16 | (uint64_t)(delta + DELTA_LIMIT),
			      memory_order_relaxed);
	return ip + (uint64_t)delta;
}
