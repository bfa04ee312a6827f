#include "attach/agent/stack/executed.h"

#include "attach/agent/code/safe_read.h"
#include "common/code/opcode.h"

#define WORD sizeof(uint64_t)

struct executed executed_at(const struct code_layout *code, uint64_t ip, uint64_t rip, uint64_t sp)
{
	struct executed at = {.ip = ip, .sp = sp};
	uint64_t end = code_heap_end(code, ip);
	struct code_heap_blob own, now;
	struct opcode o;
	uint64_t top;

	if (ip >= end && !code_heap_covers(code, rip))
		at.ip = rip;
	if (ip == rip || ip >= end || !opcode_read_at(ip, end, &o))
		return at;
	switch (opcode_flow(&o)) {
	case OPCODE_CALL:
	case OPCODE_INDIRECT_CALL:
		if (safe_read(sp, &top, sizeof(top)) && top == ip + o.length)
			at.sp += WORD;
		else
			at.ip = rip;
		break;
	case OPCODE_RETURN:
		if (safe_read(sp - WORD, &top, sizeof(top)) && top == rip)
			at.sp -= WORD;
		else
			at.ip = rip;
		break;
	default:
		if (code_heap_find(code, ip, &own) && code_heap_find(code, rip, &now) &&
		    own.start == now.start)
			at.ip = rip;
		break;
	}
	return at;
}
