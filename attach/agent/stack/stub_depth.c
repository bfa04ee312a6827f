#include "attach/agent/stack/stub_depth.h"

#include "common/code/opcode.h"

#define WORD           8
#define CODE_BYTES_MAX 2048u
#define DEPTH_MAX      16384

#define PUSHFQ 0x9cu
#define POPFQ  0x9du
#define LEAVE  0xc9u

/* Bytes from the stack pointer up. */
struct depth {
	int64_t to_return;
	int64_t
	    fp; /* where the caller's rbp is, from the return address down; 0: in the register */
	bool framed; /* rbp is that place */
};

static bool push(struct depth *d, int reg)
{
	d->to_return += WORD;
	if (reg == RBP && d->fp == 0)
		d->fp = d->to_return;
	return true;
}

static bool pop(struct depth *d, int reg)
{
	if (reg == RSP)
		return false;
	if (reg == RBP) {
		if (d->fp != 0 && d->fp != d->to_return)
			return false;
		d->fp = 0;
		d->framed = false;
	}
	d->to_return -= WORD;
	return true;
}

/* With rsp or rbp as the register that is written: false where that is not followed. */
static bool moves_pointer(struct depth *d, const struct opcode *o)
{
	bool load = opcode_is(o, 0x8b), store = opcode_is(o, 0x89);

	if (!o->has_memory && (o->rex & OPCODE_REX_W) &&
	    ((load && opcode_reg(o) == RBP && opcode_rm(o) == RSP) ||
	     (store && opcode_rm(o) == RBP && opcode_reg(o) == RSP))) {
		d->framed = d->fp != 0 && d->fp == d->to_return;
		return d->framed;
	}
	/* mov [rsp+disp], rbp; mov rbp, [rsp+disp] */
	if (o->has_memory && o->memory.base == RSP && o->memory.index < 0 && opcode_reg(o) == RBP) {
		int64_t at = d->to_return - o->memory.displacement;

		if (store && d->fp == 0 && at > 0) {
			d->fp = at;
			return true;
		}
		if (load && d->fp == at) {
			d->fp = 0;
			return true;
		}
	}
	return store && o->has_memory;
}

static bool adds(struct depth *d, const struct opcode *o)
{
	switch (opcode_group(o)) {
	case 0:
		d->to_return -= o->immediate;
		return true;
	case 5:
		d->to_return += o->immediate;
		return true;
	default:
		return opcode_group(o) == 7;
	}
}

/* Has the opcode more of itself in modrm, instead of a register? */
static bool is_group(uint8_t code)
{
	return (code >= 0x80 && code <= 0x83) || code == 0x8f || code == 0xc0 || code == 0xc1 ||
	       code == 0xc6 || code == 0xc7 || (code >= 0xd0 && code <= 0xd3) || code == 0xf6 ||
	       code == 0xf7 || code == 0xfe || code == 0xff;
}

/* Instructions with an operand in rsp or rbp by name, in the encodings that write one. */
static bool names_pointer(const struct opcode *o)
{
	unsigned reg = opcode_reg(o), rm = opcode_rm(o);

	if (o->map == OPCODE_ONE_BYTE && !o->vex && o->code >= 0xb8 && o->code <= 0xbf)
		return o->code - 0xb8 + (o->rex & OPCODE_REX_B ? 8u : 0) == RSP;
	if (!o->has_modrm || o->vex || o->map != OPCODE_ONE_BYTE)
		return false;
	return (!is_group(o->code) && (reg == RSP || reg == RBP)) ||
	       (!o->has_memory && (rm == RSP || rm == RBP));
}

static bool is_harmless(const struct opcode *o)
{
	return opcode_is(o, 0x3b) || opcode_is(o, 0x39) || opcode_is(o, 0x85) ||
	       (opcode_is(o, 0x89) && o->has_memory) || opcode_is(o, 0xf7) || opcode_is(o, 0xf6) ||
	       opcode_is(o, 0x84) ||
	       (opcode_is(o, 0x89) && opcode_rm(o) != RSP && opcode_rm(o) != RBP) ||
	       (opcode_is(o, 0x8b) && opcode_reg(o) != RSP && opcode_reg(o) != RBP) ||
	       (opcode_is(o, 0x8d) && opcode_reg(o) != RSP && opcode_reg(o) != RBP);
}

static bool pass(struct depth *d, const struct opcode *o)
{
	if (opcode_is(o, 0x68) || opcode_is(o, 0x6a) || opcode_is(o, PUSHFQ))
		return push(d, -1);
	if (opcode_is(o, POPFQ))
		return pop(d, -1);
	if (opcode_register_of(o, 0x50) >= 0)
		return push(d, opcode_register_of(o, 0x50));
	if (opcode_register_of(o, 0x58) >= 0)
		return pop(d, opcode_register_of(o, 0x58));
	if (opcode_is(o, LEAVE)) {
		if (!d->framed)
			return false;
		*d = (struct depth){0};
		return true;
	}
	if (!names_pointer(o))
		return !opcode_is(o, 0x8f) && !(opcode_is(o, 0xff) && opcode_group(o) == 6);
	if ((opcode_is(o, 0x81) || opcode_is(o, 0x83)) && !o->has_memory)
		return opcode_rm(o) == RSP && (o->rex & OPCODE_REX_W) && adds(d, o);
	return moves_pointer(d, o) || is_harmless(o);
}

bool stub_depth_at(uint64_t begin, uint64_t end, uint64_t pc, struct stub_depth *out)
{
	struct depth d = {0}, branched = d;
	struct opcode o;
	uint64_t ip;

	if (pc < begin || pc >= end || pc - begin > CODE_BYTES_MAX)
		return false;
	for (ip = begin; ip < pc; ip += o.length) {
		if (!opcode_read_at(ip, end, &o))
			return false;
		switch (opcode_flow(&o)) {
		case OPCODE_BRANCH:
			if (o.immediate > 0)
				branched = d;
			break;
		case OPCODE_JUMP:
		case OPCODE_INDIRECT_JUMP:
		case OPCODE_RETURN:
		case OPCODE_TRAP:
			d = branched;
			break;
		case OPCODE_NEXT:
			if (!pass(&d, &o) || d.to_return < 0 || d.to_return > DEPTH_MAX)
				return false;
			break;
		default:
			break;
		}
	}
	if (ip != pc || d.to_return % WORD != 0)
		return false;
	*out = (struct stub_depth){.to_return = (uint32_t)d.to_return,
				   .to_fp = (uint32_t)(d.to_return - d.fp),
				   .fp_saved = d.fp != 0};
	return true;
}
