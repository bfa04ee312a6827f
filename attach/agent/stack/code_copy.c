#include "attach/agent/stack/code_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/stack/scopes.h"
#include "common/code/insn.h"
#include "common/code/opcode.h"
#include "common/mix.h"

/* Where a call of a compiled method leads: its first instruction, or the one behind the check of
 * the receiver's class (nmethod::verified_entry_point). */
#define ENTRY_BYTES 128u

static bool is_still(const struct code_blob *blob)
{
	struct code_blob now;

	return codemap_find(blob->start, &now) && now.serial == blob->serial;
}

bool code_copy_bytes(const struct code_blob *blob, uint8_t *to)
{
	return is_still(blob) && safe_read(blob->start, to, blob->size) && is_still(blob);
}

/* The index of the call, kept now or before; COPIED_FRAMES_MAX: there is no room. */
static unsigned keep_frame(struct code_copy *c, const struct scope_call *call)
{
	uint64_t hash = mix(mix_upper(call->method) + (uint32_t)call->bci);

	/* Never more than half full. */
	for (;; hash++) {
		uint16_t *entry = &c->frame_table[hash % (2 * COPIED_FRAMES_MAX)];
		const struct scope_call *f = &c->frames[*entry ? *entry - 1 : 0];

		if (*entry && f->method == call->method && f->bci == call->bci)
			return *entry - 1u;
		if (*entry)
			continue;
		if (c->frame_count == COPIED_FRAMES_MAX)
			return COPIED_FRAMES_MAX;
		c->frames[c->frame_count++] = *call;
		*entry = (uint16_t)c->frame_count;
		return c->frame_count - 1;
	}
}

static bool keep_record(void *arg, uint32_t offset, const struct scope_call *calls, unsigned count)
{
	struct code_copy *c = arg;
	uint32_t first = c->stack_count;

	c->cut = c->record_count == COPIED_RECORDS_MAX || first + count > COPIED_STACKS_MAX;
	for (unsigned i = 0; i < count && !c->cut; i++) {
		unsigned frame = keep_frame(c, &calls[i]);

		c->cut = frame == COPIED_FRAMES_MAX;
		c->stacks[first + i] = (uint16_t)frame;
	}
	if (c->cut)
		return false;
	c->stack_count += count;
	c->records[c->record_count++] =
	    (struct copied_record){offset, (uint16_t)first, (uint16_t)count};
	return true;
}

/* Behind the instructions of an nmethod are stubs of its own that lead to what its calls are not
 * bound to yet. */
static bool is_own_stub(const struct code_layout *layout, const struct code_blob *blob,
			uint64_t target)
{
	struct code_heap_blob found;

	return target >= blob->start + blob->size && code_heap_find(layout, target, &found) &&
	       code_heap_begin(layout, found.start) == blob->start;
}

static void classify(const struct code_layout *layout, const struct code_blob *from,
		     uint64_t target, struct copied_call *call)
{
	struct code_blob to;

	call->target = CODE_TARGET_OTHER;
	call->method = 0;
	if (!codemap_find(target, &to)) {
		if (is_own_stub(layout, from, target))
			call->target = CODE_TARGET_JAVA;
		return;
	}
	switch (to.type) {
	case CODE_COMPILED:
		call->target = CODE_TARGET_JAVA;
		call->method = target - to.start <= ENTRY_BYTES ? to.method : 0;
		break;
	case CODE_TO_JAVA:
	case CODE_INTERPRETER:
		call->target = CODE_TARGET_JAVA;
		break;
	case CODE_STUB:
		call->target = CODE_TARGET_STUB;
		break;
	case CODE_NO_RETURN:
		call->target = CODE_TARGET_NO_RETURN;
		break;
	case CODE_NONE:
		break;
	}
}

static void find_calls(const struct code_layout *layout, struct code_copy *c)
{
	struct opcode o;

	for (uint32_t at = 0; at < c->blob.size; at += o.length) {
		enum opcode_flow flow;
		struct copied_call *call = &c->calls[c->call_count];

		if (!opcode_read(c->bytes + at, c->blob.size - at, &o))
			return;
		flow = opcode_flow(&o);
		if (flow != OPCODE_CALL && flow != OPCODE_INDIRECT_CALL)
			continue;
		if (c->call_count == COPIED_CALLS_MAX) {
			c->cut = true;
			return;
		}
		*call = (struct copied_call){.offset = at};
		if (flow == OPCODE_CALL)
			classify(layout, &c->blob, opcode_target(&o, c->blob.start + at), call);
		c->call_count++;
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct code_null_check *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* C1 makes the table in the order of its stubs. */
static void copy_checks(struct code_copy *c, const struct scope_layout *layout, uint64_t blob)
{
	uint32_t count = scopes_null_checks(layout, blob, c->checks, COPIED_CHECKS_MAX);

	qsort(c->checks, count, sizeof(c->checks[0]), by_offset);
	for (uint32_t i = 0; i < count; i++) {
		const struct code_null_check *check = &c->checks[i];

		if (check->offset < c->blob.size && check->continuation < c->blob.size &&
		    (c->check_count == 0 || check->offset > c->checks[c->check_count - 1].offset))
			c->checks[c->check_count++] = *check;
	}
	c->cut |= count == COPIED_CHECKS_MAX;
}

static int take(struct code_copy *c, const struct frame_layout *layout)
{
	struct code_heap_blob blob;

	if (!safe_read(c->blob.start, c->bytes, c->blob.size))
		return -ENOENT;
	if (code_heap_find(&layout->code, c->blob.start, &blob)) {
		scopes_each(&layout->scopes, blob.start, c->blob.size, c->blob.method, keep_record,
			    c);
		copy_checks(c, &layout->scopes, blob.start);
		c->loop_traps = layout->scopes.loop_traps;
		c->metadata_count =
		    scopes_metadata(&layout->scopes, blob.start, c->metadata, COPIED_METADATA_MAX);
	}
	find_calls(&layout->code, c);
	return is_still(&c->blob) ? 0 : -ENOENT;
}

int code_copy_take(struct code_copy **out, const struct frame_layout *layout, uint64_t serial)
{
	struct code_blob blob;
	struct code_copy *c;
	int r;

	*out = NULL;
	if (!codemap_find_serial(serial, &blob) || blob.type != CODE_COMPILED)
		return -ENOENT;
	if (blob.size > LIMIT_CODE_BYTES)
		return -E2BIG;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->blob = blob;
	r = take(c, layout);
	if (r < 0)
		free(c);
	else
		*out = c;
	return r;
}

static bool has_bytes(uint64_t ip, const uint8_t *bytes, unsigned length)
{
	uint8_t now[INSN_MAX_BYTES];

	return length > 0 && length <= sizeof(now) && safe_read(ip, now, length) &&
	       memcmp(now, bytes, length) == 0;
}

/* call rel32, or through a register; last: its last byte. */
static bool ends_call(uint64_t last)
{
	uint8_t bytes[5];

	return safe_read(last + 1 - sizeof(bytes), bytes, sizeof(bytes)) &&
	       (bytes[0] == 0xe8 || (bytes[3] == 0xff && (bytes[4] & 0xf8) == 0xd0));
}

uint64_t code_copy_place(uint32_t at, const uint8_t *bytes, unsigned length, uint32_t *offset)
{
	uint64_t ip = codemap_address(at & ~CODEMAP_CALLED);
	struct code_blob blob;

	if (at == 0 || !codemap_find(ip, &blob) || blob.type != CODE_COMPILED ||
	    !(at & CODEMAP_CALLED ? ends_call(ip) : has_bytes(ip, bytes, length)))
		return 0;
	*offset = (uint32_t)(ip - blob.start);
	return blob.serial;
}
