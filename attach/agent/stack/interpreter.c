#include "attach/agent/stack/interpreter.h"

#include <string.h>

#include "common/array.h"

static bool begins_with(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

static bool ends_with(const char *name, const char *with)
{
	size_t length = strlen(name), tail = strlen(with);

	return length >= tail && strcmp(name + length - tail, with) == 0;
}

/* Templates are named as their bytecodes are, which have no blanks (templateInterpreter.cpp). */
static enum interpreter_part part_named(const char *name)
{
	if (strchr(name, ' ')) {
		if (begins_with(name, "method entry point") ||
		    begins_with(name, "native method entry point"))
			return PART_ENTRY;
		return strcmp(name, "return entry points") == 0 ||
			       strcmp(name, "invoke return entry points") == 0
			   ? PART_BACK
			   : PART_OTHER;
	}
	if (begins_with(name, "invoke") || begins_with(name, "fast_invoke"))
		return PART_INVOKE;
	if (ends_with(name, "return") || begins_with(name, "return"))
		return PART_RETURN;
	/* These go elsewhere, with the frame as it is or without. */
	return strcmp(name, "athrow") == 0 ? PART_OTHER : PART_BYTECODE;
}

bool interpreter_add(struct interpreter *in, const char *name, uint32_t bytes)
{
	unsigned i = in->part_count;

	if (i == INTERPRETER_PARTS_MAX)
		return false;
	in->part_end[i] = (i > 0 ? in->part_end[i - 1] : 0) + bytes;
	in->parts[i] = (uint8_t)part_named(name);
	in->part_count++;
	return true;
}

/* The first that ends behind pc. */
static unsigned part_around(const struct interpreter *in, uint64_t pc)
{
	uint64_t offset = pc - in->low;

	return (unsigned)SEARCH_FIRST(i, in->part_count, in->part_end[i] > offset);
}

enum interpreter_part interpreter_part_at(const struct interpreter *in, uint64_t pc)
{
	unsigned i = part_around(in, pc);

	return i < in->part_count ? (enum interpreter_part)in->parts[i] : PART_OTHER;
}

/* CodeEntryAlignment, of code that is compiled by C2. */
#define CODE_ALIGNMENT 32u

struct interpreter_code interpreter_code_at(const struct interpreter *in, uint64_t pc)
{
	unsigned i = part_around(in, pc);
	uint64_t part = in->low + (i > 0 ? in->part_end[i - 1] : 0);

	if (i >= in->part_count)
		return (struct interpreter_code){0};
	return (struct interpreter_code){.begin = (part + in->header_bytes + CODE_ALIGNMENT - 1) &
						  ~(uint64_t)(CODE_ALIGNMENT - 1),
					 .end = in->low + in->part_end[i]};
}
