/*
 * Which processes may have become JVMs, and which of those that are followed have ended, by BPF
 * (bpf/processes.bpf.c).
 *
 * That a process runs another program does not say what becomes of it: a launcher may have any
 * name, and load libjvm when it likes. So a process that is still there is looked at a few times
 * after it has started, at growing distances, and told of when it has as many threads as the
 * smallest JVM: which is one read of /proc, that waits for nobody. One that is over before the
 * first look costs nothing here. What becomes a JVM later than that is found by a round of all
 * processes.
 *
 * The programs are loaded once and sit on their tracepoints only while somebody wants to know.
 * Loading takes CAP_BPF and CAP_PERFMON, the rest what daemon/broker/first_touch.h says.
 *
 * Broker only, and tests. One thread.
 */
#ifndef JXPERF_DAEMON_BROKER_DISCOVERY_H
#define JXPERF_DAEMON_BROKER_DISCOVERY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* Between two turns in which it is seen who is still there. */
#define DISCOVERY_TURN_MS 500

/* Processes that are looked at in one turn; the others wait for the next, which goes on where this
 * one ended. More than enough for the five looks each at the starts that bpf/processes.h has room
 * for: 5 * 130 a second. A look takes some 10 us. */
#define DISCOVERY_LOOKS_MAX 512

/* A JVM has at least its first thread, that which runs main, the VM's own and a collector's. */
#define DISCOVERY_THREADS_MIN 4

struct broker_polls;
struct broker_discovery;

/* All are called from broker_discovery_tend and broker_discovery_follow. */
struct broker_discovery_sink {
	void *arg;
	/* pid may have become a JVM. look: from 0, how often it was looked at before. */
	void (*started)(void *arg, pid_t pid, unsigned look);
	void (*ended)(void *arg, pid_t pid);
	/* So many more starts or ends were not seen: there was no room for them. */
	void (*missed)(void *arg, uint64_t count);
};

/* Loads the programs. sink is copied. 0 with *out to be freed, or -errno. */
int broker_discovery_open(struct broker_discovery **out, const struct broker_discovery_sink *sink,
			  struct err *err);

/* Tries on a child of this process whether its end is seen: with the privileges and
 * the process ids that there will be. 0, or -errno with the reason. Tells nobody. */
int broker_discovery_trial(struct broker_discovery *d, struct err *err);

/* free(NULL) is safe. */
void broker_discovery_free(struct broker_discovery *d);

/* From now on, or no more. What was known is forgotten either way. 0 or -errno. */
int broker_discovery_set(struct broker_discovery *d, bool on, struct err *err);

/* Has the end of a process told; at once, if it has ended already. Without effect while it is off,
 * and for a process that is followed already. */
void broker_discovery_follow(struct broker_discovery *d, pid_t pid);

/* Adds what it waits for, and when its next turn is. */
void broker_discovery_poll(const struct broker_discovery *d, struct broker_polls *p);

/* Tells what there is to tell. */
void broker_discovery_tend(struct broker_discovery *d);

#endif
