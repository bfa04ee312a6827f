#include "attach/agent/handler/stack.h"

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/debug_info.h"
#include "attach/agent/code/safe_read.h"

static int walk(const struct stack_walker *walker, JNIEnv *env, const ucontext_t *uc,
		struct agct_frame *frames, unsigned max_frames)
{
	struct agct_trace trace = {.env = env, .frames = frames};

	walker->get_trace(&trace, (jint)max_frames, (void *)uc);
	return trace.count;
}

/* A stub's own frame is small: what is farther from the stack pointer, or below it, is taken for a
 * value of the caller's in rbp. */
#define STUB_FRAME_BYTES 2048u

/* Stubs have no debug information, and the JVM refuses to walk from some of them. Their callers are
 * found behind the return address on top of the stack, or behind a frame pointer. */
static bool unwind_stub(ucontext_t *uc)
{
	greg_t *regs = uc->uc_mcontext.gregs;
	struct code_blob blob;
	uint64_t top[1], frame[2], depth = (uint64_t)(regs[REG_RBP] - regs[REG_RSP]);

	if (!codemap_find((uint64_t)regs[REG_RIP], &blob) || blob.type != CODE_STUB)
		return false;
	if (depth < STUB_FRAME_BYTES && safe_read((uint64_t)regs[REG_RBP], frame, sizeof(frame)) &&
	    codemap_find(frame[1], &blob) && blob.type == CODE_COMPILED) {
		regs[REG_RSP] = regs[REG_RBP] + 16;
		regs[REG_RBP] = (greg_t)frame[0];
		regs[REG_RIP] = (greg_t)frame[1];
		return true;
	}
	if (safe_read((uint64_t)regs[REG_RSP], top, sizeof(top)) && codemap_find(top[0], &blob) &&
	    blob.type == CODE_COMPILED) {
		regs[REG_RSP] += 8;
		regs[REG_RIP] = (greg_t)top[0];
		return true;
	}
	return false;
}

enum stack_result stack_capture(const struct stack_walker *walker, const ucontext_t *uc,
				uint64_t ip, struct agct_frame *frames, unsigned max_frames,
				struct context_table *table, uint32_t *context)
{
	ucontext_t at = *uc;
	uint32_t node = 0;
	JNIEnv *env;
	int count;

	if ((*walker->vm)->GetEnv(walker->vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return STACK_UNWALKABLE;
	at.uc_mcontext.gregs[REG_RIP] = (greg_t)debug_info_ip(ip);
	count = walk(walker, env, &at, frames, max_frames);
	if (count <= 0 && unwind_stub(&at))
		count = walk(walker, env, &at, frames, max_frames);
	if (count <= 0)
		return STACK_UNWALKABLE;
	for (int i = count - 1; i >= 0; i--) {
		node = context_intern(table, node, (uint64_t)(uintptr_t)frames[i].method,
				      frames[i].bci);
		if (node == 0)
			return STACK_TABLE_FULL;
	}
	*context = node;
	return (unsigned)count == max_frames ? STACK_TRUNCATED : STACK_OK;
}
