/*
 * Watches what a window does to its JVM that no account of the agent's shows: how often and how
 * long the JVM collects, what its heap holds after a collection, the CPU time of the collector's
 * threads, page faults; before the window's work began and since, as seen from outside
 * (daemon/watcher/watcher.h).
 *
 * Two things are known of "before": what was seen from the attach until the work began (a second or
 * a few), and the averages of the JVM's life. A figure has risen beyond noise when the quietest
 * second of the last SIDE_EFFECTS_SUSTAIN seconds is well above the busiest second of the former
 * and above the latter, by a factor and by an amount that matters, and so per CPU time of the
 * application, too: a JVM that just got more to do collects more often. Who caused the rise cannot
 * be told from outside.
 *
 * Pure: a function of the records, which come in order of time. What is kept of them is bounded.
 */
#ifndef JXPERF_PROFILE_SIDE_EFFECTS_H
#define JXPERF_PROFILE_SIDE_EFFECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "proto/jxperf.pb-c.h"

#define SIDE_EFFECTS_REASON_BYTES 256
#define SIDE_EFFECTS_LINE_BYTES   128

/* The watcher's interval, and so many of them in a second. */
#define SIDE_EFFECTS_INTERVAL_MS 250u
#define SIDE_EFFECTS_SECOND      4u

/* A rise has to last so long. A G1 that begins to collect its old regions makes some eight pauses
 * in quick succession: with four seconds these are no rise. */
#define SIDE_EFFECTS_SUSTAIN 4u

/* So many are remembered of before: half a minute. An attach takes less. */
#define SIDE_EFFECTS_RECORDS 128u

/* A window for objects first goes without, for the comparison: an eighth of its time, at most three
 * seconds. Where that is less than half a second there is nothing to compare with, and the time in
 * which a rise could be noticed would be no part of the window anyway. */
#define SIDE_EFFECTS_BASELINE_SHARE  8u
#define SIDE_EFFECTS_BASELINE_MAX_MS 3000u
#define SIDE_EFFECTS_BASELINE_MIN_MS 500u

/* Figures: the first four are rates, of sums that only grow. */
enum effect {
	EFFECT_COLLECTIONS,
	EFFECT_GC_TIME, /* fraction of the time */
	EFFECT_GC_CPU,  /* CPUs */
	EFFECT_FAULTS,
	EFFECT_RATES,
	EFFECT_HEAP = EFFECT_RATES, /* bytes after a collection */
	EFFECT_MAX,
};

enum effect_time {
	EFFECT_LIFETIME, /* of the JVM, until the first record */
	EFFECT_BEFORE,
	EFFECT_IN,
	EFFECT_AFTER, /* objects were switched off */
	EFFECT_TIMES,
};

struct effect_record {
	uint64_t time_ns;
	uint64_t uptime_ns;
	double sums[EFFECT_RATES]; /* since the JVM started; times in seconds */
	double cpu_s;              /* of all threads */
	bool has_data;     /* the JVM's performance data: collections, their time, the heap */
	double heap_bytes; /* after a collection since the last record; 0: none came */
	double
	    heap_least_bytes; /* since then, collection or not: at least what the last one left */
};

/* The heap held this after collections: of each second in which one came the least. */
struct effect_heap {
	uint64_t count; /* seconds in which a collection came */
	double sum, max;
	bool fell;          /* from one of these seconds to the next */
	double first, last; /* at these times */
	uint64_t first_ns, last_ns;
	double lowest;    /* of the second that has begun; 0: no collection yet */
	unsigned records; /* of that second */
	double least;     /* that was in use at any time, collection or not; 0: not known */
};

struct side_effects {
	bool watched;                                       /* somebody was asked to look */
	char reason[SIDE_EFFECTS_REASON_BYTES];             /* what was not seen, and why; or "" */
	uint64_t count;                                     /* records so far */
	struct effect_record records[SIDE_EFFECTS_RECORDS]; /* the last of them, by number */
	uint64_t begin_ns, off_ns;                          /* 0: not known, not switched off */
	/* The first and last record of each time; of LIFETIME the last only. */
	struct effect_record first[EFFECT_TIMES], last[EFFECT_TIMES];
	uint64_t counts[EFFECT_TIMES];
	struct effect_heap heap[EFFECT_TIMES];
	double last_heaps[SIDE_EFFECTS_SUSTAIN - 1]; /* of the last seconds since the work began */
	double peak[EFFECT_RATES];                   /* of any second before, a second */
	double cpu_peak[EFFECT_RATES]; /* likewise, for each second of the application's CPU time */
	bool rose[EFFECT_MAX];         /* beyond noise, at any time; */
	double from[EFFECT_MAX], to[EFFECT_MAX]; /* so, when that was noticed */
};

/* The store keeps this of it: side effects are one row, records and heaps one for each time. */
extern const struct table_layout side_effects_layout, effect_record_layout, effect_heap_layout;

/* How long a window of that duration goes without objects, ns. */
uint64_t side_effects_baseline_ns(uint64_t duration_ns);

/* The work that may have effects begins then; records of later times are of it. Once, before any of
 * those comes. */
void side_effects_begin(struct side_effects *s, uint64_t begin_ns);

/* What was begun is switched off: records of later times are EFFECT_AFTER. */
void side_effects_switch_off(struct side_effects *s, uint64_t now_ns);

/* Takes what the watcher says. False for what cannot be true: time or a sum that fell; s is
 * unchanged then. */
bool side_effects_add(struct side_effects *s, const Jxp__WatchRecord *record);

/* Should objects be switched off, by what the last record added? Those figures count of which an
 * ordinary program's rise for seconds is rare. A collector's threads are busy for many seconds when
 * they mark a large heap, and files that are mapped make page faults: where there is no performance
 * data, these two count together. */
bool side_effects_alarm(const struct side_effects *s);

/* Seconds from the first to the last record of that time. */
double side_effects_seconds(const struct side_effects *s, enum effect_time time);

/* A figure's average over that time, NAN when it is not known. */
double side_effects_mean(const struct side_effects *s, enum effect effect, enum effect_time time);

/* GC threads' part of the CPU time of all threads, NAN when it is not known. */
double side_effects_gc_cpu_fraction(const struct side_effects *s, enum effect_time time);

/* "collections rose from 7.1 to 23.8 a second". */
void side_effects_line(const struct side_effects *s, enum effect effect,
		       char line[SIDE_EFFECTS_LINE_BYTES]);

/* The same of what made side_effects_alarm true. */
void side_effects_alarm_line(const struct side_effects *s, char line[SIDE_EFFECTS_LINE_BYTES]);

#endif
