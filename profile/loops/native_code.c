#include "profile/loops/native_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/code/opcode.h"

/* ---------------------------------------------------------------- calls */

/* What is called, and that it does not come back. */
struct callees {
	uint64_t *known; /* ascending; callees twice, plus one where they do not come back */
	size_t count;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int find_callees(struct callees *c, const struct code_image *image)
{
	c->known = malloc((image->call_count + 1) * sizeof(c->known[0]));
	if (!c->known)
		return -ENOMEM;
	for (size_t i = 0; i < image->call_count; i++) {
		const struct code_call *call = &image->calls[i];
		struct opcode o;

		if (call->offset >= image->size ||
		    !opcode_read(image->bytes + call->offset, image->size - call->offset, &o) ||
		    opcode_flow(&o) != OPCODE_CALL || call->target == CODE_TARGET_OTHER)
			continue;
		c->known[c->count++] = opcode_target(&o, image->start + call->offset) << 1 |
				       (call->target == CODE_TARGET_NO_RETURN);
	}
	qsort(c->known, c->count, sizeof(c->known[0]), compare);
	return 0;
}

/* Calls that the image does not know: uncommon traps are told by their request. */
static bool call_ends(const void *arg, uint64_t callee, bool trap_request)
{
	const struct callees *c = arg;
	size_t at = SEARCH_FIRST(i, c->count, c->known[i] >= callee << 1);

	if (at < c->count && c->known[at] >> 1 == (callee & UINT64_MAX >> 1))
		return c->known[at] & 1;
	return trap_request;
}

/* Of count things of size bytes that begin with their offset and ascend by it: the index of the
 * first at an offset or behind it. */
static size_t first_from(const void *things, size_t count, size_t size, uint32_t offset)
{
	uint32_t at;

	return SEARCH_FIRST(
	    i, count, memcpy(&at, (const char *)things + i * size, sizeof(at)) && at >= offset);
}

_Static_assert(offsetof(struct code_call, offset) == 0 &&
		   offsetof(struct code_record, offset) == 0 &&
		   offsetof(struct native_insn, offset) == 0,
	       "what first_from looks at");

static const struct code_call *call_at(const struct code_image *image, uint32_t offset)
{
	size_t i = first_from(image->calls, image->call_count, sizeof(*image->calls), offset);

	return i < image->call_count && image->calls[i].offset == offset ? &image->calls[i] : NULL;
}

/* C2 calls C, and stubs that are called like it, by a register; nothing else is. */
static enum native_call kind_of_call(const struct code_image *image, uint32_t offset,
				     bool by_register)
{
	const struct code_call *call = call_at(image, offset);

	if (call && call->target == CODE_TARGET_NO_RETURN)
		return NATIVE_CALL_ENDS;
	if (call && call->target == CODE_TARGET_STUB)
		return NATIVE_CALL_LEAF;
	if (call && call->target == CODE_TARGET_JAVA)
		return NATIVE_CALL;
	return by_register ? NATIVE_CALL_LEAF : NATIVE_CALL;
}

/* ---------------------------------------------------------------- instructions */

static void take_flow(struct native_insn *insn, const struct code_image *image)
{
	enum opcode_flow flow = opcode_flow(&insn->does.code);

	switch (flow) {
	case OPCODE_CALL:
	case OPCODE_INDIRECT_CALL:
		insn->call = (uint8_t)kind_of_call(image, insn->offset,
						   flow == OPCODE_INDIRECT_CALL &&
						       !insn->does.code.has_memory);
		break;
	case OPCODE_BRANCH:
		insn->branches = true;
		break;
	case OPCODE_RETURN:
		insn->returns = true;
		break;
	default:
		break;
	}
}

static bool based_on(const struct native_insn *insn, int base)
{
	const struct operand *m = &insn->does.code.memory;

	return (m->loads || m->stores) && !m->strange && m->base == base && m->index < 0;
}

static void take_frame(struct native_code *n, struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;
	unsigned i = 0;

	insn->slot = -1;
	if (based_on(insn, RSP) && m->displacement >= 0) {
		while (i < n->slot_count && n->slots[i] != m->displacement)
			i++;
		if (i == NATIVE_SLOTS)
			return;
		if (i == n->slot_count)
			n->slots[n->slot_count++] = m->displacement;
		insn->slot = (int8_t)i;
	} else if (based_on(insn, R15) && m->stores) {
		while (i < n->thread_count && n->thread_words[i] != m->displacement)
			i++;
		if (i == n->thread_count && i < NATIVE_THREAD_MAX)
			n->thread_words[n->thread_count++] = m->displacement;
	}
}

/* With compact headers (JEP 450) the class is in the upper half of an object's first word, where
 * nothing else is. */
static bool loads_compact_class(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return m->loads && !m->strange && m->displacement == 4 && m->size == 4 && m->index < 0 &&
	       m->base >= 0 && m->base != RSP && m->base != R15;
}

/* Compiled code moves its stack pointer where it begins and ends, and around calls of a collector's
 * barrier, for what it saves there. All that such a barrier does is nothing to the code. */
static bool take_barrier(struct native_insn *insn, bool moved)
{
	bool moves = !insn->call && (insn->does.writes & REGISTER_GENERAL(RSP));
	bool back;

	if (!moved && !moves)
		return false;
	insn->slot = -1;
	insn->does.writes = 0;
	insn->does.code.memory.loads = insn->does.code.memory.stores = false;
	back = moved && moves && insn->does.kind == EFFECT_STEP && insn->does.immediate > 0;
	insn->does.kind = EFFECT_OTHER;
	if (insn->call && insn->call != NATIVE_CALL_ENDS)
		insn->call = NATIVE_CALL_NOTHING;
	return !back;
}

/* The thread is handed to nothing but the collector's barriers, of what compiled code calls like C.
 */
static bool hands_thread(const struct native_insn *insn)
{
	uint64_t arguments = REGISTER_GENERAL(RSI) | REGISTER_GENERAL(RDI);

	return insn->does.kind == EFFECT_COPY && insn->does.reads == REGISTER_GENERAL(R15) &&
	       (insn->does.writes & arguments) && !insn->does.code.memory.loads;
}

/* A call that the flow graph does not come back from. */
static void end_call(struct native_code *n, unsigned b)
{
	const uint16_t *next = n->graph->next[b];
	struct native_insn *last;

	if (n->insn_count == n->first_insn[b])
		return;
	last = &n->insns[n->insn_count - 1];
	if (last->call && next[0] == FLOW_NO_BLOCK && next[1] == FLOW_NO_BLOCK &&
	    n->graph->starts[b + 1] < n->image->size)
		last->call = NATIVE_CALL_ENDS;
}

/* What begins in block b. -E2BIG for too many. */
static int decode_block(struct native_code *n, unsigned b)
{
	const struct code_image *image = n->image;
	uint32_t end = n->graph->starts[b + 1];
	bool moved = false, thread = false;

	for (uint32_t at = n->graph->starts[b]; at < end;) {
		struct native_insn *insn = &n->insns[n->insn_count];

		if (n->insn_count == NATIVE_INSNS_MAX)
			return -E2BIG;
		*insn = (struct native_insn){.offset = at};
		if (!effects_decode(image->bytes + at, image->size - at, &insn->does) ||
		    insn->does.code.length > end - at) {
			n->undecoded[b] = true;
			return 0;
		}
		take_flow(insn, image);
		take_frame(n, insn);
		n->compact_headers |= loads_compact_class(insn);
		moved = take_barrier(insn, moved);
		if (thread && insn->call == NATIVE_CALL_LEAF)
			insn->call = NATIVE_CALL_BARRIER;
		thread = (thread && !insn->call) || hands_thread(insn);
		n->insn_count++;
		at += insn->does.code.length;
	}
	end_call(n, b);
	return 0;
}

static int decode(struct native_code *n)
{
	unsigned count = n->graph->block_count;

	n->insns = calloc(NATIVE_INSNS_MAX, sizeof(n->insns[0]));
	n->first_insn = calloc(count + 1, sizeof(n->first_insn[0]));
	n->cold = malloc(count * sizeof(n->cold[0]));
	n->undecoded = calloc(count, sizeof(n->undecoded[0]));
	if (!n->insns || !n->first_insn || !n->cold || !n->undecoded)
		return -ENOMEM;
	for (unsigned b = 1; b < count; b++) {
		int rc;

		n->first_insn[b] = (uint32_t)n->insn_count;
		if (n->graph->rank[b] == FLOW_NO_BLOCK)
			continue;
		rc = decode_block(n, b);
		if (rc < 0)
			return rc;
	}
	n->first_insn[count] = (uint32_t)n->insn_count;
	return 0;
}

/* ---------------------------------------------------------------- cold blocks */

/* A loop goes on for as long as it likes, whatever comes of it. */
static bool stays(const struct native_code *n, unsigned b)
{
	uint32_t first = n->first_insn[b], end = n->first_insn[b + 1];

	if (n->graph->loop[b] != FLOW_NO_LOOP || n->undecoded[b])
		return true;
	return end > first && n->insns[end - 1].returns;
}

/* What leads to a return or a loop is not cold. */
static int find_cold(struct native_code *n)
{
	const struct flow_graph *g = n->graph;
	uint16_t *work = malloc(g->block_count * sizeof(work[0]));
	unsigned depth = 0;

	if (!work)
		return -ENOMEM;
	for (unsigned b = 0; b < g->block_count; b++) {
		n->cold[b] = b == FLOW_ROOT || g->rank[b] == FLOW_NO_BLOCK || !stays(n, b);
		if (!n->cold[b])
			work[depth++] = (uint16_t)b;
	}
	while (depth > 0) {
		uint16_t b = work[--depth];

		for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++) {
			uint16_t from = g->edges[e];

			if (!n->cold[from] || from == FLOW_ROOT || g->rank[from] == FLOW_NO_BLOCK)
				continue;
			n->cold[from] = false;
			work[depth++] = from;
		}
	}
	free(work);
	return 0;
}

/* ---------------------------------------------------------------- */

/* Inner loops come before those around them. */
static int count_loop_insns(struct native_code *n)
{
	const struct flow_graph *g = n->graph;

	n->loop_insns = calloc(g->loop_count + 1, sizeof(n->loop_insns[0]));
	if (!n->loop_insns)
		return -ENOMEM;
	for (unsigned b = 1; b < g->block_count; b++)
		n->loop_insns[g->loop[b]] += n->first_insn[b + 1] - n->first_insn[b];
	for (unsigned loop = 1; loop < g->loop_count; loop++)
		if (g->parents[loop] != FLOW_NO_LOOP)
			n->loop_insns[g->parents[loop]] += n->loop_insns[loop];
	return 0;
}

static bool too_deep(const struct flow_graph *g)
{
	for (unsigned loop = 1; loop < g->loop_count; loop++) {
		unsigned depth = 0;

		for (unsigned l = loop; l != FLOW_NO_LOOP; l = g->parents[l])
			if (++depth > NATIVE_DEPTH_MAX)
				return true;
	}
	return false;
}

static int make(struct native_code *n, struct callees *callees)
{
	struct flow_code code = {.bytes = n->image->bytes,
				 .size = n->image->size,
				 .start = n->image->start,
				 .call_ends = call_ends,
				 .arg = callees};
	int rc = find_callees(callees, n->image);

	if (rc < 0)
		return rc;
	n->graph = calloc(1, sizeof(*n->graph));
	if (!n->graph)
		return -ENOMEM;
	if (code.size == 0 || !flow_graph_make(n->graph, &code) || too_deep(n->graph))
		return -E2BIG;
	rc = decode(n);
	if (rc == 0)
		rc = count_loop_insns(n);
	return rc < 0 ? rc : find_cold(n);
}

#define DENSE_LEAST 4u

/* Are there records where nothing may fault, or return? */
static bool is_dense(const struct native_code *n)
{
	unsigned found = 0;

	for (size_t r = 0; r < n->image->record_count; r++) {
		const struct native_insn *at = native_insn_at(n, n->image->records[r].offset);
		const struct native_insn *before =
		    native_insn_before(n, n->image->records[r].offset);

		found += at && before && !before->call && !at->call &&
			 !at->does.code.memory.loads && !at->does.code.memory.stores;
	}
	return found >= DENSE_LEAST;
}

int native_code_make(struct native_code *n, const struct code_image *image)
{
	struct callees callees = {0};
	int rc;

	*n = (struct native_code){.image = image};
	rc = make(n, &callees);
	free(callees.known);
	if (rc < 0)
		native_code_release(n);
	else
		n->dense = is_dense(n);
	return rc;
}

void native_code_release(struct native_code *n)
{
	free(n->graph);
	free(n->insns);
	free(n->first_insn);
	free(n->cold);
	free(n->undecoded);
	free(n->loop_insns);
	*n = (struct native_code){0};
}

bool native_in_loop(const struct native_code *n, uint16_t b, unsigned loop)
{
	unsigned inner = n->graph->loop[b];

	/* Inner loops have the smaller numbers. */
	while (inner != FLOW_NO_LOOP && inner < loop)
		inner = n->graph->parents[inner];
	return inner == loop;
}

static size_t insn_from(const struct native_code *n, uint32_t offset)
{
	return first_from(n->insns, n->insn_count, sizeof(*n->insns), offset);
}

const struct native_insn *native_insn_at(const struct native_code *n, uint32_t offset)
{
	size_t i = insn_from(n, offset);

	return i < n->insn_count && n->insns[i].offset == offset ? &n->insns[i] : NULL;
}

const struct native_insn *native_insn_before(const struct native_code *n, uint32_t offset)
{
	size_t i = insn_from(n, offset);
	const struct native_insn *before = i > 0 ? &n->insns[i - 1] : NULL;

	return before && before->offset + before->does.code.length == offset ? before : NULL;
}

unsigned native_loop_insns(const struct native_code *n, unsigned loop)
{
	return n->loop_insns[loop];
}

uint16_t native_only_successor(const struct native_code *n, uint16_t b)
{
	uint32_t cursor = 0;
	uint16_t next = flow_successor(n->graph, b, &cursor);

	if (next != FLOW_NO_BLOCK && flow_successor(n->graph, b, &cursor) != FLOW_NO_BLOCK)
		return FLOW_NO_BLOCK;
	return next;
}

uint16_t native_only_source(const struct native_code *n, uint16_t b)
{
	const struct flow_graph *g = n->graph;
	uint16_t found = FLOW_NO_BLOCK;

	for (unsigned e = g->first_edge[b]; e < g->first_edge[b + 1]; e++) {
		if (g->rank[g->edges[e]] == FLOW_NO_BLOCK)
			continue;
		if (found != FLOW_NO_BLOCK)
			return FLOW_NO_BLOCK;
		found = g->edges[e];
	}
	return found;
}

/* ~(reason << 3 | action) */
static bool is_reinterpret(const uint8_t *request)
{
	return (~request[1] & 7) == 2;
}

const struct native_insn *native_pruned_branch(const struct native_code *n, uint16_t b)
{
	bool reinterpret = false;

	for (unsigned steps = 0; steps < 4 && b != FLOW_NO_BLOCK && n->cold[b]; steps++) {
		for (uint32_t k = n->first_insn[b]; k < n->first_insn[b + 1]; k++) {
			const struct native_insn *insn = &n->insns[k];
			const uint8_t *bytes = n->image->bytes + insn->offset;

			if (flow_is_trap_request(bytes, insn->does.code.length))
				reinterpret = is_reinterpret(bytes);
			if (insn->call)
				return reinterpret && insn->call == NATIVE_CALL_ENDS ? insn : NULL;
		}
		b = native_only_successor(n, b);
	}
	return NULL;
}

const struct code_record *native_record_at(const struct native_code *n, uint32_t offset)
{
	const struct code_image *image = n->image;
	size_t i = first_from(image->records, image->record_count, sizeof(*image->records), offset);

	return i < image->record_count && image->records[i].offset == offset ? &image->records[i]
									     : NULL;
}

const struct code_record *native_record_of(const struct native_code *n,
					   const struct native_insn *insn)
{
	bool behind = n->dense || insn->call;

	return native_record_at(n, insn->offset + (behind ? insn->does.code.length : 0));
}

bool native_tests_memory(const struct native_code *n, const struct native_insn *insn)
{
	const uint8_t *code = n->image->bytes + insn->offset;

	return insn->does.code.memory.loads && code[(code[0] & 0xf0) == 0x40] == 0x85;
}

uint32_t native_callee(const struct native_code *n, uint32_t offset)
{
	const struct code_call *call = call_at(n->image, offset);

	return call && call->target == CODE_TARGET_JAVA ? call->method : 0;
}

bool native_polls(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	return native_tests_memory(n, insn) && m->base >= 0 && m->index < 0 && m->displacement == 0;
}

bool native_calls_stub(const struct native_code *n, const struct native_insn *insn)
{
	const struct code_call *call = insn->call ? call_at(n->image, insn->offset) : NULL;

	return call && call->target == CODE_TARGET_STUB;
}

bool native_calls_jvm(const struct native_code *n, const struct native_insn *insn)
{
	const struct code_call *call = insn->call ? call_at(n->image, insn->offset) : NULL;

	return insn->call && (!call || call->target == CODE_TARGET_OTHER) &&
	       opcode_flow(&insn->does.code) == OPCODE_CALL;
}

/* ---------------------------------------------------------------- where the method begins */

/* Instructions of an inline-cache check: the receiver's class, unpacked, and a comparison. */
#define CHECK_MAX 8u

/* Where a call leads to within the code; UINT32_MAX: out of it. */
static uint32_t target_of(const struct code_image *image, uint32_t offset)
{
	struct opcode o;
	uint64_t to;

	if (!opcode_read(image->bytes + offset, image->size - offset, &o) ||
	    opcode_flow(&o) != OPCODE_CALL)
		return UINT32_MAX;
	to = opcode_target(&o, image->start + offset) - image->start;
	return to < image->size ? (uint32_t)to : UINT32_MAX;
}

static bool loads_class_of_receiver(const struct opcode *o)
{
	return o->has_memory && opcode_use(o) == OPCODE_LOADS && o->memory.base == RSI &&
	       o->memory.index < 0 && o->memory.displacement <= 8;
}

static bool does_nothing(const struct effects *e)
{
	return e->writes == 0 && !e->code.memory.loads && !e->code.memory.stores;
}

/* Behind the check of an inline cache, and what fills up to there. */
static uint32_t behind_check(const struct native_code *n, uint32_t entry)
{
	const struct native_insn *insn = native_insn_at(n, entry);
	const struct native_insn *end = n->insns + n->insn_count;

	if (!insn || !loads_class_of_receiver(&insn->does.code))
		return entry;
	for (unsigned i = 0; i < CHECK_MAX && insn < end && !insn->branches; i++)
		insn++;
	if (insn >= end || !insn->branches)
		return entry;
	for (insn++; insn + 1 < end && does_nothing(&insn->does) && !insn->call;)
		insn++;
	return insn < end ? insn->offset : entry;
}

bool native_own_entry(const struct native_code *n, uint32_t *entry)
{
	const struct code_image *image = n->image;

	for (size_t i = 0; i < image->call_count; i++) {
		const struct code_call *call = &image->calls[i];
		uint32_t to;

		if (call->target != CODE_TARGET_JAVA || call->method != image->method + 1 ||
		    call->offset >= image->size)
			continue;
		to = target_of(image, call->offset);
		if (to >= call->offset)
			continue; /* Or a stub's, to have its address on the stack. */
		*entry = behind_check(n, to);
		return native_insn_at(n, *entry) != NULL;
	}
	return false;
}
