#include "common/code/zydis.h"

bool zydis_init(ZydisDecoder *decoder)
{
	return ZYAN_SUCCESS(
	    ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

bool zydis_decode(const uint8_t *bytes, size_t available, ZydisDecodedInstruction *in,
		  ZydisDecodedOperand *ops)
{
	ZydisDecoderContext context;
	ZydisDecoder decoder;

	return zydis_init(&decoder) &&
	       ZYAN_SUCCESS(
		   ZydisDecoderDecodeInstruction(&decoder, &context, bytes, available, in)) &&
	       ZYAN_SUCCESS(
		   ZydisDecoderDecodeOperands(&decoder, &context, in, ops, in->operand_count));
}

int zydis_general(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		   ? (int)(whole - ZYDIS_REGISTER_RAX)
		   : -1;
}

void zydis_take_operand(const ZydisDecodedOperand *op, struct operand *out)
{
	out->base = (int8_t)zydis_general(op->mem.base);
	out->index = (int8_t)zydis_general(op->mem.index);
	out->scale = op->mem.scale;
	out->rip_relative = op->mem.base == ZYDIS_REGISTER_RIP;
	out->displacement = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	out->size = (uint16_t)(op->size / 8);
}

bool zydis_names_memory_only(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
	}
}
