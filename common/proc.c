#include "common/proc.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define PROC_PATH_BYTES   64
#define PROC_STATUS_BYTES 8192 /* without the list of groups */
#define PROC_STAT_BYTES   1024

ssize_t proc_read(const char *path, char *buffer, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_read_text(fd, buffer, size);
}

static uint64_t usage_ns(int who)
{
	struct rusage usage = {0};

	(void)getrusage(who, &usage); /* Fails only for another who. */
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

uint64_t proc_self_cpu_ns(void)
{
	return usage_ns(RUSAGE_SELF);
}

uint64_t proc_own_cpu_ns(void)
{
	return proc_self_cpu_ns() + usage_ns(RUSAGE_CHILDREN);
}

bool proc_machine_is_busy(void)
{
	char text[128];
	unsigned running;

	/* "0.20 0.18 0.12 1/80 11206", proc_loadavg(5): the fourth. */
	if (proc_read("/proc/loadavg", text, sizeof(text)) < 0 ||
	    sscanf(text, "%*f %*f %*f %u/", &running) != 1)
		return false;
	return (long)running > sysconf(_SC_NPROCESSORS_ONLN);
}

static void proc_path(char *path, pid_t pid, pid_t tid, const char *file)
{
	if (tid)
		(void)snprintf(path, PROC_PATH_BYTES, "/proc/%d/task/%d/%s", pid, tid, file);
	else
		(void)snprintf(path, PROC_PATH_BYTES, "/proc/%d/%s", pid, file);
}

/* The text after "name:" at the start of a line, or NULL. */
static const char *status_field(const char *status, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = status; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

/* The last number of a line: pids are listed from the outermost namespace to the innermost. */
static pid_t last_number(const char *line)
{
	long value = -1;

	for (;;) {
		char *end;
		long v;

		while (*line == '\t' || *line == ' ')
			line++;
		if (!isdigit((unsigned char)*line))
			return (pid_t)value;
		v = strtol(line, &end, 10);
		value = v;
		line = end;
	}
}

/* Is it in no namespace but that of the reader (of /proc, to be exact)? */
static bool has_one_number(const char *line)
{
	line += strspn(line, "\t ");
	line += strspn(line, "0123456789");
	line += strspn(line, "\t ");
	return *line == '\n' || *line == '\0';
}

/* The effective id is the second of the four (real, effective, saved, file system). */
static bool effective_id(const char *line, unsigned *id)
{
	return line && sscanf(line, "%*u %u", id) == 1;
}

/* Are the first three of the four one? The last one follows the effective id. */
static bool is_one_id(const char *line)
{
	unsigned real, effective, saved;

	return line && sscanf(line, "%u %u %u", &real, &effective, &saved) == 3 &&
	       real == effective && saved == effective;
}

/* Reads a status file but for its list of supplementary groups, which may be far longer than all
 * the rest. 0 or -errno. */
static int read_status(const char *path, char *text, size_t size)
{
	_cleanup_fclose_ FILE *in = fopen(path, "re");
	bool line_begins = true, skipping = false;
	char part[256];
	size_t used = 0;

	if (!in)
		return -errno;
	while (fgets(part, sizeof(part), in)) {
		size_t n = strlen(part);

		if (line_begins)
			skipping = strncmp(part, "Groups:", strlen("Groups:")) == 0;
		line_begins = n > 0 && part[n - 1] == '\n';
		if (skipping || n >= size - used)
			continue;
		memcpy(text + used, part, n);
		used += n;
	}
	text[used] = '\0';
	return ferror(in) ? -errno : 0;
}

int proc_read_status(pid_t pid, pid_t tid, struct proc_status *out)
{
	char path[PROC_PATH_BYTES];
	char text[PROC_STATUS_BYTES] = "";
	struct proc_status s = {0};
	const char *state, *tgid, *nspid, *caught, *pending, *shared, *permitted;
	unsigned uid, gid;
	int r;

	proc_path(path, pid, tid, "status");
	r = read_status(path, text, sizeof(text));
	if (r < 0)
		return r == -ESRCH ? -ENOENT : r;
	state = status_field(text, "State");
	tgid = status_field(text, "NStgid");
	nspid = status_field(text, "NSpid");
	caught = status_field(text, "SigCgt");
	pending = status_field(text, "SigPnd");
	shared = status_field(text, "ShdPnd");
	permitted = status_field(text, "CapPrm");
	if (!state || !tgid || !nspid || !caught || !pending || !shared || !permitted ||
	    !effective_id(status_field(text, "Uid"), &uid) ||
	    !effective_id(status_field(text, "Gid"), &gid))
		return -EPROTO;
	s.effective_uid = uid;
	s.one_uid = is_one_id(status_field(text, "Uid"));
	s.effective_gid = gid;
	s.namespace_tgid = last_number(tgid);
	s.in_our_namespace = has_one_number(nspid);
	s.namespace_tid = last_number(nspid);
	s.caught_signals = strtoull(caught, NULL, 16);
	s.pending_signals = strtoull(pending, NULL, 16) | strtoull(shared, NULL, 16);
	s.permitted = strtoull(permitted, NULL, 16);
	s.state = state[strspn(state, "\t ")];
	if (s.namespace_tgid <= 0 || s.namespace_tid <= 0)
		return -EPROTO;
	*out = s;
	return 0;
}

/* "17" or "4711 17", a line of the namespaces from that of /proc to our own: is it our pid alone?
 */
static bool is_own_number(const char *line)
{
	return line && has_one_number(line) && last_number(line) == getpid();
}

int proc_check_numbers(struct err *err)
{
	char text[PROC_STATUS_BYTES] = "";

	/* There is no such entry for who is not in the namespace at all. */
	if (read_status("/proc/self/status", text, sizeof(text)) == 0 &&
	    is_own_number(status_field(text, "NStgid")) && is_own_number(status_field(text, "Pid")))
		return 0;
	return err_set(err, ESRCH,
		       "'/proc' is not of this pid namespace, so its numbers are those of other "
		       "processes: mount one that is ('mount -t proc proc /proc', or 'unshare "
		       "--mount-proc')");
}

bool proc_self_has_seccomp_filter(void)
{
	char text[PROC_STATUS_BYTES] = "";
	const char *mode;

	if (read_status("/proc/self/status", text, sizeof(text)) < 0)
		return true;
	mode = status_field(text, "Seccomp");
	return mode && last_number(mode) == 2;
}

/* Reads a number of a stat file, by its place (from 1, as in proc_pid_stat(5)), and the one behind
 * it unless behind is NULL. The command name may hold anything; what follows it begins at place 3.
 */
static int stat_numbers(pid_t pid, unsigned place, uint64_t *number, uint64_t *behind)
{
	char path[PROC_PATH_BYTES], text[PROC_STAT_BYTES];
	uint64_t first, second;
	const char *at;
	ssize_t n;

	proc_path(path, pid, 0, "stat");
	n = proc_read(path, text, sizeof(text));
	if (n < 0)
		return n == -ESRCH ? -ENOENT : (int)n;
	at = strrchr(text, ')');
	for (unsigned i = 2; at && i < place; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %" SCNu64 " %" SCNu64, &first, &second) != 2)
		return -EPROTO;
	*number = first;
	if (behind)
		*behind = second;
	return 0;
}

int proc_start_time(pid_t pid, uint64_t *ticks)
{
	return stat_numbers(pid, 22, ticks, NULL);
}

int proc_cpu_time(pid_t pid, uint64_t *ns)
{
	uint64_t user, system;
	int r = stat_numbers(pid, 14, &user, &system);

	if (r == 0)
		*ns = (user + system) * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	return r;
}

int proc_thread_count(pid_t pid, unsigned *count)
{
	uint64_t threads;
	int r = stat_numbers(pid, 20, &threads, NULL);

	if (r == 0)
		*count = (unsigned)threads;
	return r;
}

int proc_group(pid_t pid, pid_t *group)
{
	uint64_t number;
	int r = stat_numbers(pid, 5, &number, NULL);

	if (r == 0)
		*group = (pid_t)number;
	return r;
}

int proc_absent(pid_t pid, struct err *err)
{
	return err_set(err, ESRCH, "no process has the pid %d; see 'jxperfctl list'", pid);
}

bool proc_is_owner(const struct proc_status *status, uid_t owner)
{
	return owner == PROC_ANY_UID || (status->effective_uid == owner && status->one_uid);
}

int proc_check_owner(pid_t pid, uid_t owner, struct err *err)
{
	struct proc_status status;

	if (proc_read_status(pid, 0, &status) < 0 || !proc_is_owner(&status, owner))
		return proc_absent(pid, err);
	return 0;
}

bool proc_is_unchanged(pid_t pid, uint64_t start_ticks, const struct proc_status *status)
{
	struct proc_status now;
	uint64_t start;

	return proc_read_status(pid, 0, &now) == 0 && proc_start_time(pid, &start) == 0 &&
	       start == start_ticks && now.effective_uid == status->effective_uid &&
	       now.effective_gid == status->effective_gid && now.one_uid == status->one_uid;
}

int proc_identify(pid_t pid, struct proc_identity *out)
{
	struct proc_identity identity = {0};
	char path[PROC_PATH_BYTES];
	struct proc_status status = {0};
	struct statx program;
	int r = proc_start_time(pid, &identity.start_ticks);

	if (r == 0)
		r = proc_read_status(pid, 0, &status);
	if (r < 0)
		return r;
	identity.effective_uid = status.effective_uid;
	identity.one_uid = status.one_uid;
	proc_path(path, pid, 0, "exe");
	/* What is known here will do: its file system may be the target's, and never answer. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO, &program) == 0) {
		identity.program_device = makedev(program.stx_dev_major, program.stx_dev_minor);
		identity.program_inode = program.stx_ino;
	}
	*out = identity;
	return 0;
}

bool proc_identity_equal(const struct proc_identity *a, const struct proc_identity *b)
{
	return a->start_ticks == b->start_ticks && a->program_device == b->program_device &&
	       a->program_inode == b->program_inode && a->effective_uid == b->effective_uid &&
	       a->one_uid == b->one_uid;
}

int proc_name(pid_t pid, char name[PROC_NAME_BYTES])
{
	char path[PROC_PATH_BYTES];
	ssize_t n;

	proc_path(path, pid, 0, "comm");
	n = proc_read(path, name, PROC_NAME_BYTES);
	if (n < 0)
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return n < 0 ? (int)n : 0;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

int proc_pids(pid_t **out, size_t *out_count)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	_cleanup_free_ pid_t *pids = NULL;
	struct dirent *entry;
	size_t count = 0;

	if (!dir)
		return -errno;
	pids = malloc(PROC_PIDS_MAX * sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	while (count < PROC_PIDS_MAX && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			pids[count++] = (pid_t)strtol(entry->d_name, NULL, 10);
	qsort(pids, count, sizeof(*pids), compare_pids);
	*out = TAKE_PTR(pids);
	*out_count = count;
	return 0;
}

pid_t proc_search_threads(pid_t pid, proc_thread_fn *is_wanted, const void *arg)
{
	_cleanup_closedir_ DIR *dir = NULL;
	char path[PROC_PATH_BYTES];
	struct dirent *entry;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && is_wanted(pid, tid, arg))
			return tid;
	}
	return -ESRCH;
}

static bool has_namespace_tid(pid_t pid, pid_t tid, const void *namespace_tid)
{
	struct proc_status s;

	return proc_read_status(pid, tid, &s) == 0 &&
	       s.namespace_tid == *(const pid_t *)namespace_tid;
}

pid_t proc_find_thread(pid_t pid, pid_t namespace_tid)
{
	struct proc_status s;

	/* Most targets share our namespace: try the number as it stands. */
	if (has_namespace_tid(pid, namespace_tid, &namespace_tid))
		return namespace_tid;
	/* A search reads a file for every thread. It finds nothing where the numbers are one. */
	if (proc_read_status(pid, 0, &s) == 0 && s.in_our_namespace)
		return -ESRCH;
	return proc_search_threads(pid, has_namespace_tid, &namespace_tid);
}

int proc_beside_self(char *path, size_t size, const char *place)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int written;

	if (n < 0)
		return -errno;
	self[n] = '\0';
	*strrchr(self, '/') = '\0'; /* The kernel's path is absolute. */
	written = snprintf(path, size, "%s/%s", self, place);
	return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}
