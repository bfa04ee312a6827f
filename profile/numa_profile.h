/*
 * The NUMA profile of one window (DJXPerf, section 4.3): on which node the pages are that sampled
 * accesses go to, and on which node the accessing threads run; over all and for each allocation
 * site.
 *
 * The node of a page is asked of the kernel after the access (daemon/engine/numa_query.h), so
 * accesses wait here until the answer comes, in a bounded queue. Only accesses to the heap are
 * taken: stacks are their thread's own.
 *
 * The matrix and the remote fraction over all weigh each access as it was sampled; those of a site
 * weigh it as the site's other figures do (profile/object_profile.h).
 */
#ifndef JXPERF_PROFILE_NUMA_PROFILE_H
#define JXPERF_PROFILE_NUMA_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "machine/numa_topology.h"

/* Accesses that wait for their page's node: at 200 samples a second of 100 threads, some 0.2 s. */
#define NUMA_WAITING_MAX 4096

/* Allocation sites told apart; 5 MiB. What is beyond is in the sums over all only. */
#define NUMA_SITES_MAX 8192

#define NUMA_NO_SITE UINT32_MAX

struct numa_access {
	uint64_t address;
	uint32_t site;      /* of the window's object profile, or NUMA_NO_SITE */
	uint8_t from;       /* node of the accessing thread, */
	uint8_t alloc_node; /* and of the one that allocated; or NUMA_NONE */
	double weight;
	double object_weight; /* with a site: how many objects the accessed one stands for */
};

/* Sums of weights by node. */
struct numa_site {
	uint32_t site;
	uint64_t samples;
	double accessed_from[NUMA_NODES_MAX];
	double page_on[NUMA_NODES_MAX];
	double allocated_on[NUMA_NODES_MAX];
	double first_touch[NUMA_NODES_MAX]; /* of accesses whose page was seen touched first */
	double remote;
	double local;
};

/* All zero: nothing is measured. */
struct numa_profile {
	double matrix[NUMA_NODES_MAX][NUMA_NODES_MAX]; /* [accessing][page] */
	bool touch_traced; /* first touches since the window began are known */
	uint64_t samples;
	uint64_t remote_samples;
	uint64_t
	    unplaced; /* pages that the kernel knew no node of, or was not asked about in time */
	TABLE_OF(struct numa_site, sites, site_count, site_table);
	uint64_t sites_dropped;      /* accesses to sites beyond NUMA_SITES_MAX */
	struct numa_access *waiting; /* a ring of NUMA_WAITING_MAX, allocated with the first */
	size_t waiting_first;
	size_t waiting_count;
};

/* Of sums over all accesses, which are one row. */
extern const struct table_layout numa_site_layout, numa_sums_layout;

void numa_profile_release(struct numa_profile *p);

/* Has an access wait for its page's node; one that finds no room is counted as unplaced. 0 or
 * -ENOMEM. */
int numa_profile_access(struct numa_profile *p, const struct numa_access *access);

/* Takes out up to limit waiting accesses, oldest first; returns how many. */
size_t numa_profile_take(struct numa_profile *p, struct numa_access *out, size_t limit);

/* The node of a taken access's page, and of its first touch, if that was seen; or NUMA_NONE. 0 or
 * -ENOMEM. */
int numa_profile_place(struct numa_profile *p, const struct numa_access *access, uint8_t page_node,
		       uint8_t first_touch);

/* Nothing more will be placed. */
void numa_profile_finish(struct numa_profile *p);

/* Of all placed accesses, 0 when there are none. */
double numa_remote_fraction(const struct numa_profile *p);

/* Adds what one site has to another's sums. */
void numa_site_add(struct numa_site *to, const struct numa_site *from);

double numa_site_remote_fraction(const struct numa_site *s);

/* The node with the largest of nodes sums, and its share in *share; NUMA_NONE when all are 0. */
uint8_t numa_largest(const double *sums, unsigned nodes, double *share);

/* Heap bytes held by accesses that wait. */
size_t numa_profile_waiting_bytes(const struct numa_profile *p);

#endif
