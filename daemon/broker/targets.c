#include "daemon/broker/targets.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/broker/polls.h"

_Static_assert(GATE_TARGETS_MAX >= BROKER_TARGETS_MAX, "every target can have a gate");
_Static_assert(BROKER_WORKERS_MAX > BROKER_TARGETS_MAX, "every target can have a worker");

void broker_targets_init(struct broker_targets *t)
{
	static const struct share_limits places = {.things = "processes being profiled",
						   .advice = "wait until one of their windows ends",
						   .all = BROKER_TARGETS_MAX,
						   .reserved = BROKER_TARGETS_RESERVED,
						   .of_user = BROKER_TARGETS_OF_USER};
	static const struct share_limits stuck = {
	    .things = "attempts to attach that hang",
	    .advice = "end the file systems that do not answer, or the processes that use them",
	    .all = BROKER_TARGETS_MAX,
	    .of_user = BROKER_STUCK_OF_USER};

	*t = (struct broker_targets){0};
	shares_init(&t->places, &places);
	shares_init(&t->stuck, &stuck);
}

void broker_targets_free(struct broker_targets *t)
{
	shares_release(&t->places);
	shares_release(&t->stuck);
}

static struct broker_target *find(struct broker_targets *t, pid_t pid)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++)
		if (t->all[i].state != TARGET_FREE && t->all[i].pid == pid)
			return &t->all[i];
	return NULL;
}

static void free_place(struct broker_targets *t, struct broker_target *e)
{
	shares_give(&t->places, e->asked_owner, 1);
	e->state = TARGET_FREE;
}

static void free_if_reaped(struct broker_targets *t, struct broker_target *e)
{
	int status;

	if (e->state != TARGET_STUCK || !attach_helper_reaped(&e->helper, &status))
		return;
	if (e->counted)
		shares_give(&t->stuck, proc_owner(&e->identity), 1);
	free_place(t, e);
}

static void free_reaped(struct broker_targets *t)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++)
		free_if_reaped(t, &t->all[i]);
}

static struct broker_target *find_free(struct broker_targets *t)
{
	free_reaped(t);
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++)
		if (t->all[i].state == TARGET_FREE)
			return &t->all[i];
	return NULL;
}

static void close_pidfd(struct broker_target *e)
{
	cleanup_close(&e->pidfd);
	e->pidfd = -1;
}

/* The process is ours no longer; what it still has of our events passes nothing more. */
static void forget(struct broker_targets *t, struct broker_target *e)
{
	if (e->gated)
		broker_gate_remove(t->gate, e->pid, NULL);
	e->gated = false;
	if (e->touch_traced)
		broker_touch_forget(t->touch, e->pid);
	e->touch_traced = false;
	close_pidfd(e);
	free_place(t, e);
	broker_workers_release(t->workers, e->pid);
}

/* ---------------------------------------------------------------- attach */

/* Where the kernel kills a process whose watchpoint fires in a signal handler, a window would end
 * its target. It is tried once, before the first attach; where it cannot be tried, nothing is
 * refused. */
static int check_sigtrap(struct broker_targets *t, struct err *err)
{
	int error;

	if (t->sigtrap == SIGTRAP_UNTRIED) {
		t->sigtrap = sigtrap_probe(t->sigtrap_trial, &error);
		if (t->sigtrap == SIGTRAP_UNKNOWN)
			log_info("cannot try whether watchpoints in signal handlers are safe here: "
				 "%s; they are from Linux 5.19 on",
				 strerror(-error));
	}
	if (t->sigtrap == SIGTRAP_KILLS)
		return err_set(err, EOPNOTSUPP, "%s", SIGTRAP_KILLS_MESSAGE);
	return 0;
}

/* Is there nothing in the way of another attempt at the process? */
static int check_free(struct broker_targets *t, pid_t pid, struct err *err)
{
	struct broker_target *e = find(t, pid);

	if (e)
		free_if_reaped(t, e);
	if (!e || e->state == TARGET_FREE)
		return 0;
	if (e->state == TARGET_STUCK)
		return err_set(
		    err, EBUSY,
		    "the last attempt to attach to process %d still hangs: a file system "
		    "that the process uses does not answer",
		    pid);
	if (e->state == TARGET_ATTACHED && fd_process_has_ended(e->pidfd)) {
		forget(t, e); /* Its pid was given to another. */
		return 0;
	}
	return err_set(
	    err, EBUSY, "process %d is %s; 'jxperfctl detach %d' ends that", pid,
	    e->state == TARGET_ATTACHED ? "already being profiled" : "just being attached to", pid);
}

static int ask(struct broker_targets *t, const struct broker_target *e, bool known, struct err *err)
{
	struct worker_question question = {
	    .request = {.operation = BROKER_ATTACH, .id = e->request_id, .pid = e->pid},
	    .identity = e->identity,
	    .known = known,
	};

	return broker_workers_ask(t->workers, &question, err);
}

/* A pidfd of the process, or -errno. Whose it is, is decided with its identity (check_identity);
 * this is so that no worker runs for another's process and nothing is told of it. */
static int open_process(const struct broker_request *request, struct err *err)
{
	_cleanup_close_ int pidfd =
	    (int)syscall(SYS_pidfd_open, request->pid, 0); /* Close-on-exec by itself. */
	int r;

	if (pidfd < 0 && (errno == EMFILE || errno == ENFILE))
		return err_set_errno(err, errno, "cannot hold on to process %d", request->pid);
	if (pidfd < 0)
		return proc_absent(request->pid, err);
	r = proc_check_owner(request->pid, request->owner, err);
	return r < 0 ? r : TAKE_FD(pidfd);
}

int broker_targets_attach(struct broker_targets *t, const struct broker_request *request,
			  struct err *err)
{
	_cleanup_close_ int pidfd = open_process(request, err);
	struct broker_target *e;
	int r = pidfd < 0 ? pidfd : check_free(t, request->pid, err);

	if (r < 0)
		return r;
	e = find_free(t);
	if (!e)
		return err_set(err, EAGAIN,
			       "%d processes are being profiled, and that is the limit",
			       BROKER_TARGETS_MAX);
	r = check_sigtrap(t, err);
	if (r < 0)
		return r;
	*e = (struct broker_target){.pid = request->pid,
				    .pidfd = -1,
				    .request_id = request->id,
				    .connection = -1,
				    .asked_owner = request->owner,
				    .asked_start_ticks = request->start_ticks,
				    .timeout_ms = request->timeout_ms,
				    .force = request->attach_flags & BROKER_ATTACH_FORCE,
				    .trace_touch =
					request->attach_flags & BROKER_ATTACH_TRACE_TOUCH};
	r = shares_take(&t->places, request->owner, 1, err);
	if (r < 0)
		return r;
	r = ask(t, e, false, err);
	if (r < 0) {
		free_place(t, e);
		return r;
	}
	e->pidfd = TAKE_FD(pidfd);
	e->state = TARGET_IDENTIFYING;
	return 0;
}

static void fail(struct broker_targets *t, struct broker_target *e, int error,
		 const struct err *err)
{
	static const struct broker_reply nothing;

	cleanup_close(&e->connection);
	e->connection = -1;
	close_pidfd(e);
	if (e->helper.pid) {
		e->state = TARGET_STUCK;
		e->counted = shares_add(&t->stuck, proc_owner(&e->identity), 1) == 0;
	} else {
		free_place(t, e);
	}
	broker_workers_release(t->workers, e->pid);
	t->attached(t->arg, e->request_id, error, NULL, &nothing, err);
}

/* A failure is no reason not to attach: the replies say that first touches are not known. */
static void trace_touch(struct broker_targets *t, struct broker_target *e)
{
	struct err err;

	if (!t->touch || !e->trace_touch)
		return;
	e->touch_traced = broker_touch_trace(t->touch, e->pid, &err) == 0;
	if (!e->touch_traced)
		log_info("process %d: %s: reports will not know first touches", e->pid,
			 err.message);
}

/* May it be attached to for who asked? It may have become another's since open_process, and be
 * another than the one that who asked has looked at before. */
static int check_identity(const struct broker_target *e, struct err *err)
{
	if (fd_process_has_ended(e->pidfd))
		return err_set(err, ESRCH, "process %d has ended", e->pid);
	if (e->asked_owner != PROC_ANY_UID && proc_owner(&e->identity) != e->asked_owner)
		return proc_absent(e->pid, err);
	if (e->asked_start_ticks && e->identity.start_ticks != e->asked_start_ticks)
		return err_set(err, ESRCH,
			       "process %d has ended, and another one has its pid: see 'jxperfctl "
			       "list'",
			       e->pid);
	return 0;
}

/* Whose attempts hang, has no other begun: each is a process that nobody can end. */
static int check_stuck(struct broker_targets *t, const struct broker_target *e, struct err *err)
{
	free_reaped(t);
	return shares_check(&t->stuck, proc_owner(&e->identity), 1, err);
}

/* The worker has said which process it is. Should another one get its pid from here on, or it
 * become another program or user, the worker will say so when it is asked once more (confirm). */
static void run_helper(struct broker_targets *t, struct broker_target *e)
{
	struct err err = {""};
	int r = check_identity(e, &err);

	if (r == 0)
		r = check_stuck(t, e, &err);
	if (r == 0)
		r = attach_helper_start(&e->helper, e->pid, proc_owner(&e->identity), t->agent,
					e->timeout_ms, e->force, &err);
	if (r < 0)
		fail(t, e, r, &err);
	else
		e->state = TARGET_ATTACHING;
}

/* The helper is done, or cannot be ended. If it has a connection, the worker is asked whether the
 * target is still the process that it was. */
static void confirm(struct broker_targets *t, struct broker_target *e)
{
	struct err err = {""};
	int fd = attach_helper_finish(&e->helper, e->name, &err);

	if (e->helper.cancelled) {
		cleanup_close(&fd);
		fd = err_set(&err, ECANCELED, "attaching to process %d was cancelled", e->pid);
	}
	if (fd >= 0) {
		int r = ask(t, e, true, &err);

		e->connection = fd;
		fd = r < 0 ? r : fd;
	}
	if (fd < 0)
		fail(t, e, fd, &err);
	else
		e->state = TARGET_CONFIRMING;
}

static void finish(struct broker_targets *t, struct broker_target *e,
		   const struct broker_reply *found)
{
	struct err name;

	(void)snprintf(name.message, sizeof(name.message), "%s", e->name); /* Shorter. */
	trace_touch(t, e);
	e->state = TARGET_ATTACHED;
	t->attached(t->arg, e->request_id, TAKE_FD(e->connection), &e->identity, found, &name);
}

void broker_targets_answered(struct broker_targets *t, const struct worker_question *question,
			     const struct worker_answer *answer)
{
	struct broker_target *e = find(t, question->request.pid);
	struct err err;

	if (!e || (e->state != TARGET_IDENTIFYING && e->state != TARGET_CONFIRMING))
		return; /* It is of an attempt that has ended. */
	if (answer->reply.error) {
		(void)err_set(&err, answer->reply.error, "%s", answer->reply.message);
		fail(t, e, -answer->reply.error, &err);
	} else if (e->state == TARGET_IDENTIFYING) {
		e->identity = answer->identity;
		run_helper(t, e);
	} else {
		finish(t, e, &answer->reply);
	}
}

/* ---------------------------------------------------------------- attached */

struct broker_target *broker_targets_find_attached(struct broker_targets *t, pid_t pid,
						   struct err *err)
{
	struct broker_target *e = find(t, pid);

	if (e && e->state == TARGET_ATTACHED)
		return e;
	(void)err_set(err, EPERM, "process %d is not being profiled", pid);
	return NULL;
}

struct broker_target *broker_targets_attached(struct broker_targets *t, pid_t pid, struct err *err)
{
	struct broker_target *e = broker_targets_find_attached(t, pid, err);

	if (!e || !fd_process_has_ended(e->pidfd))
		return e;
	(void)err_set(err, ESRCH, "process %d has ended", pid);
	return NULL;
}

void broker_targets_release(struct broker_targets *t, pid_t pid)
{
	struct broker_target *e = find(t, pid);

	if (!e)
		return;
	switch (e->state) {
	case TARGET_ATTACHING:
		attach_helper_cancel(&e->helper);
		break;
	case TARGET_IDENTIFYING:
	case TARGET_CONFIRMING:
		broker_workers_release(t->workers, pid); /* Answers what is asked, and so fails. */
		break;
	case TARGET_ATTACHED:
		forget(t, e);
		break;
	case TARGET_FREE:
	case TARGET_STUCK:
		break;
	}
}

/* ---------------------------------------------------------------- loop */

void broker_targets_poll(struct broker_targets *t, struct broker_polls *p)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++) {
		struct broker_target *e = &t->all[i];

		e->polled = e->state == TARGET_ATTACHING
				? broker_polls_add(p, attach_helper_fd(&e->helper), POLLIN,
						   e->helper.due_ns)
				: -1;
	}
}

void broker_targets_tend(struct broker_targets *t, const struct broker_polls *p)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++) {
		struct broker_target *e = &t->all[i];

		if (e->state == TARGET_ATTACHING &&
		    (broker_polls_is_ready(p, e->polled) ||
		     clock_monotonic_ns() >= e->helper.due_ns) &&
		    attach_helper_advance(&e->helper))
			confirm(t, e);
	}
}

void broker_targets_cancel(struct broker_targets *t)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++) {
		struct broker_target *e = &t->all[i];

		if (e->state != TARGET_ATTACHED && e->state != TARGET_FREE)
			broker_targets_release(t, e->pid);
	}
}
