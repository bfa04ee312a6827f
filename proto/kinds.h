/*
 * The kinds of pairs that a window can ask for, one row each, and the subjects beside them.
 *
 * A pair is two accesses of one thread to the same bytes: the first is sampled, a debug register
 * waits for the second. All that tells one kind from another is in its row, which the agent, the
 * engine, reports and the client read; docs/extending.md says what a new one takes. A subject is
 * something else to ask, without pairs: which objects accesses go to, from which NUMA node, where
 * the CPU time goes, or what the hottest loops come to. Both are values of Kind where they cross a
 * socket.
 *
 * Constant data and functions of it: any thread, and signal handlers.
 */
#ifndef JXPERF_PROTO_KINDS_H
#define JXPERF_PROTO_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/jxperf.pb-c.h"

/* Rows of the tables. */
#define PAIR_KINDS    3
#define SUBJECT_KINDS 4

/* Size of arrays that are indexed by Kind. */
#define KIND_VALUES 8

/* Types of access; a set of them. */
enum pair_access {
	PAIR_LOAD = 1,
	PAIR_STORE = 2,
	PAIR_LOAD_OR_STORE = PAIR_LOAD | PAIR_STORE,
};

/* One of these makes a completed pair wasteful. */
enum pair_waste {
	PAIR_WASTE_OVERWRITTEN, /* the second access stores, and has not loaded before */
	PAIR_WASTE_SAME_VALUE,  /* it loads or stores the value that the first one did */
};

struct pair_kind {
	Jxp__Kind kind;
	const char *name;      /* "dead_store": in JSON, metrics and collapsed stacks */
	const char *option;    /* "dead-store": what users write */
	const char *title;     /* "dead stores" */
	const char *heading;   /* of its pairs in the text report */
	const char *separator; /* between the two accesses of one there */
	const char *finding;   /* what is wrong with a place: "is", or "are", and this */
	const char *removable; /* the access of a wasteful pair that could go */
	const char *access;    /* what the first access has done, and the second does again */
	enum pair_access sampled;
	/* The register traps on these: PAIR_STORE or PAIR_LOAD_OR_STORE, x86 has no other. */
	enum pair_access watched;
	/* The traps that are the second access. Others cost a signal and change nothing, but that
	 * a store among them may leave another value. */
	enum pair_access ends;
	enum pair_waste waste;
};

/* In the order in which reports have them. */
extern const struct pair_kind pair_kinds[]; /* PAIR_KINDS rows */

struct subject_kind {
	Jxp__Kind kind;
	const char *option; /* "objects" */
	Jxp__Kind needs;    /* what is asked for with it, too; KIND_NONE: nothing */
};

extern const struct subject_kind subject_kinds[]; /* SUBJECT_KINDS rows */

/* The row of a kind; NULL for subjects, KIND_NONE and what is none. */
const struct pair_kind *pair_kind_find(Jxp__Kind kind);

/* By its name; KIND_NONE for NULL and for what is none of them. */
Jxp__Kind pair_kind_named(const char *name);

/* Sets of kinds are arrays of KIND_VALUES, by Kind. Adds one, with what it needs; false, and
 * nothing is added, where there is no such kind. */
bool kinds_add(bool *kinds, Jxp__Kind kind);

/* A set as a number: 1 << Kind of each. */
uint32_t kinds_mask(const bool *kinds);

/* Writes those of a set to list, which has room for PAIR_KINDS + SUBJECT_KINDS, in the order of the
 * tables. Returns how many there are. */
size_t kinds_list(const bool *kinds, Jxp__Kind *list);

/* Gives what users write for a kind or subject; "none" for what is neither. */
const char *kind_option(Jxp__Kind kind);

/* The i-th of all kinds and subjects, as users write it, in the order of the tables; NULL behind
 * the last. */
const char *kind_option_at(size_t i);

/* The kind of the length bytes at option, which need no NUL behind them; KIND_NONE: nobody's. */
Jxp__Kind kind_of_option(const char *option, size_t length);

/* "dead-store, silent-store, objects" and so on: every option, with last before the last one. */
#define KIND_OPTIONS_BYTES 256
const char *kind_options(char text[KIND_OPTIONS_BYTES], const char *last);

#endif
