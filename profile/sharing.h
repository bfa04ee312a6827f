/*
 * Which threads access an allocation site's objects: the one that allocated an object, or others.
 * What others access much, and store to, is shared: its cache lines move between processors, and
 * what one thread would need no synchronization for needs it.
 *
 * A sampled access to a tracked object counts for its site and the place in the object. By another
 * thread than the object's own (by_others) does not say how often threads take turns: an object may
 * be handed over once. So accesses by another thread than the one of the sampled access before to
 * the same object, or its allocation, are counted by themselves (taken_over). Threads are told
 * apart by their numbers, which the kernel uses again after their end.
 */
#ifndef JXPERF_PROFILE_SHARING_H
#define JXPERF_PROFILE_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/container/row_table.h"

struct site_sharing {
	uint32_t site;     /* of the object profile */
	uint32_t location; /* of the profile; 0: not known */
	uint64_t samples;
	uint64_t stores; /* of these; likewise all counts below */
	uint64_t by_others;
	uint64_t stores_by_others;
	uint64_t taken_over;
	double metric; /* accesses' weights times their objects' */
	double metric_by_others;
	double metric_taken_over;
};

extern const struct table_layout site_sharing_layout;

/* One access to an object. */
struct shared_access {
	uint32_t site;
	uint32_t location;
	uint32_t thread;
	uint32_t allocator;     /* the thread that allocated the object, */
	uint32_t thread_before; /* and the one of the access before; without one, the same */
	bool store;
	double metric;
};

/* 0, -ENOSPC or -ENOMEM. */
int sharing_add(struct row_table *t, const struct shared_access *a);

/* Adds the numbers of one row to another's. */
void site_sharing_add(struct site_sharing *to, const struct site_sharing *from);

#endif
