#include "daemon/profile/class_profile.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "proto/limits.h"

void class_profile_release(struct class_profile *c)
{
	free(c->fields);
	hash_index_release(&c->field_index);
	free(c->accesses);
	hash_index_release(&c->access_index);
	*c = (struct class_profile){0};
}

int class_profile_copy(struct class_profile *to, const struct class_profile *from)
{
	int r;

	*to = (struct class_profile){.field_count = from->field_count,
				     .field_capacity = from->field_count,
				     .access_count = from->access_count,
				     .access_capacity = from->access_count,
				     .refused = from->refused};
	r = array_copy(&to->fields, from->fields, from->field_count, sizeof(*from->fields));
	if (r == 0)
		r = array_copy(&to->accesses, from->accesses, from->access_count,
			       sizeof(*from->accesses));
	return r;
}

/* Two ids without padding, so that they can be hashed and compared in a row. */
struct id_pair {
	uint32_t first;
	uint32_t second;
};

static bool field_matches(const void *table, uint32_t position, const void *key)
{
	const struct class_profile *c = table;
	struct id_pair own = {c->fields[position].class_name, c->fields[position].location};

	return memcmp(&own, key, sizeof(own)) == 0;
}

static bool access_matches(const void *table, uint32_t position, const void *key)
{
	const struct class_profile *c = table;
	struct id_pair own = {c->accesses[position].field, c->accesses[position].node};

	return memcmp(&own, key, sizeof(own)) == 0;
}

static int find_or_add_field(struct class_profile *c, const struct id_pair *key, uint32_t *field)
{
	uint32_t hash = hash_ids(key, 2);
	int r;

	if (hash_index_find(&c->field_index, hash, field_matches, c, key, field))
		return 0;
	if (c->field_count >= LIMIT_CLASS_FIELDS) {
		saturate_add(&c->refused, 1);
		*field = 0;
		return 0;
	}
	r = array_reserve(&c->fields, &c->field_capacity, c->field_count + 1, sizeof(*c->fields));
	if (r == 0)
		r = hash_index_insert(&c->field_index, hash, (uint32_t)c->field_count);
	if (r < 0)
		return r;
	c->fields[c->field_count] =
	    (struct class_field){.class_name = key->first, .location = key->second};
	*field = (uint32_t)c->field_count++;
	return 0;
}

int class_profile_field(struct class_profile *c, uint32_t class_name, uint32_t location,
			uint32_t *field)
{
	struct id_pair nothing = {0, 0}, key = {class_name, location};
	int r = c->field_count == 0 ? find_or_add_field(c, &nothing, field) : 0;

	return r < 0 ? r : find_or_add_field(c, &key, field);
}

int class_profile_add_access(struct class_profile *c, const struct class_access *from)
{
	struct id_pair key = {from->field, from->node};
	uint32_t hash = hash_ids(&key, 2), position;
	int r;

	if (hash_index_find(&c->access_index, hash, access_matches, c, &key, &position)) {
		saturate_add(&c->accesses[position].samples, from->samples);
		c->accesses[position].metric += from->metric;
		return 0;
	}
	if (c->access_count >= LIMIT_CLASS_ACCESSES) {
		saturate_add(&c->refused, from->samples);
		return 0;
	}
	r = array_reserve(&c->accesses, &c->access_capacity, c->access_count + 1,
			  sizeof(*c->accesses));
	if (r == 0)
		r = hash_index_insert(&c->access_index, hash, (uint32_t)c->access_count);
	if (r < 0)
		return r;
	c->accesses[c->access_count++] = *from;
	return 0;
}

int class_profile_add(struct class_profile *c, uint32_t field, uint32_t node, double weight,
		      bool tracked)
{
	struct class_field *f = &c->fields[field];
	struct class_access access = {.field = field, .node = node, .samples = 1, .metric = weight};

	access_moments_count(&f->sum, weight);
	if (tracked) {
		saturate_add(&f->tracked.samples, 1);
		f->tracked.metric += weight;
	}
	return class_profile_add_access(c, &access);
}

size_t class_profile_memory_bytes(const struct class_profile *c)
{
	return c->field_capacity * sizeof(*c->fields) + c->access_capacity * sizeof(*c->accesses) +
	       (c->field_index.capacity + c->access_index.capacity) * sizeof(struct hash_slot);
}
