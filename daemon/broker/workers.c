#include "daemon/broker/workers.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/proc.h"
#include "daemon/broker/polls.h"
#include "daemon/child/spawn.h"

/* Times that a deadline is put off on a busy machine. */
#define BUSY_PATIENCE 4u

/* ---------------------------------------------------------------- start and end */

static int start(struct broker_worker *one, int program, pid_t target, struct err *err)
{
	char *const argv[] = {(char *)CHILD_PROGRAM, (char *)WORKER_OPTION_FD,
			      (char *)CHILD_FD_TEXT, NULL};
	int r =
	    child_spawn_open(&one->pid, &one->pidfd, &one->socket, SOCK_SEQPACKET, program, argv);

	if (r < 0)
		return err_set_errno(err, -r, "cannot start a process that looks at process %d",
				     target);
	(void)fd_set_nonblocking(one->socket, true); /* A socket of ours: cannot fail. */
	one->target = target;
	one->waiting = 0;
	one->polled = -1;
	return 0;
}

/* Ends at the end of its stream, or once the kernel lets go of it. */
static void let_go(struct broker_worker *one)
{
	cleanup_close(&one->socket);
	one->socket = -1;
}

static void reap(struct broker_worker *one)
{
	if (waitpid(one->pid, NULL, WNOHANG) != one->pid)
		return;
	if (one->socket >= 0)
		let_go(one);
	cleanup_close(&one->pidfd);
	one->pid = 0;
}

/* ---------------------------------------------------------------- those that end by themselves */

static struct broker_broken *find_broken(struct broker_workers *w, pid_t target)
{
	for (size_t i = 0; i < BROKER_WORKERS_BROKEN_TARGETS; i++)
		if (w->broken[i].target == target)
			return &w->broken[i];
	return NULL;
}

/* A free place, or that of the one that could be tried again first. */
static struct broker_broken *make_broken(struct broker_workers *w, pid_t target)
{
	struct broker_broken *place = &w->broken[0];

	for (size_t i = 1; i < BROKER_WORKERS_BROKEN_TARGETS && place->target; i++)
		if (!w->broken[i].target || w->broken[i].not_before_ns < place->not_before_ns)
			place = &w->broken[i];
	*place = (struct broker_broken){.target = target};
	return place;
}

static void put_off(struct broker_workers *w, pid_t target)
{
	struct broker_broken *broken = find_broken(w, target);

	if (!broken)
		broken = make_broken(w, target);
	broken->in_a_row++;
	if (broken->in_a_row == BROKER_WORKERS_BROKEN_MAX)
		broken->wait_ms = BROKER_WORKERS_BACK_OFF_MS;
	else if (broken->wait_ms < BROKER_WORKERS_BACK_OFF_MAX_MS / 2)
		broken->wait_ms *= 2;
	else
		broken->wait_ms = BROKER_WORKERS_BACK_OFF_MAX_MS;
	broken->not_before_ns = clock_monotonic_ns() + broken->wait_ms * NS_PER_MS;
}

static bool is_put_off(const struct broker_broken *broken)
{
	return broken && clock_monotonic_ns() < broken->not_before_ns;
}

static void forget_broken(struct broker_workers *w, pid_t target)
{
	struct broker_broken *broken = find_broken(w, target);

	if (broken)
		*broken = (struct broker_broken){0};
}

/* ---------------------------------------------------------------- questions */

static void send_first(struct broker_worker *one)
{
	one->late_ns = clock_monotonic_ns() + BROKER_WORKER_TIMEOUT_MS * NS_PER_MS;
	one->prolonged = 0;
	/* There is room for one. A worker that is gone is found to be so by broker_workers_tend. */
	(void)fd_send(one->socket, &one->questions[0], sizeof(one->questions[0]), NULL, 0);
}

/* The answer is to the first question: takes that out of the queue, sends the next, and tells. That
 * comes last, since it may ask and release. */
static void tell(struct broker_workers *w, struct broker_worker *one,
		 const struct worker_answer *answer, int *fds)
{
	struct worker_question question = one->questions[0];

	one->waiting--;
	memmove(one->questions, one->questions + 1, one->waiting * sizeof(one->questions[0]));
	if (one->socket >= 0 && one->waiting > 0)
		send_first(one);
	w->answered(w->arg, &question, answer, fds);
}

/* Everything that waits for it fails. What the callbacks ask meanwhile may go to another worker
 * that has this one's place, so the questions are taken out first. */
static void fail_all(struct broker_workers *w, struct broker_worker *one, int error,
		     const char *message)
{
	struct worker_question questions[BROKER_WORKER_QUEUE_MAX];
	unsigned count = one->waiting;

	memcpy(questions, one->questions, count * sizeof(questions[0]));
	one->waiting = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct broker_request *request = &questions[i].request;
		struct worker_answer answer = {
		    .reply = {.operation = request->operation, .id = request->id, .error = error}};

		(void)snprintf(answer.reply.message, sizeof(answer.reply.message), "%s", message);
		w->answered(w->arg, &questions[i], &answer, NULL);
	}
}

/* It is of no more use. */
static void give_up(struct broker_workers *w, struct broker_worker *one, int error,
		    const char *message, bool may_warn)
{
	/* First: what the callbacks of the answers below ask goes to another worker. */
	let_go(one);
	(void)kill(one->pid, SIGKILL); /* Not reaped yet, so it is ours. */
	w->given_up_count++;
	if (may_warn)
		log_warn("%s (%" PRIu64 " given up so far)", message, w->given_up_count);
	w->given_up(w->arg, one->target);
	fail_all(w, one, error, message);
}

static void give_up_late(struct broker_workers *w, struct broker_worker *one)
{
	struct err err;

	(void)err_set(&err, ETIMEDOUT,
		      "process %d holds up whoever looks at it: a file system that it uses does "
		      "not answer",
		      one->target);
	give_up(w, one, ETIMEDOUT, err.message, true);
}

/* What the worker waits for may be a lock whose holder, a thread of the target, has no processor.
 */
static void run_out_of_patience(struct broker_workers *w, struct broker_worker *one)
{
	if (one->prolonged < BUSY_PATIENCE && proc_machine_is_busy()) {
		one->prolonged++;
		one->late_ns += BROKER_WORKER_TIMEOUT_MS * NS_PER_MS;
	} else {
		give_up_late(w, one);
	}
}

static void give_up_broken(struct broker_workers *w, struct broker_worker *one)
{
	uint64_t now = clock_monotonic_ns();
	bool may_warn = now >= w->warn_ns;
	struct err err;

	if (may_warn)
		w->warn_ns = now + BROKER_WORKERS_WARN_MS * NS_PER_MS;
	put_off(w, one->target);
	(void)err_set(&err, EIO, "the process that looks at process %d ended too early",
		      one->target);
	give_up(w, one, EIO, err.message, may_warn);
}

static void receive(struct broker_workers *w, struct broker_worker *one)
{
	struct worker_answer answer;
	int fds[FD_PASS_MAX];
	size_t fd_count = FD_PASS_MAX;
	ssize_t n = fd_recv(one->socket, &answer, sizeof(answer), fds, &fd_count);

	if (n == -EAGAIN)
		return;
	if (n != (ssize_t)sizeof(answer) || one->waiting == 0 || answer.reply.fds != fd_count ||
	    answer.reply.id != one->questions[0].request.id) {
		fd_close_all(fds, n < 0 ? 0 : fd_count);
		give_up_broken(w, one);
		return;
	}
	answer.reply.message[sizeof(answer.reply.message) - 1] = '\0';
	forget_broken(w, one->target);
	tell(w, one, &answer, fds);
	fd_close_all(fds, fd_count);
}

/* ---------------------------------------------------------------- interface */

static struct broker_worker *find_working(struct broker_workers *w, pid_t target)
{
	for (size_t i = 0; i < BROKER_WORKERS_MAX; i++)
		if (w->all[i].pid && w->all[i].socket >= 0 && w->all[i].target == target)
			return &w->all[i];
	return NULL;
}

/* A place for another worker of the target, if it may have one now; or NULL, with *r set. */
static struct broker_worker *find_free(struct broker_workers *w, pid_t target, int *r,
				       struct err *err)
{
	const struct broker_broken *broken = find_broken(w, target);
	struct broker_worker *found = NULL;
	unsigned lost = 0;

	if (is_put_off(broken)) {
		*r = err_set(err, EAGAIN,
			     "%u processes in a row that looked at process %d ended too early: "
			     "see the daemon's log",
			     broken->in_a_row, target);
		return NULL;
	}
	for (size_t i = 0; i < BROKER_WORKERS_MAX; i++) {
		struct broker_worker *one = &w->all[i];

		if (one->pid && one->socket < 0)
			reap(one);
		if (one->pid == 0)
			found = found ? found : one;
		else if (one->target == target)
			lost++;
	}
	if (lost >= BROKER_WORKERS_LOST_MAX) {
		*r = err_set(err, ETIMEDOUT,
			     "process %d still holds up whoever looked at it: a file system that "
			     "it uses does not answer",
			     target);
		return NULL;
	}
	if (!found)
		*r = err_set(err, EAGAIN,
			     "too many processes hold up whoever looks at them: end them, or the "
			     "file systems that do not answer");
	return found;
}

int broker_workers_ask(struct broker_workers *w, const struct worker_question *question,
		       struct err *err)
{
	pid_t target = question->request.pid;
	struct broker_worker *one = find_working(w, target);
	int r = 0;

	if (!one) {
		one = find_free(w, target, &r, err);
		if (one)
			r = start(one, w->program, target, err);
	}
	if (!one || r < 0)
		return r;
	if (one->waiting == BROKER_WORKER_QUEUE_MAX)
		return err_set(err, EAGAIN, "too many questions about process %d", target);
	one->questions[one->waiting++] = *question;
	if (one->waiting == 1)
		send_first(one);
	return 0;
}

void broker_workers_release(struct broker_workers *w, pid_t target)
{
	struct broker_worker *one = find_working(w, target);

	if (!one)
		return;
	let_go(one);
	if (one->waiting == 0)
		one->target = 0;
	else
		(void)kill(one->pid, SIGKILL); /* Not reaped yet, so it is ours. */
	fail_all(w, one, ECANCELED, "the process is no longer profiled");
}

void broker_workers_poll(struct broker_workers *w, struct broker_polls *p)
{
	for (size_t i = 0; i < BROKER_WORKERS_MAX; i++) {
		struct broker_worker *one = &w->all[i];

		if (one->pid)
			one->polled =
			    broker_polls_add(p, one->socket >= 0 ? one->socket : one->pidfd, POLLIN,
					     one->waiting > 0 ? one->late_ns : UINT64_MAX);
	}
}

void broker_workers_tend(struct broker_workers *w, const struct broker_polls *p)
{
	for (size_t i = 0; i < BROKER_WORKERS_MAX; i++) {
		struct broker_worker *one = &w->all[i];
		bool ready = one->pid && broker_polls_is_ready(p, one->polled);

		if (ready && one->socket >= 0)
			receive(w, one);
		else if (ready)
			reap(one);
		else if (one->pid && one->waiting > 0 && clock_monotonic_ns() >= one->late_ns)
			run_out_of_patience(w, one);
	}
}

void broker_workers_end(struct broker_workers *w)
{
	for (size_t i = 0; i < BROKER_WORKERS_MAX; i++) {
		struct broker_worker *one = &w->all[i];

		one->waiting = 0;
		if (one->pid == 0)
			continue;
		if (one->socket >= 0)
			let_go(one);
		(void)kill(one->pid, SIGKILL); /* Not reaped yet, so it is ours. */
		reap(one);
	}
}
