#include "daemon/watcher/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"
#include "daemon/watcher/stat.h"

#define NAME_BYTES 32
#define PATH_BYTES 64

int watcher_threads_init(struct watcher_threads *w, pid_t pid)
{
	char path[PATH_BYTES];

	*w = (struct watcher_threads){.pid = pid};
	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	w->dir = opendir(path);
	return w->dir ? 0 : -errno;
}

void watcher_threads_release(struct watcher_threads *w)
{
	for (size_t i = 0; i < w->count; i++)
		cleanup_close(&w->threads[i].fd);
	if (w->dir)
		(void)closedir(w->dir); /* Read-only: nothing to lose. */
	free(w->seen);
	*w = (struct watcher_threads){0};
}

/* ---------------------------------------------------------------- names */

static bool has_prefix(const char *name, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

bool watcher_is_jit_thread(const char *name)
{
	/* The kernel cuts names to 15 characters: "C2 CompilerThre". */
	static const char *const prefixes[] = {"C1 Compiler", "C2 Compiler", "JVMCI"};

	return has_prefix(name, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

bool watcher_is_gc_thread(const char *name)
{
	static const char *const prefixes[] = {
	    /* Workers of G1, Parallel and Serial's successors; JDK 11 has the same. */
	    "GC Thread#", "ParGC Thread#",
	    /* G1's marking, refinement, sampling and service threads. */
	    "G1 ", "Concurrent Mark", "CMS Main Thread",
	    /* ZGC, and what it was called beside its successor in JDK 21 to 23. */
	    "ZWorker", "ZDriver", "ZDirector", "ZStat", "ZUncommitter", "ZUnmapper", "XWorker",
	    "XDriver", "XDirector", "XStat", "XUncommitter", "XUnmapper", "RuntimeWorker#",
	    "Shenandoah",
	    /* Serial's collections, and the part of the others' that is done by one thread. */
	    "VM Thread"};

	return has_prefix(name, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

/* The thread's name, or the reason why there is none. */
static int read_name(const struct watcher_threads *w, pid_t tid, char name[NAME_BYTES])
{
	_cleanup_close_ int fd = -1;
	char path[PATH_BYTES];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/comm", tid);
	fd = openat(dirfd(w->dir), path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -errno : fd_read_text(fd, name, NAME_BYTES);
	if (n < 0)
		return (int)n;
	name[strcspn(name, "\n")] = '\0';
	return 0;
}

/* ---------------------------------------------------------------- finding them */

static int compare_threads(const void *a, const void *b)
{
	pid_t x = ((const struct seen_thread *)a)->tid, y = ((const struct seen_thread *)b)->tid;

	return (x > y) - (x < y);
}

static bool is_held(const struct watcher_threads *w, pid_t tid)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->threads[i].tid == tid)
			return true;
	return false;
}

static void hold(struct watcher_threads *w, pid_t tid, enum watcher_group group)
{
	char path[PATH_BYTES];
	int fd;

	if (w->count == WATCHER_HELD_THREADS_MAX || is_held(w, tid))
		return;
	(void)snprintf(path, sizeof(path), "%d/stat", tid);
	fd = openat(dirfd(w->dir), path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		w->threads[w->count++] = (struct held_thread){.tid = tid, .group = group, .fd = fd};
}

/* A thread that has just begun still has the name of the one that made it, in HotSpot that of the
 * program: it is looked at again. */
static bool look_at(struct watcher_threads *w, pid_t tid, const char *program)
{
	char name[NAME_BYTES];

	if (read_name(w, tid, name) < 0)
		return false;
	if (watcher_is_gc_thread(name))
		hold(w, tid, WATCHER_GC);
	else if (watcher_is_jit_thread(name))
		hold(w, tid, WATCHER_JIT);
	return tid == w->pid || strcmp(name, program) != 0;
}

/* The threads there are, by tid; NULL without memory. */
static struct seen_thread *list_threads(struct watcher_threads *w, size_t *count)
{
	struct seen_thread *list = NULL;
	size_t capacity = 0;
	struct dirent *entry;

	*count = 0;
	rewinddir(w->dir);
	while (*count < WATCHER_THREADS_MAX && (entry = readdir(w->dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= 0)
			continue;
		if (*count == capacity) {
			struct seen_thread *larger;

			capacity = capacity ? 2 * capacity : 64;
			larger = realloc(list, capacity * sizeof(*list));
			if (!larger) {
				free(list);
				return NULL;
			}
			list = larger;
		}
		list[(*count)++] = (struct seen_thread){.tid = tid};
	}
	if (list)
		qsort(list, *count, sizeof(*list), compare_threads);
	return list;
}

void watcher_threads_scan(struct watcher_threads *w)
{
	char program[NAME_BYTES] = "";
	size_t count, old = 0;
	struct seen_thread *list = list_threads(w, &count);

	if (!list)
		return;
	(void)read_name(w, w->pid, program); /* "" is no thread's name. */
	for (size_t i = 0; i < count; i++) {
		while (old < w->seen_count && w->seen[old].tid < list[i].tid)
			old++;
		list[i].named =
		    old < w->seen_count && w->seen[old].tid == list[i].tid && w->seen[old].named;
		if (!list[i].named)
			list[i].named = look_at(w, list[i].tid, program);
	}
	free(w->seen);
	w->seen = list;
	w->seen_count = count;
}

/* ---------------------------------------------------------------- their time */

void watcher_threads_cpu(struct watcher_threads *w, uint64_t cpu_ns[WATCHER_GROUPS])
{
	uint64_t sums[WATCHER_GROUPS] = {0};

	for (size_t i = 0; i < w->count;) {
		struct held_thread *t = &w->threads[i];
		struct watcher_stat stat;

		if (watcher_stat_read(t->fd, &stat) < 0) { /* It has ended. */
			w->ended_ns[t->group] += t->cpu_ns;
			cleanup_close(&t->fd);
			*t = w->threads[--w->count];
			continue;
		}
		t->cpu_ns = stat.cpu_ns;
		sums[t->group] += t->cpu_ns;
		i++;
	}
	for (size_t i = 0; i < WATCHER_GROUPS; i++)
		cpu_ns[i] = sums[i] + w->ended_ns[i];
}
