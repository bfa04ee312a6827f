#include "daemon/engine/run_core.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/proc.h"

static void on_limit(uv_timer_t *timer);

void run_start_limit(struct run *r)
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
	run_start_limit(r);
}

void run_set_reason(struct run *r, const char *reason)
{
	(void)snprintf(r->reason, sizeof(r->reason), "%s", reason); /* May be cut. */
}

/* ---------------------------------------------------------------- the end */

/* If the broker is dead, the engine hears of that elsewhere. */
void run_release_target(struct run *r)
{
	(void)broker_client_release(r->context.broker, r->result->pid);
}

static void end(struct run *r, int error, const char *message)
{
	run_release_target(r);
	r->result->finished = true;
	run_move(r, RUN_ENDED);
	r->callbacks.ended(r->callbacks.arg, r, error, message);
}

void run_fail(struct run *r, int error, const char *message)
{
	window_result_fail(r->result, message);
	end(r, error, message);
}

/* The gate has told its last counts, or never will: the window is what it is. */
static void conclude(struct run *r)
{
	struct window_result *w = r->result;
	char quoted[LOG_QUOTED_BYTES];

	if (w->state == WINDOW_FAILED) {
		run_fail(r, ECONNABORTED, w->reason);
		return;
	}
	(void)log_quote(quoted, sizeof(quoted), w->reason);
	log_info("window %s: %s%s%s", w->id, window_result_state_name(w), w->reason[0] ? ": " : "",
		 w->reason[0] ? quoted : "");
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

void run_hang_up(struct run *r, const char *reason)
{
	conversation_close(r->conversation);
	code_work_forget(&r->code);
	code_work_forget(&r->makers);
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
	run_set_reason(r, reason);
	run_move(r, RUN_BREAKING_OFF);
}

void run_tell_to_stop(struct run *r)
{
	if (conversation_send_stop(r->conversation) == 0)
		run_move(r, RUN_STOPPING);
}

static void give_up_on_broker(struct run *r, const char *why)
{
	log_warn("window %s: the privileged half of jxperfd does not answer", r->result->id);
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
	case RUN_ATTACHING:
	case RUN_OPENING_GATE:
		give_up_on_broker(
		    r, "the privileged half of jxperfd does not answer: see the daemon's log");
		break;
	case RUN_CANCELLED:
		give_up_on_broker(r, r->reason);
		break;
	case RUN_GREETING:
		if (is_prolonged(r))
			break;
		run_hang_up(r, "the agent was loaded but did not say hello in time");
		break;
	case RUN_RUNNING:
		run_tell_to_stop(r);
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
			 r->result->id);
		conclude(r);
		break;
	case RUN_ENDED:
	case RUN_STATES:
		break;
	}
}
