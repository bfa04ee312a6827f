/*
 * Which JVMs of a fleet are profiled when, decided by each host for itself.
 *
 * Time is cut into epochs of a schedule's length, counted from the epoch of CLOCK_REALTIME, the
 * same on all hosts. In each a host takes part with probability host_fraction, and then each of its
 * JVMs with jvm_fraction; the draws are hashes of salt, schedule, host, JVM and epoch. So nobody
 * has to be asked, a restart changes nothing, and who would be profiled can be told beforehand
 * (Google-Wide Profiling asks a coordinator: Ren et al., IEEE Micro 30(4), 2010).
 *
 * Since every probability is known and not 0, sums over the profiled JVMs, each weighted by the
 * inverse of its probability (tests/fleet/simulate.c), estimate the whole fleet without bias.
 *
 * A window begins at a place of its epoch that is the JVM's own, from epoch to epoch off by up to
 * jitter of the epoch's length: all JVMs together cover the epoch evenly, and no JVM's window
 * follows the beat of a job that runs every hour.
 *
 * Functions of their arguments alone.
 */
#ifndef JXPERF_FLEET_DRAW_H
#define JXPERF_FLEET_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
	const char *salt;     /* the same on all hosts; whoever knows it knows all draws */
	const char *schedule; /* its name */
	const char *host;     /* id of the host */
	uint64_t every_ns;    /* length of an epoch */
	uint64_t window_ns;   /* at most every_ns */
	double host_fraction; /* above 0, at most 1; the two others, too */
	double jvm_fraction;
	double jitter; /* 0 to 1 */
};

/* The epoch that a time (CLOCK_REALTIME) is in, and the time at which it begins. */
uint64_t draw_epoch(const struct draw *d, uint64_t unix_ns);
uint64_t draw_epoch_start(const struct draw *d, uint64_t epoch);

/* Does the host take part in the epoch? */
bool draw_takes_host(const struct draw *d, uint64_t epoch);

/* Does a JVM of it, where the host does? jvm: what is the same as long as it runs, and no other
 * JVM's of the host. */
bool draw_takes_jvm(const struct draw *d, uint64_t epoch, const char *jvm);

/* When its window begins, CLOCK_REALTIME; it ends before the epoch does. */
uint64_t draw_start(const struct draw *d, uint64_t epoch, const char *jvm);

/* Tells what a window stands for, in seconds of such a JVM: a window's rates (per second) times its
 * weight, added over all windows of an epoch, estimate what the whole fleet did in it. */
double draw_weight_s(const struct draw *d);

#endif
