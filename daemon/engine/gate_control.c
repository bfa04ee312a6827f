#include "daemon/engine/gate_control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/perf/gate_limits.h"

#define FOLLOW_INTERVAL_NS (500 * NS_PER_MS)

/* The engine's counter of each outcome; 0 (never a gate's) where there is none. */
static const Jxp__Counter counter_of[GATE_UNKNOWN] = {
    [GATE_PASSED] = JXP__COUNTER__COUNTER_GATE_PASSED,
    [GATE_WINDOW_OVER] = JXP__COUNTER__COUNTER_GATE_WINDOW_OVER,
    [GATE_BUDGET_SPENT] = JXP__COUNTER__COUNTER_GATE_BUDGET_SPENT,
    [GATE_CONTENDED] = JXP__COUNTER__COUNTER_GATE_CONTENDED,
};

/* The period in force. An agent that claims one shorter than was asked for is not believed. */
static uint64_t period(const struct window_result *w)
{
	return w->effective_period > w->findings.period ? w->effective_period : w->findings.period;
}

static struct gate_limits wanted_limits(const struct gate_control *g, uint64_t end_ns)
{
	struct gate_limits limits;

	gate_limits_for(&limits, end_ns, period(g->result), g->result->findings.event_count > 0,
			gate_cpus(g->result->findings.cpu_limit));
	return limits;
}

/* Adds what is new of the kernel's counts to those of the agent. */
static void take_counts(struct gate_control *g, const struct gate_counts *counts)
{
	for (int o = 0; o < GATE_UNKNOWN; o++) {
		if (counts->samples[o] < g->counted[o])
			continue; /* It was counted before. */
		g->result->counters[counter_of[o]] += counts->samples[o] - g->counted[o];
		g->counted[o] = counts->samples[o];
	}
	g->strangers = counts->samples[GATE_UNKNOWN];
}

static void on_opened(void *arg, const struct broker_reply *reply, int *fds)
{
	struct gate_control *g = arg;
	int none = -1;

	g->request = 0;
	g->result->findings.kernel_gate = !reply->error && reply->fds == 1;
	g->stage = g->result->findings.kernel_gate ? GATE_IS_OPEN : GATE_IS_ABSENT;
	(void)snprintf(g->result->findings.gate_reason, sizeof(g->result->findings.gate_reason),
		       "%s", reply->message); /* Same size. */
	g->opened(g->arg, g->result->findings.kernel_gate ? &fds[0] : &none);
}

/* limits NULL: the gate is removed. */
static int ask(struct gate_control *g, const struct gate_limits *limits, broker_reply_fn fn)
{
	struct broker_request request = {.operation = BROKER_GATE, .pid = g->result->pid};

	if (limits)
		request.gate = *limits;
	return broker_client_ask(g->broker, &request, fn, g);
}

int gate_control_open(struct gate_control *g, struct broker_client *broker,
		      struct window_result *result, uint64_t end_ns,
		      void (*opened)(void *arg, int *program), void *arg)
{
	int r;

	*g =
	    (struct gate_control){.broker = broker, .result = result, .opened = opened, .arg = arg};
	g->limits = wanted_limits(g, end_ns);
	r = ask(g, &g->limits, on_opened);
	if (r < 0) {
		(void)snprintf(result->findings.gate_reason, sizeof(result->findings.gate_reason),
			       "the broker could not be asked for it: %s", strerror(-r));
		return r;
	}
	g->request = r;
	g->stage = GATE_IS_OPENING;
	return 0;
}

static void on_followed(void *arg, const struct broker_reply *reply, int *fds)
{
	struct gate_control *g = arg;

	(void)fds;
	g->request = 0;
	if (reply->error == 0)
		take_counts(g, &reply->gate);
}

static void set(struct gate_control *g, const struct gate_limits *limits)
{
	int r = ask(g, limits, on_followed);

	if (r < 0)
		return; /* The broker is busy or gone: the limits in force stay, with their end. */
	g->request = r;
	g->limits = *limits;
}

void gate_control_follow(struct gate_control *g, uint64_t window_end_ns)
{
	struct gate_limits limits;

	if (g->stage != GATE_IS_OPEN || g->request)
		return;
	if (clock_monotonic_ns() < g->next_ns)
		return;
	g->next_ns = clock_monotonic_ns() + FOLLOW_INTERVAL_NS;
	limits = wanted_limits(g, window_end_ns);
	set(g, &limits);
}

void gate_control_shut(struct gate_control *g)
{
	struct gate_limits limits = g->limits;

	if (g->stage != GATE_IS_OPEN)
		return;
	g->stage = GATE_IS_SHUT;
	gate_control_release(g); /* Counts that are on their way come again with the next. */
	limits.window_end_ns = clock_monotonic_ns();
	set(g, &limits);
}

static void on_closed(void *arg, const struct broker_reply *reply, int *fds)
{
	struct gate_control *g = arg;

	on_followed(arg, reply, fds);
	g->stage = GATE_IS_CLOSED;
	g->closed(g->arg);
}

int gate_control_close(struct gate_control *g, void (*closed)(void *arg), void *arg)
{
	int r;

	if (g->stage != GATE_IS_OPEN && g->stage != GATE_IS_SHUT)
		return -ENOENT;
	gate_control_release(g);
	g->stage = GATE_IS_CLOSED;
	g->closed = closed;
	g->arg = arg;
	r = ask(g, NULL, on_closed);
	if (r < 0)
		return r;
	g->request = r;
	g->stage = GATE_IS_CLOSING;
	return 0;
}

void gate_control_release(struct gate_control *g)
{
	if (g->request)
		broker_client_forget(g->broker, g->request);
	g->request = 0;
}
