/*
 * A problem: what one operation of a program does in vain, each once, whatever kinds of pairs,
 * fields and lines it shows in.
 *
 * Its kind follows from which accesses they are and from what the methods are called; it is what
 * people call such a thing, and what has helped them. docs/problems.md has how each is told.
 */
#ifndef JXPERF_REPORT_PROBLEMS_PROBLEM_H
#define JXPERF_REPORT_PROBLEMS_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "report/pairs/pair_ranking.h"

struct report_loop;

enum problem_kind {
	PROBLEM_COPIED,      /* copied and overwritten unread */
	PROBLEM_CLEARED,     /* cleared, then filled */
	PROBLEM_GROWN,       /* grown by copying */
	PROBLEM_OVERWRITTEN, /* stored and overwritten unread otherwise */
	PROBLEM_REWRITTEN,   /* with the value that is there */
	PROBLEM_SEARCHED,    /* elements looked through from the beginning */
	PROBLEM_BOOKKEEPING, /* an object's own fields for each byte or element */
	PROBLEM_SCAFFOLDING, /* of iterators and wrappers */
	PROBLEM_REPEATED,    /* evaluated again from what is unchanged */
	PROBLEM_ALLOCATED,   /* objects that are garbage soon */
	PROBLEM_KINDS,
};

struct problem_words {
	const char *name;        /* "copied": in JSON */
	const char *verb, *rest; /* a sentence: the operation, this, the places, this */
	const char *advice;      /* what has helped people with most such problems */
	/* The work as such is in vain, with all that it loads: not the part of it that is one of
	 * these stores. */
	bool whole;
};

extern const struct problem_words problem_words[PROBLEM_KINDS];

#define PROBLEM_PLACES_MAX  4
#define PROBLEM_CLASSES_MAX 3
#define PROBLEM_CALLERS_MAX 2

/* So much comes from one caller: that is where to look. */
#define PROBLEM_CALLER_MIN 0.6

/* Pairs of a kind that are part of a problem, and all that its operation has. */
struct problem_pairs {
	uint64_t wasteful;
	uint64_t walked; /* wasteful, too, and no problem by themselves: loads of a walk */
	uint64_t count;
};

/* A method, and the part of something that comes from it. */
struct problem_caller {
	uint32_t method; /* 0: none */
	double part;
};

struct problem_class {
	uint32_t name;   /* a string of the profile */
	double fraction; /* of the bytes that its operation allocates */
};

/* Holds what an operation allocates, with what it calls. All zero: nothing. */
struct problem_allocation {
	uint32_t operation; /* the problem's own, or one that calls it and allocates beside */
	uint64_t samples;
	double fraction; /* of all bytes that are allocated */
	struct interval fraction_ci95;
	double bytes, objects, per_s; /* estimates; objects a second */
	double garbage; /* of its tracked bytes, those known to be before the window ended */
	struct problem_class classes[PROBLEM_CLASSES_MAX]; /* the most bytes first */
	size_t class_count;                                /* all of them */
	uint32_t maker;    /* the method that makes most of it, or has the JDK make it, */
	double maker_part; /* and its part of the bytes */
	/* Its part of the collector's CPU time, by bytes. */
	double gc_share;
	struct interval gc_ci95;
};

struct problem {
	enum problem_kind kind;
	Jxp__Kind pairs_kind; /* that most of it shows in */
	uint32_t method;      /* the operation */
	bool basic; /* it is of the JDK's basic packages (operation.h): its callers' doing */
	const char *advice;                                 /* what has helped people */
	struct problem_caller callers[PROBLEM_CALLERS_MAX]; /* that most of it comes from */
	/* Another problem's operation, which has called most of this one; its rank may change. */
	struct problem_caller part_of;
	const struct pair *largest;          /* of the profile; NULL: it has none */
	uint32_t places[PROBLEM_PLACES_MAX]; /* locations of pairs_kind, the largest first */
	size_t place_count;                  /* all of them */
	size_t field_count; /* of these, fields of the class that declares the first place */
	bool all_fields;    /* all of them are fields, whatever class declares them */
	struct problem_pairs pairs[KIND_VALUES];
	uint64_t told; /* wasteful pairs of whose access that could go the method can be told */
	/* The part in vain of the operation's accesses, or stores; of a loop's turns, or times
	 * that it is entered; of one that allocates, its part of all bytes. */
	double fraction;
	struct interval fraction_ci95;
	/* CPU time of the operation; not known without ticks, as the others. */
	struct cpu_share own;
	double inclusive;
	struct cpu_share saved; /* of it, what is in vain: not done again, it would be saved */
	struct cpu_share gain;  /* what removing the accesses that could go would save */
	/* At least what was measured as being in vain, at most all that the operation takes. */
	struct interval saved_bounds;
	struct problem_allocation allocated;
	const struct report_loop *loop; /* the window's finding of a loop there; or NULL */
	uint64_t evidence; /* wasteful pairs: loads, and stores by the larger of their two kinds */
	bool sure;         /* another such window would most likely have it, too (problems.h) */
};

#endif
