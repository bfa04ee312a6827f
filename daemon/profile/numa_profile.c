#include "daemon/profile/numa_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "daemon/container/hash.h"
#include "daemon/profile/estimate.h"

void numa_profile_release(struct numa_profile *p)
{
	free(p->sites);
	free(p->waiting);
	hash_index_release(&p->site_index);
	*p = (struct numa_profile){0};
}

int numa_profile_copy(struct numa_profile *to, const struct numa_profile *from)
{
	int r;

	*to = *from;
	to->site_index = (struct hash_index){0};
	to->waiting = NULL;
	to->site_capacity = from->site_count;
	r = array_copy(&to->sites, from->sites, from->site_count, sizeof(*from->sites));
	return r < 0 ? r : hash_index_copy(&to->site_index, &from->site_index);
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

static bool site_matches(const void *table, uint32_t position, const void *key)
{
	const struct numa_profile *p = table;

	return p->sites[position].site == *(const uint32_t *)key;
}

/* NULL, with *status 0, beyond NUMA_SITES_MAX. */
static struct numa_site *site_of(struct numa_profile *p, uint32_t site, int *status)
{
	uint32_t hash = hash_ids(&site, 1), position;

	*status = 0;
	if (hash_index_find(&p->site_index, hash, site_matches, p, &site, &position))
		return &p->sites[position];
	if (p->site_count == NUMA_SITES_MAX) {
		p->sites_dropped++;
		return NULL;
	}
	*status = array_reserve(&p->sites, &p->site_capacity, p->site_count + 1, sizeof(*p->sites));
	if (*status == 0)
		*status = hash_index_insert(&p->site_index, hash, (uint32_t)p->site_count);
	if (*status < 0)
		return NULL;
	p->sites[p->site_count] = (struct numa_site){.site = site};
	return &p->sites[p->site_count++];
}

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
	struct numa_site *site;
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
	site = site_of(p, access->site, &r);
	if (site)
		add_to_site(site, access, page_node, first_touch);
	return r;
}

int numa_profile_add_site(struct numa_profile *p, const struct numa_site *from)
{
	int r;
	struct numa_site *site = site_of(p, from->site, &r);

	if (site)
		numa_site_add(site, from);
	return r;
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

const struct numa_site *numa_profile_site(const struct numa_profile *p, uint32_t site)
{
	uint32_t position;

	return hash_index_find(&p->site_index, hash_ids(&site, 1), site_matches, p, &site,
			       &position)
		   ? &p->sites[position]
		   : NULL;
}

void numa_site_add(struct numa_site *to, const struct numa_site *from)
{
	to->samples += from->samples;
	to->remote += from->remote;
	to->local += from->local;
	for (unsigned i = 0; i < NUMA_NODES_MAX; i++) {
		to->accessed_from[i] += from->accessed_from[i];
		to->page_on[i] += from->page_on[i];
		to->allocated_on[i] += from->allocated_on[i];
		to->first_touch[i] += from->first_touch[i];
	}
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

size_t numa_profile_memory_bytes(const struct numa_profile *p)
{
	return p->site_capacity * sizeof(*p->sites) +
	       p->site_index.capacity * sizeof(struct hash_slot) +
	       (p->waiting ? NUMA_WAITING_MAX * sizeof(*p->waiting) : 0);
}
