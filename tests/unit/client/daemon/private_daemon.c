/* Starts daemons that are shell scripts, found on PATH since none lies beside this program. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/daemon/private_daemon.h"
#include "common/clock.h"
#include "tests/unit/support/tree_fixture.h"

/* Tells the client that it is ready. */
#define READY "printf r >&3\n"

struct fixture {
	char directory[64];
	char program[96];
	char temporary[96];
	char path[4096]; /* of before */
	struct interrupt interrupt;
};

static int setup(void **state)
{
	static struct fixture f;
	struct err err;
	const char *old = getenv("PATH");
	char path[256];

	(void)snprintf(f.directory, sizeof(f.directory), "/tmp/jxperf-test-XXXXXX");
	if (!mkdtemp(f.directory))
		return -1;
	(void)snprintf(f.program, sizeof(f.program), "%s/jxperfd", f.directory);
	(void)snprintf(f.temporary, sizeof(f.temporary), "%s/tmp", f.directory);
	(void)snprintf(path, sizeof(path), "%s:/usr/bin:/bin", f.directory);
	(void)snprintf(f.path, sizeof(f.path), "%s", old ? old : "");
	*state = &f;
	return mkdir(f.temporary, 0700) || setenv("TMPDIR", f.temporary, 1) ||
	       setenv("PATH", path, 1) || interrupt_init(&f.interrupt, &err);
}

/* What is in TMPDIR; it must be nothing. */
static size_t leftovers(const struct fixture *f)
{
	return tree_count(f->temporary);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	while (interrupt_take(&f->interrupt))
		;
	interrupt_release(&f->interrupt);
	(void)setenv("PATH", f->path, 1);
	(void)unsetenv("TMPDIR");
	(void)unlink(f->program);
	return rmdir(f->temporary) || rmdir(f->directory);
}

static void write_daemon(const struct fixture *f, const char *script)
{
	FILE *file = fopen(f->program, "w");

	assert_non_null(file);
	assert_true(fprintf(file, "#!/bin/sh\n%s", script) > 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(f->program, 0755), 0);
}

TEST(a_daemon_that_says_ready_is_started_and_stopped, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	char line[64];
	struct err err;

	write_daemon(f, "echo first\necho \"$@\"\n" READY "exec sleep 60\n");
	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), 0);
	private_daemon_last_words(d, line, sizeof(line));
	assert_string_equal(line, "--client-fd 3");
	private_daemon_stop(d, &f->interrupt);
	assert_int_equal(leftovers(f), 0);
}

TEST(a_daemon_that_ends_gives_its_reason, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	struct err err;

	write_daemon(f, "echo noise\necho 'jxperfd: error: no luck' >&2\nexit 1\n");
	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), -ECHILD);
	assert_string_equal(err.message, "the private daemon ended: jxperfd: error: no luck");
	assert_null(d);
	assert_int_equal(leftovers(f), 0);
}

TEST(a_daemon_that_is_not_there_is_said, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	struct err err;

	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), -ENOENT);
	assert_non_null(strstr(err.message, "cannot find 'jxperfd'"));
	assert_int_equal(leftovers(f), 0);
}

TEST(a_signal_ends_the_wait_for_readiness, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	struct err err;

	write_daemon(f, "exec sleep 60\n");
	assert_int_equal(raise(SIGTERM), 0);
	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), -EINTR);
	assert_int_equal(leftovers(f), 0);
}

TEST(a_daemon_that_will_not_end_is_killed_at_the_second_signal, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	uint64_t before_ns;
	struct err err;

	write_daemon(f, "trap '' TERM\n" READY "while :; do sleep 1; done\n");
	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), 0);
	/* Two, of two kinds since a pending signal is not counted. */
	assert_int_equal(raise(SIGINT), 0);
	assert_int_equal(raise(SIGTERM), 0);
	before_ns = clock_monotonic_ns();
	private_daemon_stop(d, &f->interrupt);
	assert_true(clock_monotonic_ns() - before_ns < 5 * NS_PER_S);
	assert_int_equal(leftovers(f), 0);
}

TEST(a_connection_is_handed_to_the_daemon, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	char text[8] = "";
	struct err err;
	int fd;

	write_daemon(f, "exec /usr/bin/python3 -c 'import os,socket\n"
			"link=socket.socket(fileno=3)\n"
			"link.send(b\"r\")\n"
			"os.write(socket.recv_fds(link,1,1)[1][0],b\"hello\")\n"
			"link.recv(1)'\n");
	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), 0);
	fd = private_daemon_connect(d, &err);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	(void)close(fd);
	private_daemon_stop(d, &f->interrupt);
}

TEST(a_connection_to_a_daemon_that_is_gone_is_refused_with_its_last_words, setup, teardown)
{
	struct private_daemon *d = NULL;
	struct fixture *f = *state;
	struct err err;
	int fd;

	write_daemon(f, READY "echo goodbye\n");
	assert_int_equal(private_daemon_start(&d, &f->interrupt, &err), 0);
	while ((fd = private_daemon_connect(d, &err)) >= 0)
		(void)close(fd);
	assert_int_equal(fd, -ECHILD);
	assert_string_equal(err.message, "the private daemon ended: goodbye");
	private_daemon_stop(d, &f->interrupt);
}
