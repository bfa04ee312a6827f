/*
 * Reservoir sampling over the debug registers of one thread (JXPerf section 5.2).
 *
 * Each register keeps how many samples were offered since it was last free, the one it holds
 * included. An offered sample takes a free register if there is one; otherwise the registers are
 * visited in random order and each gives way with probability 1/offered, so that every sample since
 * the register was free has the same chance to be the one it holds. O(1) memory; pure; one thread.
 *
 * That keeps long pairs possible, but a pair that takes long to complete still completes less often
 * than one that takes no time, whose register is free again before the next sample. So each held
 * sample has a weight: the inverse of the probability with which it got its register and kept it
 * until now, given what happened to the others (Horvitz and Thompson 1952). Whatever a sample's
 * fate, the expected weight with which it completes is 1.
 */
#ifndef JXPERF_AGENT_RESERVOIR_RESERVOIR_H
#define JXPERF_AGENT_RESERVOIR_RESERVOIR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/perf/events.h"
#include "common/random.h"

struct reservoir {
	unsigned registers;
	uint32_t offered[PERF_DEBUG_REGISTERS]; /* 0: the register is free */
	double weight[PERF_DEBUG_REGISTERS];    /* of the sample it holds */
};

/* registers: 1 to PERF_DEBUG_REGISTERS. */
void reservoir_init(struct reservoir *r, unsigned registers);

/* Offers one sample. Returns the register it takes, with *replaced telling whether that held
 * another sample, or -1 when the sample is not kept. */
int reservoir_offer(struct reservoir *r, struct random *random, bool *replaced);

/* How many samples the one that the register holds stands for, at least 1. 1 for a free register.
 */
double reservoir_weight(const struct reservoir *r, unsigned reg);

/* The sample that the register holds was kept with a probability of 1/factor, whatever it is. */
void reservoir_reweigh(struct reservoir *r, unsigned reg, double factor);

/* The register is free again: its watchpoint trapped, expired or was never armed. */
void reservoir_free(struct reservoir *r, unsigned reg);

/* All registers free: a new epoch. */
void reservoir_clear(struct reservoir *r);

#endif
