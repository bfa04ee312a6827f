/*
 * The threads of a JVM's collector and of its compilers, and the CPU time they have used: by the
 * names that HotSpot gives them (JDK 11 to 25, all collectors), in /proc/PID/task.
 *
 * A JVM may have thousands of threads, so all of them are looked at rarely, and one whose name is
 * known never again. Each of these is held open: a thread that has ended cannot be taken for
 * another that has its number. What ended threads had used still counts; compiler threads that come
 * and go between two looks do not.
 */
#ifndef JXPERF_DAEMON_WATCHER_THREADS_H
#define JXPERF_DAEMON_WATCHER_THREADS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A collector has a thread for each CPU, or five for eight of them, and as many again at most that
 * work beside the application; compilers have a few. */
#define WATCHER_HELD_THREADS_MAX 256u

/* Threads of which it is remembered that they were looked at; of more, each is looked at each time.
 */
#define WATCHER_THREADS_MAX 65536u

/* Whose a thread is. */
enum watcher_group {
	WATCHER_GC,
	WATCHER_JIT,
	WATCHER_GROUPS,
};

struct held_thread {
	pid_t tid;
	enum watcher_group group;
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
	struct held_thread threads[WATCHER_HELD_THREADS_MAX];
	size_t count;
	uint64_t ended_ns[WATCHER_GROUPS]; /* CPU time of those that have ended */
	struct seen_thread *seen;          /* by tid */
	size_t seen_count;
};

/* Opens the directory of pid's threads. 0 or -errno; released in either case. */
int watcher_threads_init(struct watcher_threads *w, pid_t pid);
void watcher_threads_release(struct watcher_threads *w);

/* Looks for such threads that are new. Without memory, or rights, those that are known
 * stay. */
void watcher_threads_scan(struct watcher_threads *w);

/* Is a thread with that name (as in comm) one of the collector, of a compiler? */
bool watcher_is_gc_thread(const char *name);
bool watcher_is_jit_thread(const char *name);

/* CPU time of each group's threads since the JVM started. */
void watcher_threads_cpu(struct watcher_threads *w, uint64_t cpu_ns[WATCHER_GROUPS]);

#endif
