#include "attach/agent/stream/numbering.h"

#include "common/mix.h"
#include "common/pages.h"

#define FIRST_CAPACITY 1024u

struct numbering_entry {
	struct numbering_key key;
	uint32_t id; /* 0: empty */
};

_Static_assert(sizeof(struct numbering_entry) == NUMBERING_ENTRY_BYTES,
	       "the sum of the agent's tables");

void numbering_init(struct numbering *n)
{
	*n = (struct numbering){0};
}

void numbering_release(struct numbering *n)
{
	pages_free(n->entries, n->capacity * sizeof(*n->entries));
	numbering_init(n);
}

static struct numbering_entry *find(struct numbering_entry *entries, size_t capacity,
				    struct numbering_key key)
{
	for (size_t i = mix(key.a ^ mix_upper(key.b));; i++) {
		struct numbering_entry *e = &entries[i & (capacity - 1)];

		if (e->id == 0 || (e->key.a == key.a && e->key.b == key.b))
			return e;
	}
}

static bool grow(struct numbering *n)
{
	size_t capacity = n->capacity ? n->capacity * 2 : FIRST_CAPACITY;
	struct numbering_entry *entries = pages_new(capacity * sizeof(*entries));

	if (!entries)
		return false;
	pages_populate(entries, capacity * sizeof(*entries));
	for (size_t i = 0; i < n->capacity; i++)
		if (n->entries[i].id)
			*find(entries, capacity, n->entries[i].key) = n->entries[i];
	pages_free(n->entries, n->capacity * sizeof(*n->entries));
	n->entries = entries;
	n->capacity = capacity;
	return true;
}

bool numbering_is_full(const struct numbering *n)
{
	return n->count >= NUMBERING_MAX;
}

uint32_t numbering_intern(struct numbering *n, struct numbering_key key, bool *added)
{
	struct numbering_entry *e;

	/* Never more than three quarters full, so find always meets an empty entry. */
	if (4 * ((size_t)n->count + 1) > 3 * n->capacity && n->capacity < NUMBERING_CAPACITY_MAX &&
	    !grow(n))
		return 0;
	e = find(n->entries, n->capacity, key);
	*added = e->id == 0;
	if (*added && numbering_is_full(n))
		return 0;
	if (*added)
		*e = (struct numbering_entry){key, ++n->count};
	return e->id;
}
