#include "attach/agent/code/boundaries.h"

#include <stdbool.h>

#include "attach/agent/code/codemap.h"
#include "attach/agent/code/loops.h"
#include "common/code/insn.h"

/* The instruction behind the one at offset. What cannot be decoded (the JVM overwrites the first
 * bytes of a method it has given up) is passed over up to an instruction that the JVM has named. */
static uint64_t next_offset(const struct code_blob *blob, uint64_t offset)
{
	unsigned length = insn_length((const uint8_t *)(uintptr_t)(blob->start + offset),
				      (size_t)(blob->size - offset));
	uint32_t i;
	uint64_t named;

	if (length)
		return offset + length;
	i = codemap_debug_pc_from(blob, offset + 1);
	named = i < blob->debug_pc_count ? blob->debug_pcs[i] : blob->size;
	/* A handler that outlives its window may find the list cleared under its eyes. */
	return named > offset ? named : blob->size;
}

/* Decodes [from, offset): the latest max offsets, nearest first; 0 when no instruction ends at
 * offset. */
static size_t decoded(const struct code_blob *blob, uint64_t from, uint64_t offset,
		      uint64_t *offsets, size_t max)
{
	uint64_t ring[BOUNDARIES_BEFORE_MAX];
	uint64_t count = 0, o = from;
	size_t kept;

	for (; o < offset; o = next_offset(blob, o))
		ring[count++ % BOUNDARIES_BEFORE_MAX] = o;
	if (o != offset)
		return 0;
	kept = count < max ? (size_t)count : max;
	for (size_t i = 0; i < kept; i++)
		offsets[i] = ring[(count - 1 - i) % BOUNDARIES_BEFORE_MAX];
	return kept;
}

/* By blocks, as far as they can be decoded. */
static size_t by_blocks(const struct code_blob *blob, uint64_t offset, uint64_t *offsets,
			size_t max)
{
	const struct loop_nest *nest = loops_of(blob);
	size_t count = 0;

	while (nest && offset > 0 && count < max) {
		uint64_t from = loop_block(nest, blob->start + offset - 1) - blob->start;
		size_t more = 0;

		if (offset - from <= BOUNDARIES_BLOCK_BYTES)
			more = decoded(blob, from, offset, offsets + count, max - count);
		if (more == 0)
			break;
		count += more;
		offset = from;
	}
	return count;
}

/* Where decoding of what lies before offset may begin otherwise: the method's start, or an
 * instruction that the JVM has named; the furthest in reach. False when there is none. */
static bool anchor(const struct code_blob *blob, uint64_t offset, uint64_t *from)
{
	uint32_t i;

	*from = 0;
	if (offset <= BOUNDARIES_STEP_BYTES)
		return true;
	i = codemap_debug_pc_from(blob, offset - BOUNDARIES_STEP_BYTES);
	if (i == blob->debug_pc_count)
		return false;
	*from = blob->debug_pcs[i];
	return *from < offset && offset - *from <= BOUNDARIES_STEP_BYTES;
}

size_t boundaries_before(const struct code_blob *blob, uint64_t ip, uint64_t *starts, size_t max)
{
	uint64_t offset = ip - blob->start, from;
	size_t count;

	if (ip < blob->start || offset > blob->size || max > BOUNDARIES_BEFORE_MAX)
		return 0;
	count = by_blocks(blob, offset, starts, max);
	if (count == 0 && anchor(blob, offset, &from))
		count = decoded(blob, from, offset, starts, max);
	for (size_t i = 0; i < count; i++)
		starts[i] += blob->start;
	return count;
}

unsigned boundaries_length(const struct code_blob *blob, uint64_t after)
{
	uint64_t start;

	if (boundaries_before(blob, after, &start, 1) == 0)
		return 0;
	return after - start <= INSN_MAX_BYTES ? (unsigned)(after - start) : 0;
}
