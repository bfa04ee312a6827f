/*
 * The privileged half of jxperfd: runs the attach helper, opens perf events for threads of
 * processes it attached to, and passes the descriptors on. Its whole vocabulary is
 * daemon/broker/proto.h.
 *
 * One thread, one poll loop. Several helpers run at a time, one for each pid. It trusts neither the
 * engine (every request is checked for size, operation, ranges and for belonging to an attached
 * process whose identity, pid and start time, is still the same) nor the helper (whose only output
 * is a struct attach_result and a descriptor); it reads nothing that a JVM wrote. What a target
 * could hold up (opening its events, asking for its pages, its program's file) is done by a worker
 * (daemon/broker/workers.h): the loop waits for nobody.
 */
#ifndef JXPERF_DAEMON_BROKER_BROKER_H
#define JXPERF_DAEMON_BROKER_BROKER_H

#include "daemon/child/sigtrap_probe.h"

/* The option that makes jxperfd a broker: jxperfd --broker-fd N --broker-environment NAMES
 * --bundle DIR. */
#define BROKER_OPTION_FD          "--broker-fd"
#define BROKER_OPTION_ENVIRONMENT "--broker-environment"
#define BROKER_OPTION_BUNDLE      "--bundle"

/* Serves requests on the connected SOCK_SEQPACKET socket_fd until its other end is closed.
 * bundle_dir holds jxperf-attach and the agent; environment: names of the variables ("A,B") that
 * inspectors may look at in a JVM's environment, which the engine cannot widen; trial is
 * sigtrap_trial but in tests. Called by main with nothing else running in the process; logs.
 * Returns the process's exit status. */
int broker_main(int socket_fd, const char *bundle_dir, const char *environment,
		sigtrap_trial_fn trial);

#endif
