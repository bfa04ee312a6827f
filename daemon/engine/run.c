#include "daemon/engine/run.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/proc.h"
#include "daemon/engine/app_name.h"
#include "daemon/questions/inspections.h"
#include "daemon/questions/jar_versions.h"
#include "daemon/inspector/inspector.h"
#include "daemon/engine/run_frames.h"
#include "daemon/engine/window_log.h"
#include "daemon/shares/miss.h"
#include "profile/window/tables.h"

/* ---------------------------------------------------------------- states */

static void on_limit(uv_timer_t *timer);
static void go_on_unnamed(struct run *r);

static void start_limit(struct run *r)
{
	const struct run_limits limits = {.patience_ms = r->context.patience_ms,
					  .attach_ms = r->result->request.timeout_ms,
					  .duration_ms =
					      r->result->request.duration_ns / NS_PER_MS};
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
	start_limit(r);
}

static void set_reason(struct run *r, const char *reason)
{
	(void)snprintf(r->reason, sizeof(r->reason), "%s", reason); /* May be cut. */
}

/* ---------------------------------------------------------------- the end */

/* If the broker is dead, the engine hears of that elsewhere. */
static void release_target(struct run *r)
{
	const struct broker_request request = {.operation = BROKER_RELEASE, .pid = r->result->pid};

	(void)broker_client_ask(r->context.broker, &request, NULL, NULL);
}

static void end(struct run *r, int error, const char *message)
{
	release_target(r);
	r->result->finished = true;
	run_move(r, RUN_ENDED);
	r->callbacks.ended(r->callbacks.arg, r, error, message);
}

void run_fail(struct run *r, int error, const char *message)
{
	window_result_fail(r->result, message);
	if (attach_error(error)->no_window)
		window_result_withdraw(r->result);
	end(r, error, message);
}

/* The gate has told its last counts, or never will: the window is what it is. */
static void conclude(struct run *r)
{
	struct window_result *w = r->result;
	char quoted[LOG_QUOTED_BYTES];

	if (w->state == WINDOW_FAILED) {
		run_fail(r, r->refused ? r->refused : ECONNABORTED, w->reason);
		return;
	}
	(void)log_quote(quoted, sizeof(quoted), w->reason);
	window_log(w, LOG_INFO, "window %s: %s%s%s", w->id, window_result_state_name(w),
		   w->reason[0] ? ": " : "", w->reason[0] ? quoted : "");
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
	if (r->result->start_ns)
		(void)intake_finish(&r->intake);
	window_result_end(r->result, reason);
}

static void forget_analyses(struct run *r)
{
	for (int use = 0; use < CODE_USES; use++)
		code_work_forget(&r->analyses[use].work);
}

void run_hang_up(struct run *r, const char *reason)
{
	conversation_close(r->conversation);
	forget_analyses(r);
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

static void tell_to_stop(struct run *r)
{
	if (conversation_send_stop(r->conversation) == 0)
		run_move(r, RUN_STOPPING);
}

static void give_up_on_broker(struct run *r, const char *why)
{
	window_log(r->result, LOG_WARNING,
		   "window %s: the privileged half of jxperfd does not answer", r->result->id);
	run_fail(r, ETIMEDOUT, why);
}

/* The agent may have no processor to say hello on; once. */
static bool is_prolonged(struct run *r)
{
	if (r->prolonged || !proc_machine_is_busy())
		return false;
	r->prolonged = true;
	/* Fails only for a NULL callback or a closing handle. */
	(void)uv_timer_start(&r->timer, on_limit, RUN_GREETING_MOST_MS - RUN_GREETING_MS, 0);
	return true;
}

static void on_limit(uv_timer_t *timer)
{
	struct run *r = timer->data;

	switch (r->state) {
	case RUN_WAITING:
		run_fail(r, ETIMEDOUT, "the window that a schedule has in this JVM does not end");
		break;
	case RUN_OPENING_GATE:
		if (r->naming) {
			go_on_unnamed(r);
			break;
		}
		/* fall through */
	case RUN_ATTACHING:
		give_up_on_broker(
		    r, "the privileged half of jxperfd does not answer: see the daemon's log");
		break;
	case RUN_CANCELLED:
		if (r->naming)
			run_fail(r, ECANCELED, r->reason);
		else
			give_up_on_broker(r, r->reason);
		break;
	case RUN_GREETING:
		if (is_prolonged(r))
			break;
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
		window_log(r->result, LOG_WARNING,
			   "window %s: the privileged half of jxperfd does not answer",
			   r->result->id);
		conclude(r);
		break;
	case RUN_ENDED:
	case RUN_STATES:
		break;
	}
}

/* ---------------------------------------------------------------- the beginning */

static void on_gate_opened(void *arg, int *program)
{
	struct run *r = arg;

	if (r->state == RUN_CANCELLED) {
		run_fail(r, ECANCELED, r->reason);
		return;
	}
	r->gate_program = TAKE_FD(*program);
	run_greet(r);
}

static void on_jar_version(void *arg, const char *version)
{
	struct run *r = arg;

	(void)snprintf(r->result->version, sizeof(r->result->version), "%s", version); /* Fits. */
}

/* Nothing waits for it: the window has the version of its jar from when that is known. */
static void ask_for_jar_version(struct run *r)
{
	const struct jar_versions_jvm jvm = {
	    .pid = r->result->pid, .start_ticks = r->start_ticks, .user = r->result->asker.sees};
	const struct run_namer *namer = &r->context.namer;

	if (!r->result->version[0] && namer->reads_jars && namer->reads_jars(namer->arg))
		jar_versions_ask(r->context.jars, &jvm, on_jar_version, r);
}

/* The gate is open for what the agent may take to say hello, too. */
static void open_gate(struct run *r)
{
	uint64_t end_ns = clock_monotonic_ns() + RUN_GREETING_MOST_MS * NS_PER_MS +
			  r->result->request.duration_ns;

	ask_for_jar_version(r);
	if (gate_control_open(&r->gate, r->context.broker, r->result, end_ns, on_gate_opened, r) <
	    0)
		run_greet(r);
}

static void set_app(struct run *r, const char *app)
{
	struct window_result *w = r->result;

	(void)snprintf(w->app, sizeof(w->app), "%s", app); /* Fits. */
	memcpy(w->version, w->request.version, sizeof(w->version));
}

/* Which JVM the rules are asked of; NULL: it is not there, or could not be looked at. */
static const Jxp__Jvm *find_jvm(const struct run *r, const Jxp__ControlReply *answer)
{
	const Jxp__JvmList *list =
	    answer->body_case == JXP__CONTROL_REPLY__BODY_JVMS ? answer->jvms : NULL;

	for (size_t i = 0; list && i < list->n_jvms; i++)
		if ((pid_t)list->jvms[i]->pid == r->result->pid)
			return list->jvms[i];
	return NULL;
}

/* A rule may be there to hide what the JVM says of itself, so a JVM that the rules have not seen
 * has no name of its own. */
static void on_looked_at(void *arg, Jxp__ControlReply *answer)
{
	struct run *r = arg;
	const Jxp__Jvm *jvm = find_jvm(r, answer);
	struct window_request *request = &r->result->request;

	r->naming = NULL;
	if (jvm &&
	    r->context.namer.name(r->context.namer.arg, jvm, request->app, request->version)) {
		request->app_by_rule = true;
		set_app(r, request->app);
	} else {
		set_app(r, jvm ? r->program_app : APP_NAME_UNKNOWN);
	}
	if (r->state == RUN_CANCELLED)
		run_fail(r, ECANCELED, r->reason);
	else
		open_gate(r);
}

/* Its question waits behind those of too many others: the agent is there, and waits as well. */
static void go_on_unnamed(struct run *r)
{
	inspection_forget(r->naming);
	r->naming = NULL;
	set_app(r, APP_NAME_UNKNOWN);
	start_limit(r);
	open_gate(r);
}

/* The JVM runs, so what rules go by can be read of it. */
static void name_app(struct run *r, const char *program)
{
	const struct broker_request question = {
	    .pid = INSPECTOR_LIST, .owner = PROC_ANY_UID, .pid_count = 1, .pids = {r->result->pid}};
	const struct run_namer *namer = &r->context.namer;

	run_move(r, RUN_OPENING_GATE);
	app_name_of(r->program_app, sizeof(r->program_app), program);
	if (!r->result->request.app[0] && namer->rules && namer->rules(namer->arg)) {
		if (inspections_ask(&r->naming, r->context.inspections, r->result->asker.sees,
				    &question, on_looked_at, r) == 0)
			return;
		set_app(r, APP_NAME_UNKNOWN);
	} else {
		set_app(r, r->result->request.app[0] ? r->result->request.app : r->program_app);
	}
	open_gate(r);
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
		r->result->owner = reply->owner;
		r->start_ticks = reply->start_ticks;
		r->result->findings.cpu_limit = reply->cpu_limit;
		r->result->findings.switch_costs = reply->switch_costs;
		name_app(r, reply->message);
	}
}

static void end_early(struct run *r, const char *reason)
{
	switch (r->state) {
	case RUN_WAITING: /* Its turn comes, and with it the end. */
		set_reason(r, reason);
		break;
	case RUN_ATTACHING:
	case RUN_OPENING_GATE:
		run_move(r, RUN_CANCELLED);
		if (r->naming) /* Its turn may be far. Fails only for a closing handle. */
			(void)uv_timer_start(&r->timer, on_limit, 0, 0);
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

/* A window for objects alone has nothing left to do. */
static void on_alarm(void *arg, const char *line)
{
	struct run *r = arg;
	struct window_result *w = r->result;

	window_result_switch_off_objects(w, line);
	window_log(w, LOG_INFO, "window %s: %s", w->id, w->objects_refused);
	if (!window_result_samples_pairs(w) && !window_result_profiles_cpu(w))
		end_early(r, w->objects_refused);
	else if (r->state == RUN_RUNNING)
		(void)conversation_send_stop_objects(r->conversation); /* Breaks off by itself. */
}

static uint32_t attach_flags(const struct window_result *w)
{
	return (window_result_measures_numa(w) ? BROKER_ATTACH_TRACE_TOUCH : 0) |
	       (w->request.force ? BROKER_ATTACH_FORCE : 0);
}

int run_new(struct run **out, const struct run_context *context, struct window_result *result,
	    const struct run_callbacks *callbacks, struct err *err)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return err_set(err, ENOMEM, "out of memory");
	*r = (struct run){.context = *context,
			  .callbacks = *callbacks,
			  .result = result,
			  .state = RUN_WAITING,
			  .agent_fd = -1,
			  .gate_program = -1};
	for (int use = 0; use < CODE_USES; use++)
		r->analyses[use] = (struct run_analysis){.run = r, .use = (enum code_use)use};
	intake_init(&r->intake, result);
	(void)uv_timer_init(context->loop, &r->timer); /* Cannot fail. */
	r->timer.data = r;
	start_limit(r);
	*out = r;
	return 0;
}

int run_begin(struct run *r, struct err *err)
{
	struct window_result *w = r->result;
	const struct broker_request request = {.operation = BROKER_ATTACH,
					       .pid = w->pid,
					       .start_ticks = w->request.start_ticks,
					       .owner = w->asker.sees,
					       .attach_flags = attach_flags(w),
					       .timeout_ms = w->request.timeout_ms};
	int id = broker_client_ask(r->context.broker, &request, on_attached, r);

	if (id < 0)
		return err_set_errno(err, -id, "cannot ask the broker to attach to pid %d",
				     (int)w->pid);
	r->attach_request = id;
	if (window_result_measures_numa(w))
		numa_query_init(&r->numa, r->context.broker, w->pid, &w->findings.numa, &w->numa,
				&w->losses[LOSS_FIRST_TOUCHES]);
	r->guard = guard_new(r->context.loop, r->context.broker, w, on_alarm, r);
	run_move(r, RUN_ATTACHING);
	return 0;
}

void run_resume(struct run *r)
{
	struct err err;
	int error;

	if (r->reason[0])
		run_fail(r, ECANCELED, r->reason);
	else if ((error = run_begin(r, &err)) < 0)
		run_fail(r, -error, err.message);
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
	inspection_forget(r->naming);
	jar_versions_forget(r->context.jars, r);
	numa_query_release(&r->numa);
	forget_analyses(r);
	gate_control_release(&r->gate);
	guard_free(r->guard);
	fd_close_all(&r->agent_fd, 1);
	fd_close_all(&r->gate_program, 1);
	conversation_close(r->conversation);
	intake_release(&r->intake);
	window_result_free(r->result);
	uv_close((uv_handle_t *)&r->timer, on_closed);
}

/* ---------------------------------------------------------------- calls and questions */

void run_stop(struct run *r, const char *reason)
{
	r->result->asked_to_end = true;
	end_early(r, reason);
}

void run_cut(struct run *r, const char *reason)
{
	window_log(r->result, LOG_WARNING, "window %s: %s", r->result->id, reason);
	r->result->took_too_much = true;
	gate_control_shut(&r->gate);
	run_break_off(r, reason);
}

size_t run_memory_bytes(const struct run *r)
{
	return run_state_may_follow(r->state, RUN_BREAKING_OFF)
		   ? window_result_memory_bytes(r->result) + intake_memory_bytes(&r->intake)
		   : 0;
}

const struct window_result *run_result(const struct run *r)
{
	return r->result;
}

enum run_state run_state(const struct run *r)
{
	return r->state;
}

uint64_t run_strangers(const struct run *r)
{
	return r->gate.strangers;
}
