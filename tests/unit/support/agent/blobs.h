/* Adds blobs to the code map that no code heap has. */
#ifndef TESTS_UNIT_AGENT_BLOBS_H
#define TESTS_UNIT_AGENT_BLOBS_H

#include <stdint.h>

#include "attach/agent/code/codemap.h"

static inline void add_stub(uint64_t start, uint32_t size, enum code_type type)
{
	const struct code_blob blob = {.start = start, .size = size, .type = type};

	codemap_add(&blob, 0, NULL, 0);
}

static inline void add_code(uint64_t start, uint32_t size, uint64_t method, bool dense,
			    const uint32_t *debug_pcs, uint32_t count)
{
	const struct code_blob blob = {
	    .start = start, .size = size, .type = CODE_COMPILED, .method = method, .dense = dense};

	codemap_add(&blob, 0, debug_pcs, count);
}

static inline void add_compiled(uint64_t start, uint32_t size, uint64_t method,
				const uint32_t *debug_pcs, uint32_t count)
{
	add_code(start, size, method, false, debug_pcs, count);
}

static inline void add_dense(uint64_t start, uint32_t size, uint64_t method,
			     const uint32_t *debug_pcs, uint32_t count)
{
	add_code(start, size, method, true, debug_pcs, count);
}

static inline void remove_code(uint64_t start)
{
	codemap_remove(start, start + 1);
}

#endif
