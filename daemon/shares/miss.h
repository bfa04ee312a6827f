/*
 * Why a window is not run: one table of reasons, with the words for metrics and for people, and one
 * of the errors that say so. What is found of a JVM beforehand, what a window in it came to, and
 * what holds for the whole host are reasons alike.
 */
#ifndef JXPERF_DAEMON_SHARES_MISS_H
#define JXPERF_DAEMON_SHARES_MISS_H

#include <stdbool.h>

enum miss {
	MISS_NONE,    /* nothing is in the way */
	MISS_BUSY,    /* a window of somebody else in that JVM, or of another daemon */
	MISS_LIMIT,   /* as many windows ran as may at a time */
	MISS_BUDGET,  /* the host's budget was spent */
	MISS_LATE,    /* the daemon came too late: it was not running, or the clock jumped */
	MISS_REFUSED, /* the JVM cannot be attached to, or the attach could not be begun */
	MISS_BROKER,  /* the privileged half was away */
	/* The JVM's own, found before anything was done to it. */
	MISS_PROTOCOL,    /* it has an agent whose protocol this daemon does not speak */
	MISS_ROOM,        /* its limits leave no room for the agent */
	MISS_PERMISSION,  /* the system forbids it */
	MISS_UNSUPPORTED, /* it is of a kind that cannot be profiled */
	MISS_SAMPLER,     /* this machine has no sampler for what the schedule asks for */
	/* The JVM's own, after windows in it: it is left alone for a time. */
	MISS_FAILED,
	MISS_COST,
	/* The JVM or the host has other things to do. */
	MISS_COLLECTOR, /* the JVM collects garbage most of the time */
	MISS_CPU_PRESSURE,
	MISS_MEMORY_PRESSURE,
	MISS_IO_PRESSURE,
	MISS_LOAD,
	MISS_PAUSED, /* somebody has forbidden windows */
	MISS_MAX,
};

/* How a JVM stands with the schedules of this host. */
enum jvm_state {
	JVM_COVERED,   /* it has windows */
	JVM_UNMATCHED, /* no schedule means it */
	JVM_SKIPPED,   /* it is left alone after a window that failed or cost too much */
	JVM_REFUSED,   /* nothing is tried */
	JVM_HELD,      /* none begins until the host, its people or its schedules say otherwise */
	JVM_STATES,
};

/* As a metric's label has it. */
const char *miss_name(enum miss miss);

/* As `list` says it of a JVM; "" where there is nothing to say. */
const char *miss_words(enum miss miss);

/* How a JVM stands that some schedule means, for the reason that is its own. */
enum jvm_state miss_state(enum miss miss);

const char *jvm_state_name(enum jvm_state state);

/* ---------------------------------------------------------------- of an errno value */

/* As jxperf_attach_failures_total has it. */
enum attach_reason {
	ATTACH_OTHER,
	ATTACH_NO_SUCH_PROCESS,
	ATTACH_PERMISSION,
	ATTACH_BUSY,
	ATTACH_TIMEOUT,
	ATTACH_CANCELLED,
	ATTACH_MEMORY,
	ATTACH_UNSUPPORTED,
	ATTACH_BROKER,
	ATTACH_AGENT, /* attached, but no window could run */
	ATTACH_PROTOCOL,
	ATTACH_REASONS,
};

/* What the errno value says with which a window could not run, for whoever counts it, remembers it
 * or leaves its JVM alone. */
struct attach_error {
	int error; /* above 0 */
	enum attach_reason reason;
	enum miss refusal; /* before anything was done to the JVM; MISS_NONE: it was tried */
	bool absent;       /* there is no such JVM, so that it is no failure */
	bool no_window;    /* no such JVM, or none to speak with: no window is remembered */
	bool agents;       /* the agent's word is taken for it: it is what its JVM lacks */
};

/* Of an errno that is not known, one that was tried, for another reason. */
const struct attach_error *attach_error(int error);

const char *attach_reason_name(enum attach_reason reason);

#endif
