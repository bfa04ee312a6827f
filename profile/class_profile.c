#include "profile/class_profile.h"

#include <errno.h>

#include "profile/tables.h"
#include "proto/limits.h"

static const struct column field_columns[] = {
    COLUMN(struct class_field, class_name, .role = COLUMN_CLASS),
    COLUMN(struct class_field, location, .role = COLUMN_ID, .table = TABLE_LOCATIONS),
    COLUMN(struct class_field, sum.samples, .role = COLUMN_COUNT),
    COLUMN(struct class_field, sum.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct class_field, sum.squares, .role = COLUMN_SQUARES, .weight = WEIGHT_ACCESS),
    COLUMN(struct class_field, tracked.samples, .role = COLUMN_COUNT),
    COLUMN(struct class_field, tracked.metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
};

const struct table_layout class_field_layout = {
    TABLE_COLUMNS(field_columns),
    .row_size = sizeof(struct class_field),
    .key_words = 2,
    .limit = LIMIT_CLASS_FIELDS,
};

static const struct column access_columns[] = {
    COLUMN(struct class_access, field, .role = COLUMN_POSITION, .table = TABLE_CLASS_FIELDS),
    COLUMN(struct class_access, node, .role = COLUMN_ID, .table = TABLE_NODES),
    COLUMN(struct class_access, samples, .role = COLUMN_COUNT),
    COLUMN(struct class_access, metric, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
};

const struct table_layout class_access_layout = {
    TABLE_COLUMNS(access_columns),
    .row_size = sizeof(struct class_access),
    .key_words = 2,
    .limit = LIMIT_CLASS_ACCESSES,
};

void class_profile_release(struct class_profile *c)
{
	row_table_release(&c->field_table);
	row_table_release(&c->access_table);
	*c = (struct class_profile){0};
}

/* 0 in *field where there is no room. */
static int find_or_add_field(struct class_profile *c, const uint32_t key[2], uint32_t *field)
{
	int r = row_table_add(&c->field_table, &class_field_layout, key, field);

	if (r == -ENOSPC) {
		saturate_add(&c->refused, 1);
		*field = 0;
	}
	return r == -ENOMEM ? r : 0;
}

int class_profile_field(struct class_profile *c, uint32_t class_name, uint32_t location,
			uint32_t *field)
{
	const uint32_t nothing[2] = {0, 0}, key[2] = {class_name, location};
	int r = c->field_count == 0 ? find_or_add_field(c, nothing, field) : 0;

	return r < 0 ? r : find_or_add_field(c, key, field);
}

static int add_access(struct class_profile *c, const struct class_access *from)
{
	uint32_t position;
	int r = row_table_add(&c->access_table, &class_access_layout, from, &position);

	if (r == -ENOSPC)
		saturate_add(&c->refused, from->samples);
	if (r < 0)
		return r == -ENOSPC ? 0 : r;
	saturate_add(&c->accesses[position].samples, from->samples);
	c->accesses[position].metric += from->metric;
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
	return add_access(c, &access);
}
