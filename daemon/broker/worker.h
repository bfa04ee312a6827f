/*
 * The process that makes the calls into one target.
 *
 * perf_event_open(2) waits for locks of its target, move_pages(2) too, and /proc may ask the file
 * system of its program: a target that runs into a file system that does not answer (FUSE, NFS)
 * holds these for as long as it likes. So the broker makes no such call itself. It runs
 * jxperf-child for each target, for as long as it is attached to, and gives it up
 * when it does not answer (daemon/broker/workers.h).
 *
 * What its target's container is called it reads once, for the attach that it was started for,
 * before it gives up the rights that this takes and it needs for nothing else.
 *
 * A worker trusts the broker, which has checked the fields of each question.
 */
#ifndef JXPERF_DAEMON_BROKER_WORKER_H
#define JXPERF_DAEMON_BROKER_WORKER_H

#include <stdint.h>

#include "common/proc.h"
#include "daemon/broker/proto.h"

/* The option that makes jxperf-child a worker: jxperf-child --worker-fd N. */
#define WORKER_OPTION_FD "--worker-fd"

/* One message each on a SOCK_SEQPACKET pair, answered in order. */
struct worker_question {
	/* ATTACH: which process it is, what its cgroups let it have, and in which container it is.
	 * PERF_OPEN, PAGES: also what they say. */
	struct broker_request request;
	/* Which process it has to be, before the call and after; with known 0, whichever it is, and
	 * the answer says which. */
	struct proc_identity identity;
	uint32_t known;
};

struct worker_answer {
	struct broker_reply reply; /* fds of them come with it */
	struct proc_identity identity;
};

/* Answers questions on fd until its other end is closed. Called by main with nothing else running.
 * The process's exit status. */
int worker_main(int fd);

#endif
