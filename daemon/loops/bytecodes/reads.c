#include "daemon/loops/bytecodes/reads.h"

#include "common/code/java_op.h"
#include "daemon/loops/bytecodes/bytecode.h"

#define MONITORENTER 0xc2

static bool loads(uint8_t op)
{
	return op == JAVA_GETSTATIC || op == JAVA_GETFIELD ||
	       (op >= JAVA_IALOAD && op <= JAVA_SALOAD);
}

static bool invokes(uint8_t op)
{
	return op >= JAVA_INVOKEVIRTUAL && op <= JAVA_INVOKEDYNAMIC;
}

bool bytecode_reads(const uint8_t *code, size_t size, bytecode_invoked_reads *invoked,
		    void *context)
{
	if (size == 0 || size > BYTECODE_BYTES_MAX)
		return true;
	for (uint32_t bci = 0; bci < size;) {
		uint32_t length = java_op_length(code, (uint32_t)size, bci);

		if (length == 0 || loads(code[bci]) || code[bci] == MONITORENTER ||
		    (invokes(code[bci]) && invoked(context, bci)))
			return true;
		bci += length;
	}
	return false;
}
