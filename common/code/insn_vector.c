#include "common/code/insn_vector.h"

#include "common/code/zydis.h"

/* Beginnings of mnemonics, behind the v of AVX, of instructions that say what their elements are;
 * those of integers begin with p. */
static const char *const float_names[] = {
    "add",   "sub",   "mul",   "div",     "sqrt",       "min",    "max",     "fmadd",   "fmsub",
    "fnmad", "fnmsu", "cvt",   "round",   "rndsc",      "cmp",    "comis",   "ucomis",  "rcp",
    "rsqrt", "hadd",  "hsub",  "dpp",     "scale",      "getexp", "getmant", "fixupim", "range",
    "reduc", "movss", "movsd", "movddup", "broadcasts", "permilp"};
static const char *const integer_names[] = {"padd",   "psub",  "pmul",  "pmadd", "pmin",  "pmax",
					    "pcmp",   "pabs",  "pavg",  "psra",  "pack",  "pmovsx",
					    "pmovzx", "phadd", "phsub", "psad",  "popcnt"};

static bool begins_with(const char *name, const char *beginning)
{
	while (*beginning && *name == *beginning) {
		name++;
		beginning++;
	}
	return *beginning == '\0';
}

static bool begins_with_one_of(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins_with(name, list[i]))
			return true;
	return false;
}
#define BEGINS_WITH_ONE_OF(name, list) \
	begins_with_one_of(name, list, sizeof(list) / sizeof((list)[0]))

/* The set of the one register, empty for one that is no vector register. */
static uint32_t vector_set(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return 1u << ZydisRegisterGetId(reg);
	default:
		return 0;
	}
}

static enum insn_flow flow_of(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_CONDITIONAL;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return FLOW_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return FLOW_CALL;
	case ZYDIS_CATEGORY_RET:
		return FLOW_RETURN;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
		return FLOW_STOP;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_UD2 ? FLOW_STOP : FLOW_NEXT;
	}
}

/* What an instruction's name says of its operands. */
struct naming {
	bool floats;
	bool integers;
};

static void take_elements(struct insn_vector *out, ZydisElementType type, uint32_t set,
			  struct naming naming)
{
	bool integer = type == ZYDIS_ELEMENT_TYPE_INT || type == ZYDIS_ELEMENT_TYPE_UINT;

	if (naming.integers || (naming.floats && integer))
		out->integer |= set;
	else if (naming.floats && type == ZYDIS_ELEMENT_TYPE_FLOAT32)
		out->float32 |= set;
	else if (naming.floats && type == ZYDIS_ELEMENT_TYPE_FLOAT64)
		out->float64 |= set;
}

static void take_operand(struct insn_vector *out, const ZydisDecodedOperand *op,
			 struct naming naming)
{
	uint32_t set;

	if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
		out->reads_memory |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	set = op->type == ZYDIS_OPERAND_TYPE_REGISTER ? vector_set(op->reg.value) : 0;
	if (!set)
		return;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		out->reads |= set;
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		out->writes |= set;
	take_elements(out, op->element_type, set, naming);
}

static void take_operands(struct insn_vector *out, const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *ops)
{
	const char *name = ZydisMnemonicGetString(in->mnemonic);
	struct naming naming;

	if (!name)
		return;
	name += *name == 'v';
	naming = (struct naming){.floats = BEGINS_WITH_ONE_OF(name, float_names),
				 .integers = BEGINS_WITH_ONE_OF(name, integer_names)};
	for (unsigned i = 0; i < in->operand_count; i++)
		take_operand(out, &ops[i], naming);
	if (begins_with(name, "xor") || begins_with(name, "pxor"))
		out->zeroes = !out->reads_memory && out->reads == out->writes;
	if (out->zeroes)
		out->reads = 0;
}

bool insn_vector_decode(const uint8_t *bytes, size_t available, struct insn_vector *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!zydis_decode(bytes, available, &in, ops))
		return false;
	*out = (struct insn_vector){.length = in.length, .flow = flow_of(&in)};
	take_operands(out, &in, ops);
	return true;
}
