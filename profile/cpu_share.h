/*
 * The share of a window's CPU time that is spent at wasteful accesses, and how sure that is.
 *
 * T is all CPU time that the program used itself in the window (window_result_cpu_whole, in the
 * unit of its ticks). The clock sampler's ticks are points of it that were drawn in the threads
 * that are sampled; each stands for T / n, so that n is their number where they stand for T
 * together, and in proportion more where other threads used the rest. For each kind a tick may lead
 * to a completed pair, which stands for y of CPU time: more than T / n where its sample had to keep
 * a register against others (Transition.cpu_ns of jxperf.proto); the inverse of the chance that it
 * had, so that the sum over the wasteful pairs of anything has the CPU time spent there as its
 * expected value (Horvitz and Thompson 1952). Ticks that led to no pair, or to one that is not
 * wasteful, add 0 to it. So do those in code that is not compiled and in the kernel, where no
 * access is sampled, and the time of threads that are not sampled: without them, a share of CPU
 * time would be of something that nobody else can measure. So
 *
 *   share = sum of y / T,
 *
 * a mean over n independent ticks of z = y n / T, which is 0 or positive. Its variance is
 * (E z^2 - share^2) / n. With a = E z^2 / E z, what a wasteful pair effectively stands for in
 * ticks, that is share (a - share) / n: the variance of a times a proportion of share / a. So the
 * interval is a times Wilson's of that proportion with n (the score interval: the limits are the
 * shares that would just not be rejected, each with its own variance). It is Wilson's for weights
 * of 1, is never empty at 0, and needs no share below a: sum y^2 / sum y is at least sum y / n.
 * Where the period changed in the window, n ticks of T / n vary less than those that were; the
 * variance is too large then by share^2 (sum of periods^2 / T^2 - 1 / n), never too small. Nor is
 * it where only a part of T was sampled, and the rest counts as points that add 0: how large that
 * part is was measured, and not drawn as well.
 *
 * Weights of a few observations say little of what others might have weighed: a part's own a counts
 * as its number of observations, that of all completed pairs of its kind, where it is larger, as
 * CPU_SHARE_PRIOR more. A part without any has that alone.
 *
 * What a thread uses after its last tick is in T, and no tick stands for it. That is next to
 * nothing of many ticks, and a third of the time of one: the upper limit is of T without it.
 *
 * It is a lower bound of the waste: watchpoints that were dropped by a collection, replaced for
 * good or still waiting at the end count as not wasteful. Pure functions.
 */
#ifndef JXPERF_PROFILE_CPU_SHARE_H
#define JXPERF_PROFILE_CPU_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/estimate.h"
#include "profile/profile.h"

#define CPU_SHARE_PRIOR 3.0

/* Shares of one kind are of this. */
struct cpu_whole {
	double ns;            /* T; 0: there is no such share, as with hardware samplers */
	double ticks;         /* n */
	double after;         /* the part of T that may lie behind threads' last ticks, at most
				 LIMIT_CPU_AFTER */
	struct cpu_sums cpu;  /* of all completed pairs of the kind */
	double design_effect; /* by what variances are larger than those of independent ticks; at
				 least 1 (profile/combine/merge.h) */
};

struct cpu_share {
	bool known;
	double share; /* 0..1 */
	struct interval ci95;
};

/* cpu: of count wasteful pairs. Not known, [0, 1], where the whole is not. */
struct cpu_share cpu_share_estimate(const struct cpu_sums *cpu, uint64_t count,
				    const struct cpu_whole *whole);

#endif
