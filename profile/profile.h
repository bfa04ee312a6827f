/*
 * The pair profile of one window: what JXPerf section 5.6 calls the coalesced profile. Pairs of all
 * threads with the same kind, calling contexts, instructions and region are one entry; their
 * metrics are added.
 *
 * Pairs whose address or second access belongs to the virtual machine itself are the JVM's
 * business, not the application's waste: only their totals are kept.
 *
 * With the clock sampler each pair also stands for CPU time (Transition.cpu_ns of jxperf.proto);
 * sums of it are doubles, since a merge weighs them (profile/combine/merge.h). What share of all
 * CPU time that is: profile/cpu_share.h.
 *
 * Totals count every observation, also when the pair table is full (LIMIT_PAIRS); the caller counts
 * the pairs that were not kept.
 */
#ifndef JXPERF_PROFILE_PROFILE_H
#define JXPERF_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/strings.h"
#include "profile/cct.h"
#include "profile/locations.h"
#include "proto/kinds.h"

/* One completed pair. */
struct observation {
	Jxp__Kind kind;
	Jxp__Region region;
	bool jvm_access; /* the second access was the virtual machine's */
	bool wasteful;
	uint32_t checked_bytes; /* 1..LIMIT_PAIR_BYTES */
	uint32_t watch_node;    /* ids of the profile's tree, */
	uint32_t trap_node;
	uint32_t watch_instruction; /* and of its strings */
	uint32_t trap_instruction;
	uint32_t location; /* of its locations; 0: not told */
	uint64_t cpu_ns;   /* 0..LIMIT_PAIR_CPU_NS; 0 where the sampler is no clock */
};

/* CPU time that observations stand for, and the squares of it. */
struct cpu_sums {
	double ns;
	double squares;
};

struct pair {
	uint32_t watch_node;
	uint32_t trap_node;
	uint32_t watch_instruction;
	uint32_t trap_instruction;
	uint32_t location;
	uint16_t kind;   /* Jxp__Kind */
	uint16_t region; /* Jxp__Region, never REGION_JVM; so far it is the key */
	uint64_t count;  /* observations, */
	uint64_t wasteful_count;
	uint64_t checked_bytes;
	uint64_t wasteful_bytes;
	uint64_t wasteful_squares; /* of the wasteful observations' bytes */
	struct cpu_sums cpu;       /* of the wasteful observations */
};

struct totals {
	uint64_t count;
	uint64_t wasteful_count;
	uint64_t checked_bytes;
	uint64_t wasteful_bytes;
	uint64_t sum_squares; /* of the observations' checked bytes */
	struct cpu_sums wasteful_cpu;
	struct cpu_sums cpu; /* of all observations */
};

/* The regions of the application's own memory: those below REGION_JVM. */
#define PROFILE_REGIONS JXP__REGION__REGION_JVM

struct kind_totals {
	struct totals application;
	struct totals regions[PROFILE_REGIONS]; /* the same by Region: they add up to it, but for
						   windows that were kept before there were any */
	struct totals jvm;
};

/* All zero is an empty profile. */
struct profile {
	struct strings strings;
	struct cct cct;
	struct locations locations;
	TABLE_OF(struct pair, pairs, pair_count, pair_table);
	struct kind_totals kinds[KIND_VALUES]; /* by Kind */
};

/* The rows of totals are those that a kind has, one behind the other. */
extern const struct table_layout pair_layout, totals_layout;
#define PROFILE_TOTALS (KIND_VALUES * sizeof(struct kind_totals) / sizeof(struct totals))

/* The node of a pair's access that could go where it is wasteful: of a dead store the first one, of
 * others the second. */
uint32_t pair_removable_node(const struct pair *pair);

void profile_release(struct profile *p);

/* Adds one observation, of a kind of pairs. 0; -ENOSPC or -ENOMEM when it is in the totals but its
 * pair could not be kept. */
int profile_add(struct profile *p, const struct observation *o);

#endif
