#include "daemon/broker/perf.h"

#include "common/fd.h"
#include "common/perf/events.h"
#include "common/proc.h"
#include "machine/pmu.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>

static int check_hardware_event(const struct broker_request *request, struct err *err)
{
	const struct pmu_selection *selection = pmu_selection();

	if (request->hardware_event > selection->event_count)
		return err_set(err, EINVAL, "there is no hardware event %u here: %s",
			       request->hardware_event, selection->reason);
	if (request->event_period < BROKER_EVENT_PERIOD_MIN || request->event_period > INT64_MAX)
		return err_set(err, EINVAL, "a period of %llu operations is out of range",
			       (unsigned long long)request->event_period);
	return 0;
}

int broker_perf_check(const struct broker_request *request, struct err *err)
{
	if (request->namespace_tid <= 0)
		return err_set(err, EINVAL, "'%d' is not a thread id", request->namespace_tid);
	if (!!request->clock_period_ns + !!request->breakpoints + !!request->hardware_event > 1 ||
	    (request->event_period && !request->hardware_event))
		return err_set(err, EINVAL,
			       "clock event, hardware event and breakpoints are opened separately");
	if (request->hardware_event)
		return check_hardware_event(request, err);
	if (request->clock_period_ns == 0 &&
	    (request->breakpoints == 0 || request->breakpoints > PERF_DEBUG_REGISTERS))
		return err_set(err, EINVAL, "'%u' breakpoints: a thread has 1 to %d",
			       request->breakpoints, PERF_DEBUG_REGISTERS);
	if (request->clock_period_ns != 0 &&
	    (request->clock_period_ns < BROKER_CLOCK_PERIOD_MIN_NS ||
	     request->clock_period_ns > INT64_MAX))
		return err_set(err, EINVAL, "a clock period of %llu ns is out of range",
			       (unsigned long long)request->clock_period_ns);
	return 0;
}

static int open_failed(pid_t pid, pid_t namespace_tid, int error, struct err *err)
{
	static const struct {
		int error;
		const char *advice;
	} table[] = {
	    {ENOSPC, "its debug registers are in use, by a debugger or another profiler"},
	    {EACCES, "the kernel forbids it; run jxperfd as root or with CAP_PERFMON and CAP_KILL"},
	    {EPERM, "the kernel forbids it; run jxperfd as root or with CAP_PERFMON and CAP_KILL"},
	    {ESRCH, "the thread has ended"},
	    {EMFILE, "too many descriptors are open; raise the limit (LimitNOFILE=)"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].error == error)
			return err_set(err, error,
				       "cannot open perf events for thread %d of process %d: %s",
				       namespace_tid, pid, table[i].advice);
	return err_set_errno(err, error, "cannot open perf events for thread %d of process %d",
			     namespace_tid, pid);
}

/* Breakpoints are created disabled and at address 0; the receiver moves them. */
static void event_attr(struct perf_event_attr *attr, const struct broker_request *request,
		       uint32_t i)
{
	if (request->hardware_event)
		perf_attr_hardware(attr, &pmu_selection()->events[request->hardware_event - 1],
				   request->event_period, request->sig_data);
	else if (request->clock_period_ns)
		perf_attr_clock(attr, request->clock_period_ns, request->sig_data);
	else
		perf_attr_breakpoint(attr, HW_BREAKPOINT_W, 0, 1, request->sig_data + i);
}

/* An event that samples the kernel, too, tells its addresses: to root only. */
static int check_kernel_samples(const struct broker_request *request, struct err *err)
{
	struct proc_status status;

	if (!request->hardware_event ||
	    pmu_selection()->events[request->hardware_event - 1].user_only)
		return 0;
	if (proc_read_status(request->pid, 0, &status) == 0 && status.effective_uid == 0)
		return 0;
	return err_set(err, EACCES,
		       "the sampler would tell process %d addresses of the kernel: use "
		       "--sampler clock, or Linux 6.14",
		       request->pid);
}

int broker_perf_open(const struct broker_request *request, int *fds, struct err *err)
{
	uint32_t count = request->breakpoints ? request->breakpoints : 1;
	pid_t tid = proc_find_thread(request->pid, request->namespace_tid);
	int opened[PERF_DEBUG_REGISTERS];
	struct perf_event_attr attr;
	struct proc_status status;
	int r = check_kernel_samples(request, err);

	if (r < 0)
		return r;
	if (tid < 0)
		return open_failed(request->pid, request->namespace_tid, ESRCH, err);
	for (uint32_t i = 0; i < count; i++) {
		event_attr(&attr, request, i);
		opened[i] = perf_open(&attr, tid);
		if (opened[i] < 0) {
			int error = -opened[i];

			fd_close_all(opened, i);
			return open_failed(request->pid, request->namespace_tid, error, err);
		}
	}
	/* The tid may have passed to another process between lookup and opening; what is open now
	 * stays with the thread it was opened for. */
	if (proc_read_status(request->pid, tid, &status) < 0 ||
	    status.namespace_tid != request->namespace_tid) {
		fd_close_all(opened, count);
		return open_failed(request->pid, request->namespace_tid, ESRCH, err);
	}
	for (uint32_t i = 0; i < count; i++)
		fds[i] = opened[i];
	return (int)count;
}
