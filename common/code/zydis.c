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
