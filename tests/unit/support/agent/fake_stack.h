/* Stacks that are made up, in a code heap that is, too: compiled methods with debug information,
 * stubs and the interpreter, called from an entry frame. Included by one file of a program. */
#ifndef TESTS_UNIT_AGENT_FAKE_STACK_H
#define TESTS_UNIT_AGENT_FAKE_STACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/frame_walk.h"
#include "tests/unit/support/agent/code.h"
#include "tests/unit/support/agent/code_segments.h"
#include "tests/unit/support/agent/fake_methods.h"
#include "tests/unit/support/agent/fake_scopes.h"

#define SEGMENTS      (CODE_BYTES >> SEGMENT_SHIFT)
#define BLOB_SEGMENTS 4u
#define STACK_WORDS   64u
#define CALL_STUB     UINT64_C(0x777000)
#define INTERPRETER   UINT64_C(0x888000)
#define ANCHOR_BYTES  16u

/* Of the interpreter's parts, from its begin. */
#define BYTECODE  0x100u
#define INVOKE    0x200u
#define ENTRY     0x300u
#define ELSEWHERE 0x400u

/* An nmethod's header, which its instructions follow. */
struct fake_blob {
	int32_t frame_size, complete, code_begin, id;
	uint64_t name, method;
	int32_t pcs, pcs_end, data, metadata;
	int32_t deopt, original_pc;
	uint64_t immutable, mutable;
};

/* Each fourth byte of an nmethod from 4 on, to 64, is a place with debug information: as bytecode
 * index its calls have the offset. */
#define FAKE_PLACES 16u

struct fake_debug {
	uint64_t methods[2];               /* the nmethod's own, and one that is inlined */
	int32_t descs[FAKE_PLACES + 2][4]; /* the first and the last stand for no code */
	uint8_t bytes[256];
};

/* Methods that are there; what is compiled is by segments. */
static struct fake_world fake_methods[4];
static struct fake_debug fake_debugs[3];
static uint64_t fake_stack[STACK_WORDS];
static struct frame_layout fake_layout;
static struct walk_tables fake_tables;

/* Of blobs the names are at these addresses. */
static const char fake_compiled_name[] = "nmethod", fake_native_name[] = "native nmethod",
		  fake_stub_name[] = "x";

static struct fake_blob *fake_blob(unsigned segment)
{
	return (struct fake_blob *)(void *)(code_area + (segment << SEGMENT_SHIFT) + BLOCK_BYTES);
}

/* Debug information whose places have one call each, or below a call that is inlined there. */
static void fake_debug_init(struct fake_debug *d, const struct fake_world *own,
			    const struct fake_world *inlined)
{
	uint8_t *at = d->bytes + 1; /* offset 0 is none */

	memset(d, 0, sizeof(*d));
	d->methods[0] = fake_address(own);
	d->methods[1] = inlined ? fake_address(inlined) : 0;
	d->descs[0][0] = -1;
	d->descs[FAKE_PLACES + 1][0] = INT32_MAX;
	for (int32_t i = 1; i <= (int32_t)FAKE_PLACES; i++) {
		uint32_t scope = (uint32_t)(at - d->bytes);

		at = fake_scope(at, 0, 1, 4 * i, 1);
		if (inlined) {
			uint32_t outer = scope;

			scope = (uint32_t)(at - d->bytes);
			at = fake_scope(at, outer, 2, 4 * i + 1, 1);
		}
		d->descs[i][0] = 4 * i;
		d->descs[i][1] = (int32_t)scope;
	}
}

/* An nmethod of four segments, a multiple of which its first one is; returns its first instruction.
 * words: of its frame, which stands from 4 bytes on. */
static uint64_t fake_inlining(unsigned segment, int32_t words, int32_t id,
			      const struct fake_world *own, const struct fake_world *inlined)
{
	struct fake_blob *blob = fake_blob(segment);
	struct fake_debug *debug = &fake_debugs[segment / BLOB_SEGMENTS];
	uint64_t begin = (uintptr_t)(blob + 1);
	uint32_t pcs[FAKE_PLACES];

	for (uint32_t i = 0; i < FAKE_PLACES; i++)
		pcs[i] = 4 * (i + 1);
	code_area[(segment << SEGMENT_SHIFT) + BLOCK_USED] = 1;
	code_segments_take(segment, BLOB_SEGMENTS);
	fake_debug_init(debug, own, inlined);
	*blob = (struct fake_blob){.frame_size = words,
				   .complete = 4,
				   .code_begin = sizeof(*blob),
				   .id = id,
				   .name = (uintptr_t)fake_compiled_name,
				   .method = fake_address(own),
				   .pcs = offsetof(struct fake_debug, descs),
				   .pcs_end = offsetof(struct fake_debug, bytes),
				   .data = offsetof(struct fake_debug, bytes),
				   .immutable = (uintptr_t)debug,
				   .mutable = (uintptr_t)debug};
	add_compiled(begin, 256, fake_address(own), pcs, FAKE_PLACES);
	return begin;
}

static inline uint64_t fake_compiled(unsigned segment, int32_t words, int32_t id,
				     const struct fake_world *own)
{
	return fake_inlining(segment, words, id, own, NULL);
}

static inline void fake_name(unsigned segment, const char *name)
{
	fake_blob(segment)->name = (uintptr_t)name;
}

static inline bool fake_add_parts(struct interpreter *in)
{
	return interpreter_add(in, "return entry points", BYTECODE) &&
	       interpreter_add(in, "iadd", INVOKE - BYTECODE) &&
	       interpreter_add(in, "invokestatic", ENTRY - INVOKE) &&
	       interpreter_add(in, "method entry point (kind = zerolocals)", ELSEWHERE - ENTRY) &&
	       interpreter_add(in, "slow signature handler", 0x100);
}

/* A cmocka setup. */
static int fake_stack_setup(void **state)
{
	static const char *const names[] = {"a", "b", "inlined", "interpreted"};

	if (code_setup(state) < 0 || method_table_init() < 0)
		return -1;
	memset(fake_stack, 0, sizeof(fake_stack));
	fake_layout = (struct frame_layout){
	    .code = {.heap_count = 1,
		     .heaps = {code_segments_init(code_area, CODE_BYTES)},
		     .block_bytes = BLOCK_BYTES,
		     .block_used = BLOCK_USED,
		     .frame_size = offsetof(struct fake_blob, frame_size),
		     .frame_complete = offsetof(struct fake_blob, complete),
		     .code_begin = offsetof(struct fake_blob, code_begin),
		     .compile_id = offsetof(struct fake_blob, id),
		     .code_begin_is_offset = true,
		     .name = offsetof(struct fake_blob, name),
		     .name_compiled = (uintptr_t)fake_compiled_name,
		     .name_native = (uintptr_t)fake_native_name,
		     .method = offsetof(struct fake_blob, method)},
	    .scopes = {.known = true,
		       .apart = true,
		       .byte_base = 1,
		       .pcs = offsetof(struct fake_blob, pcs),
		       .pcs_end = offsetof(struct fake_blob, pcs_end),
		       .data = offsetof(struct fake_blob, data),
		       .metadata = offsetof(struct fake_blob, metadata),
		       .immutable_data = offsetof(struct fake_blob, immutable),
		       .mutable_data = offsetof(struct fake_blob, mutable)},
	    .method = fake_method_layout,
	    .interpreter = {.low = INTERPRETER, .high = INTERPRETER + 0x1000},
	    .call_stub_return = CALL_STUB,
	    .wrapper_anchor = ANCHOR_BYTES,
	    .anchor = {.sp = 0, .pc = 8, .fp = 16}};
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fake_world_init(&fake_methods[i], "p/A", names[i]);
	fake_tables = (struct walk_tables){.frames = calloc(1, sizeof(struct frame_table)),
					   .methods = method_table()};
	return fake_tables.frames && fake_add_parts(&fake_layout.interpreter) ? 0 : -1;
}

/* A cmocka teardown. */
static int fake_stack_teardown(void **state)
{
	(void)state;
	free(fake_tables.frames);
	method_table_release();
	return 0;
}

static inline uint64_t fake_at(unsigned word)
{
	return (uintptr_t)&fake_stack[word];
}

/* A compiled frame of so many words that begins at fake_stack[from]. */
static inline void fake_frame(unsigned from, unsigned words, uint64_t return_pc, uint64_t saved_fp)
{
	fake_stack[from + words - 1] = return_pc;
	fake_stack[from + words - 2] = saved_fp;
}

/* The frame of an entry from native code at fp fake_stack[fp], and its anchor at
 * fake_stack[anchor]. */
static inline void fake_entry(unsigned fp, unsigned anchor, uint64_t sp, uint64_t pc,
			      uint64_t last_fp)
{
	fake_stack[fp - 6] = fake_at(anchor) - ANCHOR_BYTES;
	fake_stack[anchor] = sp;
	fake_stack[anchor + 1] = pc;
	fake_stack[anchor + 2] = last_fp;
}

/* An interpreted frame at fp fake_stack[fp]. */
static inline void fake_interpreted(unsigned fp, uint64_t method, uint64_t bcp, uint64_t last_sp,
				    uint64_t return_pc, uint64_t saved_fp)
{
	fake_stack[fp - 8] = bcp;
	fake_stack[fp - 3] = method;
	fake_stack[fp - 2] = last_sp;
	fake_stack[fp - 1] = fake_at(fp + 2);
	fake_stack[fp] = saved_fp;
	fake_stack[fp + 1] = return_pc;
}

#endif
