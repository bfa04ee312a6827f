#include "tests/unit/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"

struct pair {
	int ends[2];
};

static int setup(void **state)
{
	struct pair *p = malloc(sizeof(*p));

	if (!p || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->ends) < 0)
		return -1;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pair *p = *state;

	fd_close_all(p->ends, 2);
	free(p);
	return 0;
}

static size_t open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

TEST(bytes_and_descriptors_arrive_together, setup, teardown)
{
	struct pair *p = *state;
	int sent[2] = {open("/dev/null", O_RDONLY), open("/dev/zero", O_RDONLY)};
	int got[4] = {-1, -1, -1, -1};
	size_t count = 4;
	char bytes[8], zero = 1;

	assert_int_equal(fd_send(p->ends[0], "abc", 3, sent, 2), 3);
	assert_int_equal(fd_recv(p->ends[1], bytes, sizeof(bytes), got, &count), 3);
	assert_memory_equal(bytes, "abc", 3);
	assert_int_equal(count, 2);
	assert_int_equal(read(got[1], &zero, 1), 1);
	assert_int_equal(zero, 0);
	assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(got[1], F_GETFD) & FD_CLOEXEC);
	fd_close_all(sent, 2);
	fd_close_all(got, 2);
}

TEST(the_sender_keeps_its_descriptors, setup, teardown)
{
	struct pair *p = *state;
	int sent = open("/dev/null", O_RDONLY);

	assert_int_equal(fd_send(p->ends[0], "x", 1, &sent, 1), 1);
	assert_true(fcntl(sent, F_GETFD) >= 0);
	fd_close_all(&sent, 1);
}

TEST(descriptors_nobody_asked_for_are_refused_and_closed, setup, teardown)
{
	struct pair *p = *state;
	int sent[3] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY),
		       open("/dev/null", O_RDONLY)};
	int got[1] = {-1};
	size_t count = 1, before = open_descriptors();
	char byte;

	assert_int_equal(fd_send(p->ends[0], "x", 1, sent, 3), 1);
	assert_int_equal(fd_recv(p->ends[1], &byte, 1, got, &count), -EMSGSIZE);
	assert_int_equal(count, 0);
	assert_int_equal(open_descriptors(), before);
	fd_close_all(sent, 3);
}

TEST(without_room_for_descriptors_the_kernel_drops_them, setup, teardown)
{
	struct pair *p = *state;
	int pipe_ends[2];
	size_t count = 0;
	char byte;

	assert_int_equal(pipe(pipe_ends), 0);
	assert_int_equal(fd_send(p->ends[0], "x", 1, &pipe_ends[1], 1), 1);
	(void)close(pipe_ends[1]);
	assert_int_equal(fd_recv(p->ends[1], &byte, 1, NULL, &count), -EMSGSIZE);
	assert_int_equal(read(pipe_ends[0], &byte, 1), 0); /* Nobody holds the writing end. */
	(void)close(pipe_ends[0]);
}

/* What a security module's refusal looks like, too: the kernel says MSG_CTRUNC for both. */
TEST(descriptors_that_are_not_permitted_are_missing_and_the_bytes_arrive, setup, teardown)
{
	struct pair *p = *state;
	int sent[2] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)}, got[2];
	size_t count = 2, before = open_descriptors();
	struct rlimit limit, tight;
	int room = dup(sent[0]);
	char bytes[4];

	/* Room for one more, not for two. */
	assert_true(room >= 0);
	assert_int_equal(close(room), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	tight = (struct rlimit){.rlim_cur = (rlim_t)room + 1, .rlim_max = limit.rlim_max};
	assert_int_equal(fd_send(p->ends[0], "abc", 3, sent, 2), 3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
	assert_int_equal(fd_recv_permitted(p->ends[1], bytes, sizeof(bytes), got, &count), 3);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(count, 0);
	assert_memory_equal(bytes, "abc", 3);
	assert_int_equal(open_descriptors(), before);
	fd_close_all(sent, 2);
}

/* SCM_RIGHTS as a hostile peer may send it: more than the control buffer of fd_recv holds. */
TEST(more_descriptors_than_fit_are_refused_and_closed, setup, teardown)
{
	enum { COUNT = 2 * FD_PASS_MAX };
	struct pair *p = *state;
	union {
		char bytes[CMSG_SPACE(COUNT * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	char byte = 'x';
	struct iovec iov = {.iov_base = &byte, .iov_len = 1};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	int sent[COUNT], got[FD_PASS_MAX];
	size_t count = FD_PASS_MAX, before;

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(sent));
	for (int i = 0; i < COUNT; i++)
		sent[i] = open("/dev/null", O_RDONLY);
	memcpy(CMSG_DATA(&control.align), sent, sizeof(sent));
	before = open_descriptors();
	assert_int_equal(sendmsg(p->ends[0], &msg, 0), 1);
	assert_int_equal(fd_recv(p->ends[1], &byte, 1, got, &count), -EMSGSIZE);
	assert_int_equal(count, 0);
	assert_int_equal(open_descriptors(), before);
	fd_close_all(sent, COUNT);
}

TEST(a_closed_peer_reads_as_the_end_and_writes_as_an_error, setup, teardown)
{
	struct pair *p = *state;
	size_t count = 0;
	char byte;

	fd_close_all(&p->ends[0], 1);
	assert_int_equal(fd_recv(p->ends[1], &byte, 1, NULL, &count), 0);
	/* Not a signal: the test would be dead. */
	assert_int_equal(fd_send(p->ends[1], "x", 1, NULL, 0), -EPIPE);
}

TEST(non_blocking_can_be_turned_on_and_off, setup, teardown)
{
	struct pair *p = *state;
	size_t count = 0;
	char byte;

	assert_int_equal(fd_set_nonblocking(p->ends[1], true), 0);
	assert_int_equal(fd_recv(p->ends[1], &byte, 1, NULL, &count), -EAGAIN);
	assert_int_equal(fd_set_nonblocking(p->ends[1], false), 0);
	assert_false(fcntl(p->ends[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(fd_set_nonblocking(-1, true), -EBADF);
}

TEST(closing_all_marks_them_closed)
{
	int fds[3] = {open("/dev/null", O_RDONLY), -1, open("/dev/null", O_RDONLY)};
	int copy = fds[0];

	fd_close_all(fds, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fds[i], -1);
	assert_int_equal(fcntl(copy, F_GETFD), -1);
}

TEST(everything_is_written_also_past_the_socket_buffer, setup, teardown)
{
	enum { SIZE = 4 << 20 };
	struct pair *p = *state;
	char *bytes = malloc(SIZE);
	size_t total = 0;
	int status;
	pid_t child;
	ssize_t n;

	assert_non_null(bytes);
	memset(bytes, 'w', SIZE);
	child = fork();
	if (child == 0)
		_exit(fd_write_all(p->ends[0], bytes, SIZE) == 0 ? 0 : 1);
	fd_close_all(&p->ends[0], 1);
	while ((n = read(p->ends[1], bytes, SIZE)) > 0)
		total += (size_t)n;
	assert_int_equal(total, SIZE);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	free(bytes);
}

TEST(a_descriptor_that_cannot_be_written_is_an_error)
{
	int fd = open("/dev/null", O_RDONLY);

	assert_int_equal(fd_write_all(fd, "x", 1), -EBADF);
	fd_close_all(&fd, 1);
}

TEST(a_file_is_read_from_a_place_on)
{
	FILE *file = tmpfile();
	char bytes[8] = "";

	assert_non_null(file);
	assert_int_equal(fputs("abcdef", file), 1);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(fd_read_at(fileno(file), bytes, 3, 1), 3);
	assert_memory_equal(bytes, "bcd", 3);
	assert_int_equal(fd_read_at(fileno(file), bytes, sizeof(bytes), 4), 2);
	assert_memory_equal(bytes, "ef", 2);
	assert_int_equal(fd_read_at(fileno(file), bytes, 1, 6), 0);
	assert_int_equal(fd_read_at(fileno(file), bytes, 1, UINT64_MAX), -EINVAL);
	assert_int_equal(fd_read_at(-1, bytes, 1, 0), -EBADF);
	assert_int_equal(fclose(file), 0);
}

TEST(text_is_read_to_its_end_or_until_there_is_no_room)
{
	char text[6] = "xxxxx";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fd_write_all(ends[1], "one", 3), 0);
	assert_int_equal(fd_write_all(ends[1], "twothree", 8), 0);
	assert_int_equal(fd_read_text(ends[0], text, sizeof(text)), 5);
	assert_string_equal(text, "onetw");
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(fd_read_text(ends[0], text, sizeof(text)), 5);
	assert_string_equal(text, "othre");
	assert_int_equal(fd_read_text(ends[0], text, sizeof(text)), 1);
	assert_string_equal(text, "e");
	assert_int_equal(fd_read_text(ends[0], text, sizeof(text)), 0);
	assert_string_equal(text, "");
	assert_int_equal(close(ends[0]), 0);
	assert_int_equal(fd_read_text(-1, text, sizeof(text)), -EBADF);
}

TEST(a_process_that_is_not_reaped_has_ended)
{
	pid_t pid = fork();
	siginfo_t ended;
	int pidfd;

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			(void)pause();
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(pidfd >= 0);
	assert_false(fd_process_has_ended(pidfd));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_true(fd_process_has_ended(pidfd));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(fd_process_has_ended(pidfd));
	(void)close(pidfd);
}

TEST(a_connection_can_be_dropped_without_a_descriptor_to_spare)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	socklen_t size = sizeof(address);
	struct rlimit before, none;
	int spare = fd_spare();
	char byte;

	/* A name that the kernel chooses. */
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)spare + 1; /* All below are taken. */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(dup(0), -1);
	fd_drop_connection(listener, &spare);
	assert_int_equal(dup(0), -1); /* It is there again. */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(spare >= 0);
	assert_int_equal(read(client, &byte, 1), 0);
	(void)close(spare);
	(void)close(client);
	(void)close(listener);
}
