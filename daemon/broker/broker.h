/*
 * The privileged half of jxperfd: runs the attach helper, opens perf events for threads of
 * processes it attached to, and passes the descriptors on. Its whole vocabulary is
 * daemon/broker/proto.h.
 *
 * One thread, one poll loop. Several helpers run at a time, one for each pid. It trusts neither the
 * engine (every request is checked for size, operation, ranges and for belonging to an attached
 * process whose identity, pid and start time, is still the same) nor the helper (whose only output
 * is a struct attach_result and a descriptor); it reads nothing that a JVM wrote. What a target
 * could hold up (opening its events, asking for its pages, its program's file, the limits of its
 * cgroups) is done by a worker (daemon/broker/workers.h), and replies that the engine does not take
 * wait until it is cut off (daemon/broker/outbox.h): the loop waits for nobody.
 */
#ifndef JXPERF_DAEMON_BROKER_BROKER_H
#define JXPERF_DAEMON_BROKER_BROKER_H

#include "daemon/child/sigtrap_probe.h"
#include "daemon/inspector/startup.h"

/* The option that makes jxperfd a broker: jxperfd --broker-fd N, and what it is started with. */
#define BROKER_OPTION_FD "--broker-fd"

/* Where it has jxperf-child open: jxperfd --children-fd N. */
#define BROKER_OPTION_CHILDREN_FD "--children-fd"

/* Serves requests on the connected SOCK_SEQPACKET socket_fd until its other end is closed.
 * The engine cannot widen what it was started with; trial is sigtrap_trial but in tests. Called by
 * main with nothing else running in the process; logs. Returns the process's exit status. */
int broker_main(int socket_fd, const struct startup *startup, sigtrap_trial_fn trial);

#endif
