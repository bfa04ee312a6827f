#include "attach/agent/stack/stub_frame.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/stub_depth.h"

#define WORD sizeof(uint64_t)

/* call rel32; and mov r10, imm64, call r10, as C2 calls what does not know Java's frames. */
#define CALL_OPCODE    0xe8u
#define CALL_BYTES     5u
#define FAR_CALL_BYTES 13u

/* A stub's own frame is small. */
#define STUB_FRAME_BYTES 2048u

uint64_t stub_frame_call_target(uint64_t blob, uint64_t pc)
{
	static const uint8_t load[] = {0x49, 0xba}, call[] = {0x41, 0xff, 0xd2};
	const uint8_t *behind = (const uint8_t *)(uintptr_t)pc;
	uint64_t target;
	int32_t distance;

	if (pc >= blob + CALL_BYTES && behind[-(int)CALL_BYTES] == CALL_OPCODE) {
		memcpy(&distance, behind - sizeof(distance), sizeof(distance));
		return pc + (uint64_t)(int64_t)distance;
	}
	if (pc < blob + FAR_CALL_BYTES || memcmp(behind - sizeof(call), call, sizeof(call)) != 0 ||
	    memcmp(behind - FAR_CALL_BYTES, load, sizeof(load)) != 0)
		return 0;
	memcpy(&target, behind - FAR_CALL_BYTES + sizeof(load), sizeof(target));
	return target;
}

/* Is there a call of the blob's code right before pc? */
static bool returns_from(const struct code_layout *code, uint64_t blob, uint64_t pc)
{
	struct code_heap_blob from, to;

	return code_heap_find(code, pc, &from) &&
	       code_heap_find(code, stub_frame_call_target(from.start, pc), &to) &&
	       to.start == blob;
}

bool stub_frame_leave(const struct code_layout *code, uint64_t blob, uint64_t high,
		      struct stub_frame *at)
{
	uint64_t sp = at->sp, fp = at->fp;

	if (sp % WORD != 0 || sp >= high || high - sp <= WORD)
		return false;
	if (returns_from(code, blob, memory_word(sp))) {
		*at = (struct stub_frame){.pc = memory_word(sp), .sp = sp + WORD, .fp = fp};
		return true;
	}
	if (fp % WORD != 0 || fp < sp || fp - sp >= STUB_FRAME_BYTES || fp >= high ||
	    high - fp <= 2 * WORD || !returns_from(code, blob, memory_word(fp + WORD)))
		return false;
	*at = (struct stub_frame){
	    .pc = memory_word(fp + WORD), .sp = fp + 2 * WORD, .fp = memory_word(fp)};
	return true;
}

bool stub_frame_leave_small(const struct code_layout *code, uint64_t blob, uint64_t high,
			    struct stub_frame *at)
{
	struct stub_depth depth;
	uint64_t place;

	if (at->sp % WORD != 0 || !stub_depth_at(code_heap_begin(code, blob),
						 code_heap_end(code, at->pc), at->pc, &depth))
		return false;
	place = at->sp + depth.to_return;
	if (place >= high || high - place <= WORD || !returns_from(code, blob, memory_word(place)))
		return false;
	*at =
	    (struct stub_frame){.pc = memory_word(place),
				.sp = place + WORD,
				.fp = depth.fp_saved ? memory_word(at->sp + depth.to_fp) : at->fp};
	return true;
}
