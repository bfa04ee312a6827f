/*
 * The processes that the broker has attached to or is attaching to, and how it gets there: which
 * process it is, the attach helper, whether it is still that process.
 *
 * Nothing here waits, for a target or for a helper. Broker only.
 */
#ifndef JXPERF_DAEMON_BROKER_TARGETS_H
#define JXPERF_DAEMON_BROKER_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/proc.h"
#include "daemon/shares/shares.h"
#include "daemon/broker/first_touch.h"
#include "daemon/broker/gate.h"
#include "daemon/broker/proto.h"
#include "daemon/broker/workers.h"
#include "daemon/child/helper.h"
#include "daemon/child/sigtrap_probe.h"

struct broker_polls;

struct agent_files;

#define BROKER_TARGETS_MAX 256

/* What one user who is no administrator may have of these, and what is kept for administrators and
 * schedules. */
#define BROKER_TARGETS_OF_USER  32
#define BROKER_TARGETS_RESERVED 64

/* Attempts that hang for good, on a file system that does not answer, are their target's owner's:
 * with so many none of that user's processes is attached to. */
#define BROKER_STUCK_OF_USER 4

enum target_state {
	TARGET_FREE,
	TARGET_IDENTIFYING, /* its worker finds out which process it is */
	TARGET_ATTACHING,   /* the helper runs */
	TARGET_CONFIRMING,  /* its worker finds out whether it is the same still */
	TARGET_ATTACHED,
	TARGET_STUCK, /* the attach failed, and its helper cannot be killed yet */
};

/* Invariants: helper is in use exactly while ATTACHING or STUCK, connection from CONFIRMING until
 * it is handed on, pidfd while neither FREE nor STUCK. */
struct broker_target {
	enum target_state state;
	pid_t pid;
	int pidfd;
	struct proc_identity identity; /* once it is known */
	uint32_t request_id;
	int connection;
	char name[ATTACH_NAME_BYTES]; /* what the target is called, with the connection */
	uid_t asked_owner;            /* whose it has to be, or PROC_ANY_UID; has the place */
	uint64_t asked_start_ticks;   /* when it has to have started, or 0 */
	uint32_t timeout_ms;          /* for the helper; 0: the usual */
	bool force;                   /* whether or not there is room for the agent */
	bool trace_touch;             /* first touches are to be traced, */
	bool touch_traced;            /* and are */
	bool gated;                   /* has a gate in the kernel */
	bool counted;                 /* as one of its owner's that are STUCK */
	struct attach_helper helper;
	int polled; /* the helper's place among what is polled; -1: it has none */
};

/* fd is the agent's connection, the callee's, with what the target is called in words, which
 * process it is, and what a worker found of it: of that, cpu_limit and container are meant. Or
 * -errno with the reason in words, NULL for the process, and found is all zero. */
typedef void (*broker_attached_fn)(void *arg, uint32_t request_id, int fd,
				   const struct proc_identity *who,
				   const struct broker_reply *found, const struct err *words);

/* Made by broker_targets_init. */
struct broker_targets {
	const struct agent_files *agent;
	struct broker_workers *workers;
	sigtrap_trial_fn sigtrap_trial;
	broker_attached_fn attached;
	void *arg;
	struct broker_gate *gate;     /* NULL: there is none */
	struct broker_touch *touch;   /* NULL: first touches are not traced */
	enum sigtrap_verdict sigtrap; /* UNTRIED before the first attach */
	struct shares places;         /* of all, by who asked */
	struct shares stuck;          /* of these, by whose process it is */
	struct broker_target all[BROKER_TARGETS_MAX];
};

/* There is no target yet. The other members are the caller's to set, up to arg. */
void broker_targets_init(struct broker_targets *t);

/* Frees what the accounts of users take; the targets are the caller's to end. */
void broker_targets_free(struct broker_targets *t);

/* Begins to attach. 0 when attached will be called, once and not from in here; or -errno. */
int broker_targets_attach(struct broker_targets *t, const struct broker_request *request,
			  struct err *err);

/* For a worker's answer to a question that is an ATTACH. */
void broker_targets_answered(struct broker_targets *t, const struct worker_question *question,
			     const struct worker_answer *answer);

/* The target that is attached to and has not ended; or NULL, with the reason in err. Whether it
 * still runs the same program as the same user is for its worker to find out. */
struct broker_target *broker_targets_attached(struct broker_targets *t, pid_t pid, struct err *err);

/* The same, ended or not. */
struct broker_target *broker_targets_find_attached(struct broker_targets *t, pid_t pid,
						   struct err *err);

/* Ends what is being done with pid, whatever it is. */
void broker_targets_release(struct broker_targets *t, pid_t pid);

/* Adds what running helpers wait for, and when one is late. */
void broker_targets_poll(struct broker_targets *t, struct broker_polls *p);

/* Goes on with these as poll(2) left them. */
void broker_targets_tend(struct broker_targets *t, const struct broker_polls *p);

/* Cancels every attach: helpers then remove what they put into other file systems, and end. */
void broker_targets_cancel(struct broker_targets *t);

#endif
