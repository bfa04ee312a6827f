/*
 * Engine and broker: fixed-size requests, replies and events over one SOCK_SEQPACKET connection,
 * a message each.
 *
 * The broker is the only privileged half. This is its whole vocabulary; anything of another size,
 * an unknown operation, or a thread that does not belong to a process it attached to is refused.
 * Requests carry an id that the reply repeats; replies may come in another order. Events are what
 * the broker says unasked; they come between replies, and never before the first.
 */
#ifndef JXPERF_DAEMON_BROKER_PROTO_H
#define JXPERF_DAEMON_BROKER_PROTO_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/gate.h"
#include "common/err.h"
#include "common/perf/switch_costs.h"

enum broker_operation {
	/* Run the attach helper on pid; the reply carries the agent's socket. */
	BROKER_ATTACH = 1,
	/* Open events for one thread; the reply carries them. */
	BROKER_PERF_OPEN = 2,
	/* Forget pid: no more events for it. There is no reply. */
	BROKER_RELEASE = 3,
	/* Look at processes (daemon/inspector/inspector.h); the reply carries the socket on which
	 * the answer will come. */
	BROKER_INSPECT = 4,
	/* On which NUMA nodes pages of an attached process are. */
	BROKER_PAGES = 5,
	/* Open pid's sampling gate in the kernel or change its limits; the reply carries its counts
	 * and, the first time, the program for events that the agent opens itself. Limits of 0:
	 * remove it; the counts are final. */
	BROKER_GATE = 6,
	/* Never asked for: the broker's first reply, with id 0, says whether it serves. */
	BROKER_HELLO = 7,
	/* Watch pid from outside (daemon/watcher/watcher.h) until it is released; the reply carries
	 * the socket on which the records will come. */
	BROKER_WATCH = 8,
	/* Never asked for: the message is a struct broker_event. */
	BROKER_EVENT = 9,
	/* Say from now on which processes start and end (daemon/broker/discovery.h), or no more
	 * (switch_on). The reply's error says why that cannot be. */
	BROKER_DISCOVER = 10,
	/* Say when one of these processes ends: BROKER_EVENT_ENDED. There is no reply. */
	BROKER_FOLLOW = 11,
	/* Who has logged in to pid, which is owner's. */
	BROKER_LOGIN = 12,
};

enum broker_event_kind {
	BROKER_EVENT_WORKER_GIVEN_UP =
	    1,                    /* pid held up who looked at it (daemon/broker/workers.h) */
	BROKER_EVENT_STARTED = 2, /* pid runs another program and may be a JVM; count: looks at it
				     before */
	BROKER_EVENT_ENDED = 3,   /* pid, which was followed, has ended */
	BROKER_EVENT_MISSED = 4,  /* so many (count) more starts or ends were not seen */
	BROKER_EVENT_KINDS,
};

/* Trace first touches of pages, where there is BPF. */
#define BROKER_ATTACH_TRACE_TOUCH 1u
/* Attach also where there may not be room for the agent (attach/process/headroom.h). */
#define BROKER_ATTACH_FORCE 2u
#define BROKER_ATTACH_FLAGS (BROKER_ATTACH_TRACE_TOUCH | BROKER_ATTACH_FORCE)

/* Is there a reply? */
static inline bool broker_operation_is_answered(uint32_t operation)
{
	return operation != BROKER_RELEASE && operation != BROKER_FOLLOW;
}

/* Processes in one request. */
#define BROKER_PIDS_MAX 64

/* Pages in one question. */
#define BROKER_PAGES_MAX 64

struct broker_request {
	uint32_t operation;
	uint32_t id;
	/* Host pid of the target; of INSPECT also one of INSPECTOR_*; 0 of DISCOVER and FOLLOW. */
	int32_t pid;
	int32_t namespace_tid; /* PERF_OPEN: the thread as the target numbers it */
	/* PERF_OPEN: exactly one of the next three is above 0 and says what is opened. */
	uint32_t breakpoints; /* 1..4 of them */
	/* Number from 1 in the broker's own selection (machine/pmu.h). */
	uint32_t hardware_event;
	uint64_t clock_period_ns; /* the clock event */
	uint64_t event_period;    /* PERF_OPEN of a hardware event: in operations */
	uint64_t sig_data;        /* PERF_OPEN: of the first event; the i-th gets sig_data + i */
	uint32_t page_count;      /* PAGES: how many addresses in them, 1.. */
	uint32_t attach_flags;    /* ATTACH: BROKER_ATTACH_* */
	/* ATTACH, INSPECT, LOGIN: the one user whose processes there are, the others being answered
	 * as if they were not; PROC_ANY_UID: all. */
	uint32_t owner;
	uint32_t timeout_ms; /* ATTACH: as in proto/helper.h, or 0: the usual */
	uint64_t pages[BROKER_PAGES_MAX];
	struct gate_limits gate; /* GATE */
	uint32_t switch_on;      /* DISCOVER: 1, or 0 */
	/* FOLLOW: how many pids. INSPECT of INSPECTOR_LIST: there are only these processes; 0: all
	 * that there are. */
	uint32_t pid_count;
	int32_t pids[BROKER_PIDS_MAX];
	/* INSPECT of INSPECTOR_LIST: 1: also of which version the JVMs' jars say that they are;
	 * or 0. */
	uint32_t jars;
	/* ATTACH: when the process that is meant started, in clock ticks since boot; another one
	 * that has its pid now is not attached to. 0: whichever has the pid. */
	uint64_t start_ticks;
};

struct broker_reply {
	uint32_t operation;
	uint32_t id;
	int32_t error;                   /* 0, or an errno value above 0 */
	uint32_t fds;                    /* descriptors attached */
	int16_t nodes[BROKER_PAGES_MAX]; /* PAGES: of each page, -1 for one that is not present */
	/* PAGES: of the thread that touched each first, -1 when that was not seen. */
	int16_t touched[BROKER_PAGES_MAX];
	uint32_t touch_traced; /* PAGES: 0 when first touches are not traced */
	uint32_t owner;        /* ATTACH that worked: whose process it is (proc_owner) */
	double cpu_limit; /* ATTACH that worked: what cgroups let it have, in CPUs; 0: no limit */
	uint64_t start_ticks;             /* likewise: when it started, in clock ticks since boot */
	struct switch_costs switch_costs; /* likewise: of this machine */
	int32_t sampler_error;   /* HELLO: of opening the hardware sampler's events, -errno or 0 */
	uint32_t login;          /* LOGIN: /proc/PID/loginuid; PROC_ANY_UID: it is not set */
	uint64_t cpu_ns;         /* proc_own_cpu_ns, when it was sent */
	uint64_t touches_lost;   /* PAGES: first touches that there was no room for, so far */
	struct gate_counts gate; /* GATE */
	/* Why there is an error; of an ATTACH that worked: what `list` calls the target; of a
	 * HELLO: the broker's version, which has to be the engine's. */
	char message[ERR_MESSAGE_MAX];
};

/* Begins as a reply does, and is of another size. An event that the engine has no room for, since
 * it reads too slowly, is lost: the broker waits for nobody. */
struct broker_event {
	uint32_t operation; /* BROKER_EVENT */
	uint32_t kind;      /* enum broker_event_kind */
	int32_t pid;        /* host pid of the process that it is about, or 0 */
	uint32_t count;     /* where the kind says of what, at most UINT32_MAX */
	uint64_t lost;      /* events that were lost, so far */
};

/* What the broker may send. */
union broker_message {
	uint32_t operation;
	struct broker_reply reply;
	struct broker_event event;
};

#endif
