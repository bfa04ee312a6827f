/*
 * What a JVM's performance data says of its collector, read again and again.
 *
 * The file is the target's: it is read, never mapped (whoever truncates a mapped file ends its
 * readers), and where a number lies is looked up in a copy once and kept inside the bounds of what
 * is read. So whatever the target writes, numbers may be wrong and nothing else.
 *
 * The names are HotSpot's: src/hotspot/share/gc/shared/collectorCounters.cpp and the collectors'
 * own, JDK 11 to 25.
 */
#ifndef JXPERF_DAEMON_WATCHER_PERFDATA_H
#define JXPERF_DAEMON_WATCHER_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/jxperf.pb-c.h"

/* sun.gc.collector.N: young, full and concurrent collections. */
#define PERFDATA_COLLECTORS 4

/* Spaces that hold what a collection left: survivors and old ones. */
#define PERFDATA_SPACES 8

struct perfdata_collector {
	size_t invocations, time, last_exit; /* offsets of these numbers */
	uint64_t seen_exit;                  /* the last end of a collection that was seen */
};

struct watcher_perfdata {
	int fd; /* of the file, or -1 */
	uint8_t *copy;
	size_t first, end; /* of what is read: from the first number to behind the last */
	double tick_ns;
	struct perfdata_collector collectors[PERFDATA_COLLECTORS];
	size_t collector_count;
	size_t spaces[PERFDATA_SPACES]; /* offsets of the bytes in use */
	size_t space_count;             /* 0: this collector does not tell what a collection left */
	unsigned quiet_polls;           /* since a collection ended */
	unsigned ends;                  /* of collections that were seen */
	double clock_ns;    /* what the JVM's clock lags behind ours: the least that was seen */
	uint64_t last_heap; /* at the last look */
	bool doubtful;      /* ... which came some time after a collection */
	bool heap_moves; /* between collections, too: humongous objects were seen to be allocated */
	/* Since watcher_perfdata_take: */
	uint64_t lowest_heap; /* after a collection; 0: none came */
	uint64_t least_heap;  /* at any look */
};

/* Takes fd, owned from here on, and looks for the numbers. 0; -EAGAIN when the JVM has not entered
 * them (yet), and it may be tried again with watcher_perfdata_find; or -errno. */
int watcher_perfdata_init(struct watcher_perfdata *p, int fd);
int watcher_perfdata_find(struct watcher_perfdata *p);
void watcher_perfdata_release(struct watcher_perfdata *p);

/* Reads the file anew. 0 or -errno. */
int watcher_perfdata_read(struct watcher_perfdata *p);

/* Looks whether a collection has ended by what was read, which was over at that time
 * (CLOCK_MONOTONIC): to be called often, since what the heap holds after one is soon more. */
void watcher_perfdata_look(struct watcher_perfdata *p, uint64_t now_ns);

/* Fills in what was read last: collections so far and the time in them; and of the looks since
 * this was asked last, the least that the heap held after a collection, and at any of them. */
void watcher_perfdata_take(struct watcher_perfdata *p, Jxp__WatchRecord *out);

#endif
