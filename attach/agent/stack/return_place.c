#include "attach/agent/stack/return_place.h"

#include "common/code/opcode.h"

/* Longer code of these kinds there is none. */
#define CODE_BYTES_MAX 8192u

#define PUSHFQ 0x9cu
#define POPFQ  0x9du
#define LEAVE  0xc9u

static bool is_push(const struct opcode *o)
{
	return opcode_register_of(o, 0x50) >= 0 || opcode_is(o, 0x68) || opcode_is(o, 0x6a);
}

/* mov to, from between registers, in both encodings. */
static bool moves(const struct opcode *o, unsigned to, unsigned from)
{
	if (o->has_memory || !(o->rex & OPCODE_REX_W))
		return false;
	return (opcode_is(o, 0x8b) && opcode_reg(o) == to && opcode_rm(o) == from) ||
	       (opcode_is(o, 0x89) && opcode_rm(o) == to && opcode_reg(o) == from);
}

static bool is_top(const struct opcode *o, int32_t displacement)
{
	return o->has_memory && o->memory.base == RSP && o->memory.index < 0 &&
	       o->memory.displacement == displacement;
}

static bool loads_top(const struct opcode *o)
{
	return opcode_is(o, 0x8b) && opcode_reg(o) == RAX && (o->rex & OPCODE_REX_W) &&
	       is_top(o, 0);
}

static bool stores_top(const struct opcode *o)
{
	return opcode_is(o, 0x89) && opcode_reg(o) == RAX && (o->rex & OPCODE_REX_W) &&
	       is_top(o, 0);
}

/* lea r13, [rsp + 8] */
static bool keeps_sender(const struct opcode *o)
{
	return opcode_is(o, 0x8d) && opcode_reg(o) == R13 && is_top(o, 8);
}

/* add or sub rsp, immediate: by how much it grows; 0: it is none. */
static int64_t added(const struct opcode *o)
{
	if ((!opcode_is(o, 0x81) && !opcode_is(o, 0x83)) || o->has_memory || opcode_rm(o) != RSP)
		return 0;
	if (opcode_group(o) == 0)
		return o->immediate;
	return opcode_group(o) == 5 ? -o->immediate : 0;
}

/* Is it one of the instructions of adapters and entries that write the stack pointer by name? That
 * is what has it as an operand in a register, but for comparisons. */
static bool moves_stack(const struct opcode *o)
{
	if (is_push(o) || opcode_register_of(o, 0x58) >= 0 || opcode_is(o, PUSHFQ) ||
	    opcode_is(o, POPFQ) || opcode_is(o, LEAVE))
		return true;
	if (o->map != OPCODE_ONE_BYTE || o->vex || !o->has_modrm)
		return false;
	if (o->code == 0x8b || o->code == 0x8d || o->code == 0x03 || o->code == 0x2b)
		return opcode_reg(o) == RSP;
	if (o->code == 0x81 || o->code == 0x83)
		return !o->has_memory && opcode_rm(o) == RSP && opcode_group(o) != 7;
	return (o->code == 0x89 || o->code == 0x01 || o->code == 0x29 || o->code == 0x21) &&
	       !o->has_memory && opcode_rm(o) == RSP;
}

/* ---------------------------------------------------------------- adapters */

struct adapter {
	enum return_at at;
	bool moved;    /* the stack pointer, since the adapter has the address */
	bool copied;   /* rax has the address, which is on the stack still */
	bool kept;     /* r13 is the caller's stack pointer by the adapter's doing */
	bool saved;    /* r13 is that at the entry: what comes is a call, up to where it is taken
			* back */
	int64_t depth; /* of RETURN_LOST: bytes below the address */
};

static void lose(struct adapter *a, const struct opcode *o)
{
	a->at = RETURN_LOST;
	a->depth -= added(o);
	if (added(o) == 0)
		a->saved = true;
}

static void pass_moved(struct adapter *a, const struct opcode *o)
{
	if (a->at == RETURN_LOST) {
		a->depth -= added(o);
		if (!a->saved && a->depth == 0)
			a->at = RETURN_ON_TOP;
	} else if (a->at == RETURN_ON_TOP && !a->moved && opcode_register_of(o, 0x58) == RAX) {
		a->at = RETURN_IN_RAX;
	} else if (a->at == RETURN_IN_RAX && opcode_register_of(o, 0x50) == RAX) {
		a->at = RETURN_ON_TOP;
		a->moved = true;
	} else if (a->at == RETURN_IN_RAX) {
		a->moved = true;
	} else if (!a->moved && a->copied && added(o) <= 0 && !is_push(o)) {
		a->at = RETURN_IN_RAX;
		a->moved = true;
	} else {
		lose(a, o);
	}
}

static void pass_in_adapter(struct adapter *a, const struct opcode *o)
{
	if (moves(o, RSP, R13)) {
		*a = (struct adapter){.at = RETURN_ON_TOP};
	} else if (moves(o, R13, RSP) && a->at == RETURN_ON_TOP) {
		a->at = RETURN_LOST;
		a->saved = true;
	} else if (keeps_sender(o) || moves(o, R13, RSP)) {
		a->kept = true;
	} else if (loads_top(o)) {
		a->copied = a->at == RETURN_ON_TOP;
	} else if (stores_top(o) && a->at == RETURN_IN_RAX) {
		a->at = RETURN_ON_TOP;
		a->moved = true;
	} else if (moves_stack(o)) {
		pass_moved(a, o);
	}
}

struct return_place return_place_in_adapter(uint64_t begin, uint64_t end, uint64_t pc)
{
	struct return_place lost = {.at = RETURN_LOST};
	struct adapter a = {.at = RETURN_ON_TOP};
	struct opcode o;
	uint64_t ip;

	if (pc < begin || pc - begin > CODE_BYTES_MAX)
		return lost;
	for (ip = begin; ip < pc; ip += o.length) {
		if (!opcode_read_at(ip, end, &o))
			return lost;
		if (opcode_flow(&o) == OPCODE_INDIRECT_JUMP)
			a = (struct adapter){.at = RETURN_ON_TOP};
		else
			pass_in_adapter(&a, &o);
	}
	if (ip != pc)
		return lost;
	return (struct return_place){
	    .at = a.at, .reg = RAX, .sender = a.moved || a.kept ? R13 : -1};
}

/* ---------------------------------------------------------------- the interpreter */

static void pass_in_entry(struct return_place *p, const struct opcode *o)
{
	switch (p->at) {
	case RETURN_ON_TOP:
		if (opcode_register_of(o, 0x58) == RAX)
			p->at = RETURN_IN_RAX;
		else if (opcode_register_of(o, 0x50) == RBP)
			p->at = RETURN_SECOND;
		else if (moves_stack(o))
			p->at = RETURN_LOST;
		break;
	case RETURN_IN_RAX: /* and locals are made room for */
		if (opcode_register_of(o, 0x50) == RAX)
			p->at = RETURN_ON_TOP;
		else if (opcode_register_of(o, 0x58) >= 0)
			p->at = RETURN_LOST;
		break;
	case RETURN_SECOND:
		p->at = moves(o, RBP, RSP) ? RETURN_BY_FRAME : RETURN_LOST;
		break;
	case RETURN_BY_FRAME:
		if (is_push(o) && p->pushed < UINT8_MAX)
			p->pushed++;
		else if (opcode_is(o, LEAVE))
			p->at = RETURN_LOST;
		break;
	case RETURN_LOST:
		break;
	}
}

struct return_place return_place_in_entry(uint64_t begin, uint64_t end, uint64_t pc)
{
	struct return_place p = {.at = RETURN_ON_TOP, .sender = R13}, branched = p;
	struct opcode o;
	uint64_t ip;

	if (pc < begin || pc - begin > CODE_BYTES_MAX)
		return (struct return_place){.at = RETURN_LOST};
	for (ip = begin; ip < pc; ip += o.length) {
		if (!opcode_read_at(ip, end, &o))
			return (struct return_place){.at = RETURN_LOST};
		switch (opcode_flow(&o)) {
		case OPCODE_BRANCH:
			if (o.immediate > 0)
				branched = p;
			break;
		case OPCODE_JUMP: /* What is behind it was branched to. */
		case OPCODE_INDIRECT_JUMP:
		case OPCODE_RETURN:
			p = branched;
			break;
		case OPCODE_NEXT:
			pass_in_entry(&p, &o);
			break;
		default: /* A frame stands whatever is called. */
			if (p.at != RETURN_BY_FRAME)
				p.at = RETURN_LOST;
			break;
		}
	}
	return ip == pc ? p : (struct return_place){.at = RETURN_LOST};
}

/* From where the frame is gone to the jump there are a pop of the address, a move of the caller's
 * stack pointer, and what keeps the thread's account of that. */
#define EXIT_INSTRUCTIONS_MAX 8u

static bool is_harmless_at_exit(const struct opcode *o)
{
	enum opcode_flow flow = opcode_flow(o);

	return (flow == OPCODE_NEXT || (flow == OPCODE_BRANCH && o->immediate > 0)) && !o->vex &&
	       !moves_stack(o);
}

static int moved_to_stack_pointer(const struct opcode *o)
{
	for (unsigned from = 0; from < 16; from++)
		if (moves(o, RSP, from))
			return (int)from;
	return -1;
}

struct return_place return_place_at_exit(uint64_t end, uint64_t pc)
{
	struct return_place p = {.at = RETURN_IN_RAX, .reg = -1, .sender = -1};
	struct return_place lost = {.at = RETURN_LOST};
	struct opcode o;

	for (unsigned i = 0; i < EXIT_INSTRUCTIONS_MAX && opcode_read_at(pc, end, &o);
	     i++, pc += o.length) {
		int popped = opcode_register_of(&o, 0x58), moved = moved_to_stack_pointer(&o);

		if (opcode_flow(&o) == OPCODE_INDIRECT_JUMP) {
			int to = o.has_memory ? -1 : (int)opcode_rm(&o);

			if (to < 0 || (p.at == RETURN_ON_TOP && p.reg != to))
				return lost;
			p.reg = (int8_t)to;
			return p;
		}
		if (popped >= 0 && p.at == RETURN_IN_RAX && p.sender < 0) {
			p.at = RETURN_ON_TOP;
			p.reg = (int8_t)popped;
		} else if (moved >= 0 && p.sender < 0) {
			p.sender = (int8_t)moved;
		} else if (!is_harmless_at_exit(&o)) {
			return lost;
		}
	}
	return lost;
}
