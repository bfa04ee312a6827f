#include "attach/agent/stack/frame_edge.h"

#include <stdbool.h>

#include "common/code/opcode.h"

#define WORD 8

/* Longer prologues, and more instructions from the end of a frame to the return, are not
 * looked at. An entry has a class check, padding and what a collector's barrier takes. */
#define ENTRY_BYTES_MAX       256u
#define EXIT_INSTRUCTIONS_MAX 6u

static bool takes_words(const struct opcode *o, int64_t *words)
{
	if ((!opcode_is(o, 0x81) && !opcode_is(o, 0x83)) || o->has_memory ||
	    !(o->rex & OPCODE_REX_W) || opcode_rm(o) != RSP || opcode_group(o) != 5 || /* sub */
	    o->immediate < 0 || o->immediate % WORD != 0)
		return false;
	*words = o->immediate / WORD;
	return true;
}

static bool is_push_rbp(const struct opcode *o)
{
	return opcode_is(o, 0x50 + RBP) && !(o->rex & OPCODE_REX_B);
}

static bool is_pop_rbp(const struct opcode *o)
{
	return opcode_is(o, 0x58 + RBP) && !(o->rex & OPCODE_REX_B);
}

static bool is_return(const struct opcode *o)
{
	return opcode_is(o, 0xc3) || opcode_is(o, 0xc2);
}

/* mov [rsp + disp], rbp: how frames are built whose first instruction is no push. */
static bool stores_rbp(const struct opcode *o)
{
	return opcode_is(o, 0x89) && o->has_memory && o->memory.base == RSP &&
	       o->memory.index < 0 && opcode_reg(o) == RBP;
}

/* Instructions that write memory, flags or another register at an entry: the class check, padding,
 * stack banging, and a frame pointer. What could move the stack pointer is none of them. */
static bool is_harmless_at_entry(const struct opcode *o)
{
	switch (opcode_flow(o)) {
	case OPCODE_NEXT:
	case OPCODE_BRANCH: /* not taken */
		break;
	default:
		return false;
	}
	if (o->vex || o->unusual)
		return false;
	if (o->map == OPCODE_0F)
		return o->code == 0x1f || (o->code & 0xf0) == 0x80; /* nop, jcc */
	if (o->map != OPCODE_ONE_BYTE)
		return false;
	switch (o->code) {
	case 0x3b: /* cmp reg, [mem] */
	case 0x39:
	case 0x85: /* test */
	case 0x90: /* nop */
	case 0x75: /* jne, je */
	case 0x74:
		return true;
	case 0x8b: /* mov and lea to a register */
	case 0x8d:
	case 0x03: /* add reg, of narrow class pointers */
		return opcode_reg(o) != RSP;
	case 0x89: /* mov to memory, or mov rbp, rsp */
		return o->has_memory || opcode_rm(o) != RSP;
	case 0x81: /* cmp [mem], imm */
	case 0x83:
		return opcode_group(o) == 7;
	case 0xc1: /* shl */
		return opcode_rm(o) != RSP;
	default: /* mov reg, imm */
		return o->code >= 0xb8 && o->code <= 0xbf && (o->code - 0xb8 + 0u) != RSP;
	}
}

static bool entered(uint64_t begin, uint64_t end, uint64_t pc, uint16_t *words)
{
	int64_t taken = 0, moved;
	bool saved = false;
	struct opcode o;
	uint64_t ip;

	for (ip = begin; ip < pc; ip += o.length) {
		if (!opcode_read_at(ip, end, &o))
			return false;
		if (is_push_rbp(&o)) {
			taken++;
			saved = true;
		} else if (takes_words(&o, &moved)) {
			taken += moved;
		} else if (stores_rbp(&o)) {
			saved = true;
		} else if (!is_harmless_at_entry(&o)) {
			return false;
		}
	}
	if (ip != pc || (taken > 0 && !saved) || taken >= UINT16_MAX)
		return false;
	*words = (uint16_t)(taken + 1);
	return true;
}

/* What stands between the end of a frame and the return: the safepoint poll of returns, a native
 * method's look for an exception, of both of which a branch to the slow path is not taken, and
 * vzeroupper. */
static bool is_harmless_at_exit(const struct opcode *o)
{
	if (o->vex)
		return o->map == OPCODE_0F && o->code == 0x77;
	if (o->map == OPCODE_0F)
		return o->code == 0x87 || o->code == 0x85; /* ja, jne */
	if (opcode_is(o, 0x3b) || opcode_is(o, 0x8b))      /* cmp rsp, mov r10, from the thread */
		return o->has_memory && o->memory.base == R15 &&
		       (o->code == 0x3b || opcode_reg(o) != RSP);
	if (opcode_is(o, 0x81) || opcode_is(o, 0x83)) /* cmp [thread], imm */
		return o->has_memory && o->memory.base == R15 && opcode_group(o) == 7;
	return opcode_is(o, 0x85) && o->has_memory; /* test [page], eax */
}

static bool left(uint64_t end, uint64_t pc, uint16_t *words)
{
	uint16_t taken = 1;
	struct opcode o;

	for (unsigned i = 0; i < EXIT_INSTRUCTIONS_MAX; i++, pc += o.length) {
		if (!opcode_read_at(pc, end, &o))
			return false;
		if (is_return(&o)) {
			*words = taken;
			return true;
		}
		if (is_pop_rbp(&o))
			taken++;
		else if (!is_harmless_at_exit(&o))
			return false;
	}
	return false;
}

enum frame_edge frame_edge_at(uint64_t begin, uint64_t end, uint32_t complete, uint64_t pc,
			      uint16_t *words)
{
	if (pc < begin || pc >= end)
		return FRAME_STANDS;
	if (pc < begin + complete)
		return complete <= ENTRY_BYTES_MAX && entered(begin, end, pc, words) ? FRAME_ENTERED
										     : FRAME_STANDS;
	return left(end, pc, words) ? FRAME_LEFT : FRAME_STANDS;
}
