/*
 * The broker's workers (daemon/broker/worker.h): one for each target, started with the first
 * question about it, ended when it is released. One that does not answer by its deadline is given
 * up: killed, its questions answered with an error, and left until the kernel lets go of it, which
 * may be never. Where more threads are ready to run than there are processors the deadline is put
 * off, a few times. Where workers of a target end by themselves, several in a row, the next ones
 * are put off, longer and longer.
 *
 * Nothing here waits. Broker only.
 */
#ifndef JXPERF_DAEMON_BROKER_WORKERS_H
#define JXPERF_DAEMON_BROKER_WORKERS_H

#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/broker/worker.h"

struct broker_polls;

/* For each target that can be attached to, and those that were given up. */
#define BROKER_WORKERS_MAX (256 + 64)

/* Given up and not yet gone, of one target; with so many there is no other attempt. */
#define BROKER_WORKERS_LOST_MAX 2

/* Questions about one target that wait. The engine has two at a time: events and pages. */
#define BROKER_WORKER_QUEUE_MAX 8

/* For one question, and for the start of a worker: a millisecond as a rule, and the search for a
 * thread among thousands of a container takes some tenths of a second. Agents wait 5 s for their
 * events. */
#define BROKER_WORKER_TIMEOUT_MS 3000

/* So many workers of a target that end by themselves may do so before the next one is put off, by
 * the first of these times, which is doubled up to the second. */
#define BROKER_WORKERS_BROKEN_MAX      2
#define BROKER_WORKERS_BACK_OFF_MS     100
#define BROKER_WORKERS_BACK_OFF_MAX_MS 10000

/* Such targets that are remembered; the one that has waited longest makes room. */
#define BROKER_WORKERS_BROKEN_TARGETS 16

/* Between two lines of the log that say so. */
#define BROKER_WORKERS_WARN_MS 10000

/* A target whose last workers ended by themselves. */
struct broker_broken {
	pid_t target; /* 0: this place is free */
	unsigned in_a_row;
	uint64_t wait_ms;       /* after the last one */
	uint64_t not_before_ns; /* the next one */
};

/* One process. Invariants: it has the first of its questions while there is one; socket is -1 once
 * it was given up or let go, and there is no question then. */
struct broker_worker {
	pid_t pid; /* 0: this place is free */
	int pidfd;
	int socket;
	pid_t target;       /* 0: let go, and not in a call */
	int polled;         /* its place among what is polled; -1: started since */
	uint64_t late_ns;   /* when the first question is */
	unsigned prolonged; /* how often it was given more time, on a busy machine */
	unsigned waiting;
	struct worker_question questions[BROKER_WORKER_QUEUE_MAX];
};

/* Called once for each question that was taken, never from inside broker_workers_ask. fds are
 * closed after it returns, but for those that it replaces by -1. It may ask and release. */
typedef void (*broker_answered_fn)(void *arg, const struct worker_question *question,
				   const struct worker_answer *answer, int *fds);

/* All zero, but for the first four members: no worker runs. */
struct broker_workers {
	broker_answered_fn answered;
	/* A worker of target was given up; its questions are answered after that. */
	void (*given_up)(void *arg, pid_t target);
	void *arg;
	int program;             /* jxperf-child, open; the caller's */
	uint64_t given_up_count; /* so far */
	struct broker_broken broken[BROKER_WORKERS_BROKEN_TARGETS];
	uint64_t warn_ns; /* when it may be said again that one ended by itself */
	struct broker_worker all[BROKER_WORKERS_MAX];
};

/* Asks about question->request.pid, in a worker that is started if there is none. 0 when it will be
 * answered, or -errno; -EAGAIN also while workers of the target are put off. */
int broker_workers_ask(struct broker_workers *w, const struct worker_question *question,
		       struct err *err);

/* There are no more questions about target: what waits is answered with ECANCELED. */
void broker_workers_release(struct broker_workers *w, pid_t target);

/* Adds what they wait for, and when one is late. */
void broker_workers_poll(struct broker_workers *w, struct broker_polls *p);

/* Takes answers, gives up what is late, reaps what has ended. p is as poll(2) left it, and nothing
 * was asked or released since. */
void broker_workers_tend(struct broker_workers *w, const struct broker_polls *p);

/* Lets all of them go; nothing is answered any more. What does not end is left to init. */
void broker_workers_end(struct broker_workers *w);

#endif
