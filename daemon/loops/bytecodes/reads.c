#include "daemon/loops/bytecodes/reads.h"

#include "common/code/java_op.h"
#include "daemon/loops/bytecodes/bytecode.h"

static bool loads(uint8_t op)
{
	return op == JAVA_GETSTATIC || op == JAVA_GETFIELD || java_op_loads_element(op);
}

bool bytecode_reads(const uint8_t *code, size_t size, bytecode_invoked_reads *invoked,
		    void *context)
{
	if (size == 0 || size > BYTECODE_BYTES_MAX)
		return true;
	for (uint32_t bci = 0; bci < size;) {
		uint32_t length = java_op_length(code, (uint32_t)size, bci);

		if (length == 0 || loads(code[bci]) || code[bci] == JAVA_MONITORENTER ||
		    (java_op_calls(code[bci]) && invoked(context, bci)))
			return true;
		bci += length;
	}
	return false;
}
