#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/broker/workers.h"
#include "tests/unit/support/broker_peer.h"
#include "tests/unit/support/fuse_fixture.h"

/*
 * Targets that hold a lock which looking at them takes, for as long as a file system does not
 * answer, as any user can: a mapping of a file on FUSE has to be written back before it is taken
 * apart.
 */

#define NOBODY 65534

static pid_t hostile; /* beside the peer's target, which hangs nobody */
static int orders;

/* ---------------------------------------------------------------- targets */

/* A page of the file that differs from what the file system has. */
static void *dirty_page(void)
{
	int fd = open(fuse_fixture_file(), O_RDWR | O_CLOEXEC);
	volatile char *page =
	    fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		_exit(2);
	page[0] = 1;
	return (void *)page;
}

/* The memory is taken apart while execve(2) holds the lock that perf_event_open(2) takes. Program
 * and user stay the same. */
static void hang_in_exec(void *page)
{
	(void)page;
	(void)execl("/proc/self/exe", "jxperf-target", "--wait", NULL);
	_exit(3);
}

/* A mapping is replaced under the lock that move_pages(2) takes. */
static void hang_in_mmap(void *page)
{
	(void)mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	_exit(3);
}

/* A process of another user that does it when the test says so. */
static pid_t start_hostile(void (*hang)(void *page))
{
	int pipes[2], up[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		void *page;

		if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
			_exit(1);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		page = dirty_page();
		(void)!write(up[1], "u", 1);
		(void)!read(pipes[0], &byte, 1);
		hang(page);
	}
	(void)close(up[1]);
	(void)close(pipes[0]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	(void)close(up[0]);
	orders = pipes[1];
	return pid;
}

static void have_it_hang(void)
{
	assert_int_equal(write(orders, "h", 1), 1);
	assert_true(fuse_fixture_wait_for_write());
}

/* ---------------------------------------------------------------- broker */

static void submit(uint32_t operation, pid_t pid, uint32_t id)
{
	struct broker_request r = peer_request(operation);

	r.id = id;
	r.pid = pid;
	if (operation == BROKER_PERF_OPEN) {
		r.namespace_tid = pid;
		r.clock_period_ns = 1000000;
	}
	if (operation == BROKER_PAGES) {
		r.page_count = 1;
		r.pages[0] = (uintptr_t)&peer; /* Targets are copies of us. */
	}
	peer_submit(&r);
}

static void attach(pid_t pid)
{
	submit(BROKER_ATTACH, pid, 1);
	assert_int_equal(peer_receive(), 0);
}

static int set_up(void **state)
{
	orders = hostile = -1;
	return peer_set_up(state);
}

static int tear_down(void **state)
{
	fuse_fixture_stop();
	if (hostile > 0)
		broker_fixture_end_target(hostile);
	if (orders >= 0)
		(void)close(orders);
	return peer_tear_down(state);
}

static void need_fuse(void)
{
	if (geteuid() == 0 && fuse_fixture_start())
		return;
	print_message("# SKIP needs root and /dev/fuse\n");
	skip();
}

/* Starts the broker and has a target hang to which it is attached. */
static void begin(void (*hang)(void *page))
{
	need_fuse();
	peer_start("ok");
	hostile = start_hostile(hang);
	attach(hostile);
	attach(peer.target);
	have_it_hang();
}

/* ---------------------------------------------------------------- tests */

TEST(a_target_that_hangs_in_exec_holds_up_its_own_events_only, set_up, tear_down)
{
	begin(hang_in_exec);
	submit(BROKER_PERF_OPEN, hostile, 2);
	submit(BROKER_PERF_OPEN, peer.target, 3);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 3);
	if (peer.reply.error == EACCES || peer.reply.error == ENOSYS)
		skip(); /* The machine, not the broker, forbids events. */
	assert_int_equal(peer.reply.error, 0);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 2);
	assert_int_equal(peer.reply.error, ETIMEDOUT);
	assert_non_null(strstr(peer.reply.message, "file system"));
	assert_int_equal(peer.events, 1);
	assert_int_equal(peer.event.kind, BROKER_EVENT_WORKER_GIVEN_UP);
	assert_int_equal(peer.event.pid, hostile);
	assert_int_equal(peer.event.lost, 0);
	submit(BROKER_PAGES, peer.target, 4);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 4);
	assert_int_equal(peer.reply.error, 0);
}

TEST(a_target_that_hangs_in_mmap_holds_up_its_own_pages_only, set_up, tear_down)
{
	begin(hang_in_mmap);
	submit(BROKER_PAGES, hostile, 2);
	submit(BROKER_PAGES, peer.target, 3);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 3);
	assert_int_equal(peer.reply.error, 0);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 2);
	assert_int_equal(peer.reply.error, ETIMEDOUT);
}

static unsigned children_of_broker(void)
{
	char path[64], text[256] = "";
	unsigned count = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", peer.broker, peer.broker);
	file = fopen(path, "re");
	assert_non_null(file);
	(void)!fgets(text, sizeof(text), file);
	(void)fclose(file);
	for (const char *c = text; *c; c++)
		count += *c == ' ';
	return count;
}

TEST(workers_that_cannot_be_killed_are_limited_and_reaped_in_the_end, set_up, tear_down)
{
	begin(hang_in_mmap);
	for (uint32_t id = 0; id <= BROKER_WORKERS_LOST_MAX; id++) {
		submit(BROKER_PAGES, hostile, id);
		(void)peer_receive();
		assert_int_equal(peer.reply.error, ETIMEDOUT);
	}
	assert_non_null(strstr(peer.reply.message, "still holds up"));
	assert_int_equal(children_of_broker(), 1 + BROKER_WORKERS_LOST_MAX); /* and other's */
	fuse_fixture_stop();
	while (children_of_broker() > 1)
		; /* Until the test's time limit. */
}

TEST(a_release_answers_what_hangs_and_lets_the_target_go, set_up, tear_down)
{
	begin(hang_in_exec);
	submit(BROKER_PERF_OPEN, hostile, 2);
	submit(BROKER_RELEASE, hostile, 3);
	(void)peer_receive();
	assert_int_equal(peer.reply.id, 2);
	assert_int_equal(peer.reply.error, ECANCELED);
	submit(BROKER_PERF_OPEN, hostile, 4);
	(void)peer_receive();
	assert_int_equal(peer.reply.error, EPERM);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--wait") == 0)
		for (;;)
			(void)pause();
	return broker_fixture_tests(argc, argv);
}
