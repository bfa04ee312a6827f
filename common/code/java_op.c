#include "common/code/java_op.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of each instruction, from nop on (JVMS 6.5); 0: none, or one of many lengths. */
static const char lengths[] = "1111111111111111"
			      "2323322222111111"
			      "1111111111111111"
			      "1111112222211111"
			      "1111111111111111"
			      "1111111111111111"
			      "1111111111111111"
			      "1111111111111111"
			      "1111311111111111"
			      "1111111113333333"
			      "3333333332001111"
			      "1133333335532311"
			      "3311043355";

static bool is_switch(uint8_t op)
{
	return op == JAVA_TABLESWITCH || op == JAVA_LOOKUPSWITCH;
}

int64_t java_switch_cases(const uint8_t *code, uint32_t size, uint32_t bci)
{
	uint64_t head = (uint64_t)bci + java_switch_pad(bci);
	bool table = code[bci] == JAVA_TABLESWITCH;
	int64_t count;

	if (head + (table ? 12 : 8) > size)
		return -1;
	count = table ? (int64_t)java_s32(code + head + 8) - java_s32(code + head + 4) + 1
		      : java_s32(code + head + 4);
	if (count < 0 || count > (int64_t)size)
		return -1;
	return head + (table ? 12 : 8) + (uint64_t)count * (table ? 4 : 8) > size ? -1 : count;
}

uint32_t java_op_length(const uint8_t *code, uint32_t size, uint32_t bci)
{
	uint8_t op = code[bci];
	uint32_t length = 0;

	if (is_switch(op)) {
		int64_t cases = java_switch_cases(code, size, bci);

		if (cases >= 0)
			length = java_switch_pad(bci) + (op == JAVA_TABLESWITCH
							     ? 12 + (uint32_t)cases * 4
							     : 8 + (uint32_t)cases * 8);
	} else if (op == JAVA_WIDE) {
		if (bci + 1 < size)
			length = code[bci + 1] == JAVA_IINC ? 6 : 4;
	} else if (op < JAVA_OPS) {
		length = (uint32_t)(lengths[op] - '0');
	}
	return length <= size - bci ? length : 0;
}

uint32_t java_op_targets(const uint8_t *code, uint32_t size, uint32_t bci)
{
	uint8_t op = code[bci];

	if (is_switch(op))
		return 1 + (uint32_t)java_switch_cases(code, size, bci);
	return (op >= JAVA_IFEQ && op <= JAVA_JSR) || (op >= JAVA_IFNULL && op <= JAVA_JSR_W);
}

int64_t java_op_target(const uint8_t *code, uint32_t bci, uint32_t which)
{
	uint8_t op = code[bci];
	const uint8_t *at = code + bci + 1;

	if (is_switch(op)) {
		at = code + bci + java_switch_pad(bci);
		if (which > 0)
			at += 12 + (size_t)(which - 1) * (op == JAVA_TABLESWITCH ? 4 : 8);
	}
	return (int64_t)bci + (is_switch(op) || op == JAVA_GOTO_W || op == JAVA_JSR_W
				   ? java_s32(at)
				   : java_s16(at));
}
