/*
 * What the engine itself had to drop of a session's stream, by cause.
 */
#ifndef JXPERF_PROFILE_WINDOW_LOSS_H
#define JXPERF_PROFILE_WINDOW_LOSS_H

#include <stdbool.h>

enum loss {
	LOSS_METHODS,      /* beyond LIMIT_METHODS */
	LOSS_LINES,        /* line tables beyond the session's memory */
	LOSS_NODES,        /* beyond LIMIT_NODES, or deeper than MAX_FRAMES_LIMIT */
	LOSS_INSTRUCTIONS, /* beyond LIMIT_INSTRUCTIONS */
	LOSS_LOCATIONS,    /* beyond LIMIT_LOCATIONS: shown as not known */
	LOSS_STRINGS,      /* names that no longer fitted; shown as "" */
	LOSS_THREADS,      /* beyond LIMIT_THREADS: missing from `threads` only */
	LOSS_PAIRS,        /* beyond LIMIT_PAIRS: in the totals, not in the list */
	LOSS_UNKNOWN_IDS,  /* references to something that was never sent, or was dropped */
	LOSS_REPEATED_IDS, /* definitions of an id that was defined before */
	LOSS_INVALID,      /* events with a field out of range */
	/* Losses of objects and accesses to them: */
	LOSS_CLASSES,         /* beyond LIMIT_CLASSES */
	LOSS_OBJECTS,         /* beyond objects_max: counted, but not tracked */
	LOSS_SITES,           /* objects of allocation sites beyond LIMIT_SITES */
	LOSS_SITE_ACCESSES,   /* beyond LIMIT_SITE_ACCESSES: in the site's sum, not in its list */
	LOSS_OBJECT_ORDER,    /* accesses: too many events waited for their turn */
	LOSS_POSITIONS,       /* contradictory, late, or more than there are objects */
	LOSS_UNKNOWN_OBJECTS, /* positions and deaths of objects that are not tracked */
	LOSS_OVERLAPS,        /* objects where a newer one is said to be */
	LOSS_UNKNOWN_THREADS, /* requests for events, after many for threads that were not found */
	LOSS_FIRST_TOUCHES,   /* of pages: there was no room to remember them */
	LOSS_CLASS_ACCESSES,  /* beyond LIMIT_CLASS_FIELDS or LIMIT_CLASS_ACCESSES: in sums only */
	LOSS_STRATA,          /* accesses beyond LIMIT_STRATA or LIMIT_STRATUM_SITES */
	LOSS_CPU_CONTEXTS,    /* ticks beyond LIMIT_CPU_CONTEXTS: in sums only */
	LOSS_LOOP_TICKS,      /* ticks at places beyond LIMIT_LOOP_TICKS: in no loop */
	LOSS_LOOPS,           /* loops, callers and places of results beyond their limits */
	LOSS_CODE,            /* entries of code images that cannot be */
	LOSS_CPU_TIME,        /* CPU times above what the processors had (intake_bound_cpu) */
	LOSS_MAX,
};

struct loss_words {
	const char *name;     /* "methods": the stage label of jxperf_dropped_events_total */
	const char *sentence; /* for people, after the number */
	bool lost;            /* counts events that were lost between a thread and the profile */
};

/* By enum loss. */
extern const struct loss_words loss_words[LOSS_MAX];

#endif
