#include "common/code/insn.h"

#include <stdio.h>
#include <string.h>

#include "common/code/opcode.h"
#include "common/code/zydis.h"

static bool is_high_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

static enum insn_element element_of(const ZydisDecodedOperand *op)
{
	if (op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32)
		return ELEMENT_FLOAT32;
	if (op->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64)
		return ELEMENT_FLOAT64;
	return ELEMENT_INTEGER;
}

static bool is_compare_and_swap(const ZydisDecodedInstruction *in)
{
	return in->mnemonic == ZYDIS_MNEMONIC_CMPXCHG || in->mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B ||
	       in->mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B;
}

/* The mask register, 1 to 7, or 0: k0 stands for no mask. */
static unsigned opmask_of(const ZydisDecodedInstruction *in)
{
	ZydisRegister reg = in->avx.mask.reg;

	return reg >= ZYDIS_REGISTER_K1 && reg <= ZYDIS_REGISTER_K7
		   ? (unsigned)(reg - ZYDIS_REGISTER_K0)
		   : 0;
}

/* Moves that leave what they loaded in the low bytes of a general purpose register. */
static int loaded_register(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		if (ops[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    ops[1].type != ZYDIS_OPERAND_TYPE_MEMORY || is_high_byte(ops[0].reg.value))
			return -1;
		return zydis_general(ops[0].reg.value);
	default:
		return -1;
	}
}

/* Vector moves without a type, whatever their names: compilers move integers with those of floats,
 * and floats with those of integers. */
static bool is_plain_vector_move(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_VMOVQ:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQA32:
	case ZYDIS_MNEMONIC_VMOVDQA64:
	case ZYDIS_MNEMONIC_VMOVDQU8:
	case ZYDIS_MNEMONIC_VMOVDQU16:
	case ZYDIS_MNEMONIC_VMOVDQU32:
	case ZYDIS_MNEMONIC_VMOVDQU64:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTDQA:
	case ZYDIS_MNEMONIC_VMOVNTDQA:
	case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_VLDDQU:
	case ZYDIS_MNEMONIC_VEXTRACTI128:
	case ZYDIS_MNEMONIC_VEXTRACTF128:
		return true;
	default:
		return false;
	}
}

/* vmaskmov and vpmaskmov: the mask is the second operand. */
static bool is_masked_move(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		return true;
	default:
		return false;
	}
}

static void take_lanes(struct insn_lanes *out, const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *ops, const ZydisDecodedOperand *op)
{
	out->untyped = is_plain_vector_move(in);
	out->element = out->untyped ? ELEMENT_INTEGER : element_of(op);
	out->opmask = (uint8_t)opmask_of(in);
	out->bytes = (uint8_t)(op->element_size / 8);
	if (!is_masked_move(in))
		return;
	out->mask_vector = (int8_t)ZydisRegisterGetId(ops[1].reg.value);
	out->mask_overwritten =
	    ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].reg.value == ops[1].reg.value;
}

/* Can the bytes that the operand names be told? Masks only of moves: what of its memory operand a
 * masked shuffle or compress touches is another matter. */
static bool can_be_evaluated(const struct insn *out, const ZydisDecodedInstruction *in,
			     const ZydisDecodedOperand *op)
{
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM || op->mem.segment == ZYDIS_REGISTER_FS ||
	    op->mem.segment == ZYDIS_REGISTER_GS || op->mem.base == ZYDIS_REGISTER_EIP ||
	    out->has_memory || op->size == 0 || op->size / 8 > 64)
		return false;
	if (opmask_of(in))
		return is_plain_vector_move(in) && op->element_size >= 8;
	return !(op->actions & (ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE)) ||
	       is_compare_and_swap(in) || is_masked_move(in);
}

static void take_access(struct insn *out, const ZydisDecodedOperand *op)
{
	out->loads |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	out->stores |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

static void take_memory_operand(struct insn *out, const ZydisDecodedInstruction *in,
				const ZydisDecodedOperand *ops, const ZydisDecodedOperand *op)
{
	struct operand *m = &out->memory;

	take_access(out, op);
	if (!can_be_evaluated(out, in, op)) {
		out->unsupported = true;
		out->has_memory = false;
		return;
	}
	zydis_take_operand(op, m);
	if (m->rip_relative)
		m->displacement += (int64_t)(out->ip + in->length);
	m->loads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	m->stores = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	take_lanes(&out->lanes, in, ops, op);
	out->has_memory = m->loads || m->stores;
}

static bool compares_strings(const ZydisDecodedInstruction *in)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_CMPSB:
	case ZYDIS_MNEMONIC_CMPSW:
	case ZYDIS_MNEMONIC_CMPSD:
	case ZYDIS_MNEMONIC_CMPSQ:
	case ZYDIS_MNEMONIC_SCASB:
	case ZYDIS_MNEMONIC_SCASW:
	case ZYDIS_MNEMONIC_SCASD:
	case ZYDIS_MNEMONIC_SCASQ:
		return true;
	default:
		return false;
	}
}

static bool is_string(ZydisInstructionCategory category)
{
	return category == ZYDIS_CATEGORY_STRINGOP;
}

static void take_hidden_operand(struct insn *out, const ZydisDecodedInstruction *in,
				const ZydisDecodedOperand *op)
{
	if (op->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return;
	if (is_string(in->meta.category)) {
		out->string = true;
		out->string_source |= op->mem.base == ZYDIS_REGISTER_RSI;
		take_access(out, op);
		out->string_size = (uint16_t)(op->size / 8);
		out->string_reads |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
		out->string_writes |= (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	} else if (op->mem.base == ZYDIS_REGISTER_RSP) {
		out->stack_delta = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? -8 : 8;
	} else if (op->mem.base == ZYDIS_REGISTER_RDI) {
		take_access(out, op); /* maskmovdqu */
		out->unsupported = true;
	}
}

static void take_operands(struct insn *out, const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *ops)
{
	for (unsigned i = 0; i < in->operand_count; i++) {
		const ZydisDecodedOperand *op = &ops[i];

		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)) {
			int reg = zydis_general(op->reg.value);

			if (reg >= 0)
				out->writes |= REGISTER_GENERAL(reg);
		}
		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (op->mem.type == ZYDIS_MEMOP_TYPE_AGEN || zydis_names_memory_only(in))
			continue;
		if (op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
		    is_string(in->meta.category))
			take_hidden_operand(out, in, op);
		else
			take_memory_operand(out, in, ops, op);
	}
	out->string_compares = out->string && compares_strings(in);
	/* The decoder names them as parts of the memory operands alone. */
	if (out->string)
		out->writes |=
		    REGISTER_GENERAL(RSI) | REGISTER_GENERAL(RDI) | REGISTER_GENERAL(RCX);
	out->repeats = out->string &&
		       (in->attributes &
			(ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
}

static void take_target(struct insn *out, const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops)
{
	const ZydisDecodedOperand *op = &ops[0];

	out->target_register = -1;
	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative) {
		out->target_direct = true;
		out->target = out->ip + in->length + (uint64_t)op->imm.value.s;
	} else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		out->target_register = zydis_general(op->reg.value);
	} else if (op->type != ZYDIS_OPERAND_TYPE_MEMORY) {
		out->flow = FLOW_STOP; /* far transfers */
	}
}

static void take_flow(struct insn *out, const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		out->flow = FLOW_CONDITIONAL;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		out->flow = FLOW_JUMP;
		break;
	case ZYDIS_CATEGORY_CALL:
		out->flow = FLOW_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		out->flow = in->mnemonic == ZYDIS_MNEMONIC_RET ? FLOW_RETURN : FLOW_STOP;
		return;
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSTEM:
		out->flow = FLOW_STOP;
		return;
	default:
		out->flow = in->mnemonic == ZYDIS_MNEMONIC_UD2 ? FLOW_STOP : FLOW_NEXT;
		return;
	}
	take_target(out, in, ops);
}

static bool compares_immediate(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
	return (in->mnemonic == ZYDIS_MNEMONIC_TEST || in->mnemonic == ZYDIS_MNEMONIC_CMP) &&
	       ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

bool insn_decode(const uint8_t *bytes, size_t available, uint64_t ip, struct insn *out)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!zydis_decode(bytes, available, &in, ops))
		return false;
	*out = (struct insn){.ip = ip,
			     .length = in.length,
			     .target_register = -1,
			     .mnemonic = in.mnemonic,
			     .memory = OPERAND_NONE,
			     .lanes = {.mask_vector = -1}};
	memcpy(out->bytes, bytes, in.length);
	take_operands(out, &in, ops);
	take_flow(out, &in, ops);
	out->compares_and_swaps = is_compare_and_swap(&in);
	out->loads_register = loaded_register(&in, ops);
	out->compares_immediate = compares_immediate(&in, ops);
	out->tests_memory = in.mnemonic == ZYDIS_MNEMONIC_TEST && out->has_memory;
	if (in.cpu_flags && (in.cpu_flags->modified | in.cpu_flags->set_0 | in.cpu_flags->set_1 |
			     in.cpu_flags->undefined))
		out->writes |= REGISTER_FLAGS;
	return true;
}

unsigned insn_length(const uint8_t *bytes, size_t available)
{
	ZydisDecodedInstruction in;
	ZydisDecoder decoder;
	struct opcode o;

	if (opcode_read(bytes, available, &o))
		return o.length;
	if (!zydis_init(&decoder) ||
	    ZYAN_FAILED(ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE)) ||
	    ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, available, &in)))
		return 0;
	return in.length;
}

bool insn_overwrites(const struct insn *insn, const struct operand *operand)
{
	return insn_writes(insn, operand->base) || insn_writes(insn, operand->index);
}

uint64_t insn_effective_address(const struct insn *insn, const gregset_t regs)
{
	const struct operand *m = &insn->memory;
	uint64_t ea = (uint64_t)m->displacement;

	if (m->base >= 0)
		ea += register_value(regs, m->base);
	if (m->index >= 0)
		ea += register_value(regs, m->index) * m->scale;
	return ea;
}

bool insn_branch_taken(const struct insn *insn, const gregset_t regs, bool *known)
{
	uint64_t f = (uint64_t)regs[REG_EFL];
	uint64_t rcx = (uint64_t)regs[REG_RCX];
	bool cf = f & 0x001, pf = f & 0x004, zf = f & INSN_FLAG_ZERO, sf = f & 0x080,
	     of = f & 0x800;

	*known = true;
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_JB:
		return cf;
	case ZYDIS_MNEMONIC_JNB:
		return !cf;
	case ZYDIS_MNEMONIC_JBE:
		return cf || zf;
	case ZYDIS_MNEMONIC_JNBE:
		return !cf && !zf;
	case ZYDIS_MNEMONIC_JL:
		return sf != of;
	case ZYDIS_MNEMONIC_JNL:
		return sf == of;
	case ZYDIS_MNEMONIC_JLE:
		return zf || sf != of;
	case ZYDIS_MNEMONIC_JNLE:
		return !zf && sf == of;
	case ZYDIS_MNEMONIC_JZ:
		return zf;
	case ZYDIS_MNEMONIC_JNZ:
		return !zf;
	case ZYDIS_MNEMONIC_JS:
		return sf;
	case ZYDIS_MNEMONIC_JNS:
		return !sf;
	case ZYDIS_MNEMONIC_JO:
		return of;
	case ZYDIS_MNEMONIC_JNO:
		return !of;
	case ZYDIS_MNEMONIC_JP:
		return pf;
	case ZYDIS_MNEMONIC_JNP:
		return !pf;
	case ZYDIS_MNEMONIC_JRCXZ:
		return rcx == 0;
	case ZYDIS_MNEMONIC_JECXZ:
		return (uint32_t)rcx == 0;
	case ZYDIS_MNEMONIC_LOOP:
		return rcx != 1;
	case ZYDIS_MNEMONIC_LOOPE:
		return rcx != 1 && zf;
	case ZYDIS_MNEMONIC_LOOPNE:
		return rcx != 1 && !zf;
	default:
		*known = false;
		return false;
	}
}

bool insn_stored(const struct insn *insn, const gregset_t regs)
{
	if (insn->compares_and_swaps && !((uint64_t)regs[REG_EFL] & INSN_FLAG_ZERO))
		return false;
	return insn->memory.stores;
}

void insn_format(const uint8_t *bytes, size_t length, char *text, size_t size)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisFormatter formatter;
	ZydisDecoder decoder;

	(void)snprintf(text, size, "?");
	if (!zydis_init(&decoder) ||
	    ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, length, &in, ops)))
		return;
	if (ZYAN_FAILED(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)) ||
	    ZYAN_FAILED(ZydisFormatterSetProperty(
		&formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &in, ops,
							in.operand_count_visible, text, size,
							ZYDIS_RUNTIME_ADDRESS_NONE, NULL)))
		(void)snprintf(text, size, "?");
}
