#include "attach/process/headroom.h"

#include "attach/process/cgroup_memory.h"
#include "common/proc.h"
#include "proto/footprint.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MIB        (UINT64_C(1) << 20)
#define FILE_BYTES 16384

struct demand {
	uint64_t threads;
	uint64_t memory_bytes;
	uint64_t address_bytes;
};

/* This is held against the demand, with what to call it. */
struct room {
	uint64_t left_bytes;
	uint64_t limit_bytes;
	char where[2 * CGROUP_GROUP_BYTES]; /* "" without a limit */
	const char *remedy;
};

/* ---------------------------------------------------------------- files */

static bool read_text(const char *root, pid_t pid, const char *file, char text[FILE_BYTES])
{
	char path[PATH_MAX];

	if (pid)
		(void)snprintf(path, sizeof(path), "%s/proc/%d/%s", root, pid, file);
	else
		(void)snprintf(path, sizeof(path), "%s/proc/%s", root, file);
	return proc_read(path, text, FILE_BYTES) > 0;
}

/* The number behind name and blanks at the start of a line. False when there is none: also for
 * "unlimited". */
static bool find_number(const char *text, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) == 0)
			return sscanf(line + length, " %" SCNu64, value) == 1;
	}
	return false;
}

static bool find_kib(const char *text, const char *name, uint64_t *bytes)
{
	if (!find_number(text, name, bytes))
		return false;
	*bytes *= 1024;
	return true;
}

/* ---------------------------------------------------------------- rooms */

static uint64_t left_of(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

static void cgroup_room(const char *root, pid_t pid, struct room *room)
{
	struct cgroup_memory group;

	if (cgroup_memory_left(root, pid, &group) < 0)
		return;
	room->left_bytes = group.left_bytes;
	room->limit_bytes = group.limit_bytes;
	room->remedy = "raise that limit";
	(void)snprintf(room->where, sizeof(room->where), "%s of its cgroup '%s'", group.file,
		       group.group);
}

/* The machine itself is the level above all groups. */
static void machine_room(const char *root, struct room *room)
{
	char text[FILE_BYTES];

	if (!read_text(root, 0, "meminfo", text) ||
	    !find_kib(text, "MemAvailable:", &room->left_bytes) ||
	    !find_kib(text, "MemTotal:", &room->limit_bytes))
		return;
	room->remedy = "free some";
	strcpy(room->where, "the machine's memory");
}

/* Strict overcommit: whatever is reserved counts. */
static void commit_room(const char *root, struct room *room)
{
	char text[FILE_BYTES];
	uint64_t committed;

	if (!read_text(root, 0, "sys/vm/overcommit_memory", text) || text[0] != '2' ||
	    !read_text(root, 0, "meminfo", text) ||
	    !find_kib(text, "CommitLimit:", &room->limit_bytes) ||
	    !find_kib(text, "Committed_AS:", &committed))
		return;
	room->left_bytes = left_of(room->limit_bytes, committed);
	room->remedy = "raise vm.overcommit_ratio";
	strcpy(room->where, "the machine's CommitLimit (vm.overcommit_memory is 2)");
}

static void limit_room(const char *root, pid_t pid, const char *limit, const char *use,
		       const char *name, struct room *room)
{
	char text[FILE_BYTES];
	uint64_t used;

	if (!read_text(root, pid, "limits", text) ||
	    !find_number(text, limit, &room->limit_bytes) ||
	    !read_text(root, pid, "status", text) || !find_kib(text, use, &used))
		return;
	room->left_bytes = left_of(room->limit_bytes, used);
	room->remedy = "raise it with prlimit(1)";
	strcpy(room->where, name);
}

/* ---------------------------------------------------------------- */

static struct demand demand_of(const char *root, pid_t pid)
{
	struct demand d = {.threads = 1};
	char text[FILE_BYTES];

	if (read_text(root, pid, "status", text))
		(void)find_number(text, "Threads:", &d.threads); /* Else as it is. */
	if (d.threads > FOOTPRINT_THREADS_MAX)
		d.threads = FOOTPRINT_THREADS_MAX;
	d.memory_bytes =
	    FOOTPRINT_AGENT_BYTES + d.threads * FOOTPRINT_THREAD_BYTES + FOOTPRINT_JVM_BYTES;
	d.address_bytes = d.memory_bytes + FOOTPRINT_JVM_ADDRESS_BYTES;
	return d;
}

static uint64_t in_mib(uint64_t bytes)
{
	return bytes / MIB;
}

/* Rounded up, so that nobody is told that 20 MiB are not enough for 20 MiB. */
static uint64_t demand_in_mib(uint64_t bytes)
{
	return (bytes + MIB - 1) / MIB;
}

static int refuse(pid_t pid, const struct demand *d, bool address, const struct room *room,
		  struct err *err)
{
	return err_set(err, ENOMEM,
		       "profiling process %d may take %" PRIu64 " MiB of its %s (%" PRIu64
		       " threads), and %" PRIu64 " MiB of %" PRIu64
		       " are left by %s: %s, or attach with --force",
		       pid, demand_in_mib(address ? d->address_bytes : d->memory_bytes),
		       address ? "address space" : "memory", d->threads, in_mib(room->left_bytes),
		       in_mib(room->limit_bytes), room->where, room->remedy);
}

static void describe(const struct demand *d, const struct room *cgroup, char text[ERR_MESSAGE_MAX])
{
	char left[ERR_MESSAGE_MAX] = "no limit of a cgroup is visible here";

	if (cgroup->where[0])
		(void)snprintf(left, sizeof(left), "%" PRIu64 " MiB of %" PRIu64 " are left by %s",
			       in_mib(cgroup->left_bytes), in_mib(cgroup->limit_bytes),
			       cgroup->where);
	(void)snprintf(text, ERR_MESSAGE_MAX,
		       "attaching takes %.1f MiB, a window at most %" PRIu64 " MiB in all (%" PRIu64
		       " threads); %s",
		       (double)FOOTPRINT_IDLE_BYTES / (double)MIB, demand_in_mib(d->memory_bytes),
		       d->threads, left);
}

int headroom_check(const char *root, pid_t pid, char text[ERR_MESSAGE_MAX], struct err *err)
{
	struct demand d = demand_of(root, pid);
	enum { CGROUP, MACHINE, COMMIT, ADDRESS_SPACE, DATA, ROOMS };
	struct room rooms[ROOMS] = {0};

	cgroup_room(root, pid, &rooms[CGROUP]);
	machine_room(root, &rooms[MACHINE]);
	commit_room(root, &rooms[COMMIT]);
	limit_room(root, pid, "Max address space", "VmSize:", "its RLIMIT_AS",
		   &rooms[ADDRESS_SPACE]);
	limit_room(root, pid, "Max data size", "VmData:", "its RLIMIT_DATA", &rooms[DATA]);
	for (int i = 0; i < ROOMS; i++) {
		bool address = i >= COMMIT;

		if (rooms[i].where[0] &&
		    rooms[i].left_bytes < (address ? d.address_bytes : d.memory_bytes))
			return refuse(pid, &d, address, &rooms[i], err);
	}
	describe(&d, &rooms[CGROUP], text);
	return 0;
}
