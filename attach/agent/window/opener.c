#include "attach/agent/window/opener.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>

#include "common/clock.h"

/* The daemon answers in microseconds; one that does not within this time is gone or stuck. */
#define REPLY_TIMEOUT_NS (5 * NS_PER_S)

/* A breakpoint needs some valid address until it is armed for the first time. */
static uint64_t parking_place;

static bool is_refusal(int error)
{
	return error == -EACCES || error == -EPERM || error == -ENOSYS;
}

static bool thread_is_ours(pid_t tid)
{
	uint64_t cpu_ns;

	return clock_thread_ns(tid, &cpu_ns);
}

/* Waits for PerfOpened. Returns its error, an errno value, 0 when descriptors came with it, or
 * -errno. */
static int await_reply(struct opener *o)
{
	uint64_t deadline = clock_monotonic_ns() + REPLY_TIMEOUT_NS;

	while (clock_monotonic_ns() < deadline) {
		Jxp__EngineFrame *frame;
		int r = link_receive(o->link, 100, &frame);
		bool is_reply;

		if (r < 0)
			return r;
		if (r == 0)
			continue;
		is_reply = frame->body_case == JXP__ENGINE_FRAME__BODY_PERF_OPENED;
		if (is_reply)
			r = frame->perf_opened->error;
		else
			orders_note(o->orders, frame);
		jxp__engine_frame__free_unpacked(frame, NULL);
		if (is_reply)
			return r;
	}
	return -ETIMEDOUT;
}

static int open_through_daemon(struct opener *o, Jxp__PerfOpenRequest *request, int *fds,
			       size_t count)
{
	Jxp__AgentFrame out = JXP__AGENT_FRAME__INIT;
	size_t got;
	int r;

	out.body_case = JXP__AGENT_FRAME__BODY_PERF_OPEN;
	out.perf_open = request;
	r = link_send(o->link, &out);
	if (r == 0)
		r = await_reply(o);
	if (r < 0)
		return -EPIPE; /* Whatever it was, the stream is out of step: the session is over.
				*/
	r = -r;
	got = link_take_fds(o->link, fds, count);
	if (r == 0 && got != count)
		r = got == 0 ? -EMFILE : -EPROTO; /* None: the kernel did not let us have them. */
	if (r < 0)
		fd_close_all(fds, got);
	return r;
}

/* What one request opens: the field names and meanings of PerfOpenRequest. */
static void attr_of(const struct opener *o, struct perf_event_attr *attr,
		    const Jxp__PerfOpenRequest *request, size_t i)
{
	uint64_t sig_data = request->sig_data + i;

	if (request->hardware_event)
		perf_attr_hardware(attr, &o->events[request->hardware_event - 1],
				   request->event_period, sig_data);
	else if (request->clock_period_ns)
		perf_attr_clock(attr, request->clock_period_ns, sig_data);
	else
		perf_attr_breakpoint(attr, HW_BREAKPOINT_RW, (uintptr_t)&parking_place,
				     sizeof(parking_place), sig_data);
}

static int open_directly(const struct opener *o, const Jxp__PerfOpenRequest *request, int *fds,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr;

		attr_of(o, &attr, request, i);
		fds[i] = perf_open(&attr, (pid_t)request->tid);
		if (fds[i] < 0) {
			int r = fds[i];

			fd_close_all(fds, i);
			return r;
		}
	}
	return 0;
}

static int open_events(struct opener *o, Jxp__PerfOpenRequest *request, int *fds)
{
	size_t count = request->breakpoints ? request->breakpoints : 1;
	int r = -EPERM;

	if (!o->through_daemon) {
		r = open_directly(o, request, fds, count);
		o->through_daemon = is_refusal(r);
	}
	if (o->through_daemon)
		r = open_through_daemon(o, request, fds, count);
	if (r == 0 && !thread_is_ours((pid_t)request->tid)) {
		fd_close_all(fds, count);
		r = -ESRCH;
	}
	return r;
}

int opener_clock(struct opener *o, pid_t tid, uint64_t period_ns, uint64_t sig_data)
{
	Jxp__PerfOpenRequest request = JXP__PERF_OPEN_REQUEST__INIT;
	int fd = -1, r;

	request.tid = (uint32_t)tid;
	request.clock_period_ns = period_ns;
	request.sig_data = sig_data;
	r = open_events(o, &request, &fd);
	return r < 0 ? r : fd;
}

int opener_hardware(struct opener *o, pid_t tid, unsigned event, uint64_t period, uint64_t sig_data)
{
	Jxp__PerfOpenRequest request = JXP__PERF_OPEN_REQUEST__INIT;
	int fd = -1, r;

	request.tid = (uint32_t)tid;
	request.hardware_event = event + 1;
	request.event_period = period;
	request.sig_data = sig_data;
	r = open_events(o, &request, &fd);
	return r < 0 ? r : fd;
}

int opener_breakpoints(struct opener *o, pid_t tid, unsigned count, uint64_t sig_data, int *fds)
{
	Jxp__PerfOpenRequest request = JXP__PERF_OPEN_REQUEST__INIT;

	request.tid = (uint32_t)tid;
	request.breakpoints = count;
	request.sig_data = sig_data;
	return open_events(o, &request, fds);
}
