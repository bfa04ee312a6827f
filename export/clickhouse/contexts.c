#include "export/clickhouse/contexts.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "compare/side.h"
#include "report/content/names.h"

/* ---------------------------------------------------------------- hashes */

/* With its NUL, so that no text runs into the next. */
static void add_text(struct sha256_ctx *hash, const char *text)
{
	sha256_update(hash, strlen(text) + 1, (const uint8_t *)text);
}

static struct house_hash hash_of(const struct profile *p, const struct cct_node *node,
				 const struct house_hash *parent)
{
	struct method_names names = method_names(p, node->method);
	const int32_t where[] = {node->bci, node->line, (int32_t)node->tier};
	char class_name[LIMIT_STRING_BYTES + 1];
	struct sha256_ctx hash;
	struct house_hash out;

	sha256_init(&hash);
	sha256_update(&hash, sizeof(parent->bytes), parent->bytes);
	add_text(&hash, compare_unnumbered(class_name, names.class_name));
	add_text(&hash, names.name);
	add_text(&hash, names.file);
	sha256_update(&hash, sizeof(where), (const uint8_t *)where);
	sha256_digest(&hash, sizeof(out.bytes), out.bytes);
	return out;
}

int house_hashes_init(struct house_hashes *h, const struct profile *p)
{
	size_t count = p->cct.node_count + 1;

	*h = (struct house_hashes){calloc(count, sizeof(*h->of)), calloc(count, sizeof(*h->used))};
	if (!h->of || !h->used) {
		house_hashes_release(h);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < count; i++) {
		const struct cct_node *node = cct_node(&p->cct, i);

		h->of[i] = hash_of(p, node, &h->of[node->parent]);
	}
	return 0;
}

void house_hashes_release(struct house_hashes *h)
{
	free(h->of);
	free(h->used);
	*h = (struct house_hashes){0};
}

/* ---------------------------------------------------------------- what was sent */

#define PLACES (2 * HOUSE_MEMORY_MAX)

/* Open addressing: a hash is as good as random, and its first bytes say where it begins. */
struct house_memory {
	size_t count;
	struct house_known places[PLACES]; /* zeros: free; no context but the empty one has that */
};

struct house_memory *house_memory_new(void)
{
	return calloc(1, sizeof(struct house_memory));
}

void house_memory_free(struct house_memory *m)
{
	free(m);
}

static bool is_same(const struct house_known *a, const struct house_known *b)
{
	return a->day == b->day && memcmp(&a->context, &b->context, sizeof(a->context)) == 0;
}

/* Where it is, or would be. */
static size_t place_of(const struct house_memory *m, const struct house_known *known)
{
	static const struct house_known nothing;
	uint32_t at;

	memcpy(&at, known->context.bytes, sizeof(at));
	at %= PLACES;
	while (!is_same(&m->places[at], &nothing) && !is_same(&m->places[at], known))
		at = (at + 1) % PLACES;
	return at;
}

bool house_memory_has(const struct house_memory *m, const struct house_known *known)
{
	return is_same(&m->places[place_of(m, known)], known);
}

void house_memory_add(struct house_memory *m, const struct house_known *known)
{
	if (m->count >= HOUSE_MEMORY_MAX)
		memset(m, 0, sizeof(*m));
	if (house_memory_has(m, known))
		return;
	m->places[place_of(m, known)] = *known;
	m->count++;
}
