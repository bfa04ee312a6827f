/*
 * The threads of a JVM's collector, and the CPU time they have used: by the names that HotSpot
 * gives them (JDK 11 to 25, all collectors), in /proc/PID/task.
 *
 * A JVM may have thousands of threads, so all of them are looked at rarely, and one whose name is
 * known never again. Each of the collector's is held open: a thread that has ended cannot be taken
 * for another that has its number. What ended threads had used still counts.
 */
#ifndef JXPERF_DAEMON_WATCHER_THREADS_H
#define JXPERF_DAEMON_WATCHER_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A collector has a thread for each CPU, or five for eight of them, and as many again at most that
 * work beside the application. */
#define WATCHER_GC_THREADS_MAX 256u

/* Threads of which it is remembered that they were looked at; of more, each is looked at each time.
 */
#define WATCHER_THREADS_MAX 65536u

struct gc_thread {
	pid_t tid;
	int fd; /* its stat file */
	uint64_t cpu_ns;
};

struct seen_thread {
	pid_t tid;
	bool named; /* it has a name of its own */
};

struct watcher_threads {
	pid_t pid;
	DIR *dir;
	struct gc_thread threads[WATCHER_GC_THREADS_MAX];
	size_t count;
	uint64_t ended_ns;        /* CPU time of those that have ended */
	struct seen_thread *seen; /* by tid */
	size_t seen_count;
};

/* Opens the directory of pid's threads. 0 or -errno; released in either case. */
int watcher_threads_init(struct watcher_threads *w, pid_t pid);
void watcher_threads_release(struct watcher_threads *w);

/* Looks for threads of the collector that are new. Without memory, or rights, those that are known
 * stay. */
void watcher_threads_scan(struct watcher_threads *w);

/* Is a thread with that name (as in comm) one of the collector? */
bool watcher_is_gc_thread(const char *name);

/* CPU time of the collector's threads since the JVM started. */
uint64_t watcher_threads_cpu_ns(struct watcher_threads *w);

#endif
