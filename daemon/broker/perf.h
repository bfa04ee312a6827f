/*
 * Opens perf events for one thread of a process the broker attached to. Broker only.
 */
#ifndef JXPERF_DAEMON_BROKER_PERF_H
#define JXPERF_DAEMON_BROKER_PERF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/broker/proto.h"

/* Shortest clock period the broker opens: below it, a thread would do little but take signals. */
#define BROKER_CLOCK_PERIOD_MIN_NS UINT64_C(10000)

/* The same for a hardware event, in operations: at some 10^9 a second, 10 microseconds. */
#define BROKER_EVENT_PERIOD_MIN UINT64_C(10000)

/* Checks the PERF_OPEN fields of a request. 0 or -EINVAL. */
int broker_perf_check(const struct broker_request *request, struct err *err);

/* Opens what a checked request asks for, in the thread of request->pid that has its namespace_tid;
 * fds has room for PERF_DEBUG_REGISTERS. All or nothing: returns how many descriptors the caller
 * owns now, or -errno. */
int broker_perf_open(const struct broker_request *request, int *fds, struct err *err);

#endif
