#include "daemon/inspector/check.h"

#include "attach/bundle.h"
#include "common/capabilities.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "common/perf/events.h"
#include "common/proc.h"
#include "daemon/inspector/check_items.h"
#include "daemon/inspector/check_numa.h"
#include "daemon/inspector/check_sampler.h"
#include "daemon/inspector/check_sigtrap.h"
#include "machine/numa_topology.h"
#include "proto/helper.h"

#include <dlfcn.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/hw_breakpoint.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define KERNEL_MAJOR 5 /* perf_event_attr.sigtrap */
#define KERNEL_MINOR 13
#define KERNEL_ADVICE \
	"5.19" /* the first that is safe without patches (daemon/child/sigtrap_probe.h) */
#define PARANOID_FILE     "/proc/sys/kernel/perf_event_paranoid"
#define PARANOID_USER_MAX 2 /* above it, an unprivileged process may not even watch itself */
#define CLOCK_PERIOD_NS   UINT64_C(10000000)
/* What it takes to look into JVMs of other users, and to become these. */
#define FOR_ALL_USERS (CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_SYS_PTRACE))
#define HELPER_FILE   "jxperf-attach"

/* ---------------------------------------------------------------- kernel and privileges */

static void check_kernel(struct check_items *c)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2) {
		check_items_add(c, "kernel", CHECK_WARNING, "its version could not be read");
		return;
	}
	if (major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR))
		check_items_add(c, "kernel", CHECK_OK, "Linux %s", u.release);
	else
		check_items_add(c, "kernel", CHECK_FAILED,
				"Linux %s: upgrade to " KERNEL_ADVICE
				" or newer, for events that signal the thread that caused them",
				u.release);
	if (strcmp(u.machine, "x86_64") == 0)
		check_items_add(c, "architecture", CHECK_OK, "x86-64");
	else
		check_items_add(c, "architecture", CHECK_FAILED,
				"%s: only x86-64 is supported; run jxperf on such a machine",
				u.machine);
}

static void check_user(struct check_items *c)
{
	char names[CAPABILITIES_TEXT_BYTES];

	if (geteuid() == 0)
		check_items_add(c, "user", CHECK_OK, "root: JVMs of every user and container");
	else if ((capabilities_permitted() & FOR_ALL_USERS) == FOR_ALL_USERS)
		check_items_add(c, "user", CHECK_OK,
				"uid %u, with capabilities: JVMs of every user and container",
				geteuid());
	else
		check_items_add(
		    c, "user", CHECK_WARNING,
		    "uid %u: only JVMs of this user can be profiled; run jxperfd as root for all, "
		    "or give it %s",
		    geteuid(), capabilities_text(FOR_ALL_USERS & ~capabilities_permitted(), names));
	if (access("/proc/1/status", R_OK) == 0)
		check_items_add(c, "processes", CHECK_OK,
				"those of all users are visible in /proc");
	else
		check_items_add(
		    c, "processes", CHECK_WARNING,
		    "/proc hides those of other users (hidepid): run jxperfd as root or in "
		    "the group of the mount's gid= option");
}

/* perf_event_paranoid, or INT_MIN when it cannot be read. */
static int paranoid_level(void)
{
	char text[32];
	int level;

	if (proc_read(PARANOID_FILE, text, sizeof(text)) <= 0 || sscanf(text, "%d", &level) != 1)
		return INT_MIN;
	return level;
}

static void check_paranoid(struct check_items *c)
{
	int level = paranoid_level();

	if (level == INT_MIN)
		check_items_add(c, "perf permission", CHECK_FAILED,
				"'" PARANOID_FILE
				"' cannot be read: this kernel is built without perf "
				"events; use one with CONFIG_PERF_EVENTS");
	else if (level <= PARANOID_USER_MAX)
		check_items_add(c, "perf permission", CHECK_OK,
				"perf_event_paranoid is %d: JVMs open their own events", level);
	else if (geteuid() == 0)
		check_items_add(
		    c, "perf permission", CHECK_OK,
		    "perf_event_paranoid is %d: the daemon opens the events of JVMs that "
		    "may not",
		    level);
	else
		check_items_add(c, "perf permission", CHECK_FAILED,
				"perf_event_paranoid is %d: run jxperfd as root, or set "
				"kernel.perf_event_paranoid=%d with sysctl",
				level, PARANOID_USER_MAX);
}

/* ---------------------------------------------------------------- events */

/* What a thread without events of its own could open. All are closed again, none was ever enabled.
 */
struct event_trial {
	int clock; /* 0 or -errno */
	int registers;
	int register_error; /* of the first that could not be opened; 0 when all could */
};

static void *try_events(void *arg)
{
	struct event_trial *trial = arg;
	int fds[PERF_DEBUG_REGISTERS];
	struct perf_event_attr attr;
	int fd;

	perf_attr_clock(&attr, CLOCK_PERIOD_NS, 0);
	fd = perf_open(&attr, 0);
	trial->clock = fd < 0 ? fd : 0;
	cleanup_close(&fd);
	perf_attr_breakpoint(&attr, HW_BREAKPOINT_W, 0, 1, 0);
	while (trial->registers < PERF_DEBUG_REGISTERS) {
		fd = perf_open(&attr, 0);
		if (fd < 0) {
			trial->register_error = fd;
			break;
		}
		fds[trial->registers++] = fd;
	}
	fd_close_all(fds, (size_t)trial->registers);
	return NULL;
}

static const char *event_advice(int error)
{
	switch (-error) {
	case EINVAL:
	case E2BIG:
		return "the kernel is too old for sigtrap; upgrade to " KERNEL_ADVICE " or newer";
	case EACCES:
	case EPERM:
		return "not permitted; run jxperfd as root and, in a container, allow "
		       "perf_event_open in its seccomp profile";
	case ENOSYS:
		return "the kernel has no perf events; use one with CONFIG_PERF_EVENTS";
	case ENOSPC:
		return "taken by a debugger or another profiler; end it";
	default:
		return strerror(-error);
	}
}

static void check_events(struct check_items *c)
{
	struct event_trial trial = {0};
	pthread_t thread;
	int r = pthread_create(&thread, NULL, try_events, &trial);

	if (r) {
		check_items_add(c, "events", CHECK_WARNING,
				"not tried: no thread could be started");
		return;
	}
	(void)pthread_join(thread, NULL); /* Just created and not detached. */
	if (trial.clock < 0)
		check_items_add(c, "clock event", CHECK_FAILED, "cannot be opened: %s",
				event_advice(trial.clock));
	else
		check_items_add(c, "clock event", CHECK_OK, "can be opened, with sigtrap");
	if (trial.registers == PERF_DEBUG_REGISTERS)
		check_items_add(c, "debug registers", CHECK_OK, "all %d can be used, with sigtrap",
				trial.registers);
	else
		check_items_add(c, "debug registers",
				trial.registers ? CHECK_WARNING : CHECK_FAILED,
				"%d of %d can be used: %s", trial.registers, PERF_DEBUG_REGISTERS,
				event_advice(trial.register_error));
}

/* The broker has tried it when it started, with a privilege that it has given up. */
static void check_gate(struct check_items *c, const char *reason)
{
	if (!reason[0])
		check_items_add(c, "sampling gate", CHECK_OK,
				"BPF: the kernel drops samples beyond the window and its budget");
	else
		check_items_add(
		    c, "sampling gate", CHECK_WARNING,
		    "in the agent, at the cost of a signal for each sample dropped (%s)", reason);
}

/* ---------------------------------------------------------------- our own files */

static void check_helper(struct check_items *c, const char *bundle_dir)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/" HELPER_FILE, bundle_dir);

	if (n > 0 && (size_t)n < sizeof(path) && access(path, X_OK) == 0)
		check_items_add(c, "attach helper", CHECK_OK, "%s", path);
	else
		check_items_add(c, "attach helper", CHECK_FAILED,
				"no executable '" HELPER_FILE "' in '%s': reinstall jxperf",
				bundle_dir);
}

/* Loads it as a JVM would, with every symbol resolved. It does nothing before it is attached. */
static void check_bundle(struct check_items *c, const char *bundle_dir)
{
	char path[PATH_MAX + sizeof(AGENT_LIBRARY)];
	struct bundle bundle;
	struct err err;
	void *library;

	if (bundle_open(&bundle, bundle_dir, &err) < 0) {
		check_items_add(c, "agent", CHECK_FAILED, "%s", err.message);
	} else {
		(void)snprintf(path, sizeof(path), "%s/%s", bundle.path, AGENT_LIBRARY);
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (library && dlsym(library, "Agent_OnAttach"))
			check_items_add(c, "agent", CHECK_OK, "%s and %zu files beside it", path,
					bundle.count - 1);
		else
			check_items_add(c, "agent", CHECK_FAILED,
					"cannot be loaded: %s; reinstall jxperf", dlerror());
		if (library)
			(void)dlclose(library); /* Only a count goes down. */
	}
	bundle_close(&bundle);
}

int check_machine(Jxp__CheckResult **out, const char *bundle_dir,
		  const struct check_reasons *reasons, struct err *err)
{
	struct check_items c;
	Jxp__CheckResult *result;

	check_items_init(&c);
	check_kernel(&c);
	check_user(&c);
	check_paranoid(&c);
	check_events(&c);
	check_sigtrap(&c, sigtrap_trial);
	check_sampler(&c);
	check_gate(&c, reasons->gate);
	check_numa(&c, numa_topology()->node_count, reasons->touch);
	check_helper(&c, bundle_dir);
	check_bundle(&c, bundle_dir);
	result = check_items_take(&c);
	if (!result)
		return err_set(err, ENOMEM, "out of memory");
	*out = result;
	return 0;
}
