/*
 * Does this kernel spare a process whose perf event raises SIGTRAP while SIGTRAP is blocked?
 *
 * Before Linux 5.19 ("signal: Deliver SIGTRAP on perf event asynchronously if blocked", commit
 * 78ed93d72ded; also in kernels that took it over) the signal was forced: the kernel set the action
 * to the default one, and the process died (force_sig_info_to_task in kernel/signal.c). SIGTRAP is
 * blocked whenever the agent's handler runs, so there a window would kill its JVM sooner or later.
 * Versions do not tell which kernels have the change, so it is tried, by a child of ours with a
 * watchpoint on a variable of its own.
 *
 * Keeps no state. The calling process's signals, other children and SIGTRAP action are left alone.
 */
#ifndef JXPERF_DAEMON_CHILD_SIGTRAP_PROBE_H
#define JXPERF_DAEMON_CHILD_SIGTRAP_PROBE_H

/* What a SIGTRAP does that a watchpoint raises while SIGTRAP is blocked. */
enum sigtrap_verdict {
	SIGTRAP_UNTRIED, /* never returned: for callers who keep the verdict */
	SIGTRAP_WAITS,   /* until it is unblocked, and says that it has */
	SIGTRAP_KILLS,   /* the process, or does not say that it has waited */
	SIGTRAP_UNKNOWN, /* it could not be tried */
};

/* What SIGTRAP_KILLS means to a person, and what to do about it. */
#define SIGTRAP_KILLS_MESSAGE                                                      \
	"this kernel kills a process whose watchpoint fires in a signal handler: " \
	"use Linux 5.19 or later"

/* What the child does. Returns its exit status: 0 when the signal waited, SIGTRAP_TRIAL_UNTOLD when
 * it came without saying so, or an errno value (all are smaller) when it could not be tried. */
typedef int (*sigtrap_trial_fn)(void);
#define SIGTRAP_TRIAL_UNTOLD 255

/* The trial itself: blocks SIGTRAP, has a watchpoint fire, unblocks it. ENODATA when the watchpoint
 * does not fire at all, as on virtual machines without debug registers. For a process of its own:
 * leaves its handler and the watched variable behind, and may die. */
int sigtrap_trial(void);

/* Runs trial in a child and waits for it, a millisecond as a rule and 2 s at most; then the child
 * is killed. It is reaped in any case, and leaves no core file. With SIGTRAP_UNKNOWN the reason is
 * in *error, as -errno (-ETIMEDOUT: it did not end in time; -EIO: another signal ended it);
 * otherwise *error is unchanged. */
enum sigtrap_verdict sigtrap_probe(sigtrap_trial_fn trial, int *error);

#endif
