#include "daemon/engine/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/utf8.h"
#include "daemon/container/arena.h"
#include "daemon/container/array.h"
#include "daemon/intake/intake.h"
#include "daemon/intake/stream.h"
#include "proto/limits.h"

/* A frame decodes to some four times its size; one that needs more than this is not ours. */
#define DECODED_MAX_BYTES ((size_t)32 << 20)

/* What may wait for the agent to read it: a few small frames; PerfOpened is 20 bytes. */
#define OUT_QUEUE_BYTES (64u << 10)

/* So much of it the kernel keeps at the most: its smallest send buffer, of which two or three
 * small messages are more than a quarter. The descriptors that are on their way to all agents count
 * against one limit, our user's RLIMIT_NOFILE, so no agent may leave many of them unread. The next
 * events are opened when the stream is idle: then at most one answer is unread, and with the next
 * there are two, of PERF_DEBUG_REGISTERS descriptors each. */
#define SEND_BUFFER_BYTES 1

/* Questions that may wait for the broker: two for each thread of a full thread table. */
#define PERF_OPEN_QUEUE_MAX (2 * LIMIT_THREADS)

/* Threads in a row that the broker did not find: threads that end quickly are such, and those of an
 * agent that makes numbers up. In a container each is searched for among all threads of the
 * process, so of those that follow, until one is found again, one in this many is asked for. */
#define UNKNOWN_THREADS_MAX 64u

enum state {
	HELLO,
	RUNNING,
	STOPPING,
	LEAVING, /* the window has ended, the agent is about to close its end */
	ENDED,
};

struct session {
	enum state state;
	uv_loop_t *loop;
	uv_timer_t timer;
	struct stream *stream;
	struct window *window;
	struct intake intake;
	struct arena arena; /* of the frame that is being handled */
	struct session_callbacks callbacks;
	int gate_fd;                      /* program that goes with the start, or -1 */
	char reason[WINDOW_REASON_BYTES]; /* why the window stops early, or "" */
	Jxp__PerfOpenRequest *questions;  /* [question_first] is the one that was asked */
	size_t question_first;
	size_t question_count; /* including those before question_first, which were answered */
	size_t question_capacity;
	uint64_t unknown_threads; /* in a row, up to the last answer */
	bool asked;               /* the answer to it is awaited */
	bool asking;              /* ask_next is at work */
	bool closing;
};

static void on_timer(uv_timer_t *timer);

static void set_deadline(struct session *s, uint64_t after_ms)
{
	/* Fails only for a NULL callback or a closing handle; see `closing`. */
	(void)uv_timer_start(&s->timer, on_timer, after_ms, 0);
}

/* Without memory, what waited for its turn is missing, as if it had not arrived. */
static void finish_intake(struct session *s)
{
	if (s->window->start_ns)
		(void)intake_finish(&s->intake);
}

/* The one way out: the conversation is over, the window is what it is. Runs from loop callbacks. */
static void finish(struct session *s, const char *reason)
{
	if (s->state == ENDED)
		return;
	s->state = ENDED;
	(void)uv_timer_stop(&s->timer); /* Cannot fail. */
	stream_free(s->stream);
	s->stream = NULL;
	finish_intake(s);
	intake_release(&s->intake);
	window_end(s->window, reason);
	s->callbacks.ended(s->callbacks.arg);
}

/* finish, from inside a call of the owner: ended runs from the loop, at once. */
static void finish_soon(struct session *s, const char *reason)
{
	if (s->state == ENDED)
		return;
	(void)snprintf(s->reason, sizeof(s->reason), "%s", reason); /* May be cut. */
	s->state = STOPPING;
	set_deadline(s, 0);
}

/* A queue that is full means that the agent stopped reading. 0, or negative when the session ends.
 */
static int send_frame(struct session *s, const Jxp__EngineFrame *frame, const int *fds,
		      size_t fd_count)
{
	int r = stream_send(s->stream, &frame->base, fds, fd_count);

	if (r < 0)
		finish_soon(s, r == -ENOBUFS ? "the agent stopped reading what it was sent"
					     : "out of memory");
	return r;
}

static void send_stop(struct session *s)
{
	Jxp__WindowStop stop = JXP__WINDOW_STOP__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	frame.body_case = JXP__ENGINE_FRAME__BODY_STOP;
	frame.stop = &stop;
	if (send_frame(s, &frame, NULL, 0) < 0)
		return;
	s->state = STOPPING;
	set_deadline(s, SESSION_STOP_TIMEOUT_MS);
}

void session_stop_objects(struct session *s)
{
	Jxp__StopObjects stop = JXP__STOP_OBJECTS__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	if (s->closing || s->state != RUNNING)
		return;
	frame.body_case = JXP__ENGINE_FRAME__BODY_STOP_OBJECTS;
	frame.stop_objects = &stop;
	(void)send_frame(s, &frame, NULL, 0); /* On failure the session ends. */
}

void session_stop(struct session *s, const char *reason)
{
	if (s->closing || s->state == STOPPING || s->state == LEAVING || s->state == ENDED)
		return;
	if (reason)
		(void)snprintf(s->reason, sizeof(s->reason), "%s", reason); /* May be cut. */
	if (s->state == HELLO)
		finish_soon(s, reason ? reason : "it was stopped before it started");
	else
		send_stop(s);
}

static void on_timer(uv_timer_t *timer)
{
	struct session *s = timer->data;

	switch (s->state) {
	case HELLO:
		finish(s, "the agent was loaded but did not say hello in time");
		break;
	case RUNNING:
		send_stop(s);
		break;
	case STOPPING:
		finish(s, s->reason[0] ? s->reason
				       : "the agent did not end the window in time: a debugger may "
					 "have stopped the JVM, or others leave it no CPU time");
		break;
	case LEAVING:
		finish(s, NULL);
		break;
	case ENDED:
		break;
	}
}

/* ---------------------------------------------------------------- hello and start */

static int send_hello(struct session *s, const char *refusal)
{
	Jxp__EngineHello hello = JXP__ENGINE_HELLO__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	hello.protocol = PROTOCOL_VERSION;
	hello.refusal = (char *)refusal;
	frame.body_case = JXP__ENGINE_FRAME__BODY_HELLO;
	frame.hello = &hello;
	return send_frame(s, &frame, NULL, 0);
}

static void describe_event(const struct perf_hardware_event *event, Jxp__HardwareEvent *out)
{
	static const Jxp__HardwareEvent__Access accesses[] = {
	    [PERF_ACCESS_ANY] = JXP__HARDWARE_EVENT__ACCESS__ANY,
	    [PERF_ACCESS_LOADS] = JXP__HARDWARE_EVENT__ACCESS__LOADS,
	    [PERF_ACCESS_STORES] = JXP__HARDWARE_EVENT__ACCESS__STORES,
	};

	jxp__hardware_event__init(out);
	out->type = event->type;
	out->precise_ip = event->precise_ip;
	out->config = event->config;
	out->config1 = event->config1;
	out->config2 = event->config2;
	out->user_only = event->user_only;
	out->access = accesses[event->access];
}

/* Returns how many there are. */
static size_t describe_events(const struct window_findings *findings, Jxp__HardwareEvent *events,
			      Jxp__HardwareEvent **list)
{
	for (size_t i = 0; i < findings->event_count; i++) {
		describe_event(&findings->events[i], &events[i]);
		list[i] = &events[i];
	}
	return findings->event_count;
}

static int send_start(struct session *s)
{
	const struct window_request *request = &s->window->request;
	const struct window_findings *findings = &s->window->findings;
	Jxp__WindowStart start = JXP__WINDOW_START__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__Kind kinds[PROFILE_KINDS + 2];
	Jxp__HardwareEvent events[PERF_HARDWARE_EVENTS];
	Jxp__HardwareEvent *event_list[PERF_HARDWARE_EVENTS];
	int r;

	start.kinds = kinds;
	for (int kind = 1; kind < PROFILE_KINDS; kind++)
		if (request->kinds[kind])
			kinds[start.n_kinds++] = (Jxp__Kind)kind;
	if (request->objects)
		kinds[start.n_kinds++] = JXP__KIND__KIND_OBJECTS;
	if (window_measures_numa(s->window))
		kinds[start.n_kinds++] = JXP__KIND__KIND_NUMA;
	start.object_min_size = request->object_min_size;
	start.objects_max = request->objects_max;
	start.sampler = findings->sampler;
	start.period_ns = findings->event_count ? 0 : findings->period;
	s->window->deadline_ns = clock_monotonic_ns() + request->duration_ns;
	window_plan_objects(s->window);
	start.deadline_ns = s->window->deadline_ns;
	start.objects_from_ns = s->window->objects_from_ns;
	start.kernel_gate = s->gate_fd >= 0;
	start.registers = request->registers;
	start.max_frames = request->max_frames;
	start.budget = request->budget;
	start.open_through_daemon = request->open_through_daemon;
	start.events = event_list;
	start.n_events = describe_events(findings, events, event_list);
	start.event_period = findings->event_count ? findings->period : 0;
	frame.body_case = JXP__ENGINE_FRAME__BODY_START;
	frame.start = &start;
	r = send_frame(s, &frame, &s->gate_fd, start.kernel_gate ? 1 : 0);
	if (r == 0)
		s->gate_fd = -1; /* The stream's. */
	return r;
}

static void describe_target(struct window *w, const Jxp__AgentHello *hello)
{
	/* Lengths are not needed: all are shown only. */
	(void)text_sanitize(w->jdk, sizeof(w->jdk), hello->jdk);
	(void)text_sanitize(w->vm, sizeof(w->vm), hello->vm);
	(void)text_sanitize(w->gc, sizeof(w->gc), hello->gc);
	w->always_pretouch = hello->always_pretouch;
}

/* NUMA alone was asked for, on a machine with one node: the report says so, at no cost. */
static void end_at_once(struct session *s)
{
	window_start(s->window);
	s->callbacks.started(s->callbacks.arg);
	finish(s, NULL);
}

static void on_hello(struct session *s, const Jxp__AgentHello *hello)
{
	char refusal[WINDOW_REASON_BYTES];

	if (s->state != HELLO) {
		finish(s, "the agent said hello out of turn");
		return;
	}
	if (hello->protocol != PROTOCOL_VERSION) {
		(void)snprintf(
		    refusal, sizeof(refusal),
		    "the agent speaks protocol %u and this daemon %u: restart the JVM or "
		    "use the jxperf version that was attached to it first",
		    hello->protocol, PROTOCOL_VERSION);
		if (send_hello(s, refusal) == 0)
			finish_soon(s, refusal);
		return;
	}
	describe_target(s->window, hello);
	if (!window_samples_pairs(s->window) && !window_tracks_objects(s->window)) {
		end_at_once(s);
		return;
	}
	if (send_hello(s, "") < 0 || send_start(s) < 0)
		return;
	s->state = RUNNING;
	window_start(s->window);
	set_deadline(s, s->window->request.duration_ns / NS_PER_MS);
	s->callbacks.started(s->callbacks.arg);
}

/* ---------------------------------------------------------------- events opened by the broker */

/* Asks one question at a time, and only when the answers before were read; the answer may come
 * before the callback returns. */
static void ask_next(struct session *s)
{
	if (s->asking || s->state == ENDED)
		return;
	s->asking = true;
	while (!s->asked && s->question_first < s->question_count) {
		/* A copy: the answer may move the array. */
		const Jxp__PerfOpenRequest request = s->questions[s->question_first];

		if (!stream_is_idle(s->stream)) {
			stream_await_idle(s->stream);
			break;
		}

		s->asked = true;
		if (s->unknown_threads >= UNKNOWN_THREADS_MAX &&
		    s->unknown_threads % UNKNOWN_THREADS_MAX) {
			s->window->losses[LOSS_UNKNOWN_THREADS]++;
			session_perf_opened(s, request.tid, ESRCH, NULL, 0);
		} else {
			s->callbacks.perf_open(s->callbacks.arg, &request);
		}
	}
	s->asking = false;
}

/* The broker may answer out of order and the agent counts on order, so they are asked one by one.
 */
static void on_perf_open(struct session *s, const Jxp__PerfOpenRequest *request)
{
	if (s->state != RUNNING && s->state != STOPPING) {
		finish(s, "the agent asked for events before it said hello");
		return;
	}
	if (s->question_count - s->question_first == PERF_OPEN_QUEUE_MAX) {
		finish(s, "the agent asked for more events than a JVM has threads");
		return;
	}
	if (array_reserve(&s->questions, &s->question_capacity, s->question_count + 1,
			  sizeof(*s->questions)) < 0) {
		finish(s, "out of memory");
		return;
	}
	s->questions[s->question_count] = *request;
	/* They go with the frame; its other fields are numbers. */
	s->questions[s->question_count].base.n_unknown_fields = 0;
	s->questions[s->question_count++].base.unknown_fields = NULL;
	ask_next(s);
}

/* Moves the rest to the front when half is answered, so that the array stays within its bound. */
static void question_answered(struct session *s)
{
	s->question_first++;
	if (s->question_first * 2 < s->question_count)
		return;
	s->question_count -= s->question_first;
	memmove(s->questions, s->questions + s->question_first,
		s->question_count * sizeof(*s->questions));
	s->question_first = 0;
}

void session_perf_opened(struct session *s, uint32_t tid, int error, const int *fds, size_t count)
{
	Jxp__PerfOpened opened = JXP__PERF_OPENED__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	int owned[FD_PASS_MAX];

	for (size_t i = 0; i < count; i++)
		owned[i] = fds[i];
	if (s->closing || s->state == ENDED || !s->asked) {
		fd_close_all(owned, count);
		return;
	}
	opened.tid = tid;
	opened.count = (uint32_t)count;
	opened.error = error;
	frame.body_case = JXP__ENGINE_FRAME__BODY_PERF_OPENED;
	frame.perf_opened = &opened;
	if (send_frame(s, &frame, owned, count) < 0) {
		fd_close_all(owned, count);
		return;
	}
	s->unknown_threads = error == ESRCH ? s->unknown_threads + 1 : 0;
	s->asked = false;
	question_answered(s);
	ask_next(s);
}

static void on_idle(void *arg)
{
	ask_next(arg);
}

/* ---------------------------------------------------------------- frames */

static void on_batch(struct session *s, const Jxp__Batch *batch)
{
	if (s->state != RUNNING && s->state != STOPPING) {
		finish(s, "the agent sent events outside its window");
		return;
	}
	if (intake_batch(&s->intake, batch) < 0) {
		finish(s, "out of memory");
		return;
	}
	s->callbacks.progressed(s->callbacks.arg);
}

/* Nothing more comes but the end of the stream. */
static void leave(struct session *s, const char *reason)
{
	finish_intake(s);
	window_end(s->window, reason);
	s->state = LEAVING;
	set_deadline(s, SESSION_LEAVE_TIMEOUT_MS);
}

/* The agent ends by itself at its deadline, which may come a moment before ours, and when its JVM
 * exits. */
static void on_window_ended(struct session *s, const Jxp__WindowEnded *ended)
{
	const char *reason = s->reason[0] ? s->reason : NULL;
	char error[WINDOW_REASON_BYTES];

	if (s->state != RUNNING && s->state != STOPPING) {
		finish(s, "the agent ended outside its window");
		return;
	}
	if (ended->error[0]) {
		(void)snprintf(error, sizeof(error), "%s", ended->error); /* May be cut. */
		if (s->window->counters[JXP__COUNTER__COUNTER_TICKS] == 0)
			window_fail(s->window, error);
		reason = error;
	} else if (s->state == RUNNING && clock_monotonic_ns() < s->window->deadline_ns) {
		reason = "the target exited";
		s->window->target_ended = true;
	}
	leave(s, reason);
}

static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	struct session *s = arg;
	Jxp__AgentFrame *frame = jxp__agent_frame__unpack(&s->arena.allocator, size, payload);

	if (!frame) {
		finish(s, "the agent sent a malformed frame");
		arena_reset(&s->arena);
		return;
	}
	switch (frame->body_case) {
	case JXP__AGENT_FRAME__BODY_HELLO:
		on_hello(s, frame->hello);
		break;
	case JXP__AGENT_FRAME__BODY_BATCH:
		on_batch(s, frame->batch);
		break;
	case JXP__AGENT_FRAME__BODY_PERF_OPEN:
		on_perf_open(s, frame->perf_open);
		break;
	case JXP__AGENT_FRAME__BODY_ENDED:
		on_window_ended(s, frame->ended);
		break;
	default:
		finish(s, "the agent sent a frame of an unknown kind");
		break;
	}
	arena_reset(&s->arena);
}

static void on_end(void *arg, const char *reason)
{
	struct session *s = arg;
	char text[WINDOW_REASON_BYTES];

	if (s->state == LEAVING) {
		finish(s, NULL);
		return;
	}
	if (!reason && s->reason[0]) {
		reason = s->reason;
	} else if (!reason) {
		reason = "the target closed the connection: it exited or was killed";
		s->window->target_ended = true;
	}
	(void)snprintf(text, sizeof(text), "%s", reason); /* May be cut. */
	finish(s, text);
}

int session_new(struct session **out, uv_loop_t *loop, int fd, struct window *window,
		const struct session_callbacks *callbacks, struct err *err)
{
	static const struct stream_limits limits = {.in_frame = FRAME_MAX_AGENT,
						    .out_frame = FRAME_MAX_AGENT,
						    .out_queue = OUT_QUEUE_BYTES};
	_cleanup_free_ struct session *s = calloc(1, sizeof(*s));
	struct stream_callbacks stream_callbacks = {
	    .arg = s, .frame = on_frame, .end = on_end, .idle = on_idle};
	int send_buffer = SEND_BUFFER_BYTES, r;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->loop = loop;
	s->gate_fd = -1;
	s->window = window;
	s->callbacks = *callbacks;
	intake_init(&s->intake, window);
	arena_init(&s->arena, DECODED_MAX_BYTES);
	r = stream_new(&s->stream, loop, fd, &limits, &stream_callbacks, err);
	if (r < 0)
		return r;
	/* Cannot fail for a Unix socket: what is too small becomes the smallest. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
	(void)uv_timer_init(loop, &s->timer); /* Cannot fail. */
	s->timer.data = s;
	set_deadline(s, SESSION_HELLO_TIMEOUT_MS);
	*out = TAKE_PTR(s);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct session *s = handle->data;

	arena_release(&s->arena);
	free(s->questions);
	free(s);
}

const struct thread_table *session_threads(const struct session *s)
{
	return &s->intake.threads;
}

void session_set_gate(struct session *s, int program_fd)
{
	fd_close_all(&s->gate_fd, 1);
	s->gate_fd = program_fd;
}

void session_free(struct session *s)
{
	if (!s || s->closing)
		return;
	fd_close_all(&s->gate_fd, 1);
	s->closing = true;
	s->state = ENDED;
	stream_free(s->stream);
	s->stream = NULL;
	intake_release(&s->intake);
	uv_close((uv_handle_t *)&s->timer, on_closed);
}
