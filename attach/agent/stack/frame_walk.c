#include "attach/agent/stack/frame_walk.h"

#include <string.h>

#include "attach/agent/path/debug_info.h"
#include "attach/agent/stack/frame_edge.h"
#include "attach/agent/stack/leaf_call.h"
#include "attach/agent/stack/return_place.h"
#include "attach/agent/stack/stub_depth.h"
#include "attach/agent/stack/stub_frame.h"
#include "common/code/insn.h"

#define WORD sizeof(uint64_t)

/* Words from the frame pointer of an interpreted frame, and of an entry frame (frame_x86.hpp). */
#define INTERPRETED_SENDER_SP (-1)
#define INTERPRETED_LAST_SP   (-2) /* not 0: it has called */
#define INTERPRETED_METHOD    (-3)
#define INTERPRETED_BCP       (-8)
#define INTERPRETED_WORDS     9 /* that each has */
#define ENTRY_WRAPPER         (-6)

/* Larger than any frame of compiled code by far; above it the sum of sizes might overflow. */
#define FRAME_WORDS_MAX UINT16_MAX

struct frame_cursor {
	const struct frame_layout *layout;
	const struct walk_tables *tables;
	struct frame_walk *walk;
	struct call *calls;
	unsigned room;
	uint64_t pc, sp, fp;
	uint64_t ip, bcp; /* of the innermost */
	const greg_t *regs;
	uint64_t high;
	enum walk_cut cut;
	uint32_t epoch;
	bool innermost;
	bool at_call;  /* it began behind a call */
	bool in_stub;  /* or in a stub */
	bool fp_found; /* fp is the caller's already */
	bool leaf;     /* not innermost, but what it called is no Java code: a stub */
};

/* Can a word there, and those to so many before and behind it, be read? */
static bool on_stack(const struct frame_cursor *c, uint64_t address, uint64_t before,
		     uint64_t behind)
{
	return address % WORD == 0 && address >= c->sp + before && address < c->high &&
	       c->high - address > behind;
}

static uint64_t word(uint64_t address, int index)
{
	return *(const uint64_t *)(uintptr_t)(address + (uint64_t)(int64_t)index * WORD);
}

/* The stack only shrinks towards the callers. */
static bool go_to(struct frame_cursor *c, uint64_t pc, uint64_t sp, uint64_t fp)
{
	c->cut = CUT_STACK;
	if (sp <= c->sp || sp >= c->high || sp % WORD != 0)
		return false;
	c->cut = CUT_NOT;
	c->pc = pc;
	c->sp = sp;
	c->fp = fp;
	c->innermost = false;
	c->leaf = false;
	c->fp_found = false;
	return true;
}

static bool go_to_leaf(struct frame_cursor *c, uint64_t pc, uint64_t sp, uint64_t fp)
{
	c->leaf = go_to(c, pc, sp, fp);
	return c->leaf;
}

/* How many the frame's calls are known better (frame_walk.h): what is noted of the innermost. */
static void note_first(struct frame_cursor *c, bool interpreted, const struct call *calls,
		       unsigned count)
{
	struct frame_walk *walk = c->walk;

	walk->interpreted = interpreted;
	walk->compiled = interpreted ? 0 : count;
	walk->in_stub = c->in_stub;
	walk->called_behind = c->in_stub && !interpreted ? c->pc : 0;
	if (interpreted)
		walk->better = !c->at_call;
	else if (c->in_stub)
		walk->better = count;
	else
		walk->better = calls[0].bci == CALL_BCI_UNKNOWN;
}

/* The calls that a frame stands for, as far as there is room. */
static void take(struct frame_cursor *c, bool interpreted, const struct call *calls, unsigned count)
{
	unsigned fits = c->room - c->walk->count;

	if (c->walk->count == 0)
		note_first(c, interpreted, calls, count);
	if (count > fits)
		count = fits;
	memcpy(c->calls + c->walk->count, calls, count * sizeof(*calls));
	c->walk->count += count;
}

static uint32_t number_of(struct frame_cursor *c, uint64_t method)
{
	uint32_t number = method_number(c->tables->methods, &c->layout->method, method, c->epoch);

	if (!number)
		c->cut = CUT_METHOD;
	return number;
}

/* Where an interpreted method is. False where its bytecodes are not there. */
static bool find_bci(const struct frame_cursor *c, uint32_t number, uint64_t bcp, int32_t *bci)
{
	const struct method_copy *m = method_of_number(c->tables->methods, number);
	uint64_t begin = m->look.const_method + c->layout->method.const_bytes;

	if (method_copy_is_native(m)) {
		*bci = CALL_BCI_NATIVE;
		return bcp == 0;
	}
	*bci = (int32_t)(bcp - begin);
	return bcp >= begin && bcp - begin < m->look.code_size;
}

static bool is_bcp_of(struct frame_cursor *c, uint64_t method, uint64_t bcp)
{
	uint32_t number = number_of(c, method);
	int32_t bci;

	return number && find_bci(c, number, bcp, &bci);
}

/* Where the innermost one is. While it has called, or is entered, its frame tells; else a register
 * does. False where rbp may be that of another frame. */
static bool find_bcp(struct frame_cursor *c, uint64_t *bcp)
{
	bool called = word(c->fp, INTERPRETED_LAST_SP) != 0;

	*bcp = c->bcp;
	switch (interpreter_part_at(&c->layout->interpreter, c->pc)) {
	case PART_BYTECODE:
	case PART_RETURN:
		return !called;
	case PART_INVOKE: /* which saves it first, and then uses the register */
		if (called || !is_bcp_of(c, word(c->fp, INTERPRETED_METHOD), c->bcp))
			*bcp = word(c->fp, INTERPRETED_BCP);
		return true;
	case PART_BACK:
		*bcp = word(c->fp, INTERPRETED_BCP);
		return true;
	case PART_ENTRY:
		*bcp = word(c->fp, INTERPRETED_BCP);
		return !called;
	case PART_OTHER:
		break;
	}
	return false;
}

/* Where one is that has called what is no Java code, which templates keep their place over: it is
 * in the register still, or nobody knows. */
static bool find_leaf_bcp(struct frame_cursor *c, uint64_t *bcp)
{
	const struct interpreter *in = &c->layout->interpreter;
	struct interpreter_code code;

	if (word(c->fp, INTERPRETED_LAST_SP) != 0)
		return false;
	switch (interpreter_part_at(in, c->pc)) {
	case PART_ENTRY:
		code = interpreter_code_at(in, c->pc);
		return return_place_in_entry(code.begin, code.end, c->pc).at == RETURN_BY_FRAME;
	case PART_BYTECODE:
	case PART_INVOKE:
	case PART_RETURN:
		*bcp = c->bcp;
		return is_bcp_of(c, word(c->fp, INTERPRETED_METHOD), c->bcp);
	default:
		return false;
	}
}

/* To the caller of code that has no frame. */
static bool go_by_place(struct frame_cursor *c, const struct return_place *p)
{
	uint64_t sp = c->sp, fp = c->fp, pc, sender;

	if ((p->at == RETURN_IN_RAX || p->sender >= 0) && !c->regs)
		return false;
	switch (p->at) {
	case RETURN_ON_TOP:
		if (!on_stack(c, sp, 0, 0))
			return false;
		pc = word(sp, 0);
		sp += WORD;
		break;
	case RETURN_SECOND:
		if (!on_stack(c, sp, 0, WORD))
			return false;
		pc = word(sp, 1);
		fp = word(sp, 0);
		sp += 2 * WORD;
		break;
	case RETURN_IN_RAX:
		pc = register_value(c->regs, p->reg);
		break;
	default:
		return false;
	}
	sender = p->sender >= 0 ? register_value(c->regs, p->sender) : sp;
	/* What is in a register may be as high as the stack pointer is. */
	if (sender < sp || sender >= c->high || sender % WORD != 0)
		return false;
	c->sp = sender - WORD;
	c->walk->at_edge = true;
	return go_to(c, pc, sender, fp);
}

/* Leaves the interpreted frame at fp. What a method handle leads through takes an argument from an
 * interpreted caller's stack and moves the return address up; of such a caller the frame pointer
 * tells all. */
static bool go_to_sender(struct frame_cursor *c, uint64_t fp, uint64_t sender)
{
	uint64_t pc = word(fp, 1);

	if (sender == fp + WORD && interpreter_contains(&c->layout->interpreter, pc))
		sender += WORD;
	return sender >= fp + 2 * WORD && go_to(c, pc, sender, word(fp, 0));
}

/* What a method's entry has built so far, whose Method is in rbx until that is on the stack. */
#define PUSHED_SENDER_SP 1u
#define PUSHED_METHOD    3u
#define PUSHED_ALL       9u

static bool pass_frame_in_part(struct frame_cursor *c, const struct return_place *p)
{
	uint64_t fp = c->fp, sender = register_value(c->regs, p->sender);

	if (!on_stack(c, fp, p->pushed * WORD, WORD))
		return false;
	c->walk->at_edge = true;
	if (p->pushed >= PUSHED_SENDER_SP)
		sender = word(fp, INTERPRETED_SENDER_SP);
	return go_to_sender(c, fp, sender);
}

static bool pass_entered(struct frame_cursor *c, const struct return_place *p)
{
	uint64_t method = p->pushed >= PUSHED_METHOD && on_stack(c, c->fp, PUSHED_METHOD * WORD, 0)
			      ? word(c->fp, INTERPRETED_METHOD)
			      : register_value(c->regs, RBX);
	struct call call = {.method = number_of(c, method)};

	if (!call.method)
		return false;
	if (method_copy_is_native(method_of_number(c->tables->methods, call.method)))
		call.bci = CALL_BCI_NATIVE;
	if (!(p->at == RETURN_BY_FRAME ? pass_frame_in_part(c, p) : go_by_place(c, p)))
		return false;
	take(c, true, &call, 1);
	return true;
}

/* Is the innermost one's frame not there as a whole yet? */
static bool is_entered(const struct frame_cursor *c, struct return_place *p)
{
	const struct interpreter *in = &c->layout->interpreter;
	struct interpreter_code code;

	if (!c->innermost || !c->regs || interpreter_part_at(in, c->ip) != PART_ENTRY)
		return false;
	code = interpreter_code_at(in, c->ip);
	*p = return_place_in_entry(code.begin, code.end, c->ip);
	return p->at != RETURN_LOST && (p->at != RETURN_BY_FRAME || p->pushed < PUSHED_ALL);
}

/* A method whose frame is gone: its caller is where it called. */
static bool leave_interpreted(struct frame_cursor *c)
{
	const struct interpreter *in = &c->layout->interpreter;
	struct return_place p;

	if (!c->innermost || !c->regs || interpreter_part_at(in, c->ip) != PART_RETURN)
		return false;
	p = return_place_at_exit(interpreter_code_at(in, c->ip).end, c->ip);
	return p.at != RETURN_LOST && go_by_place(c, &p);
}

/* An interpreted method. */
static bool pass_interpreted(struct frame_cursor *c)
{
	struct return_place place;
	struct call call;
	uint64_t bcp;

	c->cut = CUT_INTERPRETER;
	if (is_entered(c, &place))
		return pass_entered(c, &place);
	if (!on_stack(c, c->fp, INTERPRETED_WORDS * WORD, 2 * WORD))
		return false;
	bcp = word(c->fp, INTERPRETED_BCP);
	if ((c->innermost && !find_bcp(c, &bcp)) || (c->leaf && !find_leaf_bcp(c, &bcp)))
		return false;
	call.method = number_of(c, word(c->fp, INTERPRETED_METHOD));
	/* A register may have had something else for a moment. */
	if (!call.method || !find_bci(c, call.method, bcp, &call.bci))
		return false;
	if (!go_to_sender(c, c->fp, word(c->fp, INTERPRETED_SENDER_SP)))
		return false;
	take(c, true, &call, 1);
	return true;
}

static bool is_complete(const struct frame_cursor *c, uint64_t blob)
{
	int32_t complete = code_heap_frame_complete(&c->layout->code, blob);
	uint64_t begin = code_heap_begin(&c->layout->code, blob);

	return complete >= 0 && (c->innermost ? c->ip : c->pc) >= begin + (uint32_t)complete;
}

static uint64_t method_of(const struct frame_cursor *c, uint64_t blob)
{
	return word(blob + c->layout->code.method, 0);
}

static unsigned calls_at(const struct frame_cursor *c, uint64_t blob,
			 struct scope_call calls[SCOPES_MAX])
{
	const struct scope_layout *l = &c->layout->scopes;
	uint64_t begin = code_heap_begin(&c->layout->code, blob), method = method_of(c, blob);
	unsigned count;

	if (code_heap_kind(&c->layout->code, blob) == CODE_KIND_NATIVE) {
		calls[0] = (struct scope_call){method, CALL_BCI_NATIVE};
		return 1;
	}
	count = scopes_at(l, blob, begin, c->pc, c->innermost, method, calls);
	/* Calls of some stubs are no places that the JVM has information of: as of any other
	 * instruction, that of the next counts. */
	if (count == 0 && c->leaf)
		count = scopes_at(l, blob, begin, debug_info_ip(c->pc), true, method, calls);
	return count;
}

/* Takes a frame's calls, and remembers them for the next time. */
static bool take_new(struct frame_cursor *c, const struct frame_key *key, uint16_t words,
		     const struct scope_call *calls, unsigned count)
{
	struct call numbered[SCOPES_MAX];

	for (unsigned i = 0; i < count; i++) {
		numbered[i] = (struct call){number_of(c, calls[i].method), calls[i].bci};
		if (!numbered[i].method)
			return false;
		method_set_compiled(c->tables->methods, numbered[i].method);
	}
	take(c, false, numbered, count);
	/* Where there is no room it is read again. */
	(void)frame_learn(c->tables->frames, key, words, numbered, count);
	return true;
}

/* A frame that was met before; *words: what it takes of the stack. */
static bool take_known(struct frame_cursor *c, const struct frame_key *key, uint16_t *words)
{
	const struct frame_entry *e = frame_find(c->tables->frames, key);

	if (!e)
		return false;
	*words = e->words;
	take(c, false, frame_calls(c->tables->frames, e), e->count);
	return true;
}

/* In the key's tie, for a frame that does not stand: no blob begins there. */
#define TIE_EDGE 1u

/* Before its frame stands a method may have saved what it is called with, for a collector's barrier
 * (of those that a method handle leads through, which have no frame), or not have saved rbp yet. */
static enum frame_edge unusual_entry(struct frame_cursor *c, uint64_t begin, uint64_t end,
				     uint16_t *words)
{
	struct stub_depth d;

	if (!stub_depth_at(begin, end, c->ip, &d) || d.to_return / WORD + 1 >= FRAME_WORDS_MAX)
		return FRAME_STANDS;
	*words = (uint16_t)(d.to_return / WORD + 1);
	c->fp_found = true;
	if (d.fp_saved && on_stack(c, c->sp + d.to_fp, 0, 0))
		c->fp = word(c->sp + d.to_fp, 0);
	return FRAME_ENTERED;
}

/* Where the innermost method's frame does not stand, it is in no method inlined in it. Which of its
 * bytecodes its epilogue belongs to nobody says. */
static enum frame_edge edge_at(struct frame_cursor *c, uint64_t blob, uint16_t *words)
{
	const struct code_layout *code = &c->layout->code;
	uint64_t begin = code_heap_begin(code, blob), end = code_heap_end(code, c->ip);
	int32_t complete = code_heap_frame_complete(code, blob);
	enum frame_edge edge;

	*words = 0;
	if (!c->innermost || complete < 0 || c->ip < begin)
		return FRAME_STANDS;
	edge = frame_edge_at(begin, end, (uint32_t)complete, c->ip, words);
	if (c->ip < begin + (uint32_t)complete)
		return edge == FRAME_ENTERED ? edge : unusual_entry(c, begin, end, words);
	return *words == code_heap_frame_words(code, blob) ? FRAME_STANDS : edge;
}

static bool take_edge(struct frame_cursor *c, const struct code_heap_blob *blob,
		      enum frame_edge edge, uint16_t words)
{
	const struct frame_key key = {c->ip << 1 | 1, blob->start | TIE_EDGE, blob->id};
	bool native = code_heap_kind(&c->layout->code, blob->start) == CODE_KIND_NATIVE;
	struct scope_call call = {.method = method_of(c, blob->start), .bci = CALL_BCI_UNKNOWN};

	if (native)
		call.bci = CALL_BCI_NATIVE;
	else if (edge == FRAME_ENTERED)
		call.bci = 0;
	c->walk->at_edge = true;
	return take_known(c, &key, &words) || take_new(c, &key, words, &call, 1);
}

/* Goes to where a frame that is to be deoptimised would have returned to. */
static bool go_to_original_pc(struct frame_cursor *c, uint64_t blob)
{
	const struct code_layout *code = &c->layout->code;
	uint32_t words = (uint32_t)code_heap_frame_words(code, blob), place;
	struct code_heap_blob original;
	uint64_t pc;

	if (c->innermost || c->leaf || words >= FRAME_WORDS_MAX ||
	    !code_heap_original_pc(code, blob, c->pc, words, &place) ||
	    !on_stack(c, c->sp + place, 0, 0))
		return false;
	pc = word(c->sp + place, 0);
	if (pc == c->pc || !code_heap_find(code, pc, &original) || original.start != blob)
		return false;
	c->pc = pc;
	c->walk->deoptimised = true;
	return true;
}

/* A frame that stands. */
static bool take_standing(struct frame_cursor *c, const struct code_heap_blob *blob,
			  uint16_t *words)
{
	/* In the middle of the call stands nobody, but for what is to be told as the place behind
	 * it: that is the same. */
	const struct frame_key key = {c->leaf ? (c->pc - 1) << 1 | 1 : c->pc << 1 | c->innermost,
				      blob->start, blob->id};
	int32_t size = code_heap_frame_words(&c->layout->code, blob->start);
	struct scope_call calls[SCOPES_MAX];
	unsigned count;

	if (take_known(c, &key, words))
		return true;
	if (go_to_original_pc(c, blob->start)) /* Once: that is no handler. */
		return take_standing(c, blob, words);
	c->cut = CUT_EDGE;
	if (size < 2 || size >= (int32_t)FRAME_WORDS_MAX || !is_complete(c, blob->start))
		return false;
	*words = (uint16_t)size;
	count = calls_at(c, blob->start, calls);
	return count && take_new(c, &key, *words, calls, count);
}

static bool is_java_return(const struct frame_cursor *c, uint64_t pc)
{
	const struct frame_layout *l = c->layout;
	struct code_heap_blob blob;

	if (interpreter_contains(&l->interpreter, pc))
		return interpreter_part_at(&l->interpreter, pc) == PART_BACK;
	return pc == l->call_stub_return ||
	       (code_heap_find(&l->code, pc, &blob) &&
		code_heap_kind(&l->code, blob.start) != CODE_KIND_OTHER &&
		leaf_call_is_behind_java(&l->code, pc));
}

/* C2 inlines code that keeps a few registers on the stack meanwhile, below its frame (searches in
 * strings). Then the return address is that much higher, and is the only one there; an adapter that
 * an interpreted caller came through has left it twice. */
#define PUSHED_WORDS_MAX 4u

static bool is_code(const struct frame_layout *l, uint64_t pc)
{
	return code_heap_covers(&l->code, pc) || pc == l->call_stub_return ||
	       interpreter_contains(&l->interpreter, pc);
}

static bool pass_pushed(struct frame_cursor *c, uint64_t bytes)
{
	uint64_t found = 0, pc = 0;

	if (!c->innermost || c->walk->at_edge || is_code(c->layout, word(c->sp + bytes, -1)))
		return true;
	for (uint64_t i = 1; i <= PUSHED_WORDS_MAX; i++) {
		uint64_t address = c->sp + bytes + (i - 1) * WORD;

		if (!on_stack(c, address, 0, 0) || !is_java_return(c, word(address, 0)))
			continue;
		if (found && word(address, 0) != pc)
			return false;
		if (!found)
			found = i;
		pc = word(address, 0);
	}
	c->sp += found * WORD;
	return found > 0;
}

static bool pass_compiled(struct frame_cursor *c, const struct code_heap_blob *blob)
{
	uint16_t words;
	enum frame_edge edge = edge_at(c, blob->start, &words);
	uint64_t bytes;

	if (edge == FRAME_STANDS ? !take_standing(c, blob, &words)
				 : !take_edge(c, blob, edge, words))
		return false;
	bytes = words * WORD;
	c->cut = CUT_STACK;
	if (c->high - c->sp <= bytes)
		return false;
	c->cut = CUT_CODE;
	if (!pass_pushed(c, bytes))
		return false;
	c->cut = CUT_STACK;
	if (c->high - c->sp <= bytes)
		return false;
	/* Where a frame is the return address alone, the caller's rbp is where it was. */
	return go_to(c, word(c->sp + bytes, -1), c->sp + bytes,
		     words > 1 && !c->fp_found ? word(c->sp + bytes, -2) : c->fp);
}

/* C code that Java code called without leaving Java, which stands for no call. Nobody is called
 * back from there. */
static bool pass_library(struct frame_cursor *c)
{
	struct stub_frame at = {.pc = c->ip, .sp = c->sp, .fp = c->fp};

	if (!c->innermost || code_heap_covers(&c->layout->code, c->ip) ||
	    !leaf_call_leave(&c->layout->code, c->high, &at))
		return false;
	return go_to_leaf(c, at.pc, at.sp, at.fp);
}

/* Between compiled code and the interpreter. */
static bool pass_adapter(struct frame_cursor *c, uint64_t blob)
{
	struct return_place p = return_place_in_adapter(
	    code_heap_begin(&c->layout->code, blob), code_heap_end(&c->layout->code, blob), c->ip);

	c->cut = CUT_STUB;
	return c->innermost && p.at != RETURN_LOST && go_by_place(c, &p);
}

/* A stub stands for no call. Those with frames of a fixed size build them as compiled code does;
 * that such a frame stands is certain only where something was called from it. */
static bool pass_stub(struct frame_cursor *c, uint64_t blob)
{
	int32_t words = code_heap_frame_words(&c->layout->code, blob);
	struct stub_frame at = {.pc = c->innermost ? c->ip : c->pc, .sp = c->sp, .fp = c->fp};
	uint64_t bytes = (uint64_t)words * WORD;

	if (code_heap_is_adapter(&c->layout->code, blob))
		return pass_adapter(c, blob);
	c->cut = CUT_STUB;
	if (c->innermost && stub_frame_leave_small(&c->layout->code, blob, c->high, &at))
		return go_to_leaf(c, at.pc, at.sp, at.fp);
	if (words <= 0)
		return (stub_frame_leave(&c->layout->code, blob, c->high, &at) ||
			(c->innermost &&
			 leaf_call_leave_stub(&c->layout->code, blob, c->high, &at))) &&
		       go_to_leaf(c, at.pc, at.sp, at.fp);
	if (c->innermost || words < 2 || words >= (int32_t)FRAME_WORDS_MAX ||
	    c->high - c->sp <= bytes)
		return false;
	return go_to_leaf(c, word(c->sp + bytes, -1), c->sp + bytes, word(c->sp + bytes, -2));
}

/* From the frame by which native code called Java to the Java frame that called the native code.
 * *root: there is none. */
static bool pass_entry(struct frame_cursor *c, bool *root)
{
	const struct frame_layout *l = c->layout;
	uint64_t anchor, sp, pc;

	c->cut = CUT_ENTRY;
	if (!on_stack(c, c->fp, 6 * WORD, WORD))
		return false;
	anchor = word(c->fp, ENTRY_WRAPPER) + l->wrapper_anchor;
	/* The anchor's three words may be in any order. */
	if (!on_stack(c, anchor, 0, 4 * WORD) || l->anchor.sp > 3 * WORD ||
	    l->anchor.pc > 3 * WORD || l->anchor.fp > 3 * WORD)
		return false;
	sp = word(anchor + l->anchor.sp, 0);
	*root = sp == 0;
	if (*root)
		return true;
	pc = word(anchor + l->anchor.pc, 0);
	if (sp <= c->sp || !on_stack(c, sp, 0, WORD))
		return false;
	return go_to(c, pc ? pc : word(sp, -1), sp, word(anchor + l->anchor.fp, 0));
}

/* Frames of the carrier, and those that are frozen, are none of a virtual thread's that is here. */
static bool ends_fiber(const struct frame_cursor *c, uint64_t blob)
{
	if (c->innermost || c->leaf || c->walk->count == 0)
		return false;
	return continuation_ends_at(&c->layout->continuation, blob, c->pc) ||
	       code_heap_is_thaw(&c->layout->code, blob);
}

/* One frame; false at the end of the walk, with why. */
static bool step(struct frame_cursor *c)
{
	const struct frame_layout *l = c->layout;
	struct code_heap_blob blob;
	bool root = false;

	if (c->pc == l->call_stub_return && !c->innermost) {
		if (!pass_entry(c, &root))
			return false;
		if (root)
			c->walk->end = WALK_ROOT;
		return !root;
	}
	if (interpreter_contains(&l->interpreter, c->pc))
		return leave_interpreted(c) || pass_interpreted(c);
	c->cut = CUT_CODE;
	if (!code_heap_find(&l->code, c->pc, &blob)) {
		c->in_stub |= c->walk->count == 0;
		return pass_library(c);
	}
	if (ends_fiber(c, blob.start)) {
		c->walk->fiber = true;
		c->walk->end = WALK_ROOT;
		return false;
	}
	if (code_heap_kind(&l->code, blob.start) == CODE_KIND_OTHER) {
		c->in_stub |= c->walk->count == 0;
		return pass_stub(c, blob.start);
	}
	return pass_compiled(c, &blob);
}

void frame_walk(const struct frame_layout *layout, const struct walk_tables *tables,
		const struct walk_start *start, struct call *calls, unsigned room,
		struct frame_walk *out)
{
	struct frame_cursor c = {.layout = layout,
				 .tables = tables,
				 .walk = out,
				 .calls = calls,
				 .room = room,
				 .pc = start->pc,
				 .sp = start->sp,
				 .fp = start->fp,
				 .ip = start->ip,
				 .bcp = start->bcp,
				 .regs = start->regs,
				 .high = start->stack_high,
				 .epoch = start->epoch + 1, /* 0 stands for none */
				 .innermost = !start->at_call,
				 .at_call = start->at_call,
				 .cut = CUT_STACK};

	*out = (struct frame_walk){.end = WALK_CUT};
	if (c.sp % WORD != 0 || c.sp >= c.high)
		out->cut = c.cut;
	else
		while (step(&c))
			if (out->count == room) {
				out->end = WALK_DEEP;
				return;
			}
	if (out->end == WALK_CUT)
		out->cut = c.cut;
}
