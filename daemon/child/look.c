#include "daemon/child/look.h"

#include "attach/process/jvm_step.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/proc.h"
#include "daemon/child/look_left.h"
#include "daemon/shares/shares.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN_MAX      16  /* at a time */
#define RUNNABLE_PATIENCE 5u  /* times the deadline, for a child that has no processor */
#define END_MS            100 /* for a child that has nothing left to do, or was killed, to end */
#define SOCKET            3   /* of a child, beside the standard three */
#define EARLIER_STEP      "what an earlier look at it still waits for"
#define CRASHED_STEP      "something that ended who looked"

struct child {
	pid_t pid; /* 0: none */
	int pidfd;
	int socket;
	char *step;   /* shared with it */
	pid_t target; /* 0: idle */
	uint64_t since_ns;
	uint64_t extra_ns; /* time it got because it was waiting for a processor only */
};

struct looking {
	const struct look_task *task;
	struct child children[CHILDREN_MAX];
	pid_t *queue; /* those that are left, from first on, in a ring */
	size_t first, left, size;
	pid_t hanging[LOOK_HANGING_MAX]; /* given up, here or earlier, */
	size_t hanging_count;
	struct shares hanging_of; /* and how many are whose */
	size_t passed_over;
	uint8_t answer[1 + LOOK_ANSWER_BYTES];
};

/* ---------------------------------------------------------------- in a child */

/* What is left behind must hold on to nothing: not to the answer's socket, whose reader waits for
 * its end, nor to somebody's terminal or pipe. */
static void let_go(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < SOCKET; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			(void)close(fd); /* Nothing is written there. */
	if (socket != SOCKET)
		(void)dup2(socket, SOCKET);                 /* Both are valid: cannot fail. */
	(void)syscall(SYS_close_range, SOCKET + 1, ~0u, 0); /* Since Linux 5.9. */
}

__attribute__((noreturn)) static void run_child(const struct look_task *task, int socket,
						char *step)
{
	static uint8_t answer[1 + LOOK_ANSWER_BYTES];
	pid_t target;

	let_go(socket);
	while (recv(SOCKET, &target, sizeof(target), 0) == sizeof(target)) {
		size_t size;

		look_left_mark(target);
		step[0] = '\0';
		/* A first byte, since an empty message would be taken for the end. */
		size = task->look(task->arg, target, step, answer + 1);
		if (send(SOCKET, answer, 1 + size, MSG_NOSIGNAL) < 0)
			break;
	}
	/* An attach helper that we have started may hang, too: while we wait for it, our name tells
	 * later looks which process it hangs on. */
	while (wait(NULL) > 0 || errno == EINTR)
		;
	_exit(0);
}

/* ---------------------------------------------------------------- children */

static void forget_child(struct child *c)
{
	cleanup_close(&c->pidfd);
	cleanup_close(&c->socket);
	(void)munmap(c->step, JVM_STEP_BYTES); /* Ours: cannot fail. */
	*c = (struct child){.pidfd = -1, .socket = -1};
}

static int start_child(struct looking *l, struct child *c)
{
	char *step =
	    mmap(NULL, JVM_STEP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pair[2];
	pid_t pid;

	if (step == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		(void)munmap(step, JVM_STEP_BYTES); /* Ours: cannot fail. */
		return -errno;
	}
	pid = fork();
	if (pid == 0)
		run_child(l->task, pair[1], step);
	cleanup_close(&pair[1]);
	*c = (struct child){.pid = pid, .pidfd = -1, .socket = pair[0], .step = step};
	if (pid < 0) {
		int r = -errno;

		forget_child(c);
		return r;
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Close-on-exec by itself. */
	return 0;
}

/* Waits a moment for its end. Who does not end is left to init, when we end. */
static void end_child(struct child *c)
{
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};

	cleanup_close(&c->socket);
	c->socket = -1;
	while (poll(&p, 1, END_MS) < 0 && errno == EINTR)
		;
	(void)waitpid(c->pid, NULL, WNOHANG);
	forget_child(c);
}

/* ---------------------------------------------------------------- who hangs */

static bool user_of(pid_t pid, uid_t *user)
{
	struct proc_status status;

	if (proc_read_status(pid, 0, &status) < 0)
		return false;
	*user = status.effective_uid;
	return true;
}

static void note_hanging(struct looking *l, pid_t target)
{
	uid_t user;

	if (l->hanging_count == LOOK_HANGING_MAX)
		return;
	l->hanging[l->hanging_count++] = target;
	if (user_of(target, &user))                        /* One that has ended is nobody's. */
		(void)shares_add(&l->hanging_of, user, 1); /* Without memory it is, too. */
}

static bool hangs_already(const struct looking *l, pid_t target)
{
	for (size_t i = 0; i < l->hanging_count; i++)
		if (l->hanging[i] == target)
			return true;
	return false;
}

static bool is_slow(const struct child *c, uint64_t now)
{
	return c->target && now >= c->since_ns + LOOK_PATIENCE_MS * NS_PER_MS;
}

enum verdict { GO, WAIT, PASS_OVER };

/* May another process be looked at for whose user some hang? */
static enum verdict judge(const struct looking *l, pid_t target, uint64_t now)
{
	uint64_t hanging, slow = 0;
	uid_t user, other;

	for (int i = 0; i < CHILDREN_MAX; i++)
		slow += is_slow(&l->children[i], now);
	if (l->hanging_count + slow >= LOOK_HANGING_MAX)
		return slow ? WAIT : PASS_OVER;
	if (l->hanging_count + slow < LOOK_HANGING_PER_USER || !user_of(target, &user))
		return GO;
	slow = 0;
	hanging = shares_of(&l->hanging_of, user);
	for (int i = 0; i < CHILDREN_MAX; i++)
		slow += is_slow(&l->children[i], now) && user_of(l->children[i].target, &other) &&
			other == user;
	if (hanging >= LOOK_HANGING_PER_USER)
		return PASS_OVER;
	return hanging + slow >= LOOK_HANGING_PER_USER ? WAIT : GO;
}

/* ---------------------------------------------------------------- the queue */

static pid_t take_first(struct looking *l)
{
	pid_t target = l->queue[l->first];

	l->first = (l->first + 1) % l->size;
	l->left--;
	return target;
}

static void put_last(struct looking *l, pid_t target)
{
	l->queue[(l->first + l->left++) % l->size] = target;
}

/* The next that may be looked at now, 0 for none. */
static pid_t next_target(struct looking *l, uint64_t now)
{
	for (size_t tries = l->left; tries > 0; tries--) {
		pid_t target = take_first(l);
		enum verdict verdict;

		if (hangs_already(l, target)) {
			l->task->hangs(l->task->arg, target, EARLIER_STEP);
			continue;
		}
		verdict = judge(l, target, now);
		if (verdict == GO)
			return target;
		if (verdict == WAIT)
			put_last(l, target);
		else
			l->passed_over++;
	}
	return 0;
}

/* ---------------------------------------------------------------- rounds */

/* One that has nothing to do; a new one when there is none, or all that there are were patiently
 * waited for. */
static struct child *find_idle(struct looking *l, uint64_t now)
{
	struct child *unused = NULL;
	bool busy = false;

	for (int i = 0; i < CHILDREN_MAX; i++) {
		struct child *c = &l->children[i];

		if (c->pid && !c->target)
			return c;
		if (!c->pid)
			unused = c;
		else
			busy |= !is_slow(c, now);
	}
	return unused && !busy && start_child(l, unused) == 0 ? unused : NULL;
}

static void set_to_work(struct looking *l)
{
	uint64_t now = clock_monotonic_ns();
	struct child *c;

	while (l->left > 0 && (c = find_idle(l, now))) {
		pid_t target = next_target(l, now);

		if (!target)
			return;
		c->target = target;
		c->since_ns = now;
		c->extra_ns = 0;
		/* A child that has ended is noticed by its socket's end. */
		(void)send(c->socket, &target, sizeof(target), MSG_NOSIGNAL);
	}
}

static void take_answer(struct looking *l, struct child *c)
{
	pid_t target = c->target;
	ssize_t n = recv(c->socket, l->answer, sizeof(l->answer), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->target = 0;
	if (n > 0) {
		l->task->answered(l->task->arg, target, l->answer + 1, (size_t)n - 1);
		return;
	}
	end_child(c);
	if (target)
		l->task->hangs(l->task->arg, target, CRASHED_STEP);
}

/* One that would run if it had a processor hangs on nothing: it gets more time, but not for ever.
 */
static bool is_hanging(const struct looking *l, const struct child *c)
{
	uint64_t deadline_ns = l->task->deadline_ms * NS_PER_MS;
	struct proc_status status;

	return c->extra_ns >= deadline_ns * RUNNABLE_PATIENCE ||
	       proc_read_status(c->pid, 0, &status) < 0 || status.state != 'R';
}

static void give_up(struct looking *l, struct child *c)
{
	pid_t target = c->target;
	char step[JVM_STEP_BYTES];

	memcpy(step, c->step, sizeof(step));
	step[sizeof(step) - 1] = '\0';
	l->task->hangs(l->task->arg, target, step);
	note_hanging(l, target);
	(void)kill(c->pid, SIGKILL); /* Not reaped yet, so it is ours. */
	end_child(c);
}

static void tend(struct looking *l, struct child *c, uint64_t now)
{
	uint64_t deadline_ns = l->task->deadline_ms * NS_PER_MS;

	if (!c->target || now < c->since_ns + c->extra_ns + deadline_ns)
		return;
	if (is_hanging(l, c))
		give_up(l, c);
	else
		c->extra_ns += LOOK_PATIENCE_MS * NS_PER_MS;
}

/* Until when there is nothing to do without an answer. */
static int timeout(const struct looking *l, uint64_t now)
{
	uint64_t first = UINT64_MAX;

	for (int i = 0; i < CHILDREN_MAX; i++) {
		const struct child *c = &l->children[i];
		uint64_t due =
		    c->since_ns + c->extra_ns +
		    (is_slow(c, now) ? l->task->deadline_ms : LOOK_PATIENCE_MS) * NS_PER_MS;

		if (c->target && due < first)
			first = due;
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / NS_PER_MS) + 1;
}

/* False when nobody is at work, and nobody could be. */
static bool run_round(struct looking *l)
{
	struct pollfd p[CHILDREN_MAX];
	uint64_t now;
	bool any = false;

	set_to_work(l);
	for (int i = 0; i < CHILDREN_MAX; i++) {
		p[i] = (struct pollfd){.fd = l->children[i].target ? l->children[i].socket : -1,
				       .events = POLLIN};
		any |= p[i].fd >= 0;
	}
	if (!any)
		return false;
	if (poll(p, CHILDREN_MAX, timeout(l, clock_monotonic_ns())) < 0)
		return errno == EINTR;
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (p[i].fd >= 0 && p[i].revents)
			take_answer(l, &l->children[i]);
	now = clock_monotonic_ns();
	for (int i = 0; i < CHILDREN_MAX; i++)
		tend(l, &l->children[i], now);
	return true;
}

/* Who was left behind by others. */
static int find_left_behind(struct looking *l, struct err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	pid_t targets[LOOK_HANGING_MAX];
	size_t count, found;
	int r = proc_pids(&pids, &count);

	if (r < 0)
		return err_set_errno(err, -r, "cannot list '/proc'");
	found = look_left_find(pids, count, targets, LOOK_HANGING_MAX);
	for (size_t i = 0; i < found; i++)
		note_hanging(l, targets[i]);
	if (found == LOOK_HANGING_MAX)
		return err_set(err, EAGAIN,
			       "%d earlier looks at processes still hang, and that is the limit: "
			       "end the processes named in '" LOOK_LEFT_NAME " PID' of 'ps -e', or "
			       "what serves their file systems",
			       LOOK_HANGING_MAX);
	return 0;
}

static int look(struct looking *l, struct err *err)
{
	int r = find_left_behind(l, err);

	if (r < 0)
		return r;
	while (l->left > 0)
		if (!run_round(l) && l->left > 0)
			return err_set(err, EAGAIN, "cannot start a process to look at others");
	while (run_round(l))
		;
	return 0;
}

int look_at_all(const struct look_task *task, const pid_t *pids, size_t count, size_t *passed_over,
		struct err *err)
{
	_cleanup_free_ struct looking *l = calloc(1, sizeof(*l));
	_cleanup_free_ pid_t *queue = malloc((count + 1) * sizeof(*queue));
	int r;

	if (!l || !queue)
		return err_set(err, ENOMEM, "out of memory");
	memcpy(queue, pids, count * sizeof(*queue));
	l->task = task;
	l->queue = queue;
	l->left = count;
	l->size = count + 1;
	for (int i = 0; i < CHILDREN_MAX; i++)
		l->children[i] = (struct child){.pidfd = -1, .socket = -1};
	r = look(l, err);
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (l->children[i].pid)
			end_child(&l->children[i]);
	shares_release(&l->hanging_of);
	look_left_done();
	if (r == 0)
		*passed_over = l->passed_over;
	return r;
}
