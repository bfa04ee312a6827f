/*
 * For tests of the broker: a test program whose main is broker_fixture_tests can be exec'd as the
 * broker itself and, through a link in a bundle directory, as the attach helper. What the stand-in
 * helper does is the name of the bundle directory:
 *   ok       sends a connected socket on which "agent" can be read
 *   refuse   reports EPERM and "not today"
 *   crash    is killed by a signal
 *   murder   kills the broker
 *   silent   exits with status 7 and no result
 *   garbage  sends five bytes
 *   no-fd    reports success without a descriptor
 *   wait     waits for SIGTERM, then reports EINTR
 *   stuck    refuses, but cannot be reaped for BROKER_FIXTURE_STUCK_S, killed or not
 *   fuse     refuses, and cannot end while the file system of the page that the directory's "page"
 *            is a link to does not answer
 * Of a broker that must not run it:
 *   old-kernel  believes that watchpoints kill their process (daemon/child/sigtrap_probe.h)
 * And in place of a broker:
 *   event          says that a worker of process 42 was given up, and that 7 events were lost
 *   strange-event  sends an event of a kind that there is not
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_BROKER_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_BROKER_FIXTURE_H

#include "proto/helper.h"
#include <limits.h>
#include <sys/types.h>

#define BROKER_FIXTURE_STUCK_S 3

/*
 * Runs another role than the test's and exits, when argv asks for one; else runs the tests of the
 * program and removes all bundle directories. Returns how many tests failed.
 */
int broker_fixture_tests(int argc, char **argv);

/* The path of a bundle directory whose helper behaves as said. */
const char *broker_fixture_bundle(const char *behaviour);
struct agent_files broker_fixture_agent(const char *behaviour);

/* This program, to be what a broker's children are: the caller's descriptor. */
int broker_fixture_children(void);

/* Removes all bundle directories. */
void broker_fixture_remove(void);

/* A child of ours that only waits, to be attached to. */
pid_t broker_fixture_start_target(void);
void broker_fixture_end_target(pid_t pid);

#endif
