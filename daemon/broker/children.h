/*
 * The broker's inspectors (daemon/inspector/inspector.h) and watchers (daemon/watcher/watcher.h):
 * started on request, ended when they are late or their process is released, reaped. The broker
 * itself learns nothing from them.
 */
#ifndef JXPERF_DAEMON_BROKER_CHILDREN_H
#define JXPERF_DAEMON_BROKER_CHILDREN_H

#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/inspector/inspector.h"

struct broker_polls;

struct startup;

/* The engine has half as many asked at a time (daemon/questions/inspections.h): one that has closed
 * its connection may not have ended yet. */
#define BROKER_INSPECTORS_MAX 8
/* As many as windows at a time (ENGINE_RUNNING_MAX), and some that take long to end. */
#define BROKER_WATCHERS_MAX 80
#define BROKER_CHILDREN_MAX (BROKER_INSPECTORS_MAX + BROKER_WATCHERS_MAX)

struct broker_child {
	pid_t pid; /* 0: this place is free */
	int pidfd;
	pid_t target;        /* of a watcher; 0: it is an inspector */
	uint64_t kill_at_ns; /* UINT64_MAX: not by itself, or it was killed */
};

/* All zero, but for the first member: none runs. The first BROKER_INSPECTORS_MAX places are the
 * inspectors'. */
struct broker_children {
	int program; /* jxperf-child, open; the caller's */
	struct broker_child all[BROKER_CHILDREN_MAX];
};

/* Starts an inspector for a question, with what it is to say of BPF. The socket on which the answer
 * will come, owned by the caller, or -errno; -EAGAIN when BROKER_INSPECTORS_MAX run. */
int broker_children_inspect(struct broker_children *c, const struct inspector_question *question,
			    const struct startup *startup, const struct check_reasons *reasons,
			    struct err *err);

/* Starts a watcher for process target, if it is owner's (watcher_main). The socket on which its
 * records will come, likewise. */
int broker_children_watch(struct broker_children *c, pid_t target, uid_t owner, struct err *err);

/* Kills the watchers of the target. */
void broker_children_stop(struct broker_children *c, pid_t target);

/* Adds what they wait for, and when one has to be killed. All of them are looked at then. */
void broker_children_poll(const struct broker_children *c, struct broker_polls *p);

/* Reaps those that have ended and kills those that are late. */
void broker_children_tend(struct broker_children *c);

/* Kills all of them; what does not end at once is left to init. */
void broker_children_end(struct broker_children *c);

#endif
