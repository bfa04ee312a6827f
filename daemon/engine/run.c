#include "daemon/engine/run.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "daemon/engine/app_name.h"
#include "daemon/engine/run_agent.h"
#include "daemon/engine/run_internal.h"

static void on_limit(uv_timer_t *timer);

static void start_timer(struct run *r)
{
	const struct run_limits limits = {.patience_ms = r->context.patience_ms,
					  .duration_ms =
					      r->window->request.duration_ns / NS_PER_MS};
	uint64_t limit_ms = run_state_limit_ms(r->state, &limits);

	/* Both fail only for a NULL callback or a closing handle. */
	if (limit_ms == RUN_NO_LIMIT)
		(void)uv_timer_stop(&r->timer);
	else if (limit_ms != RUN_SAME_LIMIT)
		(void)uv_timer_start(&r->timer, on_limit, limit_ms, 0);
}

void run_move(struct run *r, enum run_state to)
{
	assert(run_state_may_follow(r->state, to));
	r->state = to;
	start_timer(r);
}

static void set_reason(struct run *r, const char *reason)
{
	(void)snprintf(r->reason, sizeof(r->reason), "%s", reason); /* May be cut. */
}

/* ---------------------------------------------------------------- the end */

/* The target is not ours any more: tell the broker. It answers nothing; if it is dead, the engine
 * hears of that elsewhere. */
static void release_target(struct run *r)
{
	(void)broker_client_release(r->context.broker, r->window->pid);
}

static void end(struct run *r, int error, const char *message)
{
	release_target(r);
	r->window->finished = true;
	run_move(r, RUN_ENDED);
	r->callbacks.ended(r->callbacks.arg, r, error, message);
}

void run_fail(struct run *r, int error, const char *message)
{
	log_info("window %s: pid %d: %s", r->window->id, (int)r->window->pid, message);
	window_fail(r->window, message);
	end(r, error, message);
}

/* The gate has told its last counts, or never will: the window is what it is. */
static void conclude(struct run *r)
{
	struct window *w = r->window;

	if (w->state == WINDOW_FAILED) {
		run_fail(r, ECONNABORTED, w->reason);
		return;
	}
	log_info("window %s: %s%s%s", w->id, window_state_name(w), w->reason[0] ? ": " : "",
		 w->reason);
	numa_query_release(&r->numa);
	numa_profile_finish(&w->numa);
	end(r, 0, "");
}

static void on_gate_closed(void *arg)
{
	conclude(arg);
}

/* Without memory, what waited for its turn is missing, as if it had not arrived. */
void run_end_window(struct run *r, const char *reason)
{
	if (r->window->start_ns)
		(void)intake_finish(&r->intake);
	window_end(r->window, reason);
}

void run_hang_up(struct run *r, const char *reason)
{
	conversation_close(r->conversation);
	run_end_window(r, reason);
	intake_release(&r->intake);
	run_move(r, RUN_CLOSING_GATE);
	if (gate_control_close(&r->gate, on_gate_closed, r) < 0)
		conclude(r);
}

void run_break_off(struct run *r, const char *reason)
{
	if (!run_state_may_follow(r->state, RUN_BREAKING_OFF))
		return; /* It ends already. */
	set_reason(r, reason);
	run_move(r, RUN_BREAKING_OFF);
}

/* On failure the conversation breaks off. */
static void tell_to_stop(struct run *r)
{
	if (conversation_send_stop(r->conversation) == 0)
		run_move(r, RUN_STOPPING);
}

static void give_up_on_broker(struct run *r, const char *why)
{
	log_warn("window %s: the privileged half of jxperfd does not answer", r->window->id);
	run_fail(r, ETIMEDOUT, why);
}

static void on_limit(uv_timer_t *timer)
{
	struct run *r = timer->data;

	switch (r->state) {
	case RUN_ATTACHING:
	case RUN_OPENING_GATE:
		give_up_on_broker(
		    r, "the privileged half of jxperfd does not answer: see the daemon's log");
		break;
	case RUN_CANCELLED:
		give_up_on_broker(r, r->reason);
		break;
	case RUN_GREETING:
		run_hang_up(r, "the agent was loaded but did not say hello in time");
		break;
	case RUN_RUNNING:
		tell_to_stop(r);
		break;
	case RUN_STOPPING:
		run_hang_up(r,
			    r->reason[0]
				? r->reason
				: "the agent did not end the window in time: a debugger may have "
				  "stopped the JVM, or others leave it no CPU time");
		break;
	case RUN_LEAVING:
		run_hang_up(r, NULL);
		break;
	case RUN_BREAKING_OFF:
		run_hang_up(r, r->reason);
		break;
	case RUN_CLOSING_GATE:
		log_warn("window %s: the privileged half of jxperfd does not answer",
			 r->window->id);
		conclude(r);
		break;
	case RUN_ENDED:
	case RUN_STATES:
		break;
	}
}

/* ---------------------------------------------------------------- attach */

static void on_gate_opened(void *arg, int *program)
{
	struct run *r = arg;

	if (r->state == RUN_CANCELLED) {
		run_fail(r, ECANCELED, r->reason);
		return;
	}
	r->gate_program = TAKE_FD(*program);
	run_agent_greet(r);
}

/* The gate is open for what the agent may take to say hello, too. */
static void open_gate(struct run *r)
{
	uint64_t end_ns =
	    clock_monotonic_ns() + RUN_GREETING_MS * NS_PER_MS + r->window->request.duration_ns;

	run_move(r, RUN_OPENING_GATE);
	if (gate_control_open(&r->gate, r->context.broker, r->window, end_ns, on_gate_opened, r) <
	    0)
		run_agent_greet(r);
}

static void on_attached(void *arg, const struct broker_reply *reply, int *fds)
{
	struct run *r = arg;

	r->attach_request = 0;
	if (r->state == RUN_CANCELLED) {
		run_fail(r, ECANCELED, r->reason);
	} else if (reply->error || reply->fds != 1) {
		run_fail(r, reply->error ? reply->error : EPROTO,
			 reply->error ? reply->message
				      : "the broker gave no connection to the agent");
	} else {
		r->agent_fd = TAKE_FD(fds[0]);
		app_name_of(r->window->app, sizeof(r->window->app), reply->message);
		open_gate(r);
	}
}

/* A window for objects alone has nothing left to do. */
static void on_alarm(void *arg, const char *line)
{
	struct run *r = arg;
	struct window *w = r->window;

	window_switch_off_objects(w, line);
	log_info("window %s: %s", w->id, w->objects_refused);
	if (!window_samples_pairs(w))
		run_stop(r, w->objects_refused);
	else if (r->state == RUN_RUNNING)
		(void)conversation_send_stop_objects(r->conversation); /* Breaks off by itself. */
}

static uint32_t attach_flags(const struct window *w)
{
	return (window_measures_numa(w) ? BROKER_ATTACH_TRACE_TOUCH : 0) |
	       (w->request.force ? BROKER_ATTACH_FORCE : 0);
}

int run_new(struct run **out, const struct run_context *context, struct window *window,
	    const struct run_callbacks *callbacks, struct err *err)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return err_set(err, ENOMEM, "out of memory");
	*r = (struct run){.context = *context,
			  .callbacks = *callbacks,
			  .window = window,
			  .state = RUN_ATTACHING,
			  .agent_fd = -1,
			  .gate_program = -1};
	r->attach_request = broker_client_attach(context->broker, window->pid, attach_flags(window),
						 on_attached, r);
	if (r->attach_request < 0) {
		int error = -r->attach_request;

		free(r);
		return err_set_errno(err, error, "cannot ask the broker to attach to pid %d",
				     (int)window->pid);
	}
	intake_init(&r->intake, window);
	if (window_measures_numa(window))
		numa_query_init(&r->numa, context->broker, window->pid, &window->findings.numa,
				&window->numa, &window->losses[LOSS_FIRST_TOUCHES]);
	r->guard = guard_new(context->loop, context->broker, window, on_alarm, r);
	(void)uv_timer_init(context->loop, &r->timer); /* Cannot fail. */
	r->timer.data = r;
	start_timer(r);
	*out = r;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct run *r = handle->data;

	conversation_free(r->conversation);
	free(r);
}

void run_free(struct run *r)
{
	if (!r)
		return;
	if (r->attach_request > 0)
		broker_client_forget(r->context.broker, r->attach_request);
	if (r->event_request > 0)
		broker_client_forget(r->context.broker, r->event_request);
	numa_query_release(&r->numa);
	gate_control_release(&r->gate);
	guard_free(r->guard);
	fd_close_all(&r->agent_fd, 1);
	fd_close_all(&r->gate_program, 1);
	conversation_close(r->conversation);
	intake_release(&r->intake);
	window_free(r->window);
	uv_close((uv_handle_t *)&r->timer, on_closed);
}

/* ---------------------------------------------------------------- calls and questions */

void run_stop(struct run *r, const char *reason)
{
	switch (r->state) {
	case RUN_ATTACHING:
	case RUN_OPENING_GATE:
		run_move(r, RUN_CANCELLED);
		/* fall through */
	case RUN_CANCELLED: /* The broker gives up, which its answer says. */
		set_reason(r, reason);
		release_target(r);
		break;
	case RUN_GREETING:
		gate_control_shut(&r->gate);
		run_break_off(r, reason);
		break;
	case RUN_RUNNING:
		gate_control_shut(&r->gate);
		set_reason(r, reason);
		tell_to_stop(r);
		break;
	case RUN_STOPPING:
	case RUN_LEAVING:
	case RUN_BREAKING_OFF:
	case RUN_CLOSING_GATE:
	case RUN_ENDED:
	case RUN_STATES:
		break;
	}
}

void run_set_patience(struct run *r, uint64_t ms)
{
	r->context.patience_ms = ms;
	if (run_state_awaits_broker(r->state))
		(void)uv_timer_start(&r->timer, on_limit, ms, 0); /* As in start_timer. */
}

const struct window *run_window(const struct run *r)
{
	return r->window;
}

enum run_state run_state(const struct run *r)
{
	return r->state;
}

const struct thread_table *run_threads(const struct run *r)
{
	return &r->intake.threads;
}

uint64_t run_strangers(const struct run *r)
{
	return r->gate.strangers;
}
