#include "profile/attribution/access_shape.h"

#include <stdbool.h>

#include "common/code/java_op.h"

/* Objects begin with a word, then their class (with compact headers it is in that word, and what
 * follows comes a class word earlier); arrays have their length behind it. */
#define CLASS_AT        8
#define FIELD_AT        8
#define LENGTH_AT       12
#define LENGTH_AT_LARGE 16 /* where classes take 8 bytes */

#define WIDEST 8u /* of what one bytecode accesses */

struct access_shape access_shape_of(const struct native_code *n, const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;
	struct access_shape none = {0};

	if (insn->call || (!m->loads && !m->stores) || m->strange || m->rip_relative ||
	    insn->slot >= 0 || m->base < 0 || m->base == RSP || m->base == R15 ||
	    m->displacement != (int16_t)m->displacement || native_tests_memory(n, insn))
		return none;
	return (struct access_shape){.size = m->size,
				     .displacement = (int16_t)m->displacement,
				     .stores = m->stores,
				     .indexed = m->index >= 0};
}

/* References may be of 4 or 8 bytes. */
static bool has_size(const char *descriptor, unsigned size)
{
	switch (descriptor[0]) {
	case 'Z':
	case 'B':
		return size == 1;
	case 'C':
	case 'S':
		return size == 2;
	case 'I':
	case 'F':
		return size == 4;
	case 'J':
	case 'D':
		return size == 8;
	default:
		return size == 4 || size == 8;
	}
}

/* which: from iaload, or iastore, on. */
static bool is_element(uint8_t which, const struct access_shape *shape)
{
	static const char types[] = {'I', 'J', 'F', 'D', 'L', 'B', 'C', 'S'};

	if (shape->size > WIDEST) /* several at once */
		return true;
	return (shape->indexed || shape->displacement >= LENGTH_AT) &&
	       has_size(&types[which], shape->size);
}

static bool is_field(const struct code_image *image, uint32_t method, uint32_t bci,
		     const struct access_shape *shape)
{
	const struct code_reference *r = code_image_reference(image, method, bci);

	return r && !shape->indexed && shape->displacement >= FIELD_AT &&
	       has_size(code_image_text(image, image->members[r->member].descriptor), shape->size);
}

/* A word that is at the same place in all objects. */
static bool is_word_at(const struct access_shape *shape, int16_t displacement)
{
	return !shape->indexed && shape->displacement == displacement &&
	       (shape->size == 4 || shape->size == 8);
}

static bool looks_at_class(uint8_t op)
{
	return op == JAVA_CHECKCAST || op == JAVA_INSTANCEOF || op == JAVA_INVOKEVIRTUAL ||
	       op == JAVA_INVOKEINTERFACE || op == JAVA_AASTORE;
}

static bool may_load(const struct code_image *image, uint32_t method, uint32_t bci, uint8_t op,
		     const struct access_shape *shape)
{
	if (java_op_loads_element(op))
		return is_element(op - JAVA_IALOAD, shape);
	if (op == JAVA_GETFIELD || op == JAVA_GETSTATIC)
		return is_field(image, method, bci, shape);
	if (op == JAVA_ARRAYLENGTH)
		return shape->size == 4 &&
		       (is_word_at(shape, LENGTH_AT) || is_word_at(shape, LENGTH_AT_LARGE));
	return looks_at_class(op) && is_word_at(shape, CLASS_AT);
}

enum access_fit access_shape_fits(const struct code_image *image, uint32_t method, uint32_t bci,
				  const struct access_shape *shape)
{
	const struct code_method *m = &image->methods[method];
	uint8_t op;

	if (bci >= m->bytecode_bytes)
		return ACCESS_FIT_NONE;
	op = image->bytecodes[m->bytecode + bci];
	if (!shape->stores)
		return may_load(image, method, bci, op, shape) ? ACCESS_FIT : ACCESS_FIT_NONE;
	if (java_op_stores_element(op) && is_element(op - JAVA_IASTORE, shape))
		return ACCESS_FIT;
	if ((op == JAVA_PUTFIELD || op == JAVA_PUTSTATIC) && is_field(image, method, bci, shape))
		return ACCESS_FIT;
	/* A new object's header, and its words, which are cleared. */
	return op >= JAVA_NEW && op <= JAVA_ANEWARRAY ? ACCESS_FIT_PERHAPS : ACCESS_FIT_NONE;
}

#define REFERENCE_BYTES 8 /* that compressed references count in, where their base is not 0 */

/* Which register leads to the object that an operand is a word of; -1: it is none, or not
 * known to be. */
static int object_register(const struct native_insn *insn)
{
	const struct operand *m = &insn->does.code.memory;

	if (insn->call || m->strange || m->rip_relative || !(m->loads || m->stores))
		return -1;
	if (m->base == R12 && m->index >= 0 && m->scale == REFERENCE_BYTES)
		return m->index;
	return m->index >= 0 || m->base == RSP || m->base == R15 ? -1 : m->base;
}

static bool same_word(const struct operand *a, const struct operand *b)
{
	return a->displacement == b->displacement && a->size == b->size && a->loads == b->loads &&
	       a->stores == b->stores && (a->index < 0) == (b->index < 0);
}

/* A way from an instruction, on which objects are told by the registers that lead to them. */
struct twin_way {
	const struct native_insn *from;
	uint64_t met; /* registers of objects whose same word was accessed */
	uint8_t count;
};

static void meet(struct twin_way *w, const struct native_insn *insn)
{
	int of = object_register(insn);

	if (of < 0 || !same_word(&insn->does.code.memory, &w->from->does.code.memory) ||
	    (w->met & REGISTER_GENERAL(of)))
		return;
	w->met |= REGISTER_GENERAL(of);
	w->count++;
}

static bool ends_way(const struct native_insn *insn)
{
	return insn->call || insn->returns;
}

static uint8_t count_back(const struct native_code *n, size_t at, size_t first)
{
	struct twin_way w = {&n->insns[at], REGISTER_GENERAL(object_register(&n->insns[at])), 0};

	for (unsigned steps = 0; at-- > first && steps < TWINS_STEPS_MAX; steps++) {
		if (ends_way(&n->insns[at]))
			break;
		/* What it writes is of another object before it. */
		w.met &= ~n->insns[at].does.writes;
		meet(&w, &n->insns[at]);
	}
	return w.count;
}

static uint8_t count_on(const struct native_code *n, size_t at, size_t end)
{
	struct twin_way w = {&n->insns[at], REGISTER_GENERAL(object_register(&n->insns[at])), 0};

	w.met &= ~n->insns[at].does.writes;
	for (unsigned steps = 0; ++at < end && steps < TWINS_STEPS_MAX; steps++) {
		if (ends_way(&n->insns[at]))
			break;
		meet(&w, &n->insns[at]);
		w.met &= ~n->insns[at].does.writes;
	}
	return w.count;
}

struct twins twins_find(const struct native_code *n, size_t at)
{
	uint16_t b = flow_block_at(n->graph, n->insns[at].offset);
	uint8_t before;

	if (object_register(&n->insns[at]) < 0)
		return (struct twins){0, 1};
	before = count_back(n, at, n->first_insn[b]);
	return (struct twins){before, before + 1 + count_on(n, at, n->first_insn[b + 1])};
}
