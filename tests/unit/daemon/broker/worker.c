#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fd.h"
#include "daemon/broker/worker.h"

/* A worker in a process of its own, which is asked about ourselves. */
static pid_t worker;
static int connection;

static int start(void **state)
{
	int pair[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	worker = fork();
	if (worker == 0) {
		(void)close(pair[0]);
		_exit(worker_main(pair[1]));
	}
	(void)close(pair[1]);
	connection = pair[0];
	return worker < 0 ? -1 : 0;
}

/* The end of its questions ends it. */
static int end(void **state)
{
	int status;

	(void)state;
	(void)close(connection);
	assert_int_equal(waitpid(worker, &status, 0), worker);
	assert_int_equal(status, 0);
	return 0;
}

static struct worker_question question(uint32_t operation)
{
	return (struct worker_question){
	    .request = {.operation = operation, .id = 9, .pid = getpid()}};
}

static struct worker_answer ask(const struct worker_question *q)
{
	struct worker_answer a;
	size_t no_fds = 0;

	assert_int_equal(fd_send(connection, q, sizeof(*q), NULL, 0), sizeof(*q));
	assert_int_equal(fd_recv(connection, &a, sizeof(a), NULL, &no_fds), sizeof(a));
	assert_int_equal(a.reply.operation, q->request.operation);
	assert_int_equal(a.reply.id, 9);
	return a;
}

TEST(it_says_which_process_it_is, start, end)
{
	const struct worker_question q = question(BROKER_ATTACH);
	struct proc_identity identity;
	struct worker_answer a = ask(&q);

	assert_int_equal(a.reply.error, 0);
	assert_int_equal(proc_identify(getpid(), &identity), 0);
	assert_int_equal(a.identity.start_ticks, identity.start_ticks);
	assert_int_equal(a.identity.effective_uid, geteuid());
}

TEST(nobodys_pid_is_an_error_and_the_next_question_is_answered, start, end)
{
	struct worker_question q = question(BROKER_ATTACH);
	struct worker_answer a;

	q.request.pid = 0x3fffff;
	a = ask(&q);
	assert_int_equal(a.reply.error, ESRCH);
	assert_non_null(strstr(a.reply.message, "no process has the pid"));
	q.request.pid = getpid();
	assert_int_equal(ask(&q).reply.error, 0);
}

TEST(another_process_with_the_pid_is_not_touched, start, end)
{
	struct worker_question q = question(BROKER_PAGES);
	struct worker_answer a;

	assert_int_equal(proc_identify(getpid(), &q.identity), 0);
	q.identity.start_ticks--;
	q.known = 1;
	q.request.page_count = 1;
	q.request.pages[0] = (uintptr_t)&worker;
	a = ask(&q);
	assert_int_equal(a.reply.error, ESRCH);
	assert_non_null(strstr(a.reply.message, "has ended"));
}

TEST(other_operations_are_none_of_its, start, end)
{
	const struct worker_question q = question(BROKER_WATCH);

	assert_int_equal(ask(&q).reply.error, EINVAL);
}
