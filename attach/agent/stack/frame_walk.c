#include "attach/agent/stack/frame_walk.h"

#include <string.h>

#include "attach/agent/code/codemap.h"
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

struct cursor {
	const struct frame_layout *layout;
	struct frame_table *table;
	uint64_t pc, sp, fp;
	uint64_t ip, bcp; /* of the innermost */
	const greg_t *regs;
	uint64_t high;
	enum walk_cut cut;
	uint32_t epoch;
	bool innermost;
	bool edge;     /* frame_walk.h */
	bool fp_found; /* fp is the caller's already */
	bool deoptimised;
	bool leaf; /* not innermost, but what it called is no Java code: a stub */
};

/* Can a word there, and those to so many before and behind it, be read? */
static bool on_stack(const struct cursor *c, uint64_t address, uint64_t before, uint64_t behind)
{
	return address % WORD == 0 && address >= c->sp + before && address < c->high &&
	       c->high - address > behind;
}

static uint64_t word(uint64_t address, int index)
{
	return *(const uint64_t *)(uintptr_t)(address + (uint64_t)(int64_t)index * WORD);
}

/* The stack only shrinks towards the callers. */
static bool go_to(struct cursor *c, uint64_t pc, uint64_t sp, uint64_t fp)
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

static bool go_to_leaf(struct cursor *c, uint64_t pc, uint64_t sp, uint64_t fp)
{
	c->leaf = go_to(c, pc, sp, fp);
	return c->leaf;
}

/* An id that is a pointer leads to its method: nothing else can have come to be at its place. */
static bool id_fits(const struct frame_layout *layout, const struct frame_key *key, jmethodID id)
{
	return !layout->ids_are_pointers || (id && *(const uint64_t *)(const void *)id == key->key);
}

static const struct frame_entry *find_interpreted(const struct cursor *c,
						  const struct frame_key *key)
{
	const struct frame_entry *e = frame_find(c->table, key);

	return e && e->words == 0 && id_fits(c->layout, key, frame_call(c->table, e, 0).method)
		   ? e
		   : NULL;
}

static const struct frame_entry *meet_interpreted(const struct cursor *c,
						  const struct frame_key *key)
{
	const struct frame_entry *e = find_interpreted(c, key);
	struct agct_frame call;

	if (e)
		return e;
	return interpreter_call(&c->layout->interpreter, &c->layout->scopes, key->key, key->tie,
				&call) &&
		       frame_learn(c->table, key, 0, &call, 1)
		   ? find_interpreted(c, key)
		   : NULL;
}

static bool is_bcp_of(const struct cursor *c, uint64_t method, uint64_t bcp)
{
	struct agct_frame call;

	return interpreter_call(&c->layout->interpreter, &c->layout->scopes, method, bcp, &call);
}

/* Where the innermost one is. While it has called, or is entered, its frame tells; else a register
 * does. False where rbp may be that of another frame. */
static bool find_bcp(const struct cursor *c, uint64_t *bcp)
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
static bool find_leaf_bcp(const struct cursor *c, uint64_t *bcp)
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
static bool go_by_place(struct cursor *c, const struct return_place *p)
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
		pc = (uint64_t)c->regs[insn_gregs[p->reg]];
		break;
	default:
		return false;
	}
	sender = p->sender >= 0 ? (uint64_t)c->regs[insn_gregs[p->sender]] : sp;
	/* What is in a register may be as high as the stack pointer is. */
	if (sender < sp || sender >= c->high || sender % WORD != 0)
		return false;
	c->sp = sender - WORD;
	c->edge = true;
	return go_to(c, pc, sender, fp);
}

/* Of the interpreted frame at fp. What a method handle leads through takes an argument from an
 * interpreted caller's stack and moves the return address up; of such a caller the frame pointer
 * tells all. */
static bool go_to_sender(struct cursor *c, uint64_t fp, uint64_t sender)
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

static bool pass_frame_in_part(struct cursor *c, const struct return_place *p)
{
	uint64_t fp = c->fp, sender = (uint64_t)c->regs[insn_gregs[p->sender]];

	if (!on_stack(c, fp, p->pushed * WORD, WORD))
		return false;
	c->edge = true;
	if (p->pushed >= PUSHED_SENDER_SP)
		sender = word(fp, INTERPRETED_SENDER_SP);
	return go_to_sender(c, fp, sender);
}

static bool pass_entered(struct cursor *c, const struct return_place *p, struct walk_frame *out)
{
	uint64_t method = p->pushed >= PUSHED_METHOD && on_stack(c, c->fp, PUSHED_METHOD * WORD, 0)
			      ? word(c->fp, INTERPRETED_METHOD)
			      : (uint64_t)c->regs[REG_RBX];
	uint64_t bcp;

	if (!interpreter_entry(&c->layout->interpreter, &c->layout->scopes, method, &bcp))
		return false;
	out->key = (struct frame_key){
	    .key = method, .tie = bcp, .id = c->layout->ids_are_pointers ? 0 : c->epoch};
	out->words = 0;
	out->entry = meet_interpreted(c, &out->key);
	return out->entry &&
	       (p->at == RETURN_BY_FRAME ? pass_frame_in_part(c, p) : go_by_place(c, p));
}

/* Is the innermost one's frame not there as a whole yet? */
static bool is_entered(const struct cursor *c, struct return_place *p)
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
static bool leave_interpreted(struct cursor *c)
{
	const struct interpreter *in = &c->layout->interpreter;
	struct return_place p;

	if (!c->innermost || !c->regs || interpreter_part_at(in, c->ip) != PART_RETURN)
		return false;
	p = return_place_at_exit(interpreter_code_at(in, c->ip).end, c->ip);
	return p.at != RETURN_LOST && go_by_place(c, &p);
}

/* An interpreted method. */
static bool pass_interpreted(struct cursor *c, struct walk_frame *out)
{
	const struct frame_layout *l = c->layout;
	struct return_place place;
	uint64_t sender_sp, bcp;

	c->cut = CUT_INTERPRETER;
	if (is_entered(c, &place))
		return pass_entered(c, &place, out);
	if (!on_stack(c, c->fp, INTERPRETED_WORDS * WORD, 2 * WORD))
		return false;
	bcp = word(c->fp, INTERPRETED_BCP);
	if ((c->innermost && !find_bcp(c, &bcp)) || (c->leaf && !find_leaf_bcp(c, &bcp)))
		return false;
	out->key = (struct frame_key){.key = word(c->fp, INTERPRETED_METHOD),
				      .tie = bcp,
				      .id = l->ids_are_pointers ? 0 : c->epoch};
	out->words = 0;
	out->entry = meet_interpreted(c, &out->key);
	sender_sp = word(c->fp, INTERPRETED_SENDER_SP);
	/* The register may have had something else for a moment. */
	return !(c->innermost && !out->entry) && go_to_sender(c, c->fp, sender_sp);
}

static bool is_complete(const struct cursor *c, uint64_t blob)
{
	int32_t complete = code_heap_frame_complete(&c->layout->code, blob);
	uint64_t begin = code_heap_begin(&c->layout->code, blob);

	return complete >= 0 && (c->innermost ? c->ip : c->pc) >= begin + (uint32_t)complete;
}

/* Is this what the code map has at the pc, an nmethod? It is asked about what is met first; what is
 * known is told by its compilation. */
static bool is_compiled(const struct code_layout *code, uint64_t blob, uint64_t pc,
			struct code_blob *out)
{
	return codemap_find(pc, out) && out->type == CODE_COMPILED &&
	       out->start == code_heap_begin(code, blob);
}

static unsigned calls_at(const struct cursor *c, uint64_t blob, uint64_t method, bool native,
			 struct agct_frame calls[SCOPES_MAX])
{
	const struct scope_layout *l = &c->layout->scopes;
	uint64_t begin = code_heap_begin(&c->layout->code, blob);
	unsigned count;

	if (native) {
		calls[0].bci = CALL_BCI_NATIVE;
		memcpy(&calls[0].method, &method, sizeof(calls[0].method));
		return 1;
	}
	count = scopes_at(l, blob, begin, c->pc, c->innermost, method, calls);
	/* Calls of some stubs are no places that the JVM has information of: as of any other
	 * instruction, that of the next counts. */
	if (count == 0 && c->leaf)
		count = scopes_at(l, blob, begin, debug_info_ip(c->pc), true, method, calls);
	return count;
}

/* The id of the method that the nmethod was compiled from; 0 when it is not known. */
static uint64_t method_of(const struct frame_layout *l, uint64_t blob)
{
	uint64_t method, id;

	if (!l->code.method || code_heap_kind(&l->code, blob) == CODE_KIND_UNKNOWN)
		return 0;
	memcpy(&method, (const void *)(uintptr_t)(blob + l->code.method), sizeof(method));
	return l->scopes.methods_known && scopes_id_of(&l->scopes, method, &id) ? id : 0;
}

/* Of a frame that does not stand, in the key's tie: no blob begins there. */
#define TIE_EDGE 1u

/* Before its frame stands a method may have saved what it is called with, for a collector's barrier
 * (of those that a method handle leads through, which have no frame), or not have saved rbp yet. */
static enum frame_edge unusual_entry(struct cursor *c, uint64_t begin, uint64_t end,
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

static enum frame_edge edge_at(struct cursor *c, uint64_t blob, uint16_t *words)
{
	const struct code_layout *code = &c->layout->code;
	uint64_t begin = code_heap_begin(code, blob), end = code_heap_end(code, c->ip);
	int32_t complete = code_heap_frame_complete(code, blob);
	enum frame_edge edge;

	if (complete < 0 || c->ip < begin)
		return FRAME_STANDS;
	edge = frame_edge_at(begin, end, (uint32_t)complete, c->ip, words);
	if (c->ip < begin + (uint32_t)complete)
		return edge == FRAME_ENTERED ? edge : unusual_entry(c, begin, end, words);
	return *words == code_heap_frame_words(code, blob) ? FRAME_STANDS : edge;
}

/* Where the innermost method's frame does not stand, it is in no method inlined in it. Which of its
 * bytecodes its epilogue belongs to nobody says. */
static bool meet_edge(struct cursor *c, const struct code_heap_blob *blob, struct walk_frame *out)
{
	const struct code_layout *code = &c->layout->code;
	struct code_blob mapped;
	struct agct_frame call;
	enum frame_edge edge = edge_at(c, blob->start, &out->words);

	if (edge == FRAME_STANDS)
		return false;
	c->edge = true;
	out->key = (struct frame_key){
	    .key = c->ip << 1 | 1, .tie = blob->start | TIE_EDGE, .id = blob->id};
	out->entry = frame_find(c->table, &out->key);
	if (out->entry)
		return true;
	if (!is_compiled(code, blob->start, c->ip, &mapped))
		mapped.method = method_of(c->layout, blob->start);
	if (!mapped.method)
		return true;
	call.bci = code_heap_kind(code, blob->start) == CODE_KIND_NATIVE ? CALL_BCI_NATIVE
		   : edge == FRAME_ENTERED                               ? 0
									 : SCOPES_BCI_UNKNOWN;
	memcpy(&call.method, &mapped.method, sizeof(call.method));
	if (frame_learn(c->table, &out->key, out->words, &call, 1))
		out->entry = frame_find(c->table, &out->key);
	return true;
}

static bool meet_compiled(struct cursor *c, uint64_t blob, struct walk_frame *out)
{
	bool native = code_heap_kind(&c->layout->code, blob) == CODE_KIND_NATIVE;
	int32_t words = code_heap_frame_words(&c->layout->code, blob);
	struct agct_frame calls[SCOPES_MAX];
	struct code_blob mapped;
	unsigned count;

	c->cut = CUT_UNMAPPED;
	if (!is_compiled(&c->layout->code, blob, c->pc, &mapped))
		mapped.method = method_of(c->layout, blob);
	if (!mapped.method)
		return false;
	c->cut = CUT_EDGE;
	if (words < 2 || words >= (int32_t)FRAME_WORDS_MAX || !is_complete(c, blob))
		return false;
	out->words = (uint16_t)words;
	count = calls_at(c, blob, mapped.method, native, calls);
	if (count && frame_learn(c->table, &out->key, out->words, calls, count))
		out->entry = frame_find(c->table, &out->key);
	return true;
}

/* Of a frame that is to be deoptimised: where it would have returned to. */
static bool go_to_original_pc(struct cursor *c, uint64_t blob)
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
	c->deoptimised = true;
	return true;
}

static bool look_up(const struct cursor *c, const struct code_heap_blob *blob,
		    struct walk_frame *out)
{
	/* In the middle of the call stands nobody, but for what is to be told as the place behind
	 * it: that is the same. */
	out->key =
	    (struct frame_key){.key = c->leaf ? (c->pc - 1) << 1 | 1 : c->pc << 1 | c->innermost,
			       .tie = blob->start,
			       .id = blob->id};
	out->entry = frame_find(c->table, &out->key);
	if (out->entry)
		out->words = out->entry->words;
	return out->entry;
}

static bool find_compiled(struct cursor *c, const struct code_heap_blob *blob,
			  struct walk_frame *out)
{
	return (c->innermost && meet_edge(c, blob, out)) || look_up(c, blob, out) ||
	       (go_to_original_pc(c, blob->start) && look_up(c, blob, out)) ||
	       meet_compiled(c, blob->start, out);
}

static bool is_java_return(const struct cursor *c, uint64_t pc)
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

static bool pass_pushed(struct cursor *c, uint64_t bytes)
{
	uint64_t found = 0, pc = 0;

	if (!c->innermost || c->edge || is_code(c->layout, word(c->sp + bytes, -1)))
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

static bool pass_compiled(struct cursor *c, const struct code_heap_blob *blob,
			  struct walk_frame *out)
{
	uint64_t bytes;

	if (!find_compiled(c, blob, out))
		return false;
	bytes = out->words * WORD;
	c->cut = CUT_STACK;
	if (c->high - c->sp <= bytes || !pass_pushed(c, bytes) || c->high - c->sp <= bytes)
		return false;
	/* Of a frame that is the return address alone, the caller's rbp is where it was. */
	return go_to(c, word(c->sp + bytes, -1), c->sp + bytes,
		     out->words > 1 && !c->fp_found ? word(c->sp + bytes, -2) : c->fp);
}

/* C code that Java code called without leaving Java, which stands for no call. Nobody is called
 * back from there. */
static bool pass_library(struct cursor *c)
{
	struct stub_frame at = {.pc = c->ip, .sp = c->sp, .fp = c->fp};

	if (!c->innermost || code_heap_covers(&c->layout->code, c->ip) ||
	    !leaf_call_leave(&c->layout->code, c->high, &at))
		return false;
	return go_to_leaf(c, at.pc, at.sp, at.fp);
}

/* Between compiled code and the interpreter. */
static bool pass_adapter(struct cursor *c, uint64_t blob)
{
	struct return_place p = return_place_in_adapter(
	    code_heap_begin(&c->layout->code, blob), code_heap_end(&c->layout->code, blob), c->ip);

	c->cut = CUT_STUB;
	return c->innermost && p.at != RETURN_LOST && go_by_place(c, &p);
}

/* A stub stands for no call. Those with frames of a fixed size build them as compiled code does;
 * that such a frame stands is certain only where something was called from it. */
static bool pass_stub(struct cursor *c, uint64_t blob)
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
static bool pass_entry(struct cursor *c, bool *root)
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

/* A frame of compiled or interpreted code. */
static bool pass_frame(struct cursor *c, const struct code_heap_blob *blob, struct frame_walk *walk)
{
	struct walk_frame *f = &walk->frames[walk->count];

	c->cut = CUT_FULL;
	if (walk->count == WALK_FRAMES_MAX)
		return false;
	f->entry = NULL;
	f->sp = c->sp;
	f->fp = c->fp;
	if (!(interpreter_contains(&c->layout->interpreter, c->pc) ? pass_interpreted(c, f)
								   : pass_compiled(c, blob, f)))
		return false;
	walk->count++;
	walk->unknown += !f->entry;
	walk->calls += f->entry ? f->entry->count : 0;
	return true;
}

/* Frames of the carrier, and those that are frozen, are none of a virtual thread's that is here. */
static bool ends_fiber(const struct cursor *c, uint64_t blob, const struct frame_walk *walk)
{
	if (c->innermost || c->leaf || walk->count == 0)
		return false;
	return continuation_ends_at(&c->layout->continuation, blob, c->pc) ||
	       code_heap_is_thaw(&c->layout->code, blob);
}

/* One frame; false at the end of the walk, with why. */
static bool step(struct cursor *c, struct frame_walk *walk)
{
	const struct frame_layout *l = c->layout;
	struct code_heap_blob blob;
	bool root = false;

	walk->end = WALK_CUT;
	if (c->pc == l->call_stub_return && !c->innermost) {
		if (!pass_entry(c, &root))
			return false;
		if (root)
			walk->end = WALK_ROOT;
		return !root;
	}
	if (interpreter_contains(&l->interpreter, c->pc))
		return leave_interpreted(c) || pass_frame(c, NULL, walk);
	c->cut = CUT_CODE;
	if (!code_heap_find(&l->code, c->pc, &blob)) {
		walk->in_stub |= walk->count == 0;
		return pass_library(c);
	}
	if (ends_fiber(c, blob.start, walk)) {
		walk->fiber = true;
		walk->end = WALK_ROOT;
		return false;
	}
	if (code_heap_kind(&l->code, blob.start) == CODE_KIND_OTHER) {
		walk->in_stub |= walk->count == 0;
		return pass_stub(c, blob.start);
	}
	return pass_frame(c, &blob, walk);
}

void frame_walk(const struct frame_layout *layout, struct frame_table *table,
		const struct walk_start *start, unsigned calls_wanted, struct frame_walk *out)
{
	struct cursor c = {.layout = layout,
			   .table = table,
			   .pc = start->pc,
			   .sp = start->sp,
			   .fp = start->fp,
			   .ip = start->ip,
			   .bcp = start->bcp,
			   .regs = start->regs,
			   .high = start->stack_high,
			   .epoch = start->epoch,
			   .innermost = !start->at_call};

	out->count = out->unknown = out->calls = 0;
	out->end = WALK_CUT;
	out->cut = CUT_NOT;
	out->at_call = start->at_call;
	out->in_stub = out->edge = out->fiber = out->deoptimised = false;
	if (layout->code.heap_count == 0 || c.sp % WORD != 0 || c.sp >= c.high)
		return;
	while (step(&c, out)) {
		if (out->unknown == 0 && out->calls >= calls_wanted) {
			out->end = WALK_DEEP;
			break;
		}
	}
	if (out->end == WALK_CUT)
		out->cut = c.cut;
	out->edge = c.edge;
	out->deoptimised = c.deoptimised;
}

bool frame_walk_is_at_edge(const struct frame_walk *walk)
{
	const struct walk_frame *f = &walk->frames[0];

	return walk->edge || (f->words > 0 && f->key.tie & TIE_EDGE);
}

unsigned frame_walk_better(const struct frame_walk *walk, const struct frame_table *table)
{
	const struct walk_frame *f = &walk->frames[0];

	if (f->words == 0)
		return walk->at_call ? 0 : 1;
	if (walk->in_stub)
		return f->entry->count;
	return frame_call(table, f->entry, 0).bci == SCOPES_BCI_UNKNOWN;
}

unsigned frame_walk_calls(const struct frame_walk *walk, const struct frame_table *table,
			  struct agct_frame *to, unsigned room)
{
	unsigned count = 0;

	for (unsigned i = 0; i < walk->count; i++) {
		const struct frame_entry *e = walk->frames[i].entry;

		for (unsigned j = 0; j < e->count; j++) {
			if (count == room)
				return count;
			to[count++] = frame_call(table, e, j);
		}
	}
	return count;
}

/* ---------------------------------------------------------------- learning */

/* Which calls of the JVM's answer belong to which frame: those of a frame end with the method that
 * it was compiled from. Where that is ambiguous (a method inlined in itself) there is an earliest
 * and a latest end for a frame, and nothing is learnt from it unless they are the same. */
struct assignment {
	const struct walk_frame *frame;
	uint64_t method; /* that its last call is of; 0: any */
	uint16_t fixed;  /* calls that it is known to stand for; 0: unknown */
	uint16_t end;    /* that it is known to have; 0: unknown */
	uint16_t earliest;
	uint16_t latest;
};

struct assignments {
	const struct frame_answer *answer;
	unsigned frames;
	struct assignment of[WALK_FRAMES_MAX];
};

static bool can_end(const struct assignments *a, const struct assignment *f, unsigned end)
{
	const struct agct_frame *last = &a->answer->calls[end - 1];

	return (!f->end || f->end == end) && (!f->method || (uintptr_t)last->method == f->method);
}

static bool find_earliest(struct assignments *a)
{
	unsigned end = 0;

	for (unsigned i = 0; i < a->frames; i++) {
		struct assignment *f = &a->of[i];

		end += f->fixed ? f->fixed : 1;
		while (end <= a->answer->count && !can_end(a, f, end) && !f->fixed)
			end++;
		if (end > a->answer->count || !can_end(a, f, end))
			return false;
		f->earliest = (uint16_t)end;
	}
	return true;
}

/* After find_earliest: no frame ends before that. */
static bool find_latest(struct assignments *a)
{
	unsigned end = a->answer->count;

	for (unsigned i = a->frames; i-- > 0;) {
		struct assignment *f = &a->of[i];

		while (end >= f->earliest && !can_end(a, f, end))
			end--;
		if (end < f->earliest)
			return false;
		f->latest = (uint16_t)end;
		end -= f->fixed ? f->fixed : 1;
	}
	return true;
}

/* Where a frame's own calls are known, one end of it tells the other. */
static void tighten(struct assignments *a)
{
	unsigned begin = 0;

	for (unsigned i = 0; i < a->frames; i++) {
		struct assignment *f = &a->of[i];

		if (f->fixed && f->latest > begin + f->fixed)
			f->latest = (uint16_t)(begin + f->fixed);
		begin = f->latest;
	}
	for (unsigned i = a->frames; i-- > 1;) {
		const struct assignment *f = &a->of[i];
		struct assignment *before = &a->of[i - 1];

		if (f->fixed && before->earliest < f->earliest - f->fixed)
			before->earliest = (uint16_t)(f->earliest - f->fixed);
	}
}

static bool place_all(struct assignments *a)
{
	if (!find_earliest(a) || !find_latest(a))
		return false;
	tighten(a);
	return true;
}

/* The first frame that is to be learnt and in doubt; frames: there is none. */
static unsigned first_in_doubt(const struct assignments *a)
{
	unsigned i = 0;

	while (i < a->frames && (a->of[i].frame->entry || a->of[i].earliest == a->of[i].latest))
		i++;
	return i;
}

/* Asks the JVM once, for the caller of the first frame in doubt. Those that are so still are met
 * again. */
static bool resolve(struct assignments *a)
{
	const struct frame_answer *answer = a->answer;
	unsigned i = first_in_doubt(a), left;

	if (i + 1 >= a->frames || !answer->count_from)
		return true;
	left = answer->count_from(answer->arg, a->of[i + 1].frame);
	if (left == 0 || left >= answer->count)
		return true;
	a->of[i].end = (uint16_t)(answer->count - left);
	return place_all(a);
}

/* Does the JVM know what is inlined at this very place? It does at every return address. */
static bool has_debug_info(const struct code_blob *blob, uint64_t pc)
{
	uint64_t offset = pc - blob->start;
	uint32_t i = codemap_debug_pc_from(blob, offset);

	return i < blob->debug_pc_count && blob->debug_pcs[i] == offset;
}

static bool may_learn(const struct frame_layout *layout, const struct assignment *f,
		      const struct agct_frame *calls, unsigned count)
{
	const struct frame_key *key = &f->frame->key;
	bool innermost = key->key & 1;
	struct code_blob blob;

	if (f->frame->words == 0)
		return count == 1 && id_fits(layout, key, calls[0].method);
	if (!is_compiled(&layout->code, key->tie, key->key >> 1, &blob) || blob.method != f->method)
		return false;
	/* A native method's code has none; where it calls from tells its state, too. */
	if (calls[count - 1].bci == CALL_BCI_NATIVE)
		return count == 1 && !innermost;
	return innermost || has_debug_info(&blob, key->key >> 1);
}

static bool assign(const struct frame_layout *layout, const struct frame_walk *walk,
		   struct assignments *a)
{
	a->frames = walk->count;
	for (unsigned i = 0; i < walk->count; i++) {
		const struct walk_frame *f = &walk->frames[i];
		struct code_blob blob;

		a->of[i] = (struct assignment){.frame = f};
		if (f->entry)
			a->of[i].fixed = f->entry->count;
		else if (f->words == 0)
			a->of[i].fixed = 1;
		else if (!(f->key.tie & TIE_EDGE) &&
			 is_compiled(&layout->code, f->key.tie, f->key.key >> 1, &blob))
			a->of[i].method = blob.method;
		else
			return false;
	}
	/* The last one ends where the answer does. */
	a->of[walk->count - 1].end = (uint16_t)a->answer->count;
	return place_all(a) && resolve(a);
}

void frame_walk_learn(const struct frame_layout *layout, struct frame_table *table,
		      const struct frame_walk *walk, const struct frame_answer *answer)
{
	struct assignments a;
	unsigned begin = 0;
	bool certain = true; /* where the frame begins */

	a.answer = answer;
	if (walk->end != WALK_ROOT || walk->count == 0 || answer->count > UINT16_MAX ||
	    !assign(layout, walk, &a))
		return;
	for (unsigned i = 0; i < walk->count; i++) {
		const struct assignment *f = &a.of[i];
		const struct agct_frame *calls = answer->calls + begin;
		unsigned count = f->latest - begin;

		bool ends = f->earliest == f->latest;

		if (certain && ends && !f->frame->entry && may_learn(layout, f, calls, count))
			/* Where there is no room the JVM is asked again. */
			(void)frame_learn(table, &f->frame->key, f->frame->words, calls, count);
		certain = ends;
		begin = f->latest;
	}
}
