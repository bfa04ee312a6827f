#include "common/code/effects.h"

#include "common/code/zydis.h"

static uint64_t set_of(ZydisRegister reg)
{
	int number = zydis_general(reg);

	if (number >= 0)
		return REGISTER_GENERAL(number);
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return REGISTER_VECTOR(ZydisRegisterGetId(reg));
	case ZYDIS_REGCLASS_MASK:
		return REGISTER_MASK(ZydisRegisterGetId(reg));
	case ZYDIS_REGCLASS_FLAGS:
		return REGISTER_FLAGS;
	default:
		return 0;
	}
}

/* Writing 8 or 16 bits of a general purpose register leaves the others. */
static bool keeps_the_rest(const ZydisDecodedOperand *op)
{
	return (op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) ||
	       (zydis_general(op->reg.value) >= 0 && op->size < 32);
}

static void take_register(struct effects *out, const ZydisDecodedOperand *op)
{
	uint64_t set = set_of(op->reg.value);

	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		out->reads |= set;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) {
		out->writes |= set;
		if (set != REGISTER_FLAGS && keeps_the_rest(op))
			out->reads |= set;
	}
}

static void take_memory(struct effects *out, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *op)
{
	struct operand *m = &out->code.memory;
	bool seen = m->loads || m->stores;

	if (zydis_names_memory_only(in))
		return;
	out->reads |= set_of(op->mem.base) | set_of(op->mem.index);
	/* What push, pop, call and ret do to the stack is nobody's data. */
	if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && op->mem.base == ZYDIS_REGISTER_RSP)
		return;
	zydis_take_operand(op, m);
	if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return;
	m->strange |= seen || op->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		      op->mem.segment == ZYDIS_REGISTER_FS ||
		      op->mem.segment == ZYDIS_REGISTER_GS ||
		      op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	m->loads |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	m->stores |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

static bool is_plain_move(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQU:
		return true;
	default:
		return false;
	}
}

/* Does the mnemonic, behind the v of AVX, begin with one of the list, whose last one is NULL? */
static bool begins_with_one_of(const ZydisDecodedInstruction *in, const char *const *list)
{
	const char *name = ZydisMnemonicGetString(in->mnemonic);

	if (!name)
		return false;
	name += *name == 'v';
	for (; *list; list++) {
		const char *a = name, *b = *list;

		while (*b && *a == *b) {
			a++;
			b++;
		}
		if (!*b)
			return true;
	}
	return false;
}

static bool selects(const ZydisDecodedInstruction *in)
{
	static const char *const names[] = {"cmov", "min",   "max",    "pmin",
					    "pmax", "blend", "pblend", NULL};

	return begins_with_one_of(in, names);
}

/* For instructions that say what their elements are; those of integers begin with p. */
static bool says_floats(const ZydisDecodedInstruction *in)
{
	static const char *const names[] = {
	    "add",   "sub",   "mul",     "div",        "sqrt",    "min",   "max",
	    "fmadd", "fmsub", "fnmad",   "fnmsu",      "cvt",     "round", "rndsc",
	    "cmp",   "comis", "ucomis",  "rcp",        "rsqrt",   "hadd",  "hsub",
	    "dpp",   "scale", "getexp",  "getmant",    "fixupim", "range", "reduc",
	    "movss", "movsd", "movddup", "broadcasts", "permilp", NULL};

	return begins_with_one_of(in, names);
}

static bool says_integers(const ZydisDecodedInstruction *in)
{
	static const char *const names[] = {"padd",   "psub",  "pmul",  "pmadd", "pmin",   "pmax",
					    "pcmp",   "pabs",  "pavg",  "psra",  "pack",   "pmovsx",
					    "pmovzx", "phadd", "phsub", "psad",  "popcnt", NULL};

	return begins_with_one_of(in, names);
}

static void take_elements(struct effects *out, const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *ops)
{
	bool floats, integers;

	if (!((out->reads | out->writes) & REGISTER_VECTORS))
		return;
	floats = says_floats(in);
	integers = says_integers(in);
	for (unsigned i = 0; (floats || integers) && i < in->operand_count; i++) {
		ZydisElementType type = ops[i].element_type;
		uint64_t set = ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER
				   ? set_of(ops[i].reg.value) & REGISTER_VECTORS
				   : 0;

		if (integers || type == ZYDIS_ELEMENT_TYPE_INT || type == ZYDIS_ELEMENT_TYPE_UINT)
			out->integer |= set;
		else if (type == ZYDIS_ELEMENT_TYPE_FLOAT32)
			out->float32 |= set;
		else if (type == ZYDIS_ELEMENT_TYPE_FLOAT64)
			out->float64 |= set;
	}
}

static bool is_immediate(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static bool same_register(const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

/* An instruction of a register with itself reads nothing, really. */
static bool zeroes(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	unsigned last = in->operand_count_visible;

	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VPXORD:
	case ZYDIS_MNEMONIC_VPXORQ:
		return last >= 2 && same_register(&ops[last - 2], &ops[last - 1]);
	default:
		return false;
	}
}

static void step(struct effects *out, int64_t by)
{
	out->kind = EFFECT_STEP;
	out->immediate = by;
}

static void take_sum(struct effects *out, const ZydisDecodedOperand *ops, int64_t sign)
{
	out->kind = EFFECT_DERIVE;
	if (is_immediate(&ops[1]) && ops[1].imm.value.s > INT32_MIN)
		step(out, sign * ops[1].imm.value.s);
}

static void take_lea(struct effects *out)
{
	out->kind = EFFECT_DERIVE;
	if (out->code.memory.rip_relative)
		out->kind = EFFECT_CONSTANT;
	else if (out->code.memory.index < 0 && out->code.memory.base >= 0)
		step(out, out->code.memory.displacement);
}

static void take_shift(struct effects *out, const ZydisDecodedOperand *ops, bool right)
{
	if (!is_immediate(&ops[1]))
		return;
	out->kind = EFFECT_DERIVE;
	out->immediate = (int64_t)ops[1].imm.value.u;
	out->shifts_right = right;
}

static void take_arithmetic(struct effects *out, const ZydisDecodedInstruction *in,
			    const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_ADD:
		take_sum(out, ops, 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		take_sum(out, ops, -1);
		break;
	case ZYDIS_MNEMONIC_INC:
		step(out, 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		step(out, -1);
		break;
	case ZYDIS_MNEMONIC_LEA:
		take_lea(out);
		break;
	case ZYDIS_MNEMONIC_SHL:
		take_shift(out, ops, false);
		break;
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		take_shift(out, ops, true);
		break;
	case ZYDIS_MNEMONIC_AND:
		if (is_immediate(&ops[1])) {
			out->kind = EFFECT_DERIVE;
			out->immediate = ops[1].imm.value.s;
		}
		break;
	case ZYDIS_MNEMONIC_CMP:
		out->kind = EFFECT_COMPARE;
		out->tests_null = is_immediate(&ops[1]) && ops[1].imm.value.s == 0;
		break;
	case ZYDIS_MNEMONIC_TEST:
		out->kind = EFFECT_COMPARE;
		out->tests_null = same_register(&ops[0], &ops[1]);
		break;
	case ZYDIS_MNEMONIC_PAUSE:
		out->kind = EFFECT_PAUSE;
		break;
	default:
		if (selects(in))
			out->kind = EFFECT_SELECT;
	}
}

static void take_kind(struct effects *out, const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops)
{
	if (zeroes(in, ops)) {
		out->kind = EFFECT_CONSTANT;
		out->reads = 0;
	} else if (is_plain_move(in->mnemonic)) {
		/* Three operands: half of it is another register's. */
		if (in->operand_count_visible == 2)
			out->kind = is_immediate(&ops[1]) ? EFFECT_CONSTANT : EFFECT_COPY;
	} else {
		take_arithmetic(out, in, ops);
	}
}

bool effects_decode(const uint8_t *bytes, size_t available, struct effects *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	struct opcode code;

	if (!zydis_decode(bytes, available, &in, ops))
		return false;
	if (!opcode_read(bytes, available, &code))
		code = (struct opcode){.length = in.length};
	code.memory = OPERAND_NONE;
	*out = (struct effects){.code = code};
	for (unsigned i = 0; i < in.operand_count; i++) {
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			take_register(out, &ops[i]);
		else if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			take_memory(out, &in, &ops[i]);
	}
	take_elements(out, &in, ops);
	take_kind(out, &in, ops);
	return true;
}
