#include "attach/agent/method/bytecodes.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "common/code/java_op.h"

/* A '?' stands for a type's letter (Bytecodes::initialize). */
static const struct {
	const char *name;
	uint8_t op;
} own_ops[] = {
    {"fast_?getfield", JAVA_GETFIELD},
    {"fast_?putfield", JAVA_PUTFIELD},
    {"nofast_getfield", JAVA_GETFIELD},
    {"nofast_putfield", JAVA_PUTFIELD},
    {"fast_?access_0", JAVA_ALOAD_0},
    {"fast_aload_0", JAVA_ALOAD_0},
    {"nofast_aload_0", JAVA_ALOAD_0},
    {"fast_iload", JAVA_ILOAD},
    {"fast_iload2", JAVA_ILOAD},
    {"fast_icaload", JAVA_ILOAD},
    {"nofast_iload", JAVA_ILOAD},
    {"fast_invokevfinal", JAVA_INVOKEVIRTUAL},
    {"invokehandle", JAVA_INVOKEVIRTUAL},
    {"fast_linearswitch", JAVA_LOOKUPSWITCH},
    {"fast_binaryswitch", JAVA_LOOKUPSWITCH},
    {"fast_aldc", JAVA_LDC},
    {"fast_aldc_w", JAVA_LDC_W},
    {"return_register_finalizer", JAVA_RETURN},
};

static bool matches(const char *pattern, const char *name)
{
	for (; *pattern && *name; pattern++, name++)
		if (*pattern != '?' && *pattern != *name)
			return false;
	return *pattern == *name;
}

uint8_t bytecodes_op_of(const char *name)
{
	for (unsigned i = 0; i < sizeof(own_ops) / sizeof(own_ops[0]); i++)
		if (matches(own_ops[i].name, name))
			return own_ops[i].op;
	return METHOD_OP_UNKNOWN;
}

/* Bytes of the operand that is the JVM's own. */
static unsigned own_operand(uint8_t op)
{
	if (op == JAVA_LDC)
		return 1;
	if (op == JAVA_INVOKEDYNAMIC)
		return 4;
	return op == JAVA_LDC_W || (op >= JAVA_GETSTATIC && op <= JAVA_INVOKEINTERFACE) ? 2 : 0;
}

bool bytecodes_restore_each(const uint8_t java_op[256], uint8_t *code, uint32_t size,
			    bytecodes_operand *visit, void *arg)
{
	for (uint32_t bci = 0, length; bci < size; bci += length) {
		uint8_t op = java_op[code[bci]];
		uint16_t operand;

		if (op == METHOD_OP_UNKNOWN)
			return false;
		code[bci] = op;
		length = java_op_length(code, size, bci);
		if (length == 0)
			return false;
		if (op >= JAVA_GETSTATIC && op <= JAVA_INVOKEINTERFACE) {
			memcpy(&operand, code + bci + 1, sizeof(operand));
			visit(arg, bci, op, operand);
		}
		memset(code + bci + 1, 0, own_operand(op));
	}
	return true;
}

static void ignore(void *arg, uint32_t bci, uint8_t op, uint16_t operand)
{
	(void)arg, (void)bci, (void)op, (void)operand;
}

bool bytecodes_restore(const uint8_t java_op[256], uint8_t *code, uint32_t size)
{
	return bytecodes_restore_each(java_op, code, size, ignore, NULL);
}

bool bytecodes_read(const struct method_layout *layout, const struct method_copy *copy, uint8_t *to)
{
	const struct method_look *look = &copy->look;

	return layout->code_known && look->code_size > 0 &&
	       safe_read(look->const_method + layout->const_bytes, to, look->code_size) &&
	       method_is_still(layout, copy) &&
	       bytecodes_restore(layout->java_op, to, look->code_size);
}
