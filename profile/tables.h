/*
 * The tables of a window, by their numbers in a record of the store (profile/window/tables.h has
 * where each lies): each refers to rows of those before it, or to its own older ones.
 *
 * A record keeps numbers, so a table is added at the end, as a column is at the end of its table.
 */
#ifndef JXPERF_PROFILE_TABLES_H
#define JXPERF_PROFILE_TABLES_H

enum profile_table {
	TABLE_WINDOW, /* what was asked, what it ran on, what it counted */
	TABLE_METHODS,
	TABLE_NODES,
	TABLE_LOCATIONS,
	TABLE_PAIRS,
	TABLE_KINDS, /* the totals of each */
	TABLE_CPU,   /* sums of all ticks */
	TABLE_CPU_CONTEXTS,
	TABLE_THREADS,
	TABLE_OBJECTS, /* sums of all accesses */
	TABLE_SITES,
	TABLE_SITE_ACCESSES,
	TABLE_STRATA,
	TABLE_STRATUM_SITES,
	TABLE_CLASS_FIELDS,
	TABLE_CLASS_ACCESSES,
	TABLE_NUMA, /* sums of all accesses */
	TABLE_NUMA_SITES,
	TABLE_LOOP_SUMS, /* of ticks in compiled code */
	TABLE_LOOPS,
	TABLE_LOOP_CONTEXTS,
	TABLE_LOOP_PLACES,
	TABLE_LOOP_INPUTS,
	TABLE_EFFECTS,
	TABLE_EFFECT_FIRST,
	TABLE_EFFECT_LAST,
	TABLE_EFFECT_HEAPS,
	TABLE_SHARING, /* not in records of before */
	PROFILE_TABLES,
};

/* A merge has these weights (profile/combine/merge.h). */
enum profile_weight {
	WEIGHT_NONE,   /* 1: as it is */
	WEIGHT_CPU,    /* CPU time that ticks of kind cpu stand for, */
	WEIGHT_BESIDE, /* and of the JVM's own threads, */
	WEIGHT_LOOPS,  /* ticks that are looked for in loops, */
	WEIGHT_PAIRS,  /* and pairs */
	WEIGHT_ACCESS, /* accesses to objects */
	WEIGHT_TIME,   /* what lives at the end: averaged over the time that windows stand for */
	PROFILE_WEIGHTS,
};

#endif
