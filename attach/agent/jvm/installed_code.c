#include "attach/agent/jvm/installed_code.h"

#include <stdlib.h>

#include "attach/agent/jvm/method_set.h"
#include "attach/agent/path/debug_info.h"
#include "attach/agent/stack/scopes.h"
#include "common/pages.h"

/* A Method that was compiled, by itself or into another one. */
struct compiled {
	uint64_t method; /* 0: free */
	uint64_t id;     /* 0: none leads to it so far */
};

struct installed_code {
	const struct frame_layout *layout;
	struct code_heap_nmethod *nmethods; /* of INSTALLED_MAX */
	struct compiled *methods;
	uint32_t count;    /* of nmethods */
	uint32_t capacity; /* of methods, a power of two */
	uint32_t used;
	bool too_many;
	uint32_t offsets[CODEMAP_DEBUG_PCS_EACH];
};

_Static_assert(INSTALLED_MAX * sizeof(struct code_heap_nmethod) +
		       INSTALLED_METHODS_MAX * sizeof(struct compiled) +
		       sizeof(((struct installed_code *)0)->offsets) <=
		   INSTALLED_BYTES,
	       "the sum of the agent's tables");

/* Where the method is, or would be. */
static struct compiled *find(const struct installed_code *c, uint64_t method)
{
	uint64_t hash = method * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	while (c->methods[hash & (c->capacity - 1)].method != method &&
	       c->methods[hash & (c->capacity - 1)].method)
		hash++;
	return &c->methods[hash & (c->capacity - 1)];
}

static void note_method(void *arg, uint64_t method)
{
	struct installed_code *c = arg;
	struct compiled *found = method ? find(c, method) : NULL;

	if (!found || found->method || c->too_many)
		return;
	c->too_many = 4 * (c->used + 1) > 3 * c->capacity; /* find always meets a free one. */
	if (c->too_many)
		return;
	found->method = method;
	c->used++;
}

static bool note_nmethod(void *arg, const struct code_heap_nmethod *nmethod)
{
	struct installed_code *c = arg;

	if (c->count == INSTALLED_MAX)
		return false;
	c->nmethods[c->count++] = *nmethod;
	return true;
}

/* Tomcat's 5,842 nmethods have 7,860 different words of metadata, with the Methods among them. */
static uint32_t capacity_for(uint32_t nmethods)
{
	uint32_t capacity = 1024;

	while (capacity < nmethods * 4 && capacity < INSTALLED_METHODS_MAX)
		capacity *= 2;
	return capacity;
}

static bool read_all(struct installed_code *c)
{
	c->nmethods = pages_new(INSTALLED_MAX * sizeof(*c->nmethods));
	if (!c->nmethods || !code_heap_nmethods(&c->layout->code, note_nmethod, c))
		return false;
	c->capacity = capacity_for(c->count);
	c->methods = pages_new(c->capacity * sizeof(*c->methods));
	if (!c->methods)
		return false;
	pages_populate(c->methods, c->capacity * sizeof(*c->methods));
	for (uint32_t i = 0; i < c->count; i++) {
		const struct code_heap_nmethod *n = &c->nmethods[i];

		note_method(c, n->method);
		scopes_methods(&c->layout->scopes, n->blob, n->end, note_method, c);
	}
	return !c->too_many;
}

struct installed_code *installed_code_read(const struct frame_layout *layout)
{
	struct installed_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->layout = layout;
	if (!read_all(c)) {
		installed_code_free(c);
		return NULL;
	}
	return c;
}

/* To JDK 24 an id is the address of a word with the Method's, which stays readable. */
void installed_code_name(struct installed_code *code, jmethodID id)
{
	uint64_t method = __atomic_load_n((const uint64_t *)(const void *)id, __ATOMIC_RELAXED);
	struct compiled *found = method ? find(code, method) : NULL;

	if (found && found->method) {
		found->id = (uintptr_t)id;
		method_set_add((uintptr_t)id);
		scopes_remember(method, (uintptr_t)id);
	}
}

static void add(struct installed_code *c, const struct code_heap_nmethod *n, uint64_t id)
{
	uint64_t begin = code_heap_begin(&c->layout->code, n->blob);
	uint32_t size = code_heap_size(&c->layout->code, n);
	uint32_t count;
	bool dense;

	if (size == 0)
		return;
	count = scopes_offsets(&c->layout->scopes, n->blob, n->end, size, c->offsets,
			       CODEMAP_DEBUG_PCS_EACH);
	dense = debug_info_is_dense((const uint8_t *)(uintptr_t)begin, size, c->offsets, count);
	/* It may have gone while ids were asked for. */
	if (code_heap_is_still(&c->layout->code, n))
		codemap_add_found(begin, size, id, dense, c->offsets, count);
}

/* What a method handle is called through has a Method without an id, and goes on in Java code. */
static void add_linker(const struct installed_code *c, const struct code_heap_nmethod *n)
{
	uint32_t size = code_heap_size(&c->layout->code, n);

	if (size)
		codemap_add_stub(code_heap_begin(&c->layout->code, n->blob), size, CODE_TO_JAVA);
}

bool installed_code_add(struct installed_code *code)
{
	bool complete = true;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct code_heap_nmethod *n = &code->nmethods[i];
		uint64_t id = find(code, n->method)->id;

		if (id)
			add(code, n, id);
		else if (n->native)
			add_linker(code, n);
		else if (code_heap_is_still(&code->layout->code, n))
			complete = false;
	}
	return complete;
}

void installed_code_free(struct installed_code *code)
{
	if (!code)
		return;
	pages_free(code->nmethods, INSTALLED_MAX * sizeof(*code->nmethods));
	pages_free(code->methods, code->capacity * sizeof(*code->methods));
	free(code);
}
