/* The numbers of a stat file of /proc that the watcher needs, from a descriptor that is kept: while
 * it is open, it is of the same process or thread, and cannot be read once that has ended. */
#ifndef JXPERF_DAEMON_WATCHER_STAT_H
#define JXPERF_DAEMON_WATCHER_STAT_H

#include <stdint.h>

struct watcher_stat {
	uint64_t cpu_ns; /* user and system */
	uint64_t page_faults;
	uint64_t threads;
	uint64_t start_ticks; /* since boot */
};

/* 0 or -errno: -ESRCH when it has ended. */
int watcher_stat_read(int fd, struct watcher_stat *out);

#endif
