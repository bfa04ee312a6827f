#include "tests/unit/support/broker_fixture.h"
#include "tests/unit/support/test.h"

#include "common/fd.h"
#include "daemon/broker/broker.h"
#include "daemon/door/door.h"
#include "daemon/broker/proto.h"
#include "daemon/broker/worker.h"
#include "daemon/child/spawn.h"
#include "daemon/inspector/inspector.h"
#include "daemon/watcher/watcher.h"
#include "proto/helper.h"
#include "proto/limits.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const behaviours[] = {
    "ok",    "refuse",     "crash", "silent", "garbage",       "no-fd",  "wait",
    "stuck", "old-kernel", "fuse",  "event",  "strange-event", "murder", "deaf",
};
static char root[PATH_MAX];
static char path[PATH_MAX + 16];

static const char *option(int argc, char **argv, const char *name)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return NULL;
}

static void send_result(int fd, int error, const char *message, int passed)
{
	struct attach_result result = {.error = error};

	(void)snprintf(result.message, sizeof(result.message), "%s", message);
	(void)snprintf(result.name, sizeof(result.name), "shop.jar");
	assert(fd_send(fd, &result, sizeof(result), &passed, passed >= 0 ? 1 : 0) ==
	       sizeof(result));
}

static void send_socket(int fd)
{
	int pair[2];

	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	assert(write(pair[1], "agent", 5) == 5);
	send_result(fd, 0, "", pair[0]);
}

static void wait_for_sigterm(int fd)
{
	sigset_t set;
	int signal;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	assert(sigwait(&set, &signal) == 0);
	send_result(fd, EINTR, "interrupted", -1);
}

static void ignore_sigterm(void)
{
	(void)signal(SIGTERM, SIG_IGN);
	(void)pause();
}

/* A process that is traced stays, as far as its parent can see, until its tracer has waited for it,
 * whatever signal it got. */
static void become_unreapable(int fd)
{
	pid_t self = getpid(), tracer;
	int ready[2];
	char byte;

	assert(pipe(ready) == 0);
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* Where there is Yama. */
	tracer = fork();
	assert(tracer >= 0);
	if (tracer == 0) {
		(void)close(fd);
		assert(ptrace(PTRACE_SEIZE, self, 0, 0) == 0);
		assert(write(ready[1], "r", 1) == 1);
		(void)sleep(BROKER_FIXTURE_STUCK_S);
		_exit(0);
	}
	assert(read(ready[0], &byte, 1) == 1);
	send_result(fd, EPERM, "not today", -1);
}

/* Its memory is taken apart when it exits, and this page is written back first. */
static void send_result_and_hang(int fd, const char *bundle)
{
	char name[PATH_MAX + 8];
	volatile char *page;
	int file;

	(void)snprintf(name, sizeof(name), "%s/page", bundle);
	file = open(name, O_RDWR | O_CLOEXEC);
	assert(file >= 0);
	page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert(page != MAP_FAILED);
	page[0] = 1;
	send_result(fd, EPERM, "not today", -1);
}

static int helper(int fd, const char *bundle)
{
	const char *behaviour = strrchr(bundle, '/') + 1;

	if (strcmp(behaviour, "ok") == 0)
		send_socket(fd);
	else if (strcmp(behaviour, "refuse") == 0)
		send_result(fd, EPERM, "not today", -1);
	else if (strcmp(behaviour, "crash") == 0)
		(void)raise(SIGKILL);
	else if (strcmp(behaviour, "murder") == 0)
		(void)kill(getppid(), SIGKILL);
	else if (strcmp(behaviour, "silent") == 0)
		return 7;
	else if (strcmp(behaviour, "garbage") == 0)
		assert(send(fd, "hello", 5, 0) == 5);
	else if (strcmp(behaviour, "no-fd") == 0)
		send_result(fd, 0, "", -1);
	else if (strcmp(behaviour, "wait") == 0)
		wait_for_sigterm(fd);
	else if (strcmp(behaviour, "deaf") == 0)
		ignore_sigterm();
	else if (strcmp(behaviour, "stuck") == 0)
		become_unreapable(fd);
	else if (strcmp(behaviour, "fuse") == 0)
		send_result_and_hang(fd, bundle);
	else
		assert(!"a behaviour of the list");
	return 0;
}

/* What a kernel without the change would do to the real one. */
static int killed_trial(void)
{
	return raise(SIGTRAP);
}

/* In place of a broker. */
static int send_event(int fd, uint32_t kind)
{
	const struct broker_reply hello = {.operation = BROKER_HELLO, .message = JXPERF_VERSION};
	const struct broker_event event = {
	    .operation = BROKER_EVENT, .kind = kind, .pid = 42, .lost = 7};
	char byte;

	assert(send(fd, &hello, sizeof(hello), 0) == sizeof(hello));
	assert(send(fd, &event, sizeof(event), 0) == sizeof(event));
	return recv(fd, &byte, 1, 0) == 0 ? 0 : 1; /* Until the engine ends it. */
}

int broker_fixture_children(void)
{
	int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	int higher = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FD + 1);

	assert(higher >= 0);
	(void)close(fd);
	return higher;
}

static int serve(int fd, const char *bundle)
{
	/* The children are this program, too. */
	const struct startup startup = {.agent = {bundle, ""},
					.environment = "",
					.pod_labels = "",
					.children_fd = broker_fixture_children()};
	const char *behaviour = strrchr(bundle, '/') + 1;
	bool old = strcmp(behaviour, "old-kernel") == 0;

	if (strcmp(behaviour, "event") == 0)
		return send_event(fd, BROKER_EVENT_WORKER_GIVEN_UP);
	if (strcmp(behaviour, "strange-event") == 0)
		return send_event(fd, BROKER_EVENT_KINDS);

	return broker_main(fd, &startup, old ? killed_trial : sigtrap_trial);
}

static int inspect(int fd, const char *bundle, int argc, char **argv)
{
	const struct check_reasons reasons = {.gate = option(argc, argv, "--inspect-gate"),
					      .touch = option(argc, argv, "--inspect-touch")};
	const struct inspector_question question = {
	    .pid = atoi(option(argc, argv, INSPECTOR_OPTION_PID)),
	    .owner = (uid_t)atoi(option(argc, argv, INSPECTOR_OPTION_OWNER)),
	    .only = option(argc, argv, INSPECTOR_OPTION_ONLY)};
	const struct startup startup = {
	    .agent = {bundle, option(argc, argv, STARTUP_OPTION_AGENT_PATH)},
	    .environment = option(argc, argv, STARTUP_OPTION_ENVIRONMENT),
	    .pod_labels = option(argc, argv, STARTUP_OPTION_POD_LABELS)};

	return inspector_main(fd, &question, &startup, &reasons);
}

/* Never returns in a process that is to be broker, helper, worker, inspector or watcher. */
static void be_what_was_asked_for(int argc, char **argv)
{
	const char *bundle = option(argc, argv, "--bundle");
	const char *broker_fd = option(argc, argv, "--broker-fd");
	const char *broker_for = option(argc, argv, BROKER_OPTION_FOR);
	const char *worker_fd = option(argc, argv, "--worker-fd");
	const char *inspect_fd = option(argc, argv, "--inspect-fd");
	const char *result_fd = option(argc, argv, "--result-fd");
	const char *watch_fd = option(argc, argv, WATCHER_OPTION_FD);

	if (broker_fd)
		_exit(serve(atoi(broker_fd), bundle));
	if (broker_for)
		_exit(broker_door_main(
		    broker_for,
		    &(struct startup){.agent = {bundle, ""}, .environment = "", .pod_labels = ""}));
	if (worker_fd)
		_exit(worker_main(atoi(worker_fd)));
	if (inspect_fd)
		_exit(inspect(atoi(inspect_fd), bundle, argc, argv));
	if (watch_fd)
		_exit(watcher_main(atoi(watch_fd), atoi(option(argc, argv, WATCHER_OPTION_PID)),
				   (uid_t)atoi(option(argc, argv, WATCHER_OPTION_OWNER))));
	if (result_fd && bundle)
		_exit(helper(atoi(result_fd), bundle));
}

static void make_bundles(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert(n > 0);
	self[n] = '\0';
	strcpy(root, "/tmp/jxperf-test-XXXXXX");
	assert(mkdtemp(root));
	for (size_t i = 0; i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, behaviours[i]);
		assert(mkdir(path, 0755) == 0);
		strcat(path, "/jxperf-attach");
		assert(symlink(self, path) == 0);
	}
}

const char *broker_fixture_bundle(const char *behaviour)
{
	if (!root[0])
		make_bundles();
	(void)snprintf(path, sizeof(path), "%s/%s", root, behaviour);
	return path;
}

struct agent_files broker_fixture_agent(const char *behaviour)
{
	return (struct agent_files){.bundle_dir = broker_fixture_bundle(behaviour),
				    .image_path = ""};
}

void broker_fixture_remove(void)
{
	for (size_t i = 0; root[0] && i < sizeof(behaviours) / sizeof(behaviours[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/jxperf-attach", root, behaviours[i]);
		(void)unlink(path); /* What stays is seen by the last rmdir. */
		*strrchr(path, '/') = '\0';
		(void)rmdir(path);
	}
	if (root[0])
		assert(rmdir(root) == 0);
	root[0] = '\0';
}

pid_t broker_fixture_start_target(void)
{
	pid_t pid = fork();

	assert(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return pid;
}

void broker_fixture_end_target(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

int broker_fixture_tests(int argc, char **argv)
{
	int failed;

	be_what_was_asked_for(argc, argv);
	failed = tests_run(NULL, NULL);
	broker_fixture_remove();
	return failed;
}
