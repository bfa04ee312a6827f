/*
 * What a fleet's total is, from those of its JVMs that were profiled.
 *
 * Sampling has two stages, hosts and the JVMs of each, both independent draws with known
 * probabilities (fleet/draw.h). The estimate is Horvitz and Thompson's; its variance is that of two
 * stages of Poisson sampling (Sarndal, Swensson, Wretman, "Model Assisted Survey Sampling",
 * sections 3.5 and 4.3), estimated without bias from the sample itself: with y_j a JVM's value and
 * Y_h = sum of y_j / p_j over the profiled JVMs of host h,
 *
 *   V = sum over hosts of (1 - p_h) / p_h^2 Y_h^2 + 1 / p_h sum of (1 - p_j) / p_j^2 y_j^2
 *
 * Hosts are independent of each other, JVMs of one host are not: so values are added host by host.
 */
#ifndef JXPERF_FLEET_TOTAL_H
#define JXPERF_FLEET_TOTAL_H

#include <stdint.h>

/* All zero is an empty one. */
struct fleet_total {
	double estimate; /* of the hosts that are complete */
	double variance;
	uint64_t hosts; /* of which some JVM was profiled */
	uint64_t jvms;
	/* The host that values are added to. */
	double host_sum;
	double host_variance;
	uint64_t host_jvms;
};

/* One profiled JVM's value; jvm_fraction is the probability of its draw within its host. */
void fleet_total_add(struct fleet_total *t, double value, double jvm_fraction);

/* No more of this host, whose probability was host_fraction. */
void fleet_total_end_host(struct fleet_total *t, double host_fraction);

/* 95% interval: estimate plus and minus this. Good from some tens of hosts on. */
double fleet_total_error95(const struct fleet_total *t);

#endif
