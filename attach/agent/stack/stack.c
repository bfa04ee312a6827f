#include "attach/agent/stack/stack.h"

#include "attach/agent/code/codemap.h"
#include "attach/agent/path/debug_info.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/executed.h"

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
 * found behind the return address on top of the stack, or behind a frame pointer. The JVM takes the
 * pc for that of an access: the next debug information behind it counts (pc_desc_near in
 * forte.cpp), so a call is asked for by its last byte. */
static bool unwind_stub(ucontext_t *uc)
{
	greg_t *regs = uc->uc_mcontext.gregs;
	struct code_blob blob;
	uint64_t top[1], frame[2], depth = (uint64_t)(regs[REG_RBP] - regs[REG_RSP]);

	if (!codemap_find((uint64_t)regs[REG_RIP], &blob) || !code_is_stub(blob.type))
		return false;
	if (depth < STUB_FRAME_BYTES && safe_read((uint64_t)regs[REG_RBP], frame, sizeof(frame)) &&
	    codemap_find(frame[1], &blob) && blob.type == CODE_COMPILED) {
		regs[REG_RSP] = regs[REG_RBP] + 16;
		regs[REG_RBP] = (greg_t)frame[0];
		regs[REG_RIP] = (greg_t)frame[1] - 1;
		return true;
	}
	if (safe_read((uint64_t)regs[REG_RSP], top, sizeof(top)) && codemap_find(top[0], &blob) &&
	    blob.type == CODE_COMPILED) {
		regs[REG_RSP] += 8;
		regs[REG_RIP] = (greg_t)top[0] - 1;
		return true;
	}
	return false;
}

/* Interns calls[0..count), innermost first. 0: the table is full. */
static uint32_t intern(struct context_table *table, const struct agct_frame *calls, unsigned count)
{
	uint32_t node = 0;

	for (unsigned i = count; i-- > 0;) {
		node =
		    context_intern(table, node, (uint64_t)(uintptr_t)calls[i].method, calls[i].bci);
		if (node == 0)
			return 0;
	}
	return node;
}

/* Is the context made of just these calls? Ids do not tell: a context may have a twin. Of the
 * better innermost calls of the context only the last one's method counts, and the JVM may have
 * more of them, or fewer; then what is cut at its root cannot be compared. An interpreted innermost
 * frame the JVM leaves out where it cannot make it out
 * (find_initial_Java_frame in forte.cpp). */
static bool is_context_of(struct context_table *table, uint32_t context, const struct frame_walk *w,
			  unsigned better, const struct agct_frame *calls, unsigned count,
			  unsigned max_frames)
{
	unsigned own = 0;

	for (uint32_t c = context; c != 0; c = context_parent(context_node(table, c)))
		own++;
	if (w->frames[0].words == 0 && own == count + 1) {
		context = context_parent(context_node(table, context));
		own = count;
		better = 0;
	}
	if (own != count && better == 0)
		return false;
	if (own != count && (own == max_frames || count == max_frames))
		return true;
	for (; context != 0; own--) {
		const struct context_node *node = context_node(table, context);

		if (better <= 1 &&
		    (own > count || node->method != (uintptr_t)calls[count - own].method ||
		     (better == 0 && node->bci != calls[count - own].bci)))
			return false;
		better -= better > 0;
		context = context_parent(node);
	}
	return true;
}

/* Asks the JVM, innermost first, depth calls at most; returns how many, 0 or less when it cannot
 * tell. */
static int ask(const struct stack_walker *walker, const struct stack_place *place, unsigned depth)
{
	ucontext_t at = *place->uc;
	JNIEnv *env;
	int count;

	if ((*walker->vm)->GetEnv(walker->vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return 0;
	at.uc_mcontext.gregs[REG_RIP] = (greg_t)debug_info_ip(place->ip);
	count = walk(walker, env, &at, place->frames, depth);
	if (count <= 0 && unwind_stub(&at))
		count = walk(walker, env, &at, place->frames, depth);
	return count;
}

static bool is_trusted(const struct stack_walker *walker)
{
	return walker->known &&
	       !atomic_load_explicit(&walker->known->distrusted, memory_order_relaxed);
}

/* Where the JVM has noted where it left Java code. False where that is nowhere, and the thread is
 * not in Java code. Unchanged where there is nothing to know. */
static bool find_anchor(const struct stack_walker *walker, struct walk_start *start)
{
	const struct code_layout *code = &walker->layout.code;
	struct anchor a;
	bool in_code;
	JNIEnv *env;

	if (!walker->layout.anchor.known)
		return true;
	if ((*walker->vm)->GetEnv(walker->vm, (void **)&env, JNI_VERSION_1_6) != JNI_OK)
		return false;
	a = anchor_of(&walker->layout.anchor, env);
	if (a.sp == 0)
		return a.in_java;
	in_code = code_heap_covers(code, start->pc);
	if (a.sp < start->sp + (in_code ? 0 : sizeof(a.sp)) || a.sp >= start->stack_high ||
	    (in_code && !a.pc))
		return true;
	*start = (struct walk_start){.pc = a.pc ? a.pc : ((const uint64_t *)(uintptr_t)a.sp)[-1],
				     .sp = a.sp,
				     .fp = a.fp,
				     .at_call = true,
				     .stack_high = start->stack_high,
				     .epoch = start->epoch};
	return true;
}

/* False: the thread has no Java frames now. */
static bool look(const struct stack_walker *walker, const struct stack_place *place,
		 struct frame_walk *w)
{
	const greg_t *regs = place->uc->uc_mcontext.gregs;
	struct executed at = executed_at(&walker->layout.code, place->ip, (uint64_t)regs[REG_RIP],
					 (uint64_t)regs[REG_RSP]);
	struct walk_start start = {.ip = at.ip,
				   .pc = debug_info_ip(place->ip),
				   .sp = at.sp,
				   .fp = (uint64_t)regs[REG_RBP],
				   .bcp = (uint64_t)regs[REG_R13],
				   .regs = regs,
				   .stack_high = place->stack_high,
				   .epoch = place->epoch};

	/* An application may have other stacks, of which nothing is known. */
	if (start.sp < place->stack_low)
		start.stack_high = 0;
	if (start.sp % sizeof(uint64_t) == 0 && !find_anchor(walker, &start))
		return false;
	frame_walk(&walker->layout, walker->known, &start, place->max_frames, w);
	return true;
}

/* For frame_answer. The answer is there already, and to be kept: the other one is written behind
 * it, as far as there is room. */
struct asked {
	const struct stack_walker *walker;
	const struct stack_place *place;
	unsigned used;
};

static unsigned count_from(void *arg, const struct walk_frame *frame)
{
	const struct asked *asked = arg;
	const struct stack_place *place = asked->place;
	unsigned room = place->frames_room - asked->used;
	ucontext_t at = *place->uc;
	greg_t *regs = at.uc_mcontext.gregs;
	JNIEnv *env;
	int count;

	if (frame->words == 0 || room < asked->used ||
	    (*asked->walker->vm)->GetEnv(asked->walker->vm, (void **)&env, JNI_VERSION_1_6) !=
		JNI_OK)
		return 0;
	/* As in unwind_stub. */
	regs[REG_RIP] = (greg_t)(frame->key.key >> 1) - 1;
	regs[REG_RSP] = (greg_t)frame->sp;
	regs[REG_RBP] = (greg_t)frame->fp;
	count = walk(asked->walker, env, &at, place->frames + asked->used, room);
	return count > 0 && (unsigned)count < room ? (unsigned)count : 0;
}

static void learn(const struct stack_walker *walker, const struct stack_place *place,
		  const struct frame_walk *w, unsigned count)
{
	struct asked asked = {.walker = walker, .place = place, .used = count};
	const struct frame_answer answer = {
	    .calls = place->frames, .count = count, .count_from = count_from, .arg = &asked};

	frame_walk_learn(&walker->layout, walker->known, w, &answer);
}

/* The context of a stack whose frames are all known; 0 when they are not, or the table is full. */
static uint32_t recognise(const struct stack_walker *walker, const struct stack_place *place,
			  const struct frame_walk *w, struct context_table *table, unsigned *count)
{
	if (w->end == WALK_CUT || w->unknown > 0 || w->count == 0)
		return 0;
	*count = frame_walk_calls(w, walker->known, place->frames, place->max_frames);
	return intern(table, place->frames, *count);
}

/* What the JVM says of a stack that was recognised. When it cannot tell, that is no difference. */
static bool is_confirmed(const struct stack_walker *walker, const struct stack_place *place,
			 const struct frame_walk *w, struct context_table *table, uint32_t context)
{
	int count = ask(walker, place, place->max_frames);
	unsigned better = frame_walk_better(w, walker->known), own = 0;

	if (count <= 0 || is_context_of(table, context, w, better, place->frames, (unsigned)count,
					place->max_frames))
		return true;
	if (w->deoptimised)
		return true;
	/* A native method's that has called a stub it leaves out. */
	if (w->in_stub && is_context_of(table, context_parent(context_node(table, context)), w, 0,
					place->frames, (unsigned)count, place->max_frames))
		return true;
	if (!w->fiber)
		return false;
	/* The JVM goes on with the carrier's, and may have one more or less of the innermost. */
	for (uint32_t c = context; c != 0; c = context_parent(context_node(table, c)))
		own++;
	for (unsigned length = own > 1 ? own - 1 : 1; length <= own + 1; length++)
		if (length <= (unsigned)count &&
		    is_context_of(table, context, w, better, place->frames, length,
				  place->max_frames))
			return true;
	return false;
}

static enum stack_result result_of(const struct stack_place *place, unsigned count)
{
	return count >= place->max_frames ? STACK_TRUNCATED : STACK_OK;
}

enum stack_result stack_capture(const struct stack_walker *walker, const struct stack_place *place,
				struct context_table *table, struct stack_outcome *out)
{
	bool trusted = is_trusted(walker), learns;
	struct frame_walk w;
	uint32_t context = 0;
	unsigned known = 0;
	int count;

	*out = (struct stack_outcome){0};
	if (trusted && !look(walker, place, &w)) {
		out->recognised = true;
		return STACK_NO_JAVA;
	}
	if (trusted) {
		context = recognise(walker, place, &w, table, &known);
		out->cut = w.cut;
		out->unknown = w.unknown > 0;
	}
	if (context && (!place->check || frame_walk_is_at_edge(&w) ||
			is_confirmed(walker, place, &w, table, context))) {
		out->context = context;
		out->recognised = true;
		return result_of(place, known);
	}
	if (context) {
		out->differs = true;
		atomic_store_explicit(&walker->known->distrusted, true, memory_order_relaxed);
	}
	/* To learn from an answer takes all of it. */
	learns = trusted && !out->differs && w.end == WALK_ROOT;
	count = ask(walker, place, learns ? place->frames_room : place->max_frames);
	if (count <= 0)
		return count < 0 ? STACK_UNWALKABLE : STACK_NO_JAVA;
	if (learns && (unsigned)count < place->frames_room)
		learn(walker, place, &w, (unsigned)count);
	if ((unsigned)count > place->max_frames)
		count = (int)place->max_frames;
	out->context = intern(table, place->frames, (unsigned)count);
	return out->context ? result_of(place, (unsigned)count) : STACK_TABLE_FULL;
}
