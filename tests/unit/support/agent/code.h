/* Places bytes where the code map knows them, for tests of what reads code. */
#ifndef TESTS_UNIT_AGENT_CODE_H
#define TESTS_UNIT_AGENT_CODE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/loops.h"
#include "attach/agent/code/safe_read.h"
#include "tests/unit/support/agent/blobs.h"

#define CODE_BYTES 65536u

static uint8_t *code_area;

/* A cmocka setup: an empty code cache in readable memory. */
static int code_setup(void **state)
{
	(void)state;
	if (!code_area)
		code_area = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code_area == MAP_FAILED || safe_read_init() < 0 || loops_init() < 0)
		return -1;
	memset(code_area, 0xcc, CODE_BYTES);
	return codemap_init((uintptr_t)code_area, (uintptr_t)code_area + CODE_BYTES, NULL);
}

/* One compiled method of these bytes, at an offset of the area that is a multiple of 64. */
static inline uint64_t code_place(unsigned offset, const char *bytes, size_t size)
{
	uint64_t start = (uintptr_t)code_area + offset;

	memcpy(code_area + offset, bytes, size);
	add_compiled(start, (uint32_t)size, offset + 1, NULL, 0);
	return start;
}
#define CODE(offset, bytes) code_place(offset, bytes, sizeof(bytes) - 1)

#endif
