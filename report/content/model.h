/*
 * Holds what a report says, computed once from a window; text, JSON and collapsed stacks write it
 * down, in their words and as much of it as they have room for. Facts that need no computing (who
 * was profiled, when, how it ended, counters) are the window's, which the model borrows.
 *
 * Read-only once made: a report that comes out too long is written again from the same model. It
 * takes 216 bytes for each pair, and for each of 1,000 places and of 1,000 pairs of lines of a
 * kind; 768 for each allocation site and 32 for each context that accesses one; 184 for each field
 * of a class and 24 for each context that accesses one: with all limits reached, 94 MiB. Ticks take
 * 80 bytes for each method and 56 for each context, at most 27 MiB more; where the methods that
 * subsume are wanted, a node of their tree takes 18 bytes, and a method its name and 64. A loop
 * takes 344, its callers and places what the window has of them. While it is made, a pair takes 288
 * bytes more, a site 300, a context 8, and a node of the tree 80 for a moment.
 */
#ifndef JXPERF_REPORT_CONTENT_MODEL_H
#define JXPERF_REPORT_CONTENT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/estimate.h"
#include "report/content/class_ranking.h"
#include "report/content/cpu_findings.h"
#include "report/pairs/pair_ranking.h"
#include "report/loops/loop_findings.h"
#include "report/loops/loop_pairs.h"
#include "report/content/object_ranking.h"
#include "report/content/wanted.h"
#include "report/problems/problems.h"
#include "profile/window/result.h"
#include "proto/kinds.h"
#include "subsume/summary.h"
#include "subsume/tree.h"

/* The parts that are wanted. */
struct report_shown {
	bool findings;
	bool fields;
	bool lines;
	bool pairs;      /* by their whole contexts, */
	bool all_frames; /* and, in text, with frames that both of a pair have in common */
	bool objects;
	bool numa;
	bool cpu;
	bool loops;
	bool loops_alone;
	bool contexts;      /* with the calling contexts of ticks, in text */
	bool stacks;        /* the tree of ticks */
	bool subsuming;     /* and what subsumes in it */
	bool quality;       /* in text, in three lines, */
	bool quality_whole; /* or all of it */
};

/* Between two samples of a thread. */
struct report_period {
	bool operations; /* its unit; else ns of CPU time */
	uint64_t asked;
	uint64_t effective; /* last in force, as the budget allowed; 0: not known */
};

struct report_objects {
	bool tracked; /* else the rest is empty */
	struct class_ranking classes;
	struct object_ranking ranking;
	struct class_origins origins; /* of the classes */
	const char *metric;           /* what accesses are counted in: "CPU time", */
	const char *unit;             /* and "ns"; or an event's name, and "events" */
	uint64_t samples;             /* accesses, */
	double whole;                 /* their metric to the heap, which all fractions are of; */
	double attributed_fraction;   /* the sum of the sites' */
	double uncollected_bytes;     /* live at the end, and not looked at by a collection */
	double judged_s; /* when, from the start, one found dead objects; 0: none has */
};

struct report_numa {
	bool asked;
	bool measured; /* there is more than one node; else the rest is empty */
	const struct numa_topology *topology;
	double remote_fraction; /* of the placed accesses; 0 where there are none */
	double matrix[NUMA_NODES_MAX][NUMA_NODES_MAX]; /* fractions: [accessing node][page's] */
};

/* The window did this to its JVM (profile/side_effects.h). */
struct report_effects {
	enum effect_time baseline; /* what IN is compared with */
	double seconds[EFFECT_TIMES];
	/* NAN where not known. EFFECT_GC_CPU is a fraction of the process's CPU time. */
	double figures[EFFECT_TIMES][EFFECT_MAX];
};

struct report_quality {
	uint64_t dropped; /* events lost between a thread and the profile */
	bool overhead_known;
	double overhead_fraction;
	uint64_t own_ns; /* CPU time of the target without what profiling took */
	bool target_idle;
	double tracked_s; /* objects were, or are being */
	struct report_effects effects;
};

/* It is of the same ticks. The summary points at the other two. */
struct report_subsuming {
	bool made; /* it was wanted, and there were ticks; else the rest is empty */
	struct subsume_tree tree;
	bool analysed; /* the list is wanted, not just the tree; else the rest is empty */
	struct subsume_analysis analysis;
	struct subsume_summary summary;
};

struct report_model {
	const struct window_result *window;
	uint64_t elapsed_ns;
	const char *gate; /* "bpf" or "agent" */
	struct report_period period;
	struct report_shown shown;
	size_t columns; /* that sentences of the text report are folded at; 0: the usual */
	struct report_kind kinds[PAIR_KINDS]; /* in the order of the table */
	size_t kind_count;
	struct problems problems;
	double evidence_s; /* where there are none: a window as long might have one; 0: not known */
	struct report_objects objects;
	struct report_numa numa;
	struct report_cpu cpu;
	struct report_loops loops;    /* also where only pairs are shown: they name them */
	struct loop_pairs loop_pairs; /* empty in a window without loops, or without pairs */
	struct report_subsuming subsuming;
	struct report_quality quality;
};

/* wanted NULL: everything. Nothing may change w until the model is released, nor may m be moved. 0
 * or -ENOMEM, and then nothing is held. */
int report_model_init(struct report_model *m, const struct window_result *w,
		      const struct report_wanted *wanted);
void report_model_release(struct report_model *m);

#endif
