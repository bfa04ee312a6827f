#include "profile/sharing.h"

#include "profile/tables.h"
#include "proto/limits.h"

#define SUM(member) COLUMN(struct site_sharing, member, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS)

static const struct column columns[] = {
    COLUMN(struct site_sharing, site, .role = COLUMN_POSITION, .table = TABLE_SITES),
    COLUMN(struct site_sharing, location, .role = COLUMN_ID, .table = TABLE_LOCATIONS),
    COLUMN(struct site_sharing, samples, .role = COLUMN_COUNT),
    COLUMN(struct site_sharing, stores, .role = COLUMN_COUNT),
    COLUMN(struct site_sharing, by_others, .role = COLUMN_COUNT),
    COLUMN(struct site_sharing, stores_by_others, .role = COLUMN_COUNT),
    COLUMN(struct site_sharing, taken_over, .role = COLUMN_COUNT),
    SUM(metric),
    SUM(metric_by_others),
    SUM(metric_taken_over),
};

static bool is_valid(const void *row)
{
	const struct site_sharing *s = row;

	return s->stores <= s->samples && s->by_others <= s->samples &&
	       s->taken_over <= s->samples && s->stores_by_others <= s->stores &&
	       s->stores_by_others <= s->by_others;
}

const struct table_layout site_sharing_layout = {
    TABLE_COLUMNS(columns), .row_size = sizeof(struct site_sharing),
    .key_words = 2,         .limit = LIMIT_SITE_ACCESSES,
    .is_valid = is_valid,
};

int sharing_add(struct row_table *t, const struct shared_access *a)
{
	struct site_sharing one = {.site = a->site, .location = a->location}, *s;
	bool other = a->thread != a->allocator, taken_over = a->thread != a->thread_before;
	uint32_t position;
	int r = row_table_add(t, &site_sharing_layout, &one, &position);

	if (r < 0)
		return r;
	s = (struct site_sharing *)t->rows + position;
	s->samples++;
	s->stores += a->store;
	s->by_others += other;
	s->stores_by_others += other && a->store;
	s->taken_over += taken_over;
	s->metric += a->metric;
	s->metric_by_others += other ? a->metric : 0;
	s->metric_taken_over += taken_over ? a->metric : 0;
	return 0;
}

void site_sharing_add(struct site_sharing *to, const struct site_sharing *from)
{
	table_row_add(&site_sharing_layout, to, from, NULL);
}
