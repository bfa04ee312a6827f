#include "profile/locations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "profile/container/hash.h"
#include "proto/limits.h"

static const struct column columns[] = {
    COLUMN(struct location, kind, .below = JXP__LOCATION__KIND__STACK + 1),
    COLUMN(struct location, class_name, .role = COLUMN_CLASS),
    COLUMN(struct location, field, .role = COLUMN_NAME),
    COLUMN(struct location, declared_in, .role = COLUMN_CLASS),
    COLUMN(struct location, type, .role = COLUMN_CLASS),
    COLUMN(struct location, offset),
    COLUMN(struct location, bytes),
    COLUMN(struct location, object_bytes),
};

bool location_has_layout(const struct location *location)
{
	return location->bytes != 0 && location->bytes != LOCATION_VARIES;
}

bool location_fits(const struct location *location)
{
	return !location_has_layout(location) ||
	       (uint64_t)location->offset + location->bytes <= location->object_bytes;
}

static bool location_row_is_valid(const void *row)
{
	return location_fits(row);
}

const struct table_layout location_layout = {
    TABLE_COLUMNS(columns),   .row_size = sizeof(struct location), .key_words = 5,
    .limit = LIMIT_LOCATIONS, .is_valid = location_row_is_valid,
};

void locations_release(struct locations *l)
{
	row_table_release(&l->table);
}

static void add_layout(struct location *known, const struct location *told)
{
	if (known->bytes == 0) {
		known->offset = told->offset;
		known->bytes = told->bytes;
		known->object_bytes = told->object_bytes;
	} else if (told->bytes != 0 &&
		   (known->offset != told->offset || known->bytes != told->bytes ||
		    known->object_bytes != told->object_bytes)) {
		known->bytes = LOCATION_VARIES;
	}
}

int locations_add(struct locations *l, const struct location *location, uint32_t *id)
{
	uint32_t position;
	int r = row_table_add(&l->table, &location_layout, location, &position);

	if (r < 0)
		return r;
	add_layout(&l->list[position], location);
	*id = position + 1;
	return 0;
}

struct location locations_get(const struct locations *l, uint32_t id)
{
	return id ? l->list[id - 1] : (struct location){0};
}

static struct location place_in_source(const struct locations *l, uint32_t id)
{
	struct location place = locations_get(l, id);

	if (place.kind == JXP__LOCATION__KIND__FIELD && place.declared_in)
		place.class_name = place.declared_in;
	return place;
}

static bool place_matches(const void *table, uint32_t position, const void *key)
{
	struct location own = place_in_source(table, position + 1);

	return memcmp(&own, key, location_layout.key_words * sizeof(uint32_t)) == 0;
}

int locations_fields(const struct locations *l, uint32_t **fields)
{
	_cleanup_(hash_index_release) struct hash_index index = {0};
	_cleanup_free_ uint32_t *found = calloc(l->count + 1, sizeof(*found));

	if (!found)
		return -ENOMEM;
	for (uint32_t id = 1; id <= l->count; id++) {
		struct location place = place_in_source(l, id);
		uint32_t hash = hash_ids(&place, location_layout.key_words);
		uint32_t position;

		found[id] = id;
		if (hash_index_find(&index, hash, place_matches, l, &place, &position))
			found[id] = position + 1;
		else if (hash_index_insert(&index, hash, id - 1) < 0)
			return -ENOMEM;
	}
	*fields = TAKE_PTR(found);
	return 0;
}
