/*
 * The sampling gate: which samples of a target may raise their signal. Shared by the BPF program
 * (bpf/gate.bpf.c), the broker, which loads it and sets its limits (daemon/broker/gate.h), and the
 * agent, which applies the same limits where the kernel does not.
 *
 * A target has a window, after which nothing passes, and a budget of tokens: one for a sample,
 * burst_ns / interval_ns of them at most, a new one every interval_ns. The bucket is kept as the
 * time at which it will be full again (the generic cell rate algorithm, ITU-T I.371 annex A): one
 * 64-bit word that one compare-and-exchange moves on. So samples of the same target on several CPUs
 * need no lock, which a program that runs in an NMI could not take (the verifier refuses
 * bpf_spin_lock to tracing programs), and no count can overflow: every value is a time or a
 * difference of two.
 *
 * All times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef JXPERF_BPF_GATE_H
#define JXPERF_BPF_GATE_H

#include <linux/types.h>

/* Each sample becomes one of these. The order is the index into gate_counts: append only. */
enum gate_outcome {
	GATE_PASSED,
	GATE_WINDOW_OVER,  /* dropped: the window is over, or was never opened */
	GATE_BUDGET_SPENT, /* dropped: no token was left */
	GATE_CONTENDED,    /* dropped: other CPUs took tokens faster than this one could */
	GATE_UNKNOWN,      /* dropped: of a process that is no target */
	GATE_OUTCOMES,
};

/* Targets at a time: as many as the broker attaches to. */
#define GATE_TARGETS_MAX 256

/* Each try that fails means that another CPU has taken a token meanwhile. */
#define GATE_TRIES 8

/* Longest burst and interval: sums with them stay far from 2^64. */
#define GATE_TIME_MAX_NS (1ull << 40)

struct gate_limits {
	__u64 window_end_ns; /* 0: closed */
	__u64 interval_ns;   /* time in which one token comes back, up to GATE_TIME_MAX_NS */
	__u64 burst_ns; /* ... in which an empty bucket fills up, likewise; at least interval_ns */
};

/* One target. full_at_ns is written with compare-and-exchange, limits by their setter alone. */
struct gate {
	struct gate_limits limits;
	__u64 full_at_ns; /* when the bucket is full again; a time that has passed: it is */
};

struct gate_counts {
	__u64 samples[GATE_OUTCOMES];
};

/* Reads what another CPU may write. */
static inline __u64 gate_load(const __u64 *word)
{
#ifdef __bpf__ /* Where aligned loads are atomic, and clang has no atomic ones. */
	return *(const volatile __u64 *)word;
#else
	return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

/* Takes a token for a sample at now_ns, or tells why there is none. Any thread, any context. */
static inline enum gate_outcome gate_admit(struct gate *g, __u64 now_ns)
{
	__u64 interval_ns = gate_load(&g->limits.interval_ns);
	__u64 burst_ns = gate_load(&g->limits.burst_ns);

	if (now_ns >= gate_load(&g->limits.window_end_ns))
		return GATE_WINDOW_OVER;
	for (int i = 0; i < GATE_TRIES; i++) {
		__u64 before = gate_load(&g->full_at_ns);
		/* CPUs' clocks may differ a little: a bucket that is full is full, however long. */
		__u64 from = before > now_ns ? before : now_ns;
		__u64 after = from + interval_ns;

		if (after - now_ns > burst_ns)
			return GATE_BUDGET_SPENT;
		if (__sync_val_compare_and_swap(&g->full_at_ns, before, after) == before)
			return GATE_PASSED;
	}
	return GATE_CONTENDED;
}

#ifndef __bpf__
/* Changes the limits of a gate in our own memory while others use it. They may see the old ones of
 * one field with the new ones of another for a moment. */
static inline void gate_set_limits(struct gate *g, const struct gate_limits *limits)
{
	__atomic_store_n(&g->limits.window_end_ns, limits->window_end_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&g->limits.interval_ns, limits->interval_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&g->limits.burst_ns, limits->burst_ns, __ATOMIC_RELAXED);
}
#endif

#endif
