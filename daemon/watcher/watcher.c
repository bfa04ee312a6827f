#include "daemon/watcher/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/process/jvm_view.h"
#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/privilege.h"
#include "profile/side_effects.h"
#include "daemon/watcher/perfdata.h"
#include "daemon/watcher/stat.h"
#include "daemon/watcher/threads.h"
#include "proto/frame.h"
#include "proto/jxperf.pb-c.h"

/* How soon after a collection the heap is looked at: a program that allocates a gigabyte a second
 * has by then 50 MB more. While none comes for some looks, the interval of the records will do. */
#define POLL_MS        50u
#define POLLS_A_RECORD (SIDE_EFFECTS_INTERVAL_MS / POLL_MS)
#define QUIET_POLLS    20u

/* The kernel adds up a process's numbers over all its threads, and each of the collector's and the
 * compilers' is a file to be read. Of many it is done once a second. */
#define MANY_THREADS      512u
#define MANY_HELD_THREADS 16u

/* These threads are looked for after a second, and less and less often: those that start later are
 * few. In records. */
#define FIRST_SCAN_RECORDS   4u
#define LONGEST_SCAN_RECORDS 64u

/* A JVM that has just begun may not have entered its collector's numbers yet: tried so often. */
#define FIND_TRIES_MAX 40u

/* The kernel may wake us a little late, so that several wake-ups are one. */
#define TIMER_SLACK_NS 2000000ul

#define PATH_BYTES   64
#define REASON_BYTES 128

struct watcher {
	int socket, pidfd, stat_fd;
	pid_t pid;
	uid_t owner;
	struct watcher_threads threads;
	struct watcher_perfdata data;
	bool has_data;
	unsigned find_tries;
	char no_data[REASON_BYTES];
	struct watcher_stat stat;
	uint64_t cpu_ns[WATCHER_GROUPS];
	uint64_t records, next_scan, scan_interval;
	struct buffer out;
};

/* ---------------------------------------------------------------- opening */

/* What the JVM itself maps, by the name that it has for it. */
static int open_perfdata(pid_t pid, uid_t owner)
{
	struct jvm_view view;
	int fd = jvm_view_open(&view, pid, owner, NULL);

	if (fd == 0) {
		jvm_view_read_jvm(&view);
		fd = jvm_view_open_perfdata(&view);
	}
	if (fd >= 0 && !jvm_view_holds(&view)) {
		cleanup_close(&fd);
		fd = -ESRCH;
	}
	jvm_view_release(&view);
	return fd;
}

static void give_up_data(struct watcher *w, const char *reason, int error)
{
	watcher_perfdata_release(&w->data);
	w->has_data = false;
	w->find_tries = FIND_TRIES_MAX;
	(void)snprintf(w->no_data, sizeof(w->no_data), "%s%s%s", reason, error ? ": " : "",
		       error ? strerror(error) : "");
}

static void open_data(struct watcher *w)
{
	int fd = open_perfdata(w->pid, w->owner), r;

	if (fd == -ENOENT) {
		give_up_data(w,
			     "the JVM has no performance data (-XX:-UsePerfData), or its file "
			     "was removed",
			     0);
		return;
	}
	r = fd < 0 ? fd : watcher_perfdata_init(&w->data, fd);
	w->has_data = r == 0;
	if (r == -EAGAIN)
		(void)snprintf(w->no_data, sizeof(w->no_data),
			       "the JVM's performance data say nothing of its collector");
	else if (r < 0)
		give_up_data(w, "the JVM's performance data cannot be read", -r);
}

static int open_all(struct watcher *w)
{
	char path[PATH_BYTES];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", w->pid);
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
	w->stat_fd = w->pidfd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (w->pidfd < 0 || w->stat_fd < 0)
		return -errno;
	r = watcher_threads_init(&w->threads, w->pid);
	if (r == 0)
		r = watcher_stat_read(w->stat_fd, &w->stat);
	if (r == 0)
		open_data(w);
	return r;
}

static void release(struct watcher *w)
{
	cleanup_close(&w->pidfd);
	cleanup_close(&w->stat_fd);
	watcher_threads_release(&w->threads);
	watcher_perfdata_release(&w->data);
	buffer_release(&w->out);
}

/* ---------------------------------------------------------------- looking */

static void poll_data(struct watcher *w)
{
	int r;

	if (!w->has_data)
		return;
	r = watcher_perfdata_read(&w->data);
	if (r == 0)
		watcher_perfdata_look(&w->data, clock_monotonic_ns());
	else
		give_up_data(w, "the JVM's performance data cannot be read", -r);
}

static void find_data(struct watcher *w)
{
	if (w->has_data || w->find_tries >= FIND_TRIES_MAX)
		return;
	w->find_tries++;
	w->has_data = watcher_perfdata_find(&w->data) == 0;
}

static void scan_if_due(struct watcher *w)
{
	if (w->records < w->next_scan)
		return;
	watcher_threads_scan(&w->threads);
	w->next_scan = w->records + w->scan_interval;
	if (w->scan_interval < LONGEST_SCAN_RECORDS)
		w->scan_interval *= 4;
}

/* 0, or -errno when the process has ended. */
static int look(struct watcher *w)
{
	bool many = w->stat.threads > MANY_THREADS || w->threads.count > MANY_HELD_THREADS;

	scan_if_due(w);
	find_data(w);
	poll_data(w);
	if (many && w->records % SIDE_EFFECTS_SECOND != 0)
		return 0;
	watcher_threads_cpu(&w->threads, w->cpu_ns);
	return watcher_stat_read(w->stat_fd, &w->stat);
}

/* ---------------------------------------------------------------- telling */

static uint64_t uptime_ns(const struct watcher *w)
{
	uint64_t born = w->stat.start_ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	uint64_t now = clock_ns(CLOCK_BOOTTIME);

	return now > born ? now - born : 0;
}

/* What the socket does not take at once waits. 0, or -errno when nobody will read it. */
static int flush(struct watcher *w)
{
	while (buffer_length(&w->out) > 0) {
		ssize_t n =
		    fd_send(w->socket, buffer_head(&w->out), buffer_length(&w->out), NULL, 0);

		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		buffer_consume(&w->out, (size_t)n);
	}
	return 0;
}

/* An engine that is busy misses records: all they say is what the next one says, but for the heap.
 */
static int tell(struct watcher *w)
{
	Jxp__WatchRecord record = JXP__WATCH_RECORD__INIT;
	int r = flush(w);

	if (r < 0 || buffer_length(&w->out) > 0)
		return r;
	record.time_ns = clock_monotonic_ns();
	record.uptime_ns = uptime_ns(w);
	record.cpu_ns = w->stat.cpu_ns;
	record.gc_cpu_ns = w->cpu_ns[WATCHER_GC];
	record.jit_cpu_ns = w->cpu_ns[WATCHER_JIT];
	record.page_faults = w->stat.page_faults;
	if (w->has_data)
		watcher_perfdata_take(&w->data, &record);
	else
		record.no_data = w->no_data;
	r = frame_append(&w->out, &record.base, WATCHER_FRAME_MAX);
	return r < 0 ? r : flush(w);
}

/* Until the time comes. False when the engine or the process is gone. */
static bool sleep_until(const struct watcher *w, uint64_t time_ns)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = w->socket, .events = POLLIN},
				       {.fd = w->pidfd, .events = POLLIN}};
		uint64_t now = clock_monotonic_ns();
		struct timespec left = {0};
		int n;

		if (now < time_ns)
			left.tv_nsec = (long)(time_ns - now); /* Less than a second. */
		n = ppoll(fds, 2, &left, NULL);
		if (n > 0) /* The engine says nothing: it has closed its end. */
			return false;
		if (n == 0 && now >= time_ns)
			return true;
		if (n < 0 && errno != EINTR)
			return false;
	}
}

/* For so long. What was late is made up for, but for half of the time at most: records that follow
 * upon each other say nothing. */
static bool pass_time(const struct watcher *w, uint64_t *next_ns, unsigned ms)
{
	uint64_t soonest_ns = clock_monotonic_ns() + ms * NS_PER_MS / 2;

	*next_ns += ms * NS_PER_MS;
	if (*next_ns < soonest_ns)
		*next_ns = soonest_ns;
	return sleep_until(w, *next_ns);
}

static void watch(struct watcher *w)
{
	uint64_t next_ns = clock_monotonic_ns();

	while (look(w) == 0 && tell(w) == 0) {
		bool often =
		    w->has_data && w->data.space_count > 0 && w->data.quiet_polls < QUIET_POLLS;
		unsigned polls = often ? POLLS_A_RECORD : 1;

		w->records++;
		for (unsigned i = 0; i < polls; i++) {
			if (i > 0)
				poll_data(w);
			if (!pass_time(w, &next_ns, SIDE_EFFECTS_INTERVAL_MS / polls))
				return;
		}
	}
}

int watcher_main(int fd, pid_t pid, uid_t owner)
{
	struct watcher w = {.socket = fd,
			    .pid = pid,
			    .owner = owner,
			    .pidfd = -1,
			    .stat_fd = -1,
			    .data = {.fd = -1},
			    .scan_interval = FIRST_SCAN_RECORDS};
	struct err err;
	int r;

	buffer_init(&w.out, WATCHER_FRAME_MAX + FRAME_HEADER_BYTES);
	(void)signal(SIGPIPE, SIG_IGN);                          /* A valid number. */
	(void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0); /* Else it is 50 us. */
	r = fd_set_nonblocking(fd, true);
	if (r == 0)
		r = open_all(&w);
	/* The first scan comes with what it takes: later ones see what everybody may see. */
	if (r == 0)
		scan_if_due(&w);
	if (r == 0)
		r = privilege_drop("", &err);
	if (r == 0)
		watch(&w);
	release(&w);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
