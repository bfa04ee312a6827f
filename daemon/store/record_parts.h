/*
 * The parts of a record (record.h), each its own module: the profile of pairs, objects with NUMA
 * nodes, ticks, loops, effects. Private to the record.
 *
 * pack: fills a message in, whose memory is the arena's. 0 or -ENOMEM.
 * unpack: checks a message and adds it to what is empty. 0; -EBADMSG for what cannot be; -ENOMEM.
 */
#ifndef JXPERF_DAEMON_STORE_RECORD_PARTS_H
#define JXPERF_DAEMON_STORE_RECORD_PARTS_H

#include <math.h>
#include <stdbool.h>

#include "daemon/container/arena.h"
#include "daemon/window/result.h"
#include "proto/store.pb-c.h"

/* Room for count values in a column of a message, never NULL but without memory. */
#define RECORD_COLUMN(arena, message, column, count) \
	((message)->n_##column = (count),            \
	 (message)->column =                         \
	     record_allocate((arena), (message)->n_##column, sizeof(*(message)->column)))

static inline void *record_allocate(struct arena *a, size_t count, size_t size)
{
	return a->allocator.alloc(a->allocator.allocator_data, count ? count * size : 1);
}

/* Estimated sums: finite and not below 0. */
static inline bool record_is_sum(double value)
{
	return isfinite(value) && value >= 0;
}

int record_pack_profile(struct arena *a, const struct profile *p, Jxp__StoredProfile *m);
int record_unpack_profile(const Jxp__StoredProfile *m, struct profile *p);

/* Does the profile have these? 0 is the empty one of each. */
bool record_has_text(const struct profile *p, uint32_t id);
bool record_has_node(const struct profile *p, uint32_t id);
bool record_has_method(const struct profile *p, uint32_t id);
bool record_has_location(const struct profile *p, uint32_t id);

int record_pack_objects(struct arena *a, const struct object_profile *o, Jxp__StoredObjects *m);
/* p: the profile that texts and contexts are of. */
int record_unpack_objects(const Jxp__StoredObjects *m, const struct profile *p,
			  struct object_profile *o);

/* Of these, classes and strata. */
int record_pack_classes(struct arena *a, const struct object_profile *o, Jxp__StoredObjects *m);
int record_unpack_classes(const Jxp__StoredObjects *m, const struct profile *p,
			  struct object_profile *o);

int record_pack_numa(struct arena *a, const struct numa_profile *n, unsigned nodes,
		     Jxp__StoredNuma *m);
/* sites: of the window's object profile. */
int record_unpack_numa(const Jxp__StoredNuma *m, unsigned nodes, size_t sites,
		       struct numa_profile *n);

int record_pack_cpu(struct arena *a, const struct cpu_profile *c, Jxp__StoredCpu *m);
/* m: NULL, in a record of before, is an empty one. p: the profile that contexts are of. */
int record_unpack_cpu(const Jxp__StoredCpu *m, const struct profile *p, struct cpu_profile *c);

/* Of threads, into the message that record_pack_cpu has filled in, their ticks. */
int record_pack_threads(struct arena *a, const struct thread_table *t, Jxp__StoredCpu *m);
int record_unpack_threads(const Jxp__StoredCpu *m, struct thread_table *t);

int record_pack_loops(struct arena *a, const struct loop_profile *l, Jxp__StoredLoops *m);
/* Likewise. */
int record_unpack_loops(const Jxp__StoredLoops *m, const struct profile *p, struct loop_profile *l);

int record_pack_effects(struct arena *a, const struct side_effects *s, Jxp__StoredEffects *m);
int record_unpack_effects(const Jxp__StoredEffects *m, struct side_effects *s);

#endif
