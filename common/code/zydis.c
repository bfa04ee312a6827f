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
