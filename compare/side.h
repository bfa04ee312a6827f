/*
 * Holds what is compared of one window, or of many that were merged: its CPU time by calling
 * context, and the part of it at wasteful accesses by kind, method and place. Of a window without
 * kind cpu, which knows no CPU time, it is the bytes that were checked for each kind, and the part
 * of them at those accesses.
 *
 * The daemon makes it of a window (profile/combine/window_side.h) and writes it into the JSON
 * report as "comparison"; who compares reads it from there, so that a file is as good as a window
 * (compare/side_json.h). Contexts are paths of methods, each of a class and a name: without lines,
 * bytecodes and tiers, which another build has others of, and with frames that were inlined like
 * those that were not.
 *
 * Method 0 and node 0 are none; method N is methods[N - 1], node N nodes[N - 1], parents before
 * their children. Owned by whoever made it; one thread at a time.
 */
#ifndef JXPERF_COMPARE_SIDE_H
#define JXPERF_COMPARE_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/kinds.h"
#include "proto/limits.h"

/* A larger tree loses its smallest leaves to their parents, more waste the least of it. */
#define COMPARE_NODES_MAX 32768u
#define COMPARE_WASTE_MAX 8192u
#define COMPARE_DEPTH_MAX 1024u /* frames of a context */
#define COMPARE_NAME_MAX  512u  /* bytes of a name that are kept */

#define COMPARE_PROBLEMS_MAX 32u

#define COMPARE_FACT_BYTES 128

/* The JVM's own threads, whose CPU time is measured, are methods of these names. */
#define COMPARE_GC        "[garbage collector]"
#define COMPARE_COMPILERS "[compilers]"

enum compare_unit { COMPARE_CPU, COMPARE_CHECKED };

struct compare_node {
	uint32_t parent;
	uint32_t method;
	double ns; /* its own */
	double ticks;
};

/* The sums of observations: the nanoseconds of CPU time that they stand for or the bytes that they
 * have, the squares of that, how many there are. */
struct compare_sums {
	double amount;
	double squares;
	double count;
};

/* Where wasteful accesses are. */
struct compare_place {
	Jxp__Kind kind;
	uint32_t method; /* that makes the access that could go */
	bool spill;      /* on a stack: the compiler's, nobody's source has it */
	char *name;      /* "org.example.Main.total" */
};

struct compare_waste {
	struct compare_place at; /* with a name of its own */
	struct compare_sums sums;
};

/* The report says that this is done in vain (its "problems"): who does it, by name; then the
 * methods of its largest pair, "" where there is none; and in accesses of which kinds. */
#define COMPARE_PROBLEM_METHODS 3u
struct compare_problem {
	char *sentence;
	char *methods[COMPARE_PROBLEM_METHODS];
	bool kinds[KIND_VALUES];
	Jxp__Kind main_kind; /* that most of it shows in; 0: none */
};

/* What a merge's report says of its windows. */
#define COMPARE_NOTES_MAX 16u
struct compare_note {
	unsigned windows;
	bool skipped; /* these are not in it */
	char *words;  /* behind the number, and of the first of them: "cannot be read (first w7)" */
};

struct compare_side {
	/* People are told this of it; texts are fit to show. */
	char name[COMPARE_FACT_BYTES]; /* "w7", or a file's */
	char id[COMPARE_FACT_BYTES];
	char app[COMPARE_FACT_BYTES];
	char jdk[COMPARE_FACT_BYTES];
	char start[COMPARE_FACT_BYTES];
	int pid;
	double elapsed_s;
	unsigned windows;                             /* 1 but for a merge, */
	unsigned skipped;                             /* which left out so many */
	struct compare_note notes[COMPARE_NOTES_MAX]; /* only read */
	size_t note_count;

	enum compare_unit unit;
	/* With CPU time: what the program used itself, and as many ticks as that would have made;
	 * both above 0. */
	double whole_ns;
	double ticks;
	double after; /* the part of it that may lie behind the last ticks of threads, below 1 */
	char **methods;
	size_t method_count;
	double *excess; /* of a merge, by method: how its windows differ in the CPU time of it and
			 * all that it called, as in struct merged_spread; NULL: not known */
	double freedom;
	struct compare_node *nodes;
	size_t node_count;
	/* Sums of kinds that were asked for; the others have asked false. */
	struct {
		bool asked;
		unsigned windows; /* of a merge's, those that were for it, or 0, */
		double elapsed_s; /* only read: so long */
		double excess;    /* how they differ: as in struct merged_spread */
		double freedom;
		double after;                /* of the windows for it, as below */
		struct compare_sums sums;    /* wasteful ones */
		struct compare_sums checked; /* of bytes: all */
	} kinds[KIND_VALUES];
	struct compare_waste *waste;
	size_t waste_count;
	struct compare_problem *problems; /* only read */
	size_t problem_count;
	/* There was no room for these: only written. */
	size_t nodes_omitted;
	size_t waste_omitted;
};

/* What a JVM numbers differently each time that it runs is one class. Cuts the address
 * ("/0x00007f..." or ".0x...") off its name, and digits behind "$$Lambda$" and the like. */
void compare_unnumber(char *class_name);

/* The same of a text, in name; the text itself where it is longer than a name can be. */
const char *compare_unnumbered(char name[LIMIT_STRING_BYTES + 1], const char *text);

/* All zero is empty. Safe on one that is half made. */
void compare_side_release(struct compare_side *s);

/* Has it anything to compare? */
bool compare_side_is_empty(const struct compare_side *s);

/* The order of places, for qsort: below 0, 0 where they are the same, above 0. */
int compare_place_order(const struct compare_place *a, const struct compare_place *b);

void compare_sums_add(struct compare_sums *to, const struct compare_sums *from);

/* The name of a method; METHOD_UNKNOWN (common/label.h) for 0. */
const char *compare_side_method(const struct compare_side *s, uint32_t method);

#endif
