/*
 * The engine's side of the broker: has one, sends requests, calls back with replies and events.
 *
 * Loop thread only. Callbacks run from the loop, never from inside a call made here; each request's
 * callback runs exactly once, unless it was forgotten. When the broker goes, every pending callback
 * first gets a reply with error EPIPE, then died runs.
 *
 * A broker of our own goes once and for all: later requests fail with -EPIPE. One that listens
 * (daemon/door/door.h) is connected to again, with back-off; requests wait until it has said
 * hello, and while there is none they get EPIPE and the reason. died runs each time that it goes,
 * or is not there to begin with, and again when there is another reason why it is away; came when
 * it is there (again).
 *
 * At most BROKER_PENDING_MAX requests wait at a time; further ones fail with -EAGAIN.
 */
#ifndef JXPERF_DAEMON_BROKER_CLIENT_H
#define JXPERF_DAEMON_BROKER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/broker/pending.h"
#include "daemon/broker/proto.h"
#include "proto/jxperf.pb-c.h"

struct startup;

struct broker_client;

struct broker_client_callbacks {
	void *arg;
	void (*died)(void *arg, const char *reason); /* how the broker ended */
	/* NULL: with a broker of our own, whose hello is there before the client. */
	void (*came)(void *arg, const struct broker_reply *hello);
	/* What the broker says unasked; its kind is one of enum broker_event_kind. */
	void (*event)(void *arg, const struct broker_event *event);
};

/* Execs daemon_path (usually /proc/self/exe) as broker. Call before anything that the broker must
 * not inherit exists; descriptors without close-on-exec would be. Waits until the broker says that
 * it serves, with no more privileges than it is to have. On success *out is to be freed with
 * broker_client_free. 0, or -errno with the reason. */
int broker_client_new(struct broker_client **out, uv_loop_t *loop, const char *daemon_path,
		      const struct startup *startup,
		      const struct broker_client_callbacks *callbacks, struct err *err);

/* Connects to the broker that listens at path, which is copied; begins with the loop. 0 or -errno,
 * with the reason; that there is none is no error. */
int broker_client_connect(struct broker_client **out, uv_loop_t *loop, const char *path,
			  const struct broker_client_callbacks *callbacks, struct err *err);

/* Closes the socket, whereupon the broker ends, and frees the client once the loop has closed its
 * handles (the loop must run on for that). Pending requests are forgotten, died is not called. */
void broker_client_free(struct broker_client *client);

/* Is there one? Not so already when a request's callback gets EPIPE because it has gone. */
bool broker_client_serves(const struct broker_client *client);

/* The process id of a broker of our own, for tests, which end it. */
pid_t broker_client_pid(const struct broker_client *client);

/* What is to be attached to, and how. */
struct broker_attach {
	pid_t pid;
	uint64_t start_ticks; /* it has to have started then; 0: whenever */
	uid_t owner;         /* whose it has to be, else it is not there; PROC_ANY_UID: anybody's */
	uint32_t flags;      /* BROKER_ATTACH_* */
	uint32_t timeout_ms; /* 0: the usual (proto/helper.h) */
};

/* Runs the attach helper on a process. On success the reply says whose it is and carries one
 * descriptor: the agent's connected, blocking SOCK_STREAM socket. From then on until
 * broker_client_release, events may be opened for pid. Each call returns the request's id (above 0)
 * or -errno, in which case fn will not be called. */
int broker_client_attach(struct broker_client *client, const struct broker_attach *attach,
			 broker_reply_fn fn, void *arg);

/* Opens what an agent asked for, for one thread of an attached process: the clock event, one
 * hardware event (one descriptor) or 1 to 4 breakpoints (as many): all or nothing. */
int broker_client_perf_open(struct broker_client *client, pid_t pid,
			    const Jxp__PerfOpenRequest *asked, broker_reply_fn fn, void *arg);

/* Asks for a look at a process, at all of them or at the machine (daemon/inspector/inspector.h), as
 * if there were no processes but those of owner (PROC_ANY_UID: all). On success the reply carries
 * the socket on which the answer will come. */
int broker_client_inspect(struct broker_client *client, int pid, uid_t owner, broker_reply_fn fn,
			  void *arg);

/* A list as if there were only these processes, 1 to BROKER_PIDS_MAX. */
int broker_client_inspect_some(struct broker_client *client, const pid_t *pids, size_t count,
			       broker_reply_fn fn, void *arg);

/* Has the broker say from now on which processes start, or no more. The reply's error says why that
 * cannot be. */
int broker_client_discover(struct broker_client *client, bool on, broker_reply_fn fn, void *arg);

/* Has it say when these processes end, 1 to BROKER_PIDS_MAX, where it says which start. 0 or
 * -errno. */
int broker_client_follow(struct broker_client *client, const pid_t *pids, size_t count);

/* Has pid watched from outside until it is released. On success the reply carries the socket on
 * which the records will come (daemon/watcher/watcher.h). */
int broker_client_watch(struct broker_client *client, pid_t pid, uid_t owner, broker_reply_fn fn,
			void *arg);

/* Sets the limits of pid's gate in the kernel, or removes it (limits NULL). The reply carries its
 * counts and, when the gate is new, one descriptor: the program, for events that the agent opens.
 * Its error says why there is no gate: then the agent has to apply the limits. */
int broker_client_gate(struct broker_client *client, pid_t pid, const struct gate_limits *limits,
		       broker_reply_fn fn, void *arg);

/* Asks on which NUMA nodes count pages of an attached process are, 1 to BROKER_PAGES_MAX. */
int broker_client_pages(struct broker_client *client, pid_t pid, const uint64_t *pages,
			size_t count, broker_reply_fn fn, void *arg);

/* The callback of request id will not run; descriptors that come for it are closed. An id that is
 * not pending is ignored. */
void broker_client_forget(struct broker_client *client, int id);

/* Forgets pid: no more events for it, and an attach of it that is still running is ended (its
 * callback gets ECANCELED). Safe for a pid that was never attached. 0 or -errno. */
int broker_client_release(struct broker_client *client, pid_t pid);

#endif
