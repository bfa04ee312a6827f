#include "daemon/loops/recursion.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "common/code/opcode.h"
#include "daemon/loops/call_arguments.h"
#include "daemon/loops/values.h"

/* Instructions of an inline-cache check: the receiver's class, unpacked, and a comparison. */
#define CHECK_MAX 8u

/* ---------------------------------------------------------------- where it begins */

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
	return o->has_memory && opcode_use(o) == OPCODE_LOADS && o->base == EFFECT_RSI &&
	       o->index < 0 && o->displacement <= 8;
}

static bool does_nothing(const struct effects *e)
{
	return e->writes == 0 && !e->memory.loads && !e->memory.stores;
}

/* Behind the check of an inline cache, and what fills up to there. */
static uint32_t behind_check(const struct native_code *n, uint32_t entry)
{
	const struct native_insn *insn = native_insn_at(n, entry);
	const struct native_insn *end = n->insns + n->insn_count;
	struct opcode o;

	if (!insn || !opcode_read(n->image->bytes + entry, n->image->size - entry, &o) ||
	    !loads_class_of_receiver(&o))
		return entry;
	for (unsigned i = 0; i < CHECK_MAX && insn < end && !insn->branches; i++)
		insn++;
	if (insn >= end || !insn->branches)
		return entry;
	for (insn++; insn + 1 < end && does_nothing(&insn->does) && !insn->call;)
		insn++;
	return insn < end ? insn->offset : entry;
}

/* A jump over the rest of a check (JDK 17: jne, of C1: je over a jump) leads there. */
static bool find_entry(const struct native_code *n, uint32_t *entry)
{
	const struct code_image *image = n->image;

	for (size_t i = 0; i < image->call_count; i++) {
		const struct code_call *call = &image->calls[i];
		uint32_t to;

		if (call->target != JXP__CODE_IMAGE__CALL__TARGET__JAVA ||
		    call->method != image->method + 1 || call->offset >= image->size)
			continue;
		to = target_of(image, call->offset);
		if (to >= call->offset)
			continue; /* Or a stub's, to have its address on the stack. */
		*entry = behind_check(n, to);
		return native_insn_at(n, *entry) != NULL;
	}
	return false;
}

/* ---------------------------------------------------------------- arguments */

struct search {
	const struct native_code *n;
	uint64_t *left; /* by block: registers that still hold what they came with, on some way */
	uint16_t *work;
	unsigned depth;
	uint64_t read;
};

static uint64_t go_through(struct search *s, uint16_t b, uint32_t from, uint64_t left)
{
	for (uint32_t k = from; k < s->n->first_insn[b + 1] && left; k++) {
		const struct native_insn *insn = &s->n->insns[k];

		if (insn->call)
			return 0;
		s->read |= left & insn->does.reads;
		left &= ~insn->does.writes;
	}
	return left;
}

static void lead_on(struct search *s, uint16_t b, uint64_t left)
{
	uint32_t cursor = 0;
	uint16_t next;

	while (left && (next = flow_successor(s->n->graph, b, &cursor)) != FLOW_NO_BLOCK) {
		if (!(left & ~s->left[next]))
			continue;
		/* A block is on the list while its bit is set that no register has. */
		if (!(s->left[next] >> 63))
			s->work[s->depth++] = next;
		s->left[next] |= left | UINT64_C(1) << 63;
	}
}

static int find_read(const struct native_code *n, uint32_t entry, uint64_t *read)
{
	unsigned count = n->graph->block_count;
	struct search s = {.n = n,
			   .left = calloc(count, sizeof(s.left[0])),
			   .work = malloc(count * sizeof(s.work[0]))};
	const struct native_insn *first = native_insn_at(n, entry);
	uint16_t b = flow_block_at(n->graph, entry);

	if (s.left && s.work) {
		lead_on(&s, b,
			go_through(&s, b, (uint32_t)(first - n->insns),
				   CALL_ARGUMENTS | CALL_VECTOR_ARGUMENTS));
		while (s.depth > 0) {
			b = s.work[--s.depth];
			s.left[b] &= ~(UINT64_C(1) << 63);
			lead_on(&s, b, go_through(&s, b, n->first_insn[b], s.left[b]));
		}
	}
	free(s.left);
	free(s.work);
	*read = s.read;
	return s.left && s.work ? 0 : -ENOMEM;
}

int recursion_find(struct recursion *r, const struct native_code *n)
{
	static const uint8_t order[] = {EFFECT_RSI, 2, 1, 8, 9, EFFECT_RDI};
	uint64_t read;
	int rc;

	*r = (struct recursion){0};
	if (!find_entry(n, &r->entry))
		return 0;
	rc = find_read(n, r->entry, &read);
	if (rc < 0)
		return rc;
	/* What is in vectors cannot be read; with too many there are none. */
	if ((read & CALL_VECTOR_ARGUMENTS) ||
	    __builtin_popcountll(read) > (int)LIMIT_PLAN_TURN_INPUTS)
		return 1;
	for (unsigned i = 0; i < sizeof(order); i++)
		if (read >> order[i] & 1)
			r->turn_inputs[r->turn_input_count++] =
			    (struct loop_input){.offset = r->entry, .reg = order[i], .bci = -1};
	return 1;
}
