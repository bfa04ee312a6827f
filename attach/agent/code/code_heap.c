#include "attach/agent/code/code_heap.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"

#define WORD sizeof(uint64_t)

/* A segment that belongs to no block (CodeHeap::free_sentinel). */
#define SEGMENT_FREE 0xffu

/* A step leads back up to 253 segments, of 64 or 128 bytes; after blocks were split and joined the
 * steps may be shorter. */
#define STEPS_MAX 256u

static int32_t int_at(uint64_t address)
{
	int32_t value;

	memcpy(&value, (const void *)(uintptr_t)address, sizeof(value));
	return value;
}

static bool is_used(const struct code_layout *layout, uint64_t block)
{
	return __atomic_load_n((const uint8_t *)(uintptr_t)(block + layout->block_used),
			       __ATOMIC_RELAXED);
}

static const struct code_heap *heap_of(const struct code_layout *layout, uint64_t pc)
{
	for (unsigned i = 0; i < layout->heap_count; i++)
		if (pc >= layout->heaps[i].low && pc < layout->heaps[i].high)
			return &layout->heaps[i];
	return NULL;
}

bool code_heap_covers(const struct code_layout *layout, uint64_t pc)
{
	return heap_of(layout, pc) != NULL;
}

uint64_t code_heap_end(const struct code_layout *layout, uint64_t pc)
{
	const struct code_heap *heap = heap_of(layout, pc);

	return heap ? __atomic_load_n(heap->committed_end, __ATOMIC_RELAXED) : 0;
}

/* The number of the segment that the block around a segment begins with. */
static bool first_segment(const struct code_heap *heap, uint64_t *segment)
{
	uint64_t end = __atomic_load_n(heap->segments_end, __ATOMIC_RELAXED);
	uint64_t at = *segment;

	if (heap->segments + at >= end)
		return false;
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		uint8_t back = __atomic_load_n((const uint8_t *)(uintptr_t)(heap->segments + at),
					       __ATOMIC_RELAXED);

		if (back == 0) {
			*segment = at;
			return true;
		}
		if (back == SEGMENT_FREE || back > at)
			return false;
		at -= back;
	}
	return false;
}

bool code_heap_find(const struct code_layout *layout, uint64_t pc, struct code_heap_blob *out)
{
	const struct code_heap *heap = heap_of(layout, pc);
	uint64_t segment, block;

	/* The map of segments is committed by pages, and is 0 where no code is yet: as if a block
	 * began there, in memory that cannot be read. */
	if (!heap || pc >= __atomic_load_n(heap->committed_end, __ATOMIC_RELAXED))
		return false;
	segment = (pc - heap->low) >> heap->segment_shift;
	if (!first_segment(heap, &segment))
		return false;
	block = heap->low + (segment << heap->segment_shift);
	if (!is_used(layout, block))
		return false;
	out->start = block + layout->block_bytes;
	out->id = (uint32_t)int_at(out->start + layout->compile_id);
	return true;
}

uint64_t code_heap_begin(const struct code_layout *layout, uint64_t blob)
{
	uint64_t field = blob + layout->code_begin;

	return layout->code_begin_is_offset ? blob + (uint32_t)int_at(field) : memory_word(field);
}

int32_t code_heap_frame_words(const struct code_layout *layout, uint64_t blob)
{
	return int_at(blob + layout->frame_size);
}

int32_t code_heap_frame_complete(const struct code_layout *layout, uint64_t blob)
{
	int16_t value;

	if (!layout->frame_complete_is_short)
		return int_at(blob + layout->frame_complete);
	memcpy(&value, (const void *)(uintptr_t)(blob + layout->frame_complete), sizeof(value));
	return value;
}

#define NAME         "nmethod"
#define NAME_NATIVE  "native nmethod"
#define NAME_ADAPTER "I2C/C2I adapters"

/* By release. */
#define NAME_THAW       "StubRoutines (continuation stubs)"
#define NAME_THAW_SHORT "StubRoutines (continuationstubs)"

/* Reads the name itself. */
static enum code_kind kind_named(uint64_t at)
{
	char name[sizeof(NAME_NATIVE)] = "";

	if (safe_read_some(at, name, sizeof(name)) == 0)
		return CODE_KIND_UNKNOWN;
	if (memcmp(name, NAME, sizeof(NAME)) == 0)
		return CODE_KIND_COMPILED;
	return memcmp(name, NAME_NATIVE, sizeof(NAME_NATIVE)) == 0 ? CODE_KIND_NATIVE
								   : CODE_KIND_OTHER;
}

enum code_kind code_heap_kind(const struct code_layout *layout, uint64_t blob)
{
	uint64_t name;

	if (!layout->name)
		return CODE_KIND_UNKNOWN;
	name = memory_word(blob + layout->name);
	if (name == layout->name_compiled)
		return CODE_KIND_COMPILED;
	if (name == layout->name_native)
		return CODE_KIND_NATIVE;
	/* A JVM that only interprets may have had none of them when the window began. */
	return layout->name_compiled && layout->name_native ? CODE_KIND_OTHER : kind_named(name);
}

bool code_heap_original_pc(const struct code_layout *layout, uint64_t blob, uint64_t pc,
			   uint32_t words, uint32_t *place)
{
	int32_t offset = int_at(blob + layout->original_pc);
	bool is_handler = false;

	for (unsigned i = 0; i < layout->deopt_count; i++) {
		uint64_t field = blob + layout->deopt[i];

		is_handler |= pc == (layout->deopt_is_offset ? blob + (uint32_t)int_at(field)
							     : memory_word(field));
	}
	/* Above it there are a return address and a saved frame pointer, at least. */
	if (!is_handler || offset < 0 || offset % (int)WORD != 0 ||
	    (uint32_t)offset + 2 * WORD >= words * WORD)
		return false;
	*place = (uint32_t)offset;
	return true;
}

bool code_heap_is_thaw(const struct code_layout *layout, uint64_t blob)
{
	return layout->name_thaw && memory_word(blob + layout->name) == layout->name_thaw;
}

bool code_heap_is_adapter(const struct code_layout *layout, uint64_t blob)
{
	return layout->name_adapter && memory_word(blob + layout->name) == layout->name_adapter;
}

uint64_t code_heap_tie(const struct code_layout *layout, uint64_t blob, bool is_nmethod)
{
	uint64_t name = memory_word(blob + layout->name);

	return is_nmethod ? name ^ (uint64_t)int_at(blob + layout->compile_id) << 32 : name;
}

bool code_heap_read(const struct code_layout *layout, uint64_t blob, struct code_heap_content *out)
{
	const struct code_heap *heap = heap_of(layout, blob);
	uint64_t committed, end;

	if (!heap)
		return false;
	committed = __atomic_load_n(heap->committed_end, __ATOMIC_RELAXED);
	if (blob + layout->blob_bytes > committed)
		return false;
	*out = (struct code_heap_content){.blob = blob,
					  .name = memory_word(blob + layout->name),
					  .begin = code_heap_begin(layout, blob)};
	end = blob + (uint32_t)int_at(blob + layout->code_end);
	out->end = blob + (uint32_t)int_at(blob + layout->size);
	if (out->begin <= blob || out->begin >= end || end > out->end || out->end > committed)
		return false;
	out->size = (uint32_t)(end - out->begin);
	return true;
}

/* ---------------------------------------------------------------- all blobs */

/* Blocks begin at the zeros of the segment map. Their headers tell where the next one is, but not
 * while a block is split. */
static void each_of(const struct code_layout *layout, const struct code_heap *heap,
		    code_heap_visit *visit, void *arg)
{
	const uint8_t *first = (const uint8_t *)(uintptr_t)heap->segments;
	uint64_t bytes = __atomic_load_n(heap->segments_end, __ATOMIC_RELAXED) - heap->segments;
	uint64_t committed = __atomic_load_n(heap->committed_end, __ATOMIC_RELAXED);
	const uint8_t *at = memchr(first, 0, bytes);

	while (at) {
		uint64_t block = heap->low + ((uint64_t)(at - first) << heap->segment_shift);

		if (block >= committed)
			return;
		if (is_used(layout, block))
			visit(arg, block + layout->block_bytes);
		at = memchr(at + 1, 0, bytes - (uint64_t)(at + 1 - first));
	}
}

void code_heap_each(const struct code_layout *layout, code_heap_visit *visit, void *arg)
{
	for (unsigned i = 0; i < layout->heap_count; i++)
		each_of(layout, &layout->heaps[i], visit, arg);
}

/* ---------------------------------------------------------------- what nmethods are named */

#define NAMES_OTHERS 64u

struct heap_names {
	struct code_layout *layout;
	uint64_t others[NAMES_OTHERS]; /* addresses: those of nmethods are the same for all */
};

static void learn_name(void *arg, uint64_t blob)
{
	struct heap_names *names = arg;
	struct code_layout *l = names->layout;
	uint64_t at = memory_word(blob + l->name),
		 *other = &names->others[at / WORD % NAMES_OTHERS];
	char name[sizeof(NAME_THAW) + 1] = "";

	if (at == *other || at == l->name_compiled || at == l->name_native ||
	    at == l->name_adapter || at == l->name_thaw)
		return;
	(void)safe_read_some(at, name, sizeof(name) - 1); /* What cannot be read is no name. */
	if (strcmp(name, NAME) == 0)
		l->name_compiled = at;
	else if (strcmp(name, NAME_NATIVE) == 0)
		l->name_native = at;
	else if (strcmp(name, NAME_ADAPTER) == 0)
		l->name_adapter = at;
	else if (strcmp(name, NAME_THAW) == 0 || strcmp(name, NAME_THAW_SHORT) == 0)
		l->name_thaw = at;
	else
		*other = at;
}

void code_heap_learn_names(struct code_layout *layout)
{
	struct heap_names names = {.layout = layout};

	layout->name_compiled = layout->name_native = 0;
	layout->name_adapter = layout->name_thaw = 0;
	code_heap_each(layout, learn_name, &names);
}
