#include "attach/agent/stack/leaf_call.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"

#define WORD sizeof(uint64_t)

#define FRAMES_MAX 64u
#define WORDS_MAX  512u

static bool is_readable(uint64_t address, uint64_t low, uint64_t high)
{
	return address % WORD == 0 && address >= low && address < high && high - address >= WORD;
}

enum call_kind {
	CALL_NONE,
	CALL_OF_CODE,    /* of the JVM's own */
	CALL_OF_LIBRARY, /* of any other */
	CALL_UNKNOWN,    /* through a register, or memory */
};

/* call reg, and call [reg], [reg+disp8], [reg+disp32] without an index */
static bool is_indirect_call(const uint8_t *behind)
{
	return (behind[-2] == 0xff && (behind[-1] & 0xf8) == 0xd0) ||
	       (behind[-2] == 0xff && (behind[-1] & 0xf8) == 0x10) ||
	       (behind[-3] == 0xff && (behind[-2] & 0xf8) == 0x50) ||
	       (behind[-6] == 0xff && (behind[-5] & 0xf8) == 0x90);
}

#define CALL_BYTES_MAX 13u

/* The kind of call that stands right before pc. */
static enum call_kind call_before(const struct code_layout *code, uint64_t pc)
{
	struct code_heap_blob blob;
	uint64_t target;

	if (!code_heap_find(code, pc, &blob) || pc < blob.start + CALL_BYTES_MAX)
		return CALL_NONE;
	target = stub_frame_call_target(blob.start, pc);
	if (target)
		return code_heap_covers(code, target) ? CALL_OF_CODE : CALL_OF_LIBRARY;
	return is_indirect_call((const uint8_t *)(uintptr_t)pc) ? CALL_UNKNOWN : CALL_NONE;
}

/* Is there the address that the library's code returns to, at the address? */
static bool returns_at(const struct code_layout *code, uint64_t address, uint64_t low,
		       uint64_t high)
{
	return is_readable(address, low, high) &&
	       call_before(code, memory_word(address)) == CALL_OF_LIBRARY;
}

/* A function that has done nothing yet has the address on top, and so has one at its end; behind
 * its first push the other word is on top. */
static bool leave_edge(const struct code_layout *code, uint64_t high, struct stub_frame *at)
{
	static const uint8_t mark[] = {0xf3, 0x0f, 0x1e, 0xfa}, moves[] = {0x48, 0x89, 0xe5};
	uint8_t bytes[1 + sizeof(mark)];
	const uint8_t *pc = bytes + 1;
	uint64_t sp = at->sp;

	if (!safe_read(at->pc - 1, bytes, sizeof(bytes)))
		return false;
	if (pc[0] == 0x55 || pc[0] == 0xc3 || memcmp(pc, mark, sizeof(mark)) == 0) {
		if (!returns_at(code, sp, sp, high))
			return false;
		*at = (struct stub_frame){.pc = memory_word(sp), .sp = sp + WORD, .fp = at->fp};
		return true;
	}
	if (bytes[0] != 0x55 || memcmp(pc, moves, sizeof(moves)) != 0 ||
	    !returns_at(code, sp + WORD, sp, high))
		return false;
	*at = (struct stub_frame){
	    .pc = memory_word(sp + WORD), .sp = sp + 2 * WORD, .fp = memory_word(sp)};
	return true;
}

/* Where the frame pointers lead past the call they are none. */
static bool leave_frames(const struct code_layout *code, uint64_t high, struct stub_frame *at)
{
	uint64_t low = at->sp, fp = at->fp;

	for (unsigned i = 0; i < FRAMES_MAX; i++) {
		if (!is_readable(fp, low, high) || !is_readable(fp + WORD, low, high))
			return false;
		if (code_heap_covers(code, memory_word(fp + WORD))) {
			if (!returns_at(code, fp + WORD, low, high))
				return false;
			*at = (struct stub_frame){.pc = memory_word(fp + WORD),
						  .sp = fp + 2 * WORD,
						  .fp = memory_word(fp)};
			return true;
		}
		low = fp + 2 * WORD;
		fp = memory_word(fp);
	}
	return false;
}

/* Does the frame of compiled code whose call returns to what is at the address end with an address
 * that such code returns to? Of other code nobody knows: it may. */
static bool frame_fits(const struct code_layout *code, uint64_t address, uint64_t high)
{
	struct code_heap_blob blob, caller;
	uint64_t end;
	int32_t words;
	enum call_kind kind;

	if (!code_heap_find(code, memory_word(address), &blob))
		return false;
	words = code_heap_frame_words(code, blob.start);
	if (code_heap_kind(code, blob.start) == CODE_KIND_OTHER)
		return true;
	end = address + (uint64_t)words * WORD;
	if (words < 1 || end <= address || !is_readable(end, address, high) ||
	    !code_heap_find(code, memory_word(end), &caller))
		return false;
	kind = call_before(code, memory_word(end));
	return code_heap_kind(code, caller.start) == CODE_KIND_OTHER || kind == CALL_OF_CODE ||
	       kind == CALL_UNKNOWN;
}

/* Is it where a call of the stub's returns to, or with stub 0, of a library's? */
static bool is_wanted(const struct code_layout *code, uint64_t stub, uint64_t pc,
		      enum call_kind kind)
{
	struct code_heap_blob from, to;

	if (stub == 0)
		return kind == CALL_OF_LIBRARY;
	return kind == CALL_OF_CODE && code_heap_find(code, pc, &from) &&
	       code_heap_find(code, stub_frame_call_target(from.start, pc), &to) &&
	       to.start == stub;
}

static bool leave_only(const struct code_layout *code, uint64_t stub, uint64_t high,
		       struct stub_frame *at)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < WORDS_MAX && is_readable(at->sp + i * WORD, at->sp, high); i++) {
		uint64_t address = at->sp + i * WORD;
		enum call_kind kind = call_before(code, memory_word(address));
		bool wanted = is_wanted(code, stub, memory_word(address), kind);

		if (kind != CALL_NONE && !wanted && !found)
			return false;
		if (!wanted || !frame_fits(code, address, high))
			continue;
		if (found)
			return false;
		found = address;
	}
	if (!found)
		return false;
	*at = (struct stub_frame){.pc = memory_word(found), .sp = found + WORD, .fp = at->fp};
	return true;
}

bool leaf_call_leave_stub(const struct code_layout *code, uint64_t stub, uint64_t high,
			  struct stub_frame *at)
{
	return leave_only(code, stub, high, at);
}

bool leaf_call_leave(const struct code_layout *code, uint64_t high, struct stub_frame *at)
{
	return leave_edge(code, high, at) || leave_frames(code, high, at) ||
	       leave_only(code, 0, high, at);
}

bool leaf_call_is_behind_java(const struct code_layout *code, uint64_t pc)
{
	enum call_kind kind = call_before(code, pc);

	return kind == CALL_OF_CODE || kind == CALL_UNKNOWN;
}
