#include "daemon/inspector/check.h"

#include "attach/bundle.h"
#include "attach/process/cgroup_cpu.h"
#include "attach/process/headroom.h"
#include "attach/process/jvm.h"
#include "common/cleanup.h"
#include "common/perf/events.h"
#include "common/proc.h"
#include "daemon/child/helper.h"
#include "daemon/inspector/check_items.h"
#include "proto/helper.h"
#include "proto/limits.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define FILE_BYTES      8192
#define ATTACH_REQUEST  "attach request"
#define LOADED_AGENT    "loaded agent"
#define EVENTS_A_THREAD (PERF_DEBUG_REGISTERS + 1)
#define AGENT_SHARE \
	2 /* it takes one part in so many of what is left (attach/agent/window/allowance.h) */

/* In the order in which jvm_inspect judges: what comes before the obstacle holds. */
static const struct {
	enum jvm_obstacle obstacle;
	const char *name;
	const char *holds;
} conditions[] = {
    {JVM_NOT_A_JVM, "JVM", "libjvm.so is mapped"},
    {JVM_32_BIT, "word size", "64-bit"},
    {JVM_OTHER_PROCESSOR, "processor", "x86-64"},
    {JVM_NOT_HOTSPOT, "virtual machine", "HotSpot"},
    {JVM_OTHER_LIBC, "C library", "glibc"},
    {JVM_TOO_OLD, "JDK", NULL},
    {JVM_UNREAD_RELEASE, "supported release", "yes; its layouts are tried when a window begins"},
    {JVM_ATTACH_DISABLED, "attach mechanism", "not disabled"},
    {JVM_DYNAMIC_LOADING_DISABLED, "dynamic agents", "not disabled"},
    {JVM_NO_PERMISSION, "permission", "as its user, or root"},
    {JVM_STOPPED, "running", "not stopped"},
    {JVM_SIGQUIT_NOT_CAUGHT, ATTACH_REQUEST, NULL},  /* and it is tried: check_place */
    {JVM_AGENT_NOT_SPOKEN_WITH, LOADED_AGENT, NULL}, /* check_agent says which there is */
};

static void describe_jdk(const struct jvm_info *info, char *text, size_t size)
{
	(void)snprintf(text, size, "%s%s%s",
		       info->jdk[0] ? info->jdk : "version unknown; it is tried",
		       info->gc[0] ? ", collector " : "", info->gc);
}

/* False when something stands in the way. */
static bool check_conditions(struct check_items *c, const struct jvm_info *info)
{
	if (info->obstacle == JVM_NO_PERMISSION && !info->jdk[0]) {
		check_items_add(c, "permission", CHECK_FAILED, "%s", info->reason);
		return false;
	}
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		char text[128];

		if (conditions[i].obstacle == info->obstacle) {
			check_items_add(c, conditions[i].name, CHECK_FAILED, "%s", info->reason);
			return false;
		}
		if (conditions[i].obstacle == JVM_SIGQUIT_NOT_CAUGHT ||
		    conditions[i].obstacle == JVM_AGENT_NOT_SPOKEN_WITH)
			continue;
		if (conditions[i].holds)
			(void)snprintf(text, sizeof(text), "%s", conditions[i].holds);
		else
			describe_jdk(info, text, sizeof(text));
		check_items_add(c, conditions[i].name, CHECK_OK, "%s", text);
	}
	return true;
}

static void check_place(struct check_items *c, const struct jvm_info *info,
			const struct agent_files *agent)
{
	char text[ERR_MESSAGE_MAX];
	bool unasked;
	struct err err;
	int r = attach_helper_probe(info->pid, info->one_uid ? info->euid : PROC_ANY_UID, agent,
				    text, &unasked, &err);

	if (unasked)
		check_items_add(c, ATTACH_REQUEST, CHECK_FAILED, "%s", err.message);
	else
		check_items_add(c, ATTACH_REQUEST, CHECK_OK, "%s",
				info->socket_exists ? "its attach socket exists already"
						    : "SIGQUIT is caught");
	check_items_add(c, "mount namespace", CHECK_OK, "%s",
			info->same_mount_namespace ? "the same as ours" : "its own");
	if (r == 0)
		check_items_add(c, "agent files", CHECK_OK, "%s", text);
	else if (!unasked)
		check_items_add(c, "agent files", CHECK_FAILED, "%s", err.message);
}

/* Only where there is one. It stays until the JVM ends, whichever file there is by then. */
static void check_agent(struct check_items *c, const struct jvm_info *info,
			const struct agent_files *agent)
{
	struct agent_identity own;

	if (!info->agent_path[0])
		return;
	bundle_identify(agent->bundle_dir, &own);
	if (!info->agent_version[0])
		check_items_add(c, LOADED_AGENT, CHECK_WARNING,
				"it cannot be read which version it is of: run jxperfd as root");
	else if (agent_identity_equal(&info->agent, &own))
		check_items_add(c, LOADED_AGENT, CHECK_OK, "of jxperf %s, and this daemon's own",
				info->agent_version);
	else if (info->agent.note.version[0])
		check_items_add(c, LOADED_AGENT, CHECK_OK,
				"of jxperf %s, not this daemon's own, which is of %s: it is "
				"spoken with; restart the JVM to have the daemon's",
				info->agent_version, JXPERF_VERSION);
	else
		check_items_add(c, LOADED_AGENT, CHECK_WARNING,
				"of jxperf %s, which does not say whether it can be spoken with: "
				"that of 0.2.0 can, that of 0.1.0 cannot; restart the JVM to have "
				"that of %s",
				info->agent_version, JXPERF_VERSION);
}

static bool is_agents(pid_t pid, pid_t tid, const void *arg)
{
	char name[PROC_NAME_BYTES];

	(void)pid, (void)arg;
	/* /proc has an entry for each thread, which it does not list. */
	return proc_name(tid, name) == 0 && strcmp(name, AGENT_THREAD_NAME) == 0;
}

/* Is it being profiled? Told from outside, by the name that the agent's thread has while a session
 * lasts, whichever daemon's it is. What a thread is called is the process's own word: one that lies
 * is not profiled, and nobody else's. False also where its threads cannot be seen. */
static bool session_runs(pid_t pid)
{
	return proc_search_threads(pid, is_agents, NULL) > 0;
}

/* Only where there is one. */
static void check_session(struct check_items *c, const struct jvm_info *info)
{
	if (session_runs(info->pid))
		check_items_add(c, "session", CHECK_FAILED,
				"process %d is already being profiled: wait for the end of that "
				"window, or end it with 'jxperfctl detach %d'",
				info->pid, info->pid);
}

/* ---------------------------------------------------------------- limits */

static void check_memory(struct check_items *c, const struct jvm_info *info)
{
	char text[ERR_MESSAGE_MAX];
	struct err err;

	if (headroom_check("", info->pid, text, &err) < 0)
		check_items_add(c, "memory", CHECK_FAILED, "%s", err.message);
	else
		check_items_add(c, "memory", CHECK_OK, "%s", text);
}

/* Only where there is one: most have none. */
static void check_cpu_limit(struct check_items *c, pid_t pid)
{
	double limit = cgroup_cpu_limit("", pid);

	if (limit > 0)
		check_items_add(
		    c, "CPU limit", CHECK_OK,
		    "its cgroups let it use %.2f CPUs: samples are held to what that allows, and "
		    "the budget is a share of what it uses",
		    limit);
}

/* Entries of /proc/PID/<name> that are numbers; -1 when it cannot be read. */
static long count_entries(pid_t pid, const char *name)
{
	_cleanup_closedir_ DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	long count = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	dir = opendir(path);
	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		count += isdigit((unsigned char)entry->d_name[0]) != 0;
	return count;
}

/* The soft limit of open files; -1 when it cannot be read, LONG_MAX for none. */
static long open_files_limit(pid_t pid)
{
	static const char label[] = "\nMax open files";
	char path[64], text[FILE_BYTES];
	const char *at;
	long limit;

	(void)snprintf(path, sizeof(path), "/proc/%d/limits", pid);
	if (proc_read(path, text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, label);
	if (!at)
		return -1;
	at += sizeof(label) - 1;
	at += strspn(at, " ");
	if (strncmp(at, "unlimited", strlen("unlimited")) == 0)
		return LONG_MAX;
	return sscanf(at, "%ld", &limit) == 1 ? limit : -1;
}

static void check_descriptors(struct check_items *c, pid_t pid)
{
	long limit = open_files_limit(pid), threads = count_entries(pid, "task"),
	     open_fds = count_entries(pid, "fd");
	long wanted = threads * EVENTS_A_THREAD, allowed = (limit - open_fds) / AGENT_SHARE;

	if (limit < 0 || threads < 0 || open_fds < 0)
		check_items_add(c, "descriptors", CHECK_WARNING,
				"limit and use of process %d could not be read", pid);
	else if (wanted <= allowed)
		check_items_add(c, "descriptors", CHECK_OK,
				"%ld open, limit %ld: enough for up to %ld events of %ld threads",
				open_fds, limit, wanted, threads);
	else
		check_items_add(
		    c, "descriptors", CHECK_WARNING,
		    "%ld open, limit %ld: the agent takes at most %ld, and the %ld threads "
		    "could use %ld; raise the limit with 'prlimit --pid %d --nofile=%ld:'",
		    open_fds, limit, allowed > 0 ? allowed : 0, threads, wanted, pid,
		    open_fds + wanted * AGENT_SHARE);
}

/* ---------------------------------------------------------------- events */

static bool has_seccomp_filter(pid_t pid)
{
	char path[64], text[FILE_BYTES];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (proc_read(path, text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "\nSeccomp:");
	return at && strtol(at + strlen("\nSeccomp:"), NULL, 10) == 2;
}

static void check_events(struct check_items *c, const struct jvm_info *info)
{
	char text[32];
	long level = 0;
	const char *why = NULL;

	if (proc_read("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0)
		level = strtol(text, NULL, 10);
	if (info->euid != 0 && level > 2)
		why = "perf_event_paranoid is above 2";
	else if (has_seccomp_filter(info->pid))
		why = "it has a seccomp filter, which may forbid perf_event_open";
	if (!why)
		check_items_add(c, "events", CHECK_OK, "it may open its own");
	else if (geteuid() == 0)
		check_items_add(c, "events", CHECK_OK, "opened by the daemon where it may not: %s",
				why);
	else
		check_items_add(c, "events", CHECK_WARNING,
				"%s: run jxperfd as root, which can open them for it", why);
}

/* ---------------------------------------------------------------- what stays */

/* JvmtiExport::get_jvmti_interface has virtual threads tell of each mount and unmount from the
 * first JVMTI environment of a live JVM on, and nothing takes that back: transitions that are under
 * way would be told half. */
#define JDK_TELLS_MOUNTS 21

static void check_virtual_threads(struct check_items *c, const struct jvm_info *info)
{
	if (strtol(info->jdk, NULL, 10) < JDK_TELLS_MOUNTS)
		return;
	check_items_add(c, "virtual threads", CHECK_OK,
			"windows with objects, as those of any JVMTI agent, make their mounts "
			"dearer until the JVM ends: leave out kind objects where that counts; "
			"windows of other kinds ask the JVM for nothing");
}

int check_jvm(Jxp__CheckResult **out, pid_t pid, uid_t owner, const struct agent_files *agent,
	      char *step, struct err *err)
{
	_cleanup_free_ struct jvm_info *info = malloc(sizeof(*info));
	Jxp__CheckResult *result;
	struct check_items c;
	int r;

	if (!info)
		return err_set(err, ENOMEM, "out of memory");
	r = jvm_inspect_steps(pid, owner, step, info, err);
	if (r < 0)
		return r;
	check_items_init(&c);
	check_items_add(&c, "process", CHECK_OK, "%s, user %s%s%s", info->name, info->user,
			info->container[0] ? ", container " : "", info->container);
	if (check_conditions(&c, info)) {
		if (info->interpreted_only)
			check_items_add(&c, "compiled code", CHECK_WARNING,
					"none: it was started with -Xint, and only compiled code "
					"is looked at: restart it without, to learn of waste");
		check_agent(&c, info, agent);
		check_session(&c, info);
		check_place(&c, info, agent);
		check_memory(&c, info);
		check_cpu_limit(&c, pid);
		check_descriptors(&c, pid);
		check_events(&c, info);
		check_virtual_threads(&c, info);
	}
	result = check_items_take(&c);
	if (!result)
		return err_set(err, ENOMEM, "out of memory");
	*out = result;
	return 0;
}
