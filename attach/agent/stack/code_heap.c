#include "attach/agent/stack/code_heap.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"

/* A segment that belongs to no block (CodeHeap::free_sentinel). */
#define SEGMENT_FREE 0xffu

/* A step leads back up to 253 segments, of 64 or 128 bytes; after blocks were split and joined the
 * steps may be shorter. */
#define STEPS_MAX 256u

static uint64_t word_at(uint64_t address)
{
	uint64_t value;

	memcpy(&value, (const void *)(uintptr_t)address, sizeof(value));
	return value;
}

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

	if (!heap)
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

	return layout->code_begin_is_offset ? blob + (uint32_t)int_at(field) : word_at(field);
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

/* ---------------------------------------------------------------- nmethods */

/* Those that may run: installed, and not found dead yet. */
#define STATE_ALIVE_FIRST 0
#define STATE_ALIVE_LAST  2

#define NAME         "nmethod"
#define NAME_NATIVE  "native nmethod"
#define NAME_BYTES   sizeof(NAME_NATIVE)
#define NAMES_OTHERS 64u

/* The addresses that names were found at: those of nmethods are the same for all of them. */
struct names {
	uint64_t compiled;
	uint64_t native;
	uint64_t others[NAMES_OTHERS];
};

static bool is_nmethods_name(struct names *names, uint64_t at)
{
	uint64_t *other = &names->others[at / sizeof(at) % NAMES_OTHERS];
	char name[NAME_BYTES] = "";

	if (!at || at == *other)
		return false;
	if (at == names->compiled || at == names->native)
		return true;
	(void)safe_read_some(at, name, sizeof(name)); /* What cannot be read is no name. */
	if (memcmp(name, NAME, sizeof(NAME)) == 0)
		names->compiled = at;
	else if (memcmp(name, NAME_NATIVE, sizeof(NAME_NATIVE)) == 0)
		names->native = at;
	else
		*other = at;
	return at != *other;
}

enum code_kind code_heap_kind(const struct code_layout *layout, uint64_t blob)
{
	uint64_t name;

	if (!layout->name || !layout->name_compiled || !layout->name_native)
		return CODE_KIND_UNKNOWN;
	name = word_at(blob + layout->name);
	if (name == layout->name_compiled)
		return CODE_KIND_COMPILED;
	return name == layout->name_native ? CODE_KIND_NATIVE : CODE_KIND_OTHER;
}

/* Blocks begin at the zeros of the segment map. */
void code_heap_learn_names(struct code_layout *layout)
{
	struct names names = {0};

	for (unsigned i = 0; i < layout->heap_count && layout->name; i++) {
		const struct code_heap *heap = &layout->heaps[i];
		const uint8_t *first = (const uint8_t *)(uintptr_t)heap->segments;
		uint64_t bytes =
		    __atomic_load_n(heap->segments_end, __ATOMIC_RELAXED) - heap->segments;
		const uint8_t *at = memchr(first, 0, bytes);

		while (at && !(names.compiled && names.native)) {
			uint64_t block =
			    heap->low + ((uint64_t)(at - first) << heap->segment_shift);
			uint64_t name = block + layout->block_bytes + layout->name;

			if (name + sizeof(name) <=
				__atomic_load_n(heap->committed_end, __ATOMIC_RELAXED) &&
			    is_used(layout, block))
				(void)is_nmethods_name(&names, word_at(name));
			at = memchr(at + 1, 0, bytes - (uint64_t)(at + 1 - first));
		}
	}
	layout->name_compiled = names.compiled;
	layout->name_native = names.native;
}

static bool read_nmethod(const struct code_layout *layout, struct names *names, uint64_t blob,
			 uint64_t end, struct code_heap_nmethod *out)
{
	uint64_t name = word_at(blob + layout->name);
	int8_t state;

	if (!is_nmethods_name(names, name))
		return false;
	memcpy(&state, (const void *)(uintptr_t)(blob + layout->state), sizeof(state));
	*out = (struct code_heap_nmethod){.blob = blob,
					  .end = end,
					  .method = word_at(blob + layout->method),
					  .id = (uint32_t)int_at(blob + layout->compile_id),
					  .native = name == names->native};
	return state >= STATE_ALIVE_FIRST && state <= STATE_ALIVE_LAST && out->method;
}

/* Blocks begin at the zeros of the segment map. Their headers tell where the next one is, but not
 * while a block is split. */
static bool heap_nmethods(const struct code_layout *layout, const struct code_heap *heap,
			  struct names *names, code_heap_visit *visit, void *arg)
{
	const uint8_t *first = (const uint8_t *)(uintptr_t)heap->segments;
	uint64_t bytes = __atomic_load_n(heap->segments_end, __ATOMIC_RELAXED) - heap->segments;
	uint64_t committed = __atomic_load_n(heap->committed_end, __ATOMIC_RELAXED);
	const uint8_t *at = memchr(first, 0, bytes);

	while (at) {
		const uint8_t *next = memchr(at + 1, 0, bytes - (uint64_t)(at + 1 - first));
		uint64_t block = heap->low + ((uint64_t)(at - first) << heap->segment_shift);
		uint64_t end = next ? heap->low + ((uint64_t)(next - first) << heap->segment_shift)
				    : committed;
		struct code_heap_nmethod found;

		if (end > committed)
			end = committed;
		if (block + layout->block_bytes + layout->nmethod_bytes <= end &&
		    is_used(layout, block) &&
		    read_nmethod(layout, names, block + layout->block_bytes, end, &found) &&
		    !visit(arg, &found))
			return false;
		at = next;
	}
	return true;
}

bool code_heap_nmethods(const struct code_layout *layout, code_heap_visit *visit, void *arg)
{
	struct names names = {0};

	if (!layout->nmethods_known)
		return false;
	for (unsigned i = 0; i < layout->heap_count; i++)
		if (!heap_nmethods(layout, &layout->heaps[i], &names, visit, arg))
			return false;
	return true;
}

bool code_heap_is_still(const struct code_layout *layout, const struct code_heap_nmethod *nmethod)
{
	struct code_heap_blob now;

	return code_heap_find(layout, nmethod->blob, &now) && now.start == nmethod->blob &&
	       now.id == nmethod->id && word_at(now.start + layout->method) == nmethod->method;
}

uint32_t code_heap_size(const struct code_layout *layout, const struct code_heap_nmethod *nmethod)
{
	uint64_t begin = code_heap_begin(layout, nmethod->blob);
	uint64_t end = word_at(nmethod->blob + layout->code_end);

	return begin > nmethod->blob && begin < end && end <= nmethod->end ? (uint32_t)(end - begin)
									   : 0;
}
