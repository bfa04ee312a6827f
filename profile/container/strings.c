#include "profile/container/strings.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/utf8.h"
#include "profile/container/hash.h"
#include "proto/limits.h"

void strings_release(struct strings *s)
{
	free(s->bytes);
	hash_index_release(&s->index);
	*s = (struct strings){0};
}

int strings_copy(struct strings *to, const struct strings *from)
{
	*to = (struct strings){.used = from->used, .capacity = from->used};
	return array_copy(&to->bytes, from->bytes, from->used, 1);
}

size_t strings_memory_bytes(const struct strings *s)
{
	return s->capacity + s->index.capacity * sizeof(*s->index.slots);
}

static bool matches(const void *table, uint32_t position, const void *key)
{
	const struct strings *s = table;

	return strcmp(s->bytes + position, key) == 0;
}

int strings_intern(struct strings *s, const char *text, uint32_t *id)
{
	char clean[LIMIT_STRING_BYTES];
	size_t size = utf8_name(clean, sizeof(clean), text) + 1;
	uint32_t hash, position;
	int r;

	if (size == 1) {
		*id = 0;
		return 0;
	}
	hash = hash_bytes(clean, size);
	if (hash_index_find(&s->index, hash, matches, s, clean, id))
		return 0;
	position = s->used ? (uint32_t)s->used : 1; /* Offset 0 is the empty string. */
	if (position + size > STRINGS_MAX_BYTES)
		return -ENOSPC;
	r = array_reserve(&s->bytes, &s->capacity, position + size, 1);
	if (r < 0)
		return r;
	r = hash_index_insert(&s->index, hash, position);
	if (r < 0)
		return r;
	s->bytes[0] = '\0';
	memcpy(s->bytes + position, clean, size);
	s->used = position + size;
	*id = position;
	return 0;
}

const char *strings_get(const struct strings *s, uint32_t id)
{
	assert(id == 0 || id < s->used);
	return id == 0 ? "" : s->bytes + id;
}

bool strings_has(const struct strings *s, uint32_t id)
{
	return id == 0 || (id < s->used && s->bytes[id - 1] == '\0' && s->bytes[id] != '\0');
}
