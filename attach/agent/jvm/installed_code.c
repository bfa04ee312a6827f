#include "attach/agent/jvm/installed_code.h"

#include <errno.h>
#include <string.h>

#include "attach/agent/code/page_reader.h"
#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/method_copy.h"
#include "attach/agent/path/debug_info.h"
#include "attach/agent/stack/scopes.h"
#include "common/pages.h"

/* Longer ones are of no blob that matters. */
#define NAME_BYTES 64u

/* An nmethod that threads may run: installed, and not found dead yet. */
#define STATE_ALIVE_FIRST 0
#define STATE_ALIVE_LAST  2

/* Stub routines begin with a frame: push rbp; mov rbp, rsp. */
static const uint8_t stub_entry[] = {0x55, 0x48, 0x8b, 0xec};

struct installed_code {
	const struct frame_layout *layout;
	uint64_t compiled_name, native_name; /* addresses: those of nmethods are the same for all */
	uint64_t name_at; /* what was read last: blobs of one sort lie side by side */
	char name[NAME_BYTES + 1];
	struct page_reader pages;
	uint32_t offsets[CODEMAP_DEBUG_PCS_EACH];
};

_Static_assert(sizeof(struct installed_code) <= INSTALLED_BYTES, "the sum of the agent's tables");

/* By the names that blobs have (sharedRuntime_x86_64.cpp, c1_Runtime1.cpp, vtableStubs.cpp). */
static enum code_type type_of(const char *name)
{
	static const char *const no_return[] = {"throw_", "UncommonTrap", "uncommon_trap",
						"deoptimize", "unwind_exception"};
	static const char *const to_java[] = {"adapters", "resolve_", "wrong_method",
					      "ic_miss",  "vtable",   "itable"};

	if (strcmp(name, "Interpreter") == 0)
		return CODE_INTERPRETER;
	for (unsigned i = 0; i < sizeof(no_return) / sizeof(no_return[0]); i++)
		if (strstr(name, no_return[i]))
			return CODE_NO_RETURN;
	for (unsigned i = 0; i < sizeof(to_java) / sizeof(to_java[0]); i++)
		if (strstr(name, to_java[i]))
			return CODE_TO_JAVA;
	return CODE_STUB;
}

static bool is_still(const struct installed_code *r, const struct code_heap_content *c,
		     bool nmethod, uint64_t tie)
{
	struct code_heap_blob now;

	return code_heap_find(&r->layout->code, c->begin, &now) && now.start == c->blob &&
	       code_heap_tie(&r->layout->code, now.start, nmethod) == tie;
}

static void add(struct installed_code *r, const struct code_heap_content *c, struct code_blob *blob,
		uint64_t tie, uint32_t count)
{
	if (is_still(r, c, blob->nmethod, tie))
		codemap_add(blob, tie, r->offsets, count);
}

/* What a method handle is called through is compiled like a native method, of MethodHandle's own
 * (linkToStatic), and goes on in Java code. */
static bool is_handle_call(struct installed_code *r, uint64_t method)
{
	return method_is(&r->layout->method, method, "java/lang/invoke/MethodHandle", NULL);
}

static void add_nmethod(struct installed_code *r, const struct code_heap_content *c, bool native)
{
	const struct code_layout *l = &r->layout->code;
	struct code_blob blob = {
	    .start = c->begin, .size = c->size, .type = CODE_COMPILED, .nmethod = true};
	uint64_t tie = code_heap_tie(l, c->blob, true);
	int8_t state;
	uint32_t count;

	blob.method = memory_word(c->blob + l->method);
	memcpy(&state, (const void *)(uintptr_t)(c->blob + l->state), sizeof(state));
	if (state < STATE_ALIVE_FIRST || state > STATE_ALIVE_LAST || !blob.method)
		return;
	if (native && is_handle_call(r, blob.method))
		blob.type = CODE_TO_JAVA;
	page_reader_forget(&r->pages);
	count = scopes_list(&r->layout->scopes, &r->pages, c->blob, c->end, c->size, r->offsets,
			    CODEMAP_DEBUG_PCS_EACH);
	blob.dense =
	    debug_info_is_dense((const uint8_t *)(uintptr_t)c->begin, c->size, r->offsets, count);
	add(r, c, &blob, tie, count);
}

/* A buffer that stub routines were written to, one behind the other. Where each begins has to be
 * known for instructions in it to be found backwards (boundaries.h). */
static void add_routines(struct installed_code *r, const struct code_heap_content *c, uint64_t tie)
{
	uint64_t end = c->begin + c->size, next;

	for (uint64_t at = c->begin; at < end; at = next) {
		const void *found = memmem((const void *)(uintptr_t)(at + 1),
					   (size_t)(end - at - 1), stub_entry, sizeof(stub_entry));
		struct code_blob blob = {.start = at, .type = CODE_STUB};

		next = found ? (uintptr_t)found : end;
		blob.size = (uint32_t)(next - at);
		add(r, c, &blob, tie, 0);
	}
}

/* What cannot be read is no name. */
static const char *name_at(struct installed_code *r, uint64_t address)
{
	if (r->name_at == address)
		return r->name;
	memset(r->name, 0, sizeof(r->name));
	(void)safe_read_some(address, r->name, NAME_BYTES);
	r->name_at = address;
	if (strcmp(r->name, "nmethod") == 0)
		r->compiled_name = address;
	else if (strcmp(r->name, "native nmethod") == 0)
		r->native_name = address;
	return r->name;
}

static bool is_nmethod(struct installed_code *r, uint64_t name)
{
	if (name != r->compiled_name && name != r->native_name)
		(void)name_at(r, name); /* Which may be one of them. */
	return name == r->compiled_name || name == r->native_name;
}

static void read_blob(void *arg, uint64_t address)
{
	struct installed_code *r = arg;
	const struct code_layout *l = &r->layout->code;
	struct code_heap_content c;
	struct code_blob blob;
	const char *name;

	if (!code_heap_read(l, address, &c) || codemap_has(c.begin))
		return;
	if (is_nmethod(r, c.name)) {
		add_nmethod(r, &c, c.name == r->native_name);
		return;
	}
	name = name_at(r, c.name);
	blob = (struct code_blob){.start = c.begin, .size = c.size, .type = type_of(name)};
	if (strncmp(name, "StubRoutines", strlen("StubRoutines")) == 0)
		add_routines(r, &c, code_heap_tie(l, address, false));
	else
		add(r, &c, &blob, code_heap_tie(l, address, false), 0);
}

static struct installed_code *reader_new(const struct frame_layout *layout)
{
	struct installed_code *r = pages_new(sizeof(*r));

	if (r)
		r->layout = layout;
	return r;
}

static void reader_free(struct installed_code *r)
{
	pages_free(r, sizeof(*r));
}

int installed_code_read(const struct frame_layout *layout)
{
	struct installed_code *r = reader_new(layout);

	if (!r)
		return -ENOMEM;
	code_heap_each(&layout->code, read_blob, r);
	reader_free(r);
	return 0;
}

void installed_code_read_met(const struct frame_layout *layout)
{
	uint64_t blobs[CODEMAP_MET_MAX];
	unsigned count = codemap_take_met(blobs);
	struct installed_code *r = count ? reader_new(layout) : NULL;

	if (!r)
		return; /* What is met again is noted again. */
	for (unsigned i = 0; i < count; i++)
		read_blob(r, blobs[i]);
	reader_free(r);
}
