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

#include "common/err.h"

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
	size_t bytes; /* to be read: up to the last number */
	double tick_ns;
	struct perfdata_collector collectors[PERFDATA_COLLECTORS];
	size_t collector_count;
	size_t spaces[PERFDATA_SPACES]; /* offsets of the bytes in use */
	size_t space_count;             /* 0: this collector does not tell what a collection left */
	uint64_t lowest_heap; /* after a collection since watcher_perfdata_heap; 0: none came */
};

/* Takes fd, owned from here on, and looks for the numbers. 0; -EAGAIN when the JVM has not entered
 * them (yet), and it may be tried again with watcher_perfdata_find; or -errno. */
int watcher_perfdata_init(struct watcher_perfdata *p, int fd);
int watcher_perfdata_find(struct watcher_perfdata *p);
void watcher_perfdata_release(struct watcher_perfdata *p);

/* Reads the file anew and looks whether a collection has ended: to be called often, since what the
 * heap holds after a collection is soon more. 0 or -errno. */
int watcher_perfdata_poll(struct watcher_perfdata *p);

/* As the last poll read it: collections so far and the time in them; and the least that the heap
 * held after one since this was asked last. */
void watcher_perfdata_take(struct watcher_perfdata *p, uint64_t *collections, uint64_t *time_ns,
			   uint64_t *heap_bytes);

#endif
