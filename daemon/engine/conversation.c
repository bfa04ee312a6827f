#include "daemon/engine/conversation.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/fd.h"
#include "profile/container/arena.h"
#include "profile/intake/stream.h"
#include "proto/events.h"
#include "proto/kinds.h"
#include "proto/limits.h"

/* A frame decodes to some four times its size; one that needs more than this is not ours. */
#define DECODED_MAX_BYTES ((size_t)32 << 20)

/* What may wait for the agent to read it: two times all plans of loops, and small frames;
 * PerfOpened is 20 bytes. */
#define OUT_QUEUE_BYTES (2u * LIMIT_PLANS * (unsigned)sizeof(struct loop_plan) + (64u << 10))

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

struct conversation {
	struct stream *stream; /* NULL once closed */
	struct conversation_callbacks callbacks;
	struct arena arena;              /* of the frame that is being handled */
	Jxp__PerfOpenRequest *questions; /* [question_first] is the one that was asked */
	size_t question_first;
	size_t question_count; /* including those before question_first, which were answered */
	size_t question_capacity;
	uint64_t unknown_threads; /* in a row, up to the last answer */
	uint64_t *unasked;
	bool asked;  /* the answer to it is awaited */
	bool asking; /* ask_next is at work */
};

/* ---------------------------------------------------------------- what is sent */

/* A queue that is full means that the agent stopped reading. */
static int send_frame(struct conversation *c, const Jxp__EngineFrame *frame, const int *fds,
		      size_t fd_count)
{
	int r = c->stream ? stream_send(c->stream, &frame->base, fds, fd_count) : -EPIPE;

	if (r < 0 && c->stream)
		c->callbacks.broken(c->callbacks.arg,
				    r == -ENOBUFS ? "the agent stopped reading what it was sent"
						  : "out of memory");
	return r;
}

int conversation_send_hello(struct conversation *c, uint32_t protocol, const char *refusal)
{
	Jxp__EngineHello hello = JXP__ENGINE_HELLO__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	hello.protocol = protocol;
	hello.refusal = (char *)refusal;
	frame.body_case = JXP__ENGINE_FRAME__BODY_HELLO;
	frame.hello = &hello;
	return send_frame(c, &frame, NULL, 0);
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

/* list has room for all. Returns how many there are: what was asked for and can be had. */
static size_t describe_kinds(const struct window_result *w, Jxp__Kind *list)
{
	bool kinds[KIND_VALUES];

	memcpy(kinds, w->request.kinds, sizeof(kinds));
	kinds[JXP__KIND__KIND_NUMA] = window_result_measures_numa(w);
	kinds[JXP__KIND__KIND_CPU] = window_result_profiles_cpu(w);
	kinds[JXP__KIND__KIND_LOOPS] = window_result_profiles_loops(w);
	return kinds_list(kinds, list);
}

int conversation_send_start(struct conversation *c, const struct window_result *w,
			    uint64_t deadline_ns, int *gate)
{
	const struct window_findings *findings = &w->findings;
	Jxp__WindowStart start = JXP__WINDOW_START__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	Jxp__Kind kinds[PAIR_KINDS + SUBJECT_KINDS];
	Jxp__HardwareEvent events[PERF_HARDWARE_EVENTS];
	Jxp__HardwareEvent *event_list[PERF_HARDWARE_EVENTS];
	int r;

	start.kinds = kinds;
	start.n_kinds = describe_kinds(w, kinds);
	start.object_min_size = w->request.object_min_size;
	start.object_min_size_adapts = w->request.object_min_size_adapts;
	start.objects_max = w->request.objects_max;
	start.objects_optional = w->request.objects_optional;
	start.sampler = findings->sampler;
	start.period_ns = findings->event_count ? 0 : findings->period;
	start.deadline_ns = deadline_ns;
	start.objects_from_ns = w->objects_from_ns;
	start.kernel_gate = *gate >= 0;
	start.registers = w->request.registers;
	start.max_frames = w->request.max_frames;
	start.budget = w->request.budget;
	start.cpu_limit = findings->cpu_limit;
	start.switch_clock_ns = findings->switch_costs.clock_ns;
	start.switch_held_ns = findings->switch_costs.held_ns;
	start.switch_armed_ns = findings->switch_costs.armed_ns;
	start.open_through_daemon = w->request.open_through_daemon;
	start.events = event_list;
	start.n_events = describe_events(findings, events, event_list);
	start.event_period = findings->event_count ? findings->period : 0;
	frame.body_case = JXP__ENGINE_FRAME__BODY_START;
	frame.start = &start;
	r = send_frame(c, &frame, gate, start.kernel_gate ? 1 : 0);
	if (r == 0)
		*gate = -1; /* The stream's. */
	return r;
}

int conversation_send_stop(struct conversation *c)
{
	Jxp__WindowStop stop = JXP__WINDOW_STOP__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	frame.body_case = JXP__ENGINE_FRAME__BODY_STOP;
	frame.stop = &stop;
	return send_frame(c, &frame, NULL, 0);
}

int conversation_send_stop_objects(struct conversation *c)
{
	Jxp__StopObjects stop = JXP__STOP_OBJECTS__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	frame.body_case = JXP__ENGINE_FRAME__BODY_STOP_OBJECTS;
	frame.stop_objects = &stop;
	return send_frame(c, &frame, NULL, 0);
}

int conversation_send_objects_met(struct conversation *c, uint64_t accesses, uint64_t met,
				  uint64_t accessed_bytes)
{
	Jxp__ObjectsMet objects = JXP__OBJECTS_MET__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	objects.accesses = accesses;
	objects.met = met;
	objects.accessed_bytes = accessed_bytes;
	frame.body_case = JXP__ENGINE_FRAME__BODY_OBJECTS_MET;
	frame.objects_met = &objects;
	return send_frame(c, &frame, NULL, 0);
}

int conversation_send_code_request(struct conversation *c, uint64_t code, uint32_t method)
{
	Jxp__CodeRequest request = JXP__CODE_REQUEST__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	request.code = code;
	request.method = method;
	frame.body_case = JXP__ENGINE_FRAME__BODY_CODE_REQUEST;
	frame.code_request = &request;
	return send_frame(c, &frame, NULL, 0);
}

int conversation_send_loop_plans(struct conversation *c, const struct loop_plan *plans,
				 size_t count)
{
	Jxp__LoopPlans all = JXP__LOOP_PLANS__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;

	all.plans = (ProtobufCBinaryData){.data = (uint8_t *)plans, .len = count * sizeof(*plans)};
	frame.body_case = JXP__ENGINE_FRAME__BODY_LOOP_PLANS;
	frame.loop_plans = &all;
	return send_frame(c, &frame, NULL, 0);
}

/* ---------------------------------------------------------------- questions about events */

/* Asks one question at a time, and only when the answers before were read; the answer may come
 * before the callback returns. The broker may answer out of order and the agent counts on order. */
static void ask_next(struct conversation *c)
{
	if (c->asking)
		return;
	c->asking = true;
	while (c->stream && !c->asked && c->question_first < c->question_count) {
		/* A copy: the answer may move the array. */
		const Jxp__PerfOpenRequest request = c->questions[c->question_first];

		if (!stream_is_idle(c->stream)) {
			stream_await_idle(c->stream);
			break;
		}
		c->asked = true;
		if (c->unknown_threads >= UNKNOWN_THREADS_MAX &&
		    c->unknown_threads % UNKNOWN_THREADS_MAX) {
			(*c->unasked)++;
			conversation_answer(c, request.tid, ESRCH, NULL, 0);
		} else {
			c->callbacks.question(c->callbacks.arg, &request);
		}
	}
	c->asking = false;
}

int conversation_ask(struct conversation *c, const Jxp__PerfOpenRequest *request)
{
	int r;

	if (c->question_count - c->question_first == PERF_OPEN_QUEUE_MAX)
		return -ENOBUFS;
	r = array_reserve(&c->questions, &c->question_capacity, c->question_count + 1,
			  sizeof(*c->questions));
	if (r < 0)
		return r;
	c->questions[c->question_count] = *request;
	/* They go with the frame; its other fields are numbers. */
	c->questions[c->question_count].base.n_unknown_fields = 0;
	c->questions[c->question_count++].base.unknown_fields = NULL;
	ask_next(c);
	return 0;
}

/* Moves the rest to the front when half is answered, so that the array stays within its bound. */
static void question_answered(struct conversation *c)
{
	c->question_first++;
	if (c->question_first * 2 < c->question_count)
		return;
	c->question_count -= c->question_first;
	memmove(c->questions, c->questions + c->question_first,
		c->question_count * sizeof(*c->questions));
	c->question_first = 0;
}

void conversation_answer(struct conversation *c, uint32_t tid, int error, const int *fds,
			 size_t count)
{
	Jxp__PerfOpened opened = JXP__PERF_OPENED__INIT;
	Jxp__EngineFrame frame = JXP__ENGINE_FRAME__INIT;
	int owned[FD_PASS_MAX];

	for (size_t i = 0; i < count; i++)
		owned[i] = fds[i];
	opened.tid = tid;
	opened.count = (uint32_t)count;
	opened.error = error;
	frame.body_case = JXP__ENGINE_FRAME__BODY_PERF_OPENED;
	frame.perf_opened = &opened;
	if (!c->asked || send_frame(c, &frame, owned, count) < 0) {
		fd_close_all(owned, count);
		return;
	}
	c->unknown_threads = error == ESRCH ? c->unknown_threads + 1 : 0;
	c->asked = false;
	question_answered(c);
	ask_next(c);
}

static void on_idle(void *arg)
{
	ask_next(arg);
}

/* ---------------------------------------------------------------- what comes */

/* Is a batch's last record its last byte, and each of a type and size that there is? */
static bool has_whole_events(const Jxp__AgentFrame *frame)
{
	const ProtobufCBinaryData *events;
	size_t at = 0;

	if (frame->body_case != JXP__AGENT_FRAME__BODY_BATCH)
		return true;
	events = &frame->batch->events;
	while (event_next(events->data, events->len, &at))
		;
	return at == events->len;
}

static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	struct conversation *c = arg;
	const Jxp__AgentFrame *frame = jxp__agent_frame__unpack(&c->arena.allocator, size, payload);

	if (frame && has_whole_events(frame))
		c->callbacks.frame(c->callbacks.arg, frame);
	else
		c->callbacks.ended(c->callbacks.arg, "the agent sent a malformed frame");
	arena_reset(&c->arena);
}

static void on_end(void *arg, const char *reason)
{
	struct conversation *c = arg;

	c->callbacks.ended(c->callbacks.arg, reason);
}

int conversation_new(struct conversation **out, uv_loop_t *loop, int fd, uint64_t *unasked,
		     const struct conversation_callbacks *callbacks, struct err *err)
{
	static const struct stream_limits limits = {.in_frame = FRAME_MAX_AGENT,
						    .out_frame = FRAME_MAX_AGENT,
						    .out_queue = OUT_QUEUE_BYTES};
	_cleanup_free_ struct conversation *c = calloc(1, sizeof(*c));
	struct stream_callbacks stream_callbacks = {
	    .arg = c, .frame = on_frame, .end = on_end, .idle = on_idle};
	int send_buffer = SEND_BUFFER_BYTES, r;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->unasked = unasked;
	c->callbacks = *callbacks;
	arena_init(&c->arena, DECODED_MAX_BYTES);
	r = stream_new(&c->stream, loop, fd, &limits, &stream_callbacks, err);
	if (r < 0)
		return r;
	/* Cannot fail for a Unix socket: what is too small becomes the smallest. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
	*out = TAKE_PTR(c);
	return 0;
}

void conversation_close(struct conversation *c)
{
	if (!c)
		return;
	stream_free(c->stream);
	c->stream = NULL;
}

void conversation_free(struct conversation *c)
{
	if (!c)
		return;
	conversation_close(c);
	arena_release(&c->arena);
	free(c->questions);
	free(c);
}
