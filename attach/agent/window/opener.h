/*
 * Opens the perf events of a thread: by ourselves where the kernel lets us, through the daemon
 * (PerfOpenRequest, descriptors by SCM_RIGHTS) where it does not (perf_event_paranoid, seccomp).
 *
 * An event whose signals went to another process would kill it. So an event is enabled only after
 * the thread was seen to be one of this process while the event exists: a tid that was recycled by
 * another process in between is caught.
 *
 * Session thread only.
 */
#ifndef JXPERF_AGENT_WINDOW_OPENER_H
#define JXPERF_AGENT_WINDOW_OPENER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/agent/stream/link.h"
#include "attach/agent/window/orders.h"
#include "common/perf/events.h"

struct opener {
	struct link *link;
	const struct perf_hardware_event *events; /* of the hardware samplers */
	struct orders *orders;                    /* that come while a reply is waited for */
	bool through_daemon; /* under seccomp from the start, else once the kernel refuses us */
};

/* Opens the clock event of a thread, disabled. Returns a descriptor, or -errno: -EMFILE when this
 * process may not have it (RLIMIT_NOFILE, or a security module refused what the daemon passed on),
 * -EPIPE or -EPROTO when the session is over. */
int opener_clock(struct opener *o, pid_t tid, uint64_t period_ns, uint64_t sig_data);

/* The same for events[event], with a period in operations. */
int opener_hardware(struct opener *o, pid_t tid, unsigned event, uint64_t period,
		    uint64_t sig_data);

/* Opens count breakpoints, disabled, whose sig_data are sig_data, sig_data + 1, ... All or none: 0
 * or -errno. */
int opener_breakpoints(struct opener *o, pid_t tid, unsigned count, uint64_t sig_data, int *fds);

/* Does what one of these gave mean that the session cannot go on? Anything else is about the
 * thread.
 */
static inline bool opener_session_is_over(int error)
{
	return error == -EPIPE || error == -EPROTO || error == -ETIMEDOUT;
}

#endif
