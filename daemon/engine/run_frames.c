#include "daemon/engine/run_frames.h"

#include <errno.h>
#include <stdio.h>
#include <syslog.h>

#include "common/clock.h"
#include "common/utf8.h"
#include "daemon/engine/window_log.h"
#include "daemon/shares/miss.h"
#include "profile/intake/loop_session.h"
#include "proto/agent_note.h"
#include "proto/limits.h"

static void begin(struct run *r)
{
	struct window_result *w = r->result;

	window_result_start(w);
	window_log(w, LOG_INFO, "window %s: profiling pid %d (%s)", w->id, (int)w->pid, w->app);
	if (r->deadline_ns)
		gate_control_follow(&r->gate, r->deadline_ns);
	r->callbacks.started(r->callbacks.arg, r);
}

/* An agent that says its version from outside was refused before it was attached to. */
static void refuse(struct run *r, uint32_t protocol)
{
	char refusal[WINDOW_REASON_BYTES];

	(void)snprintf(refusal, sizeof(refusal),
		       "the agent speaks protocol %u and this daemon %u to %u: restart the JVM or "
		       "use the jxperf version that was attached to it first",
		       protocol, PROTOCOL_OLDEST, PROTOCOL_VERSION);
	r->refused = EPROTONOSUPPORT;
	if (conversation_send_hello(r->conversation, PROTOCOL_VERSION, refusal) == 0)
		run_break_off(r, refusal);
}

static void on_hello(struct run *r, const Jxp__AgentFrame *frame)
{
	const Jxp__AgentHello *hello = frame->hello;
	struct window_result *w = r->result;

	if (!protocol_is_spoken(hello->protocol)) {
		refuse(r, hello->protocol);
		return;
	}
	/* Lengths are not needed: all are shown only. */
	(void)utf8_sanitize(w->jdk, sizeof(w->jdk), hello->jdk);
	(void)utf8_sanitize(w->vm, sizeof(w->vm), hello->vm);
	(void)utf8_sanitize(w->gc, sizeof(w->gc), hello->gc);
	(void)utf8_sanitize(w->agent_version, sizeof(w->agent_version),
			    hello->version[0] ? hello->version : AGENT_VERSION_UNTOLD);
	w->always_pretouch = hello->always_pretouch;
	if (!window_result_samples_pairs(w) && !window_result_tracks_objects(w) &&
	    !window_result_profiles_cpu(w)) {
		/* NUMA alone on a machine with one node: the report says so, at no cost. */
		begin(r);
		run_hang_up(r, NULL);
		return;
	}
	if (conversation_send_hello(r->conversation, hello->protocol, "") < 0)
		return;
	r->deadline_ns = clock_monotonic_ns() + w->request.duration_ns;
	window_result_plan_objects(w);
	if (conversation_send_start(r->conversation, w, r->deadline_ns, &r->gate_program) < 0)
		return;
	run_move(r, RUN_RUNNING);
	begin(r);
}

/* Objects may be as small as nine tenths of the accesses are larger; so many have to tell it. */
#define ACCESSED_PART  0.9
#define ACCESSED_LEAST 20u

/* Allocations get their part of the budget by it, where pairs are sampled, too; and how small an
 * object may be and still be tracked. */
static void tell_objects_met(struct run *r)
{
	const struct object_profile *o = &r->result->objects;
	uint64_t met = o->attributed.samples;
	uint64_t accesses = met + o->untracked[JXP__REGION__REGION_HEAP].samples;
	uint64_t bytes = accessed_sizes_most(&o->sizes, ACCESSED_PART, ACCESSED_LEAST);
	uint64_t now = clock_monotonic_ns();

	if (r->state != RUN_RUNNING || !window_result_tracks_objects(r->result) ||
	    (accesses == r->accesses_told && bytes == r->accessed_bytes_told) ||
	    now < r->met_told_ns + r->context.tell_ns)
		return;
	r->met_told_ns = now;
	r->accesses_told = accesses;
	r->accessed_bytes_told = bytes;
	/* Breaks off by itself. */
	(void)conversation_send_objects_met(r->conversation, accesses, met, bytes);
}

/* ---------------------------------------------------------------- code */

/* Asks for the code of accesses that wait for it. Sending breaks off by itself. */
static void ask_for_makers(struct run *r)
{
	uint64_t codes[CODES_OPEN_MAX];
	size_t count;

	if (r->state != RUN_RUNNING)
		return;
	count = attribution_intake_ask(&r->intake.attribution, codes);
	for (size_t i = 0; i < count; i++)
		if (conversation_send_code_request(r->conversation, codes[i], 0) < 0)
			return;
}

static int make_analysis(void *product, struct code_image *image)
{
	return code_analysis_make(product, image);
}

static void release_analysis(void *product)
{
	code_analysis_release(product);
}

static int make_attribution(void *product, struct code_image *image)
{
	const struct attribution_options options = {0};

	return attribution_make(product, image, &options);
}

static void release_attribution(void *product)
{
	attribution_release(product);
}

static const struct code_product products[CODE_USES] = {
    [CODE_FOR_LOOPS] = {sizeof(struct code_analysis), make_analysis, release_analysis},
    [CODE_FOR_MAKERS] = {sizeof(struct attribution), make_attribution, release_attribution},
};

static void analyse_code(struct run_analysis *a);

static void on_analysed(void *arg, uint32_t code, int error, void *product)
{
	struct run_analysis *a = arg;
	struct run *r = a->run;

	if (intake_analysed(&r->intake, a->use, code, error, product) < 0) {
		run_hang_up(r, "out of memory");
		return;
	}
	analyse_code(a);
	if (a->use == CODE_FOR_MAKERS)
		ask_for_makers(r);
	r->callbacks.progressed(r->callbacks.arg, r); /* Who waited for it is in the profile now. */
}

/* The next image that waits, if none is being analysed. */
static void analyse_code(struct run_analysis *a)
{
	struct run *r = a->run;
	struct code_image image;
	uint32_t code;
	int error;

	if (a->work.job || !intake_take_image(&r->intake, a->use, &image, &code))
		return;
	error = code_work_start(&a->work, r->context.loop, &products[a->use], &image, code,
				on_analysed, a);
	if (error < 0) {
		code_image_release(&image);
		(void)intake_analysed(&r->intake, a->use, code, error, NULL); /* It is not. */
	}
}

/* Asks for the code that ticks come in, and for what calls that, and has loops counted. Sending
 * breaks off by itself. */
static void hunt_loops(struct run *r)
{
	uint64_t now = clock_monotonic_ns();
	struct loop_requests wanted;

	if (r->state != RUN_RUNNING || !window_result_profiles_loops(r->result) ||
	    now < r->hunted_ns + r->context.tell_ns)
		return;
	r->hunted_ns = now;
	if (loop_session_hunt(&r->intake.loops, &wanted) < 0) {
		run_break_off(r, "out of memory");
		return;
	}
	for (size_t i = 0; i < wanted.code_count; i++)
		if (conversation_send_code_request(r->conversation, wanted.codes[i], 0) < 0)
			return;
	for (size_t i = 0; i < wanted.method_count; i++)
		if (conversation_send_code_request(r->conversation, 0, wanted.methods[i]) < 0)
			return;
	if (wanted.planned)
		(void)conversation_send_loop_plans(r->conversation, wanted.plans,
						   wanted.plan_count);
}

static void on_batch(struct run *r, const Jxp__AgentFrame *frame)
{
	uint64_t now_ns = clock_monotonic_ns();

	intake_bound_cpu(&r->intake, now_ns - r->result->start_ns, now_ns - r->result->asked_ns);
	if (intake_batch(&r->intake, frame->batch) < 0) {
		run_hang_up(r, "out of memory");
		return;
	}
	numa_query_pump(&r->numa);
	gate_control_follow(&r->gate, r->deadline_ns);
	tell_objects_met(r);
	for (int use = 0; use < CODE_USES; use++)
		analyse_code(&r->analyses[use]);
	ask_for_makers(r);
	hunt_loops(r);
	r->callbacks.progressed(r->callbacks.arg, r);
}

static void on_perf_open(struct run *r, const Jxp__AgentFrame *frame)
{
	int error = conversation_ask(r->conversation, frame->perf_open);

	if (error == -ENOBUFS)
		run_hang_up(r, "the agent asked for more events than a JVM has threads");
	else if (error < 0)
		run_hang_up(r, "out of memory");
}

/* Nothing was sampled. The agent's word is taken for what its JVM lacks and no more. */
static void refused(struct run *r, const Jxp__WindowEnded *ended)
{
	const struct attach_error *why = attach_error((int)ended->error_number);

	window_result_fail(r->result, ended->error);
	if (why->agents)
		r->refused = why->error;
}

/* The agent ends by itself at its deadline, which may come a moment before ours, and when its JVM
 * exits. Nothing more comes but the end of the stream. */
static void on_window_ended(struct run *r, const Jxp__AgentFrame *frame)
{
	const char *error = frame->ended->error, *reason = r->reason[0] ? r->reason : NULL;
	struct window_result *w = r->result;

	if (error[0]) {
		if (w->counters[JXP__COUNTER__COUNTER_TICKS] == 0)
			refused(r, frame->ended);
		reason = error;
	} else if (r->state == RUN_RUNNING && clock_monotonic_ns() < r->deadline_ns) {
		reason = "the target exited";
		w->target_ended = true;
	}
	run_end_window(r, reason);
	run_move(r, RUN_LEAVING);
}

/* What each frame means, and in which states it may come. */
static const struct {
	unsigned states;
	const char *out_of_turn;
	void (*handle)(struct run *r, const Jxp__AgentFrame *frame);
} frame_rules[] = {
#define IN_WINDOW (1u << RUN_RUNNING | 1u << RUN_STOPPING)
    [JXP__AGENT_FRAME__BODY_HELLO] = {1u << RUN_GREETING, "the agent said hello out of turn",
				      on_hello},
    [JXP__AGENT_FRAME__BODY_BATCH] = {IN_WINDOW, "the agent sent events outside its window",
				      on_batch},
    [JXP__AGENT_FRAME__BODY_PERF_OPEN] = {IN_WINDOW,
					  "the agent asked for events before it said hello",
					  on_perf_open},
    [JXP__AGENT_FRAME__BODY_ENDED] = {IN_WINDOW, "the agent ended outside its window",
				      on_window_ended},
#undef IN_WINDOW
};

static void on_frame(void *arg, const Jxp__AgentFrame *frame)
{
	unsigned body = (unsigned)frame->body_case;
	struct run *r = arg;

	if (r->state == RUN_BREAKING_OFF)
		return; /* Nobody listens any more. */
	if (body >= sizeof(frame_rules) / sizeof(frame_rules[0]) || !frame_rules[body].handle)
		run_hang_up(r, "the agent sent a frame of an unknown kind");
	else if (frame_rules[body].states & 1u << r->state)
		frame_rules[body].handle(r, frame);
	else
		run_hang_up(r, frame_rules[body].out_of_turn);
}

static void on_conversation_ended(void *arg, const char *reason)
{
	struct run *r = arg;

	if (!reason && r->reason[0]) {
		reason = r->reason;
	} else if (!reason && r->state != RUN_LEAVING) {
		reason = "the target closed the connection: it exited or was killed";
		r->result->target_ended = true;
	}
	run_hang_up(r, reason);
}

static void on_conversation_broken(void *arg, const char *reason)
{
	run_break_off(arg, reason);
}

/* ---------------------------------------------------------------- events that the broker opens */

static void on_events_opened(void *arg, const struct broker_reply *reply, int *fds)
{
	struct run *r = arg;
	size_t count = reply->error ? 0 : reply->fds;

	r->event_request = 0;
	if (reply->error)
		window_log(r->result, LOG_DEBUG, "window %s: events for thread %u: %s",
			   r->result->id, r->event_tid, reply->message);
	conversation_answer(r->conversation, r->event_tid, reply->error, fds, count);
	for (size_t i = 0; i < count; i++)
		fds[i] = -1; /* The conversation owns them. */
}

static void on_question(void *arg, const Jxp__PerfOpenRequest *asked)
{
	struct run *r = arg;
	const struct broker_request request = {.operation = BROKER_PERF_OPEN,
					       .pid = r->result->pid,
					       .namespace_tid = (pid_t)asked->tid,
					       .breakpoints = asked->breakpoints,
					       .hardware_event = asked->hardware_event,
					       .clock_period_ns = asked->clock_period_ns,
					       .event_period = asked->event_period,
					       .sig_data = asked->sig_data};
	int id = broker_client_ask(r->context.broker, &request, on_events_opened, r);

	if (id < 0) {
		conversation_answer(r->conversation, asked->tid, -id, NULL, 0);
		return;
	}
	r->event_tid = asked->tid;
	r->event_request = id;
}

/* ---------------------------------------------------------------- the beginning */

void run_greet(struct run *r)
{
	const struct conversation_callbacks callbacks = {.arg = r,
							 .frame = on_frame,
							 .question = on_question,
							 .ended = on_conversation_ended,
							 .broken = on_conversation_broken};
	struct err err;
	int error = conversation_new(&r->conversation, r->context.loop, r->agent_fd,
				     &r->result->losses[LOSS_UNKNOWN_THREADS], &callbacks, &err);

	if (error < 0) {
		run_fail(r, -error, err.message);
		return;
	}
	r->agent_fd = -1; /* The conversation owns it. */
	run_move(r, RUN_GREETING);
}
