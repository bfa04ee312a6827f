#include "daemon/broker/broker.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/perf/events.h"
#include "common/proc.h"
#include "daemon/broker/children.h"
#include "daemon/broker/discovery.h"
#include "daemon/broker/first_touch.h"
#include "daemon/broker/gate.h"
#include "daemon/broker/gate_trial.h"
#include "daemon/broker/perf.h"
#include "daemon/broker/polls.h"
#include "daemon/broker/privilege.h"
#include "daemon/broker/proto.h"
#include "daemon/broker/outbox.h"
#include "daemon/broker/targets.h"
#include "daemon/broker/workers.h"
#include "daemon/inspector/inspector.h"
#include "machine/numa_topology.h"
#include "machine/sampler_choice.h"
#include "proto/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct broker {
	int socket;
	const struct startup *startup;
	struct broker_gate *gate; /* NULL: the kernel has none for us, gate_error says why */
	int gate_result;
	struct err gate_error;
	struct broker_touch *touch; /* NULL: first touches are not traced, touch_error says why */
	struct err touch_error;
	struct broker_discovery *discovery; /* NULL: discovery_error says why there is none */
	struct err discovery_error;
	struct switch_costs switch_costs;
	struct broker_targets targets;
	struct broker_workers workers;
	struct broker_children children;
	struct broker_outbox outbox;
};

static void reply(struct broker *b, uint32_t operation, uint32_t id, int result,
		  const struct err *err, int *fds)
{
	struct broker_reply r = {
	    .operation = operation,
	    .id = id,
	    .error = result < 0 ? -result : 0,
	    .fds = result > 0 ? (uint32_t)result : 0,
	};

	if (result < 0)
		strcpy(r.message, err->message);
	broker_outbox_reply(&b->outbox, &r, fds);
}

/* ---------------------------------------------------------------- operations */

/* An operation gives how many descriptors it has put into fds, -errno, or this: it is answered in
 * another way, later, or not at all. */
#define NOT_ANSWERED INT_MAX

static int attach(struct broker *b, const struct broker_request *request, int *fds, struct err *err)
{
	int r = broker_targets_attach(&b->targets, request, err);

	(void)fds; /* Comes with on_attached. */
	return r < 0 ? r : NOT_ANSWERED;
}

/* Asks the target's worker; answered when that has answered. */
static int ask_worker(struct broker *b, const struct broker_request *request, int *fds,
		      struct err *err)
{
	const struct broker_target *e =
	    broker_targets_find_attached(&b->targets, request->pid, err);
	struct worker_question question = {.request = *request, .known = 1};
	int r;

	(void)fds; /* They come with on_answered. */
	if (!e)
		return -EPERM;
	question.identity = e->identity;
	r = broker_workers_ask(&b->workers, &question, err);
	return r < 0 ? r : NOT_ANSWERED;
}

static int open_events(struct broker *b, const struct broker_request *request, int *fds,
		       struct err *err)
{
	int r = broker_perf_check(request, err);

	return r < 0 ? r : ask_worker(b, request, fds, err);
}

/* Returns the number of descriptors: the program, for a gate that is new. */
static int set_gate(struct broker *b, const struct broker_request *request, int *fds,
		    struct gate_counts *counts, struct err *err)
{
	struct broker_target *e = broker_targets_find_attached(&b->targets, request->pid, err);
	int r;

	if (!e)
		return -EPERM;
	if (!broker_targets_attached(&b->targets, request->pid, err))
		return -ESRCH;
	if (!b->gate)
		return err_set(err, -b->gate_result, "%s", b->gate_error.message);
	r = broker_gate_set(b->gate, e->pid, &request->gate);
	if (r == 0)
		r = broker_gate_counts(b->gate, e->pid, counts);
	if (r < 0)
		return err_set_errno(err, -r, "cannot set the BPF gate of process %d", e->pid);
	if (e->gated)
		return 0;
	fds[0] = fcntl(broker_gate_program(b->gate), F_DUPFD_CLOEXEC, 0);
	if (fds[0] < 0)
		return err_set_errno(err, errno, "cannot pass the BPF gate on");
	e->gated = true;
	return 1;
}

/* The counts of a process that has ended are as good as any. */
static int remove_gate(struct broker *b, pid_t pid, struct gate_counts *counts, struct err *err)
{
	struct broker_target *e = broker_targets_find_attached(&b->targets, pid, err);

	if (!e)
		return -EPERM;
	if (!e->gated)
		return err_set(err, ENOENT, "process %d has no BPF gate", pid);
	broker_gate_remove(b->gate, pid, counts);
	e->gated = false;
	return 0;
}

static bool has_limits(const struct broker_request *r)
{
	return r->gate.window_end_ns || r->gate.interval_ns || r->gate.burst_ns;
}

static int gate(struct broker *b, const struct broker_request *request, int *fds, struct err *err)
{
	struct broker_reply r = {.operation = BROKER_GATE, .id = request->id};
	int result;

	if (has_limits(request))
		result = set_gate(b, request, fds, &r.gate, err);
	else
		result = remove_gate(b, request->pid, &r.gate, err);
	if (result < 0)
		return result;
	r.fds = (uint32_t)result;
	broker_outbox_reply(&b->outbox, &r, fds);
	return NOT_ANSWERED;
}

static void find_touches(struct broker *b, const struct broker_target *e,
			 const struct broker_request *request, struct broker_reply *r)
{
	uint64_t seen;

	r->touch_traced =
	    e->touch_traced && broker_touch_counts(b->touch, request->pid, &seen, &r->touches_lost);
	for (uint32_t i = 0; i < request->page_count; i++)
		r->touched[i] = e->touch_traced ? (int16_t)broker_touch_node(b->touch, request->pid,
									     request->pages[i])
						: -1;
}

/* What a worker has found or opened, or why it has not. */
static void on_answered(void *arg, const struct worker_question *question,
			const struct worker_answer *answer, int *fds)
{
	struct broker *b = arg;
	const struct broker_request *request = &question->request;
	const struct broker_target *e;
	struct broker_reply r = answer->reply;
	struct err err;

	if (request->operation == BROKER_ATTACH) {
		broker_targets_answered(&b->targets, question, answer);
		return;
	}
	e = broker_targets_find_attached(&b->targets, request->pid, &err);
	/* Breakpoints are no samples. Where the gate cannot be put on an event, the agent finds
	 * out, since it tries the same, and keeps to the limits itself. */
	if (e && e->gated && request->operation == BROKER_PERF_OPEN && !request->breakpoints &&
	    r.fds > 0)
		(void)broker_gate_attach(b->gate, fds[0]);
	if (e && request->operation == BROKER_PAGES && !r.error)
		find_touches(b, e, request, &r);
	broker_outbox_reply(&b->outbox, &r, fds);
}

/* The end of an attach. */
static void on_attached(void *arg, uint32_t request_id, int fd, const struct proc_identity *who,
			const struct broker_reply *found, const struct err *words)
{
	struct broker *b = arg;
	struct broker_reply r = {.operation = BROKER_ATTACH,
				 .id = request_id,
				 .error = fd < 0 ? -fd : 0,
				 .fds = fd >= 0,
				 .owner = who ? proc_owner(who) : PROC_ANY_UID,
				 .start_ticks = who ? who->start_ticks : 0,
				 .cpu_limit = found->cpu_limit,
				 .container = found->container,
				 .switch_costs = b->switch_costs};

	strcpy(r.message, words->message);
	broker_outbox_reply(&b->outbox, &r, &fd);
}

static void on_given_up(void *arg, pid_t target)
{
	struct broker *b = arg;

	broker_outbox_event(&b->outbox, BROKER_EVENT_WORKER_GIVEN_UP, target, 0);
}

/* "1,2", as inspectors get them; each takes PID_BYTES at most. */
#define PID_BYTES (sizeof("2147483647,") - 1)

static void list_pids(const struct broker_request *request, char *text)
{
	*text = '\0';
	for (uint32_t i = 0; i < request->pid_count; i++)
		text += sprintf(text, "%s%d", i ? "," : "", request->pids[i]);
}

static int inspect(struct broker *b, const struct broker_request *request, int *fds,
		   struct err *err)
{
	const struct check_reasons reasons = {
	    .gate = b->gate ? "" : b->gate_error.message,
	    .touch = b->touch ? "" : b->touch_error.message,
	};
	char only[BROKER_PIDS_MAX * PID_BYTES + 1];
	const struct inspector_question question = {
	    .pid = request->pid, .owner = request->owner, .only = only, .jars = request->jars};
	int fd;

	list_pids(request, only);
	fd = broker_children_inspect(&b->children, &question, b->startup, &reasons, err);

	fds[0] = fd;
	return fd < 0 ? fd : 1;
}

static int watch(struct broker *b, const struct broker_request *request, int *fds, struct err *err)
{
	int fd = broker_children_watch(&b->children, request->pid, request->owner, err);

	fds[0] = fd;
	return fd < 0 ? fd : 1;
}

/* Neither look waits for the process: the kernel answers by itself. */
static int login(struct broker *b, const struct broker_request *request, int *fds, struct err *err)
{
	struct broker_reply r = {.operation = BROKER_LOGIN, .id = request->id};
	char path[32], text[16];
	int error = proc_check_owner(request->pid, request->owner, err);

	(void)fds;
	if (error < 0)
		return error;
	(void)snprintf(path, sizeof(path), "/proc/%d/loginuid", request->pid);
	if (proc_read(path, text, sizeof(text)) <= 0)
		return err_set(err, ENODATA, "the kernel does not tell who has logged in");
	r.login = (uid_t)strtoul(text, NULL, 10);
	broker_outbox_reply(&b->outbox, &r, NULL);
	return NOT_ANSWERED;
}

static int discover(struct broker *b, const struct broker_request *request, int *fds,
		    struct err *err)
{
	(void)fds;
	if (!b->discovery)
		return err_set(err, EOPNOTSUPP, "%s", b->discovery_error.message);
	return broker_discovery_set(b->discovery, request->switch_on, err);
}

static int follow(struct broker *b, const struct broker_request *request, int *fds, struct err *err)
{
	(void)fds;
	(void)err;
	for (uint32_t i = 0; b->discovery && i < request->pid_count; i++)
		broker_discovery_follow(b->discovery, request->pids[i]);
	return NOT_ANSWERED;
}

static void on_process_started(void *arg, pid_t pid, unsigned look)
{
	struct broker *b = arg;

	broker_outbox_event(&b->outbox, BROKER_EVENT_STARTED, pid, look);
}

static void on_process_ended(void *arg, pid_t pid)
{
	struct broker *b = arg;

	broker_outbox_event(&b->outbox, BROKER_EVENT_ENDED, pid, 0);
}

static void on_processes_missed(void *arg, uint64_t count)
{
	struct broker *b = arg;

	broker_outbox_event(&b->outbox, BROKER_EVENT_MISSED, 0,
			    count < UINT32_MAX ? (uint32_t)count : UINT32_MAX);
}

static int release(struct broker *b, const struct broker_request *request, int *fds,
		   struct err *err)
{
	(void)fds;
	(void)err;
	broker_children_stop(&b->children, request->pid);
	broker_targets_release(&b->targets, request->pid);
	return NOT_ANSWERED;
}

/* ---------------------------------------------------------------- requests */

static bool is_pid_of(const struct broker_request *r)
{
	switch (r->operation) {
	case BROKER_INSPECT:
		return r->pid >= INSPECTOR_LIST;
	case BROKER_DISCOVER:
	case BROKER_FOLLOW:
		return r->pid == 0;
	default:
		return r->pid > 0;
	}
}

static int check_pids(const struct broker_request *r, struct err *err)
{
	bool may = r->operation == BROKER_FOLLOW ||
		   (r->operation == BROKER_INSPECT && r->pid == INSPECTOR_LIST);

	if (r->pid_count > (may ? BROKER_PIDS_MAX : 0))
		return err_set(err, EINVAL, "%u processes at a time", r->pid_count);
	for (uint32_t i = 0; i < r->pid_count; i++)
		if (r->pids[i] <= 0)
			return err_set(err, EINVAL, "'%d' is not a process id", r->pids[i]);
	return 0;
}

/* What an operation does not use must be 0, so that it can be given a meaning later. */
static bool sets_unused_field(const struct broker_request *r)
{
	uint32_t operation = r->operation;
	bool owned = operation == BROKER_ATTACH || operation == BROKER_INSPECT ||
		     operation == BROKER_WATCH || operation == BROKER_LOGIN;
	const struct {
		bool used, set;
	} fields[] = {
	    {operation == BROKER_PERF_OPEN, r->namespace_tid || r->breakpoints ||
						r->hardware_event || r->clock_period_ns ||
						r->event_period || r->sig_data},
	    {operation == BROKER_GATE, has_limits(r)},
	    {operation == BROKER_ATTACH, r->attach_flags || r->start_ticks},
	    {operation == BROKER_DISCOVER, r->switch_on},
	    {operation == BROKER_INSPECT && r->pid == INSPECTOR_LIST, r->jars},
	    {owned, r->owner},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].set && !fields[i].used)
			return true;
	return r->attach_flags & ~BROKER_ATTACH_FLAGS || r->switch_on > 1 || r->jars > 1;
}

static int check_request(const struct broker_request *r, struct err *err)
{
	if (!is_pid_of(r))
		return err_set(err, EINVAL, "'%d' is not a process id", r->pid);
	if (sets_unused_field(r))
		return err_set(err, EINVAL, "a field that the operation does not use is set");
	if (r->timeout_ms &&
	    (r->operation != BROKER_ATTACH || r->timeout_ms < ATTACH_TIMEOUT_MS_MIN ||
	     r->timeout_ms > ATTACH_TIMEOUT_MS_MAX))
		return err_set(err, EINVAL, "a time of %u ms to attach", r->timeout_ms);
	if (r->operation == BROKER_PAGES ? r->page_count < 1 || r->page_count > BROKER_PAGES_MAX
					 : r->page_count != 0)
		return err_set(err, EINVAL, "a question for %u pages", r->page_count);
	return check_pids(r, err);
}

static void serve(struct broker *b, const struct broker_request *request)
{
	static int (*const operations[])(struct broker * b, const struct broker_request *request,
					 int *fds, struct err *err) = {
	    [BROKER_ATTACH] = attach,    [BROKER_PERF_OPEN] = open_events,
	    [BROKER_RELEASE] = release,  [BROKER_INSPECT] = inspect,
	    [BROKER_PAGES] = ask_worker, [BROKER_GATE] = gate,
	    [BROKER_WATCH] = watch,      [BROKER_DISCOVER] = discover,
	    [BROKER_FOLLOW] = follow,    [BROKER_LOGIN] = login,
	};
	uint32_t operation = request->operation;
	int fds[1] = {-1}, r;
	struct err err = {""};

	if (operation >= sizeof(operations) / sizeof(operations[0]) || !operations[operation])
		r = err_set(&err, EINVAL, "operation %u is unknown", operation);
	else
		r = check_request(request, &err);
	if (r == 0)
		r = operations[operation](b, request, fds, &err);
	if (r != NOT_ANSWERED && broker_operation_is_answered(operation))
		reply(b, operation, request->id, r, &err, fds);
}

/* One message. False when the engine is gone. */
static bool receive(struct broker *b)
{
	struct broker_request request;
	struct err err;
	size_t no_fds = 0;
	int none[1];
	ssize_t n;
	char probe;

	/* A longer message would be cut to a valid size: MSG_TRUNC tells its true one. */
	n = recv(b->socket, &probe, sizeof(probe), MSG_PEEK | MSG_TRUNC);
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		return false;
	if (n < 0)
		return true;
	memset(&request, 0, sizeof(request));
	if (fd_recv(b->socket, &request, sizeof(request), none, &no_fds) == n &&
	    n == (ssize_t)sizeof(request)) {
		serve(b, &request);
		return true;
	}
	(void)err_set(&err, EMSGSIZE,
		      "a request of %zd bytes: it has to have %zu and no descriptor", n,
		      sizeof(request));
	reply(b, 0, 0, -EMSGSIZE, &err, NULL);
	return true;
}

/* ---------------------------------------------------------------- loop */

_Static_assert(BROKER_WORKERS_MAX + BROKER_TARGETS_MAX + BROKER_CHILDREN_MAX + 2 <=
		   BROKER_POLLS_MAX,
	       "with the engine's socket and the ring of processes that start");

/* For poll; -1 when nothing is due (UINT64_MAX). */
static int timeout_until(uint64_t when_ns)
{
	uint64_t now = clock_monotonic_ns();

	if (when_ns == UINT64_MAX)
		return -1;
	return when_ns <= now ? 0 : (int)((when_ns - now) / NS_PER_MS) + 1;
}

/* One round. False when the engine is gone, or cut off. */
static bool run_once(struct broker *b)
{
	struct broker_polls p;
	int engine;

	broker_polls_clear(&p);
	engine = broker_outbox_poll(&b->outbox, &p);
	broker_workers_poll(&b->workers, &p);
	broker_targets_poll(&b->targets, &p);
	broker_children_poll(&b->children, &p);
	broker_discovery_poll(b->discovery, &p);
	if (poll(p.fds, p.count, timeout_until(p.first_ns)) < 0)
		return errno == EINTR;
	broker_workers_tend(&b->workers, &p);
	broker_targets_tend(&b->targets, &p);
	broker_children_tend(&b->children);
	broker_discovery_tend(b->discovery);
	if (!broker_outbox_tend(&b->outbox) || !broker_polls_is_ready(&p, engine))
		return !b->outbox.over;
	return receive(b);
}

static bool helpers_run(struct broker *b, struct broker_polls *p)
{
	broker_polls_clear(p);
	broker_targets_poll(&b->targets, p);
	return p->count > 0;
}

/* Ends what still runs, and lets it remove what it has put into other file systems. */
static void shut_down(struct broker *b)
{
	struct broker_polls p;

	broker_children_end(&b->children);
	broker_targets_cancel(&b->targets);
	while (helpers_run(b, &p))
		if (poll(p.fds, p.count, timeout_until(p.first_ns)) >= 0)
			broker_targets_tend(&b->targets, &p);
	broker_workers_end(&b->workers);
}

static bool is_request_socket(int fd)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/* A gate that works, or the reason why there is none. */
static void open_gate(struct broker *b)
{
	b->gate_result = broker_gate_open(&b->gate, &b->gate_error);
	if (b->gate)
		b->gate_result = broker_gate_trial(b->gate, &b->gate_error);
	if (b->gate && b->gate_result < 0) {
		broker_gate_free(b->gate);
		b->gate = NULL;
	}
}

/* What takes privileges that are given up then, and the giving up. 0 or -errno. */
static int prepare(struct broker *b, struct err *err)
{
	const struct broker_discovery_sink discovery = {.arg = b,
							.started = on_process_started,
							.ended = on_process_ended,
							.missed = on_processes_missed};
	int r = proc_check_numbers(err);

	if (r < 0)
		return r;
	b->switch_costs = SWITCH_COSTS_USUAL;
	(void)switch_costs_measure(&b->switch_costs); /* Else the usual ones. */
	open_gate(b);
	(void)broker_discovery_open(&b->discovery, &discovery, &b->discovery_error);
	if (numa_topology()->node_count < 2)
		(void)err_set(&b->touch_error, ENODEV, "there is one NUMA node");
	else
		(void)broker_touch_open(&b->touch, &b->touch_error);
	r = broker_privilege_reduce(err);
	if (r < 0)
		return r;
	if (b->touch && broker_touch_trial(b->touch, &b->touch_error) < 0) {
		broker_touch_free(b->touch);
		b->touch = NULL;
	}
	if (b->discovery && broker_discovery_trial(b->discovery, &b->discovery_error) < 0) {
		broker_discovery_free(b->discovery);
		b->discovery = NULL;
	}
	if (!b->touch && numa_topology()->node_count > 1)
		log_info("%s: reports will not know first touches", b->touch_error.message);
	return 0;
}

/* The first message, which the engine waits for: the broker serves, or says why it cannot. */
static int say_hello(struct broker *b)
{
	struct broker_reply hello = {.operation = BROKER_HELLO};
	struct err err;
	int r = prepare(b, &err);

	hello.error = -r;
	hello.sampler_error = sampler_try_once();
	strcpy(hello.message, r < 0 ? err.message : JXPERF_VERSION);
	broker_outbox_reply(&b->outbox, &hello, NULL);
	return r;
}

int broker_main(int socket_fd, const struct startup *startup, sigtrap_trial_fn trial)
{
	_cleanup_free_ struct broker *b = calloc(1, sizeof(*b));
	/* The engine decides when to stop; a terminal's ^C or systemd's SIGTERM goes to both. */
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	int r;

	if (!b || !is_request_socket(socket_fd)) {
		log_error("the broker is started by jxperfd itself, not by hand");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], SIG_IGN); /* Valid numbers: cannot fail. */
	(void)fd_set_nonblocking(socket_fd, true); /* An open socket: cannot fail. */
	b->socket = b->outbox.socket = socket_fd;
	b->startup = startup;
	r = say_hello(b);
	b->workers.answered = on_answered;
	b->workers.given_up = on_given_up;
	b->workers.arg = b;
	b->workers.program = b->children.program = startup->children_fd;
	broker_targets_init(&b->targets);
	b->targets.agent = &startup->agent;
	b->targets.workers = &b->workers;
	b->targets.sigtrap_trial = trial;
	b->targets.attached = on_attached;
	b->targets.arg = b;
	b->targets.gate = b->gate;
	b->targets.touch = b->touch;
	while (r == 0 && run_once(b))
		;
	/* First of all, no more samples pass: the agents may take a while to notice that the engine
	 * is gone. */
	broker_gate_free(b->gate);
	broker_touch_free(b->touch);
	broker_discovery_free(b->discovery);
	b->gate = b->targets.gate = NULL;
	b->touch = b->targets.touch = NULL;
	shut_down(b);
	broker_targets_free(&b->targets);
	broker_outbox_release(&b->outbox);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
