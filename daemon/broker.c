#include "daemon/broker.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/perf_events.h"
#include "common/proc.h"
#include "daemon/broker_gate.h"
#include "daemon/broker_helper.h"
#include "daemon/broker_inspect.h"
#include "daemon/broker_pages.h"
#include "daemon/broker_perf.h"
#include "daemon/broker_privilege.h"
#include "daemon/broker_proto.h"
#include "daemon/broker_touch.h"
#include "daemon/broker_watch.h"
#include "daemon/inspect.h"
#include "daemon/numa_topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Processes attached to, or being attached to, at a time. */
#define BROKER_TARGETS_MAX 256

/* How long helpers get to clean up when the engine is gone. */
#define SHUTDOWN_MS 2000

enum entry_state {
	ENTRY_FREE,
	ENTRY_ATTACHING,
	ENTRY_ATTACHED,
	ENTRY_STUCK, /* the attach failed, and its helper cannot be killed yet */
};

/* Invariant: helper is in use exactly while ATTACHING or STUCK. */
struct entry {
	enum entry_state state;
	pid_t pid;
	struct proc_identity identity; /* with pid, which process it is */
	uint32_t request_id;
	bool trace_touch;  /* was asked for; */
	bool touch_traced; /* is so */
	bool gated;        /* has a gate in the kernel */
	struct broker_helper helper;
};

struct broker {
	int socket;
	const char *bundle_dir;
	struct broker_gate *gate;   /* NULL: the kernel has none for us, gate_error says why */
	struct broker_touch *touch; /* NULL: first touches cannot be traced, or there is one node */
	int gate_result;
	struct err gate_error;
	sigtrap_trial_fn sigtrap_trial;
	enum sigtrap_verdict sigtrap; /* UNTRIED before the first attach */
	struct entry entries[BROKER_TARGETS_MAX];
	struct broker_inspectors inspectors;
	struct broker_watchers watchers;
};

_Static_assert(GATE_TARGETS_MAX >= BROKER_TARGETS_MAX, "every target can have a gate");

static struct entry *find(struct broker *b, pid_t pid)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++)
		if (b->entries[i].state != ENTRY_FREE && b->entries[i].pid == pid)
			return &b->entries[i];
	return NULL;
}

/* The process is ours no longer; what it still has of our events passes nothing more. */
static void forget_target(struct broker *b, struct entry *e)
{
	if (e->gated)
		broker_gate_remove(b->gate, e->pid, NULL);
	e->gated = false;
	if (e->touch_traced)
		broker_touch_forget(b->touch, e->pid);
	e->touch_traced = false;
	e->state = ENTRY_FREE;
}

static void free_if_reaped(struct entry *e)
{
	int status;

	if (e->state == ENTRY_STUCK && broker_helper_reaped(&e->helper, &status))
		e->state = ENTRY_FREE;
}

static struct entry *find_free(struct broker *b)
{
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++) {
		free_if_reaped(&b->entries[i]);
		if (b->entries[i].state == ENTRY_FREE)
			return &b->entries[i];
	}
	return NULL;
}

/* fds are closed here, whether sent or not. A reply that cannot be sent is for an engine that is
 * gone: the loop sees end of file next. */
static void send_reply(struct broker *b, const struct broker_reply *r, int *fds)
{
	(void)fd_send(b->socket, r, sizeof(*r), fds, r->fds);
	fd_close_all(fds, r->fds);
}

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
	send_reply(b, &r, fds);
}

/* ---------------------------------------------------------------- operations */

/* On a kernel that kills, a window would end its target. Tried once, when it first matters; where
 * that is not possible nothing is refused. */
static int check_sigtrap(struct broker *b, struct err *err)
{
	int error;

	if (b->sigtrap == SIGTRAP_UNTRIED) {
		b->sigtrap = sigtrap_probe(b->sigtrap_trial, &error);
		if (b->sigtrap == SIGTRAP_UNKNOWN)
			log_info("cannot try whether watchpoints in signal handlers are safe here: "
				 "%s; they are from Linux 5.19 on",
				 strerror(-error));
	}
	if (b->sigtrap == SIGTRAP_KILLS)
		return err_set(err, EOPNOTSUPP, "%s", SIGTRAP_KILLS_MESSAGE);
	return 0;
}

static int start_attach(struct broker *b, const struct broker_request *request, struct err *err)
{
	struct entry *e = find(b, request->pid);
	struct proc_identity identity;
	int r;

	if (e)
		free_if_reaped(e);
	if (e && e->state == ENTRY_STUCK)
		return err_set(
		    err, EBUSY,
		    "the last attempt to attach to process %d still hangs: a file system "
		    "that the process uses does not answer",
		    request->pid);
	if (e && e->state == ENTRY_ATTACHED && !proc_is_same(e->pid, &e->identity))
		forget_target(b, e); /* It ended, and its pid was given to another. */
	else if (e && e->state != ENTRY_FREE)
		return err_set(err, EBUSY, "process %d is %s; 'jxperfctl detach %d' ends that",
			       request->pid,
			       e->state == ENTRY_ATTACHED ? "already being profiled"
							  : "just being attached to",
			       request->pid);
	e = find_free(b);
	if (!e)
		return err_set(err, EAGAIN,
			       "%d processes are being profiled, and that is the limit",
			       BROKER_TARGETS_MAX);
	r = proc_identify(request->pid, &identity);
	if (r < 0)
		return err_set(err, ESRCH, "no process has the pid %d; see 'jxperfctl list'",
			       request->pid);
	r = check_sigtrap(b, err);
	if (r < 0)
		return r;
	r = broker_helper_start(&e->helper, request->pid, b->bundle_dir, err);
	if (r < 0)
		return r;
	e->state = ENTRY_ATTACHING;
	e->pid = request->pid;
	e->identity = identity;
	e->request_id = request->id;
	e->trace_touch = request->trace_touch;
	return 0;
}

/* Without it first touches are unknown, and the replies say so. */
static void trace_touch(struct broker *b, struct entry *e)
{
	struct err err;

	if (!b->touch)
		return;
	e->touch_traced = broker_touch_trace(b->touch, e->pid, &err) == 0;
	if (!e->touch_traced)
		log_info("process %d: %s: reports will not know first touches", e->pid,
			 err.message);
}

/* The helper of an entry is done, or out of time. */
static void finish_attach(struct broker *b, struct entry *e)
{
	struct err err = {""};
	int fd = broker_helper_finish(&e->helper, &err);

	if (fd >= 0 && !proc_is_same(e->pid, &e->identity)) {
		cleanup_close(&fd);
		fd = err_set(&err, ESRCH, "process %d has ended", e->pid);
	}
	if (e->helper.cancelled) {
		cleanup_close(&fd);
		fd = err_set(&err, ECANCELED, "attaching to process %d was cancelled", e->pid);
	}
	if (fd >= 0 && e->trace_touch)
		trace_touch(b, e);
	e->state = fd >= 0 ? ENTRY_ATTACHED : e->helper.pid ? ENTRY_STUCK : ENTRY_FREE;
	reply(b, BROKER_ATTACH, e->request_id, fd < 0 ? fd : 1, &err, &fd);
}

/* Is pid a process that we attached to, and the same still, in every respect? */
static int check_attached(struct broker *b, pid_t pid, struct err *err)
{
	const struct entry *e = find(b, pid);

	if (!e || e->state != ENTRY_ATTACHED)
		return err_set(err, EPERM, "process %d is not being profiled", pid);
	return proc_is_same(e->pid, &e->identity)
		   ? 0
		   : err_set(err, ESRCH, "process %d has ended", pid);
}

static int open_events(struct broker *b, const struct broker_request *request, int *fds,
		       struct err *err)
{
	int r = broker_perf_check(request, err);

	if (r == 0)
		r = check_attached(b, request->pid, err);
	if (r == 0)
		r = broker_perf_open(request, fds, err);
	/* It may have become another program just before its events were opened. */
	if (r > 0 && check_attached(b, request->pid, err) < 0) {
		fd_close_all(fds, (size_t)r);
		r = -ESRCH;
	}
	/* Breakpoints are no samples. An event that the gate cannot be put on is the agent's, which
	 * finds out when it tries the same. */
	if (r > 0 && find(b, request->pid)->gated && !request->breakpoints)
		(void)broker_gate_attach(b->gate, fds[0]);
	return r;
}

/* Returns the number of descriptors: the program, for a gate that is new. */
static int set_gate(struct broker *b, const struct broker_request *request, int *fds,
		    struct gate_counts *counts, struct err *err)
{
	int r = check_attached(b, request->pid, err);
	struct entry *e = find(b, request->pid);

	if (r < 0)
		return r;
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
	struct entry *e = find(b, pid);

	if (!e || e->state != ENTRY_ATTACHED)
		return err_set(err, EPERM, "process %d is not being profiled", pid);
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

static void answer_gate(struct broker *b, const struct broker_request *request)
{
	struct broker_reply r = {.operation = BROKER_GATE, .id = request->id};
	struct err err = {""};
	int fd = -1, result;

	if (has_limits(request))
		result = set_gate(b, request, &fd, &r.gate, &err);
	else
		result = remove_gate(b, request->pid, &r.gate, &err);
	if (result < 0) {
		reply(b, BROKER_GATE, request->id, result, &err, NULL);
		return;
	}
	r.fds = (uint32_t)result;
	send_reply(b, &r, &fd);
}

static void find_touches(struct broker *b, const struct broker_request *request,
			 struct broker_reply *r)
{
	bool traced = find(b, request->pid)->touch_traced;
	uint64_t seen;

	r->touch_traced =
	    traced && broker_touch_counts(b->touch, request->pid, &seen, &r->touches_lost);
	for (uint32_t i = 0; i < request->page_count; i++)
		r->touched[i] =
		    traced ? (int16_t)broker_touch_node(b->touch, request->pid, request->pages[i])
			   : -1;
}

static void find_pages(struct broker *b, const struct broker_request *request)
{
	struct broker_reply r = {.operation = BROKER_PAGES, .id = request->id};
	struct err err = {""};
	int result = check_attached(b, request->pid, &err);

	if (result == 0)
		result = broker_pages_nodes(request, r.nodes, &err);
	if (result == 0)
		find_touches(b, request, &r);
	if (result < 0)
		reply(b, BROKER_PAGES, request->id, result, &err, NULL);
	else
		send_reply(b, &r, NULL);
}

static int inspect(struct broker *b, pid_t pid, int *fds, struct err *err)
{
	int fd = broker_inspect_start(&b->inspectors, pid, b->bundle_dir,
				      b->gate ? "" : b->gate_error.message, err);

	if (fd < 0)
		return fd;
	fds[0] = fd;
	return 1;
}

static int watch(struct broker *b, pid_t pid, int *fds, struct err *err)
{
	int fd = broker_watch_start(&b->watchers, pid, err);

	if (fd < 0)
		return fd;
	fds[0] = fd;
	return 1;
}

static void release(struct broker *b, pid_t pid)
{
	struct entry *e = find(b, pid);

	broker_watch_stop(&b->watchers, pid);
	if (e && e->state == ENTRY_ATTACHING)
		broker_helper_cancel(&e->helper);
	else if (e && e->state == ENTRY_ATTACHED)
		forget_target(b, e);
}

/* ---------------------------------------------------------------- requests */

/* Fields that an operation does not use must be 0, so that they can be given a meaning later. */
static int check_request(const struct broker_request *r, struct err *err)
{
	if (r->operation == BROKER_INSPECT ? r->pid < INSPECT_LIST : r->pid <= 0)
		return err_set(err, EINVAL, "'%d' is not a process id", r->pid);
	if (r->operation != BROKER_PERF_OPEN &&
	    (r->namespace_tid || r->breakpoints || r->hardware_event || r->clock_period_ns ||
	     r->event_period || r->sig_data))
		return err_set(err, EINVAL, "a field that the operation does not use is set");
	if (r->operation != BROKER_GATE && has_limits(r))
		return err_set(err, EINVAL, "a field that the operation does not use is set");
	if (r->operation == BROKER_ATTACH ? r->trace_touch > 1 : r->trace_touch != 0)
		return err_set(err, EINVAL, "a field that the operation does not use is set");
	if (r->operation == BROKER_PAGES ? r->page_count < 1 || r->page_count > BROKER_PAGES_MAX
					 : r->page_count != 0)
		return err_set(err, EINVAL, "a question for %u pages", r->page_count);
	return 0;
}

static void serve(struct broker *b, const struct broker_request *request)
{
	int fds[PERF_DEBUG_REGISTERS] = {-1, -1, -1, -1};
	struct err err = {""};
	int r = check_request(request, &err);

	switch (request->operation) {
	case BROKER_ATTACH:
		if (r == 0)
			r = start_attach(b, request, &err);
		if (r == 0)
			return; /* Answered when the helper is done. */
		break;
	case BROKER_PERF_OPEN:
		if (r == 0)
			r = open_events(b, request, fds, &err);
		break;
	case BROKER_INSPECT:
		if (r == 0)
			r = inspect(b, request->pid, fds, &err);
		break;
	case BROKER_WATCH:
		if (r == 0)
			r = watch(b, request->pid, fds, &err);
		break;
	case BROKER_PAGES:
		if (r == 0) {
			find_pages(b, request);
			return;
		}
		break;
	case BROKER_GATE:
		if (r == 0) {
			answer_gate(b, request);
			return;
		}
		break;
	case BROKER_RELEASE:
		if (r == 0)
			release(b, request->pid);
		return; /* Never answered. */
	default:
		r = err_set(&err, EINVAL, "operation %u is unknown", request->operation);
	}
	reply(b, request->operation, request->id, r, &err, fds);
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
	if (n == 0 || (n < 0 && errno != EINTR))
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

/* Fills in what the running helpers wait for; returns how many and lowers *first_ns to the time at
 * which the first of them is late. */
static nfds_t poll_helpers(struct broker *b, struct pollfd *p, struct entry **which,
			   uint64_t *first_ns)
{
	nfds_t count = 0;

	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++) {
		struct entry *e = &b->entries[i];

		if (e->state != ENTRY_ATTACHING)
			continue;
		p[count] = (struct pollfd){.fd = e->helper.result_fd, .events = POLLIN};
		which[count++] = e;
		if (e->helper.kill_at_ns < *first_ns)
			*first_ns = e->helper.kill_at_ns;
	}
	return count;
}

/* For poll; -1 when nothing is due (UINT64_MAX). */
static int timeout_until(uint64_t when_ns)
{
	uint64_t now = clock_monotonic_ns();

	if (when_ns == UINT64_MAX)
		return -1;
	return when_ns <= now ? 0 : (int)((when_ns - now) / NS_PER_MS) + 1;
}

static void finish_helpers(struct broker *b, const struct pollfd *p, struct entry *const *which,
			   nfds_t count)
{
	for (nfds_t i = 0; i < count; i++)
		if (p[i].revents || clock_monotonic_ns() >= which[i]->helper.kill_at_ns)
			finish_attach(b, which[i]);
}

/* One round. False when the engine is gone. */
static bool run_once(struct broker *b)
{
	struct entry *which[BROKER_TARGETS_MAX];
	struct pollfd p[1 + BROKER_TARGETS_MAX + BROKER_INSPECTORS_MAX + BROKER_WATCHERS_MAX];
	uint64_t first_ns = UINT64_MAX;
	nfds_t helpers, inspectors, watchers;

	p[0] = (struct pollfd){.fd = b->socket, .events = POLLIN};
	helpers = poll_helpers(b, p + 1, which, &first_ns);
	inspectors = broker_inspect_poll(&b->inspectors, p + 1 + helpers, &first_ns);
	watchers = broker_watch_poll(&b->watchers, p + 1 + helpers + inspectors);
	if (poll(p, 1 + helpers + inspectors + watchers, timeout_until(first_ns)) < 0)
		return errno == EINTR;
	finish_helpers(b, p + 1, which, helpers);
	broker_inspect_tend(&b->inspectors);
	broker_watch_tend(&b->watchers);
	return !p[0].revents || receive(b);
}

/* Ends what still runs, and lets it remove what it has put into other file systems. */
static void shut_down(struct broker *b)
{
	struct entry *which[BROKER_TARGETS_MAX];
	struct pollfd p[BROKER_TARGETS_MAX];
	uint64_t until = clock_monotonic_ns() + SHUTDOWN_MS * NS_PER_MS, first_ns = UINT64_MAX;
	nfds_t count;

	broker_inspect_end(&b->inspectors);
	broker_watch_end(&b->watchers);
	for (size_t i = 0; i < BROKER_TARGETS_MAX; i++)
		if (b->entries[i].state == ENTRY_ATTACHING) {
			broker_helper_cancel(&b->entries[i].helper);
			b->entries[i].helper.kill_at_ns = until;
		}
	while ((count = poll_helpers(b, p, which, &first_ns)) > 0) {
		if (poll(p, count, timeout_until(first_ns)) >= 0)
			finish_helpers(b, p, which, count);
	}
}

static bool is_request_socket(int fd)
{
	socklen_t size = sizeof(int);
	int type = 0;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

int broker_main(int socket_fd, const char *bundle_dir, sigtrap_trial_fn trial)
{
	_cleanup_free_ struct broker *b = calloc(1, sizeof(*b));
	/* The engine decides when to stop; a terminal's ^C or systemd's SIGTERM goes to both. */
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct err err;

	if (!b || !is_request_socket(socket_fd)) {
		log_error("the broker is started by jxperfd itself, not by hand");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], SIG_IGN); /* Valid numbers: cannot fail. */
	/* While the capability to load it is there. */
	b->gate_result = broker_gate_open(&b->gate, &b->gate_error);
	if (numa_topology()->node_count > 1 && broker_touch_open(&b->touch, &err) < 0)
		log_info("%s: reports will not know first touches", err.message);
	if (broker_privilege_reduce(&err) < 0)
		log_warn("%s", err.message);
	b->socket = socket_fd;
	b->bundle_dir = bundle_dir;
	b->sigtrap_trial = trial;
	while (run_once(b))
		;
	/* First: the agents may be slower to notice that the engine is gone. */
	broker_gate_free(b->gate);
	b->gate = NULL;
	broker_touch_free(b->touch);
	b->touch = NULL;
	shut_down(b);
	return EXIT_SUCCESS;
}
