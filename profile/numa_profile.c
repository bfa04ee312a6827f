#include "profile/numa_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/estimate.h"
#include "profile/tables.h"

static const struct column site_columns[] = {
    COLUMN(struct numa_site, site, .role = COLUMN_POSITION, .table = TABLE_SITES),
    COLUMN(struct numa_site, samples, .role = COLUMN_COUNT),
    COLUMNS(struct numa_site, accessed_from, accessed_from[0], .role = COLUMN_SUM,
	    .weight = WEIGHT_ACCESS),
    COLUMNS(struct numa_site, page_on, page_on[0], .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMNS(struct numa_site, allocated_on, allocated_on[0], .role = COLUMN_SUM,
	    .weight = WEIGHT_ACCESS),
    COLUMNS(struct numa_site, first_touch, first_touch[0], .role = COLUMN_SUM,
	    .weight = WEIGHT_ACCESS),
    COLUMN(struct numa_site, remote, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
    COLUMN(struct numa_site, local, .role = COLUMN_SUM, .weight = WEIGHT_ACCESS),
};

const struct table_layout numa_site_layout = {
    TABLE_COLUMNS(site_columns),
    .row_size = sizeof(struct numa_site),
    .key_words = 1,
    .limit = NUMA_SITES_MAX,
    .copies_find = true,
};

static const struct column sums_columns[] = {
    {COLUMN_MEMBER(struct numa_profile, matrix[0][0]), .repeat = NUMA_NODES_MAX * NUMA_NODES_MAX,
     .stride = sizeof(double), .role = COLUMN_SUM, .weight = WEIGHT_ACCESS},
    COLUMN(struct numa_profile, touch_traced, .role = COLUMN_MOST),
    COLUMN(struct numa_profile, samples, .role = COLUMN_COUNT),
    COLUMN(struct numa_profile, remote_samples, .role = COLUMN_COUNT),
    COLUMN(struct numa_profile, unplaced, .role = COLUMN_COUNT),
    COLUMN(struct numa_profile, sites_dropped, .role = COLUMN_COUNT),
};

static bool sums_are_valid(const void *row)
{
	const struct numa_profile *p = row;

	return p->remote_samples <= p->samples;
}

const struct table_layout numa_sums_layout = {
    TABLE_COLUMNS(sums_columns),
    .row_size = sizeof(struct numa_profile),
    .limit = 1,
    .is_valid = sums_are_valid,
};

void numa_profile_release(struct numa_profile *p)
{
	row_table_release(&p->site_table);
	free(p->waiting);
	*p = (struct numa_profile){0};
}

/* ---------------------------------------------------------------- waiting for an answer */

int numa_profile_access(struct numa_profile *p, const struct numa_access *access)
{
	if (!p->waiting) {
		p->waiting = calloc(NUMA_WAITING_MAX, sizeof(*p->waiting));
		if (!p->waiting)
			return -ENOMEM;
	}
	if (p->waiting_count == NUMA_WAITING_MAX) {
		p->unplaced++;
		return 0;
	}
	p->waiting[(p->waiting_first + p->waiting_count++) % NUMA_WAITING_MAX] = *access;
	return 0;
}

size_t numa_profile_take(struct numa_profile *p, struct numa_access *out, size_t limit)
{
	size_t count = 0;

	while (count < limit && p->waiting_count > 0) {
		out[count++] = p->waiting[p->waiting_first];
		p->waiting_first = (p->waiting_first + 1) % NUMA_WAITING_MAX;
		p->waiting_count--;
	}
	return count;
}

void numa_profile_finish(struct numa_profile *p)
{
	p->unplaced += p->waiting_count;
	p->waiting_count = 0;
	free(p->waiting);
	p->waiting = NULL;
}

/* ---------------------------------------------------------------- sums */

static void add_to_site(struct numa_site *s, const struct numa_access *access, uint8_t page_node,
			uint8_t first_touch)
{
	double weight = access->weight * access->object_weight;

	s->samples++;
	s->accessed_from[access->from] += weight;
	s->page_on[page_node] += weight;
	if (access->alloc_node != NUMA_NONE)
		s->allocated_on[access->alloc_node] += weight;
	if (first_touch != NUMA_NONE)
		s->first_touch[first_touch] += weight;
	if (access->from == page_node)
		s->local += weight;
	else
		s->remote += weight;
}

int numa_profile_place(struct numa_profile *p, const struct numa_access *access, uint8_t page_node,
		       uint8_t first_touch)
{
	uint32_t position;
	int r;

	if (page_node == NUMA_NONE || access->from == NUMA_NONE) {
		p->unplaced++;
		return 0;
	}
	p->samples++;
	p->remote_samples += access->from != page_node;
	p->matrix[access->from][page_node] += access->weight;
	if (access->site == NUMA_NO_SITE)
		return 0;
	r = row_table_add(&p->site_table, &numa_site_layout, &access->site, &position);
	if (r >= 0)
		add_to_site(&p->sites[position], access, page_node, first_touch);
	p->sites_dropped += r == -ENOSPC;
	return r == -ENOMEM ? r : 0;
}

/* ---------------------------------------------------------------- questions */

double numa_remote_fraction(const struct numa_profile *p)
{
	double local = 0, all = 0;

	for (unsigned from = 0; from < NUMA_NODES_MAX; from++)
		for (unsigned page = 0; page < NUMA_NODES_MAX; page++) {
			all += p->matrix[from][page];
			if (from == page)
				local += p->matrix[from][page];
		}
	return estimate_fraction(all - local, all);
}

void numa_site_add(struct numa_site *to, const struct numa_site *from)
{
	table_row_add(&numa_site_layout, to, from, NULL);
}

double numa_site_remote_fraction(const struct numa_site *s)
{
	return estimate_fraction(s->remote, s->remote + s->local);
}

uint8_t numa_largest(const double *sums, unsigned nodes, double *share)
{
	double sum = 0, most = 0;
	uint8_t largest = NUMA_NONE;

	for (unsigned i = 0; i < nodes; i++) {
		sum += sums[i];
		if (sums[i] > most) {
			most = sums[i];
			largest = (uint8_t)i;
		}
	}
	*share = estimate_fraction(most, sum);
	return largest;
}

size_t numa_profile_waiting_bytes(const struct numa_profile *p)
{
	return p->waiting ? NUMA_WAITING_MAX * sizeof(*p->waiting) : 0;
}
