/*
 * Fuzzes what the engine may ask of the broker: the whole of its loop, from the bytes of messages
 * to replies, with the rules for which process may be asked about. libFuzzer entry point.
 *
 * Everything that would touch the machine is stood in for: workers, the attach helper, inspectors,
 * watchers, BPF and privileges. A request's id says how their work comes out (id_outcome), so that
 * one input always does the same.
 *
 * The input is a series of messages: a byte of enum message_flags, a byte of length, and so many
 * bytes, of which a request is made unless it is sent as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"
#include "common/perf/events.h"
#include "common/proc.h"
#include "daemon/broker/broker.h"
#include "daemon/broker/discovery.h"
#include "daemon/broker/first_touch.h"
#include "daemon/broker/gate.h"
#include "daemon/broker/gate_trial.h"
#include "daemon/broker/children.h"
#include "daemon/broker/polls.h"
#include "daemon/broker/privilege.h"
#include "daemon/broker/proto.h"
#include "daemon/broker/workers.h"
#include "daemon/child/helper.h"

enum message_flags {
	SEND_RAW = 1,     /* a message of the wrong size, as a rule */
	OWN_PID = 2,      /* about a process that there is */
	FIRST_PID = 4,    /* about another one */
	WITH_A_FD = 8,    /* which no message may have */
	FULL_LENGTH = 16, /* with a raw one: padded to the right size */
	WITH_LIMITS = 32, /* of a gate */
	OF_ONE_USER = 64, /* only if it is that user's, in place of anybody's */
};

enum id_outcome {
	ID_FAILS = 0x80,    /* a worker's answer is an error */
	ID_GIVEN_UP = 0x40, /* its worker is given up */
};

/* As many as a socket holds, with their replies. */
#define MESSAGES_MAX 32

struct harness {
	struct worker_question questions[MESSAGES_MAX * 2];
	bool cancelled[MESSAGES_MAX * 2];
	size_t count;
};

static struct harness harness;

static void require(bool promise)
{
	if (!promise)
		abort();
}

static int some_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	require(fd >= 0); /* The machine, not the input. */
	return fd;
}

/* ---------------------------------------------------------------- workers */

int broker_workers_ask(struct broker_workers *w, const struct worker_question *question,
		       struct err *err)
{
	(void)w;
	if (harness.count == MESSAGES_MAX * 2)
		return err_set(err, EAGAIN, "too many questions");
	harness.cancelled[harness.count] = false;
	harness.questions[harness.count++] = *question;
	return 0;
}

void broker_workers_release(struct broker_workers *w, pid_t target)
{
	(void)w;
	for (size_t i = 0; i < harness.count; i++)
		harness.cancelled[i] |= harness.questions[i].request.pid == target;
}

void broker_workers_poll(struct broker_workers *w, struct broker_polls *p)
{
	(void)w;
	if (harness.count > 0)
		p->first_ns = 0;
}

static void answer(struct broker_workers *w, const struct worker_question *q, bool cancelled)
{
	const struct broker_request *request = &q->request;
	struct worker_answer a = {.reply = {.operation = request->operation, .id = request->id},
				  .identity = {.effective_uid = geteuid(), .one_uid = true}};
	int fds[PERF_DEBUG_REGISTERS] = {-1, -1, -1, -1};

	if (request->id & ID_GIVEN_UP)
		w->given_up(w->arg, request->pid);
	if (cancelled || request->id & (ID_FAILS | ID_GIVEN_UP)) {
		a.reply.error = cancelled ? ECANCELED : ESRCH;
		strcpy(a.reply.message, "the worker says no");
	} else if (request->operation == BROKER_PERF_OPEN) {
		a.reply.fds = request->breakpoints ? request->breakpoints : 1;
		require(a.reply.fds <= PERF_DEBUG_REGISTERS); /* Was checked before. */
		for (uint32_t i = 0; i < a.reply.fds; i++)
			fds[i] = some_fd();
	}
	w->answered(w->arg, q, &a, fds);
}

void broker_workers_tend(struct broker_workers *w, const struct broker_polls *p)
{
	(void)p;
	/* An answer may ask the next question, and cancel others. */
	while (harness.count > 0) {
		struct worker_question q = harness.questions[0];
		bool cancelled = harness.cancelled[0];

		harness.count--;
		memmove(harness.questions, harness.questions + 1, harness.count * sizeof(q));
		memmove(harness.cancelled, harness.cancelled + 1, harness.count * sizeof(bool));
		answer(w, &q, cancelled);
	}
}

void broker_workers_end(struct broker_workers *w)
{
	(void)w;
	harness.count = 0;
}

/* ---------------------------------------------------------------- the helper */

int attach_helper_start(struct attach_helper *h, pid_t target, uid_t owner,
			const struct agent_files *agent, unsigned timeout_ms, bool force,
			struct err *err)
{
	(void)timeout_ms;
	(void)owner;
	(void)agent;
	(void)force;
	(void)err;
	*h = (struct attach_helper){.target = target, .pidfd = -1, .result_fd = -1, .fd = -1};
	return 0;
}

void attach_helper_cancel(struct attach_helper *h)
{
	h->cancelled = true;
}

int attach_helper_fd(const struct attach_helper *h)
{
	(void)h;
	return -1; /* It is late at once. */
}

bool attach_helper_advance(struct attach_helper *h)
{
	(void)h;
	return true;
}

int attach_helper_finish(struct attach_helper *h, char name[ATTACH_NAME_BYTES], struct err *err)
{
	(void)h;
	(void)err;
	strcpy(name, "Main");
	return some_fd();
}

bool attach_helper_reaped(struct attach_helper *h, int *status)
{
	(void)h;
	*status = 0;
	return true;
}

enum sigtrap_verdict sigtrap_probe(sigtrap_trial_fn trial, int *error)
{
	(void)trial;
	(void)error;
	return SIGTRAP_WAITS;
}

int sigtrap_trial(void)
{
	return 0;
}

/* ---------------------------------------------------------------- other children */

int broker_children_inspect(struct broker_children *c, const struct inspector_question *question,
			    const struct startup *startup, const struct check_reasons *reasons,
			    struct err *err)
{
	(void)c;
	(void)startup;
	(void)reasons;
	(void)err;
	require(question->pid >= -1);
	require(strspn(question->only, "0123456789,") == strlen(question->only));
	return some_fd();
}

int broker_children_watch(struct broker_children *c, pid_t target, uid_t owner, struct err *err)
{
	(void)owner;
	(void)c;
	(void)err;
	require(target > 0);
	return some_fd();
}

void broker_children_stop(struct broker_children *c, pid_t target)
{
	(void)c;
	(void)target;
}

void broker_children_poll(const struct broker_children *c, struct broker_polls *p)
{
	(void)c;
	(void)p;
}

void broker_children_tend(struct broker_children *c)
{
	(void)c;
}

void broker_children_end(struct broker_children *c)
{
	(void)c;
}

/* ---------------------------------------------------------------- the kernel */

struct broker_gate {
	int program;
};

int broker_gate_open(struct broker_gate **out, struct err *err)
{
	static struct broker_gate gate;

	(void)err;
	gate.program = some_fd();
	*out = &gate;
	return 0;
}

int broker_gate_trial(struct broker_gate *g, struct err *err)
{
	(void)g;
	(void)err;
	return 0;
}

void broker_gate_free(struct broker_gate *g)
{
	if (g)
		(void)close(g->program); /* Of /dev/null. */
}

int broker_gate_set(struct broker_gate *g, pid_t pid, const struct gate_limits *limits)
{
	(void)g;
	(void)limits;
	require(pid > 0);
	return 0;
}

void broker_gate_remove(struct broker_gate *g, pid_t pid, struct gate_counts *counts)
{
	(void)g;
	(void)pid;
	if (counts)
		*counts = (struct gate_counts){0};
}

int broker_gate_counts(const struct broker_gate *g, pid_t pid, struct gate_counts *counts)
{
	(void)g;
	(void)pid;
	*counts = (struct gate_counts){0};
	return 0;
}

int broker_gate_attach(const struct broker_gate *g, int event_fd)
{
	(void)g;
	require(fcntl(event_fd, F_GETFD) >= 0);
	return 0;
}

int broker_gate_program(const struct broker_gate *g)
{
	return g->program;
}

/* ---------------------------------------------------------------- processes */

static char discovery_stand_in;

int broker_discovery_open(struct broker_discovery **out, const struct broker_discovery_sink *sink,
			  struct err *err)
{
	(void)sink;
	(void)err;
	*out = (struct broker_discovery *)&discovery_stand_in; /* Is only handed on. */
	return 0;
}

int broker_discovery_trial(struct broker_discovery *d, struct err *err)
{
	(void)d;
	(void)err;
	return 0;
}

void broker_discovery_free(struct broker_discovery *d)
{
	(void)d;
}

int broker_discovery_set(struct broker_discovery *d, bool on, struct err *err)
{
	(void)d;
	return on ? 0 : err_set(err, EPERM, "not now");
}

void broker_discovery_follow(struct broker_discovery *d, pid_t pid)
{
	(void)d;
	require(pid > 0);
}

void broker_discovery_poll(const struct broker_discovery *d, struct broker_polls *p)
{
	(void)d;
	(void)p;
}

void broker_discovery_tend(struct broker_discovery *d)
{
	(void)d;
}

int broker_touch_open(struct broker_touch **out, struct err *err)
{
	(void)out;
	return err_set(err, ENODEV, "not here");
}

int broker_touch_trial(struct broker_touch *t, struct err *err)
{
	(void)t;
	return err_set(err, ENODEV, "not here");
}

void broker_touch_free(struct broker_touch *t)
{
	(void)t;
}

int broker_touch_trace(struct broker_touch *t, pid_t pid, struct err *err)
{
	(void)t;
	(void)pid;
	return err_set(err, ENODEV, "not here");
}

void broker_touch_forget(struct broker_touch *t, pid_t pid)
{
	(void)t;
	(void)pid;
}

int broker_touch_node(const struct broker_touch *t, pid_t pid, uint64_t address)
{
	(void)t;
	(void)pid;
	(void)address;
	return -1;
}

bool broker_touch_counts(const struct broker_touch *t, pid_t pid, uint64_t *seen, uint64_t *lost)
{
	(void)t;
	(void)pid;
	(void)seen;
	(void)lost;
	return false;
}

int broker_privilege_reduce(struct err *err)
{
	(void)err;
	return 0;
}

int broker_privilege_reduce_worker(struct err *err)
{
	(void)err;
	return 0;
}

/* ---------------------------------------------------------------- the engine's end */

static void send_message(int fd, uint8_t flags, const uint8_t *bytes, size_t size)
{
	struct broker_request request = {0};
	int extra = flags & WITH_A_FD ? some_fd() : -1;

	memcpy(&request, bytes, size < sizeof(request) ? size : sizeof(request));
	if (flags & WITH_LIMITS)
		memset(&request.gate, bytes[0], sizeof(request.gate));
	if (flags & OWN_PID)
		request.pid = getpid();
	else if (flags & FIRST_PID)
		request.pid = 1;
	if (!(flags & OF_ONE_USER) &&
	    (request.operation == BROKER_ATTACH || request.operation == BROKER_INSPECT))
		request.owner = PROC_ANY_UID;
	if (!(flags & SEND_RAW) || flags & FULL_LENGTH)
		size = sizeof(request);
	/* It is queued, or there is no room: as good as not sent. */
	(void)fd_send(fd, &request, size, &extra, extra >= 0);
	cleanup_close(&extra);
}

/* Returns how many messages it sent. */
static size_t send_messages(int fd, const uint8_t *data, size_t size)
{
	size_t sent = 0;

	while (size > 2 && sent < MESSAGES_MAX) {
		size_t length = data[1] < size - 2 ? data[1] : size - 2;

		if (length == 0)
			break; /* An empty message is the end of the stream. */
		send_message(fd, data[0], data + 2, length);
		sent++;
		data += 2 + length;
		size -= 2 + length;
	}
	return sent;
}

/* An event, and no answer to anything? They differ from replies in size, also from the one to a
 * request that calls itself an event. */
static bool is_event(const union broker_message *m, size_t size)
{
	return size == sizeof(m->event) && m->operation == BROKER_EVENT;
}

/* A whole reply, with the descriptors that it speaks of. */
static void check_reply(const struct broker_reply *r, size_t size, size_t fds)
{
	require(size == sizeof(*r));
	require(broker_operation_is_answered(r->operation));
	require(r->fds == fds && r->error >= 0);
	require(memchr(r->message, 0, sizeof(r->message)));
	require(!r->error || (r->message[0] && fds == 0));
}

/* Reads what there is; returns how many replies were no events. */
static size_t read_replies(int fd)
{
	size_t replies = 0;

	for (;;) {
		union broker_message m;
		int fds[PERF_DEBUG_REGISTERS];
		size_t count = PERF_DEBUG_REGISTERS;
		ssize_t n = fd_recv(fd, &m, sizeof(m), fds, &count);

		if (n <= 0)
			return replies;
		fd_close_all(fds, count);
		if (is_event(&m, (size_t)n)) {
			require(count == 0);
			continue;
		}
		check_reply(&m.reply, (size_t)n, count);
		replies++;
	}
}

static const int ignored_by_broker[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
#define IGNORED_COUNT (sizeof(ignored_by_broker) / sizeof(ignored_by_broker[0]))

/* The broker ignores signals that whoever fuzzes wants. */
static void run_broker(int fd)
{
	const struct startup startup = {.agent = {.bundle_dir = "/nonexistent", .image_path = ""},
					.environment = "",
					.pod_labels = ""};
	struct sigaction before[IGNORED_COUNT];

	for (size_t i = 0; i < IGNORED_COUNT; i++)
		(void)sigaction(ignored_by_broker[i], NULL, &before[i]); /* Valid numbers. */
	require(broker_main(fd, &startup, sigtrap_trial) == EXIT_SUCCESS);
	for (size_t i = 0; i < IGNORED_COUNT; i++)
		(void)sigaction(ignored_by_broker[i], &before[i], NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2], first_free = some_fd(), after;
	size_t sent;

	(void)close(first_free);
	harness = (struct harness){0};
	require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 &&
		fd_set_nonblocking(pair[0], true) == 0);
	sent = send_messages(pair[0], data, size);
	(void)shutdown(pair[0], SHUT_WR); /* A valid socket. */
	run_broker(pair[1]);
	(void)close(pair[1]);
	require(read_replies(pair[0]) <= sent + 1); /* Its hello is the first. */
	(void)close(pair[0]);
	after = some_fd();
	(void)close(after);
	require(after == first_free); /* Nothing was left open. */
	return 0;
}
