#include "attach/agent/stream/code_bytecodes.h"

#include <stdlib.h>
#include <string.h>

#include "common/mix.h"

/* One method has no more; with more bytecodes that name something it says of the first ones. */
#define REFERENCES_OF_METHOD_MAX 2048u

#define METHOD_SLOTS (2u * CODE_METHODS_READ)

struct code_bytecodes {
	const struct method_layout *layout;
	struct code_members *members;
	struct read_method methods[METHOD_SLOTS]; /* by number */
	uint8_t code[CODE_BYTECODES_MAX];
	struct read_reference references[CODE_REFERENCES_MAX];
	struct reference read[REFERENCES_OF_METHOD_MAX];
	size_t method_count, code_bytes, reference_count, of_images_before;
	bool cut;
};

_Static_assert(sizeof(struct code_bytecodes) + CODE_MEMBERS_BYTES <= CODE_BYTECODES_BYTES,
	       "what one takes");

struct code_bytecodes *code_bytecodes_new(const struct method_layout *layout)
{
	struct code_bytecodes *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->layout = layout;
	b->members = code_members_new(layout);
	if (!b->members) {
		free(b);
		return NULL;
	}
	return b;
}

void code_bytecodes_free(struct code_bytecodes *b)
{
	if (b)
		code_members_free(b->members);
	free(b);
}

bool code_bytecodes_begin(struct code_bytecodes *b, const uint64_t *names, size_t count)
{
	/* A method that was cut is read anew. */
	if (code_bytecodes_cut(b))
		(void)code_bytecodes_forget(b);
	b->of_images_before = b->method_count;
	b->cut = false;
	return code_members_begin(b->members, names, count);
}

bool code_bytecodes_forget(struct code_bytecodes *b)
{
	bool any = b->of_images_before > 0;

	memset(b->methods, 0, sizeof(b->methods));
	b->method_count = b->code_bytes = b->reference_count = b->of_images_before = 0;
	b->cut = false;
	code_members_forget(b->members);
	return any;
}

/* Its own, or where it is to be put; never is more than half of them taken. */
static struct read_method *slot_of(struct code_bytecodes *b, uint32_t number)
{
	uint64_t hash = mix(number);

	while (b->methods[hash % METHOD_SLOTS].number &&
	       b->methods[hash % METHOD_SLOTS].number != number)
		hash++;
	return &b->methods[hash % METHOD_SLOTS];
}

static bool has_room(struct code_bytecodes *b, size_t size)
{
	b->cut |= b->method_count == CODE_METHODS_READ || b->code_bytes + size > CODE_BYTECODES_MAX;
	return !b->cut;
}

static void keep_references(struct code_bytecodes *b, const struct method_copy *copy, size_t count,
			    struct read_method *method)
{
	int32_t pool = count > 0 ? code_members_pool(b->members, copy) : -1;

	for (size_t i = 0; pool >= 0 && i < count; i++) {
		struct read_reference *to = &b->references[b->reference_count];
		int32_t member;

		if (b->reference_count == CODE_REFERENCES_MAX) {
			b->cut = true;
			return;
		}
		member = code_members_find(b->members, pool, &b->read[i]);
		if (member < 0)
			continue;
		*to = (struct read_reference){(uint16_t)b->read[i].bci, (uint16_t)member};
		b->reference_count++;
		method->reference_count++;
	}
}

const struct read_method *code_bytecodes_read(struct code_bytecodes *b, uint32_t number,
					      const struct method_copy *copy)
{
	struct read_method *method = slot_of(b, number);
	uint16_t size = copy->look.code_size;
	size_t count = 0;

	if (method->number)
		return method;
	if (!b->layout->code_known || size == 0 || !has_room(b, size) ||
	    !references_read(code_members_reader(b->members), copy, b->code + b->code_bytes,
			     b->read, REFERENCES_OF_METHOD_MAX, &count))
		return NULL;
	*method = (struct read_method){.number = number,
				       .size = size,
				       .code = b->code + b->code_bytes,
				       .references = &b->references[b->reference_count]};
	b->code_bytes += size;
	b->method_count++;
	keep_references(b, copy, count, method);
	return method;
}

struct code_members *code_bytecodes_members(struct code_bytecodes *b)
{
	return b->members;
}

bool code_bytecodes_cut(const struct code_bytecodes *b)
{
	return b->cut || code_members_cut(b->members);
}
