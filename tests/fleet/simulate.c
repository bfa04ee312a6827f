/*
 * Fleet sampling, simulated: 10,000 hosts with 20 JVMs each, drawn as the daemon draws them.
 *
 * Every JVM wastes memory at a known rate: applications differ by two orders of magnitude, hosts
 * have different mixes of them, and the rates change from epoch to epoch. In each run (an epoch of
 * another salt) the JVMs that are drawn are measured, with an error, and the fleet's total is
 * estimated. Says how far the estimates are from the truth, how often their own 95% intervals hold
 * it, how evenly the load is spread, and how long it takes until every application was seen. Exits
 * with 1 when the estimate is biased or too few intervals hold.
 *
 *   simulate [RUNS [HOST_FRACTION [JVM_FRACTION]]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "fleet/draw.h"

#define HOSTS           10000
#define JVMS            20
#define APPS            500
#define MEASURING_ERROR 0.2 /* of one window, relative, one standard deviation */
#define COVERED_LEAST   0.93
#define PLACES          10 /* parts of an epoch */

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): for the world that is simulated, not for draws. */
static uint64_t world = 1;

static double world_uniform(void)
{
	uint64_t z = world += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double world_normal(void)
{
	return sqrt(-2 * log(1 - world_uniform())) * cos(2 * M_PI * world_uniform());
}

struct fleet {
	double app_rate[APPS]; /* bytes wasted a second by one of its JVMs, on average */
	unsigned app[HOSTS][JVMS];
	double rate[HOSTS][JVMS]; /* in this epoch */
	char host[HOSTS][16];
	char jvm[JVMS][16];
};

static void build(struct fleet *f)
{
	for (unsigned a = 0; a < APPS; a++)
		f->app_rate[a] = 1e6 * exp(1.5 * world_normal());
	for (unsigned h = 0; h < HOSTS; h++) {
		/* Hosts run few applications, so that JVMs of one host are alike. */
		unsigned main_app = (unsigned)(world_uniform() * APPS);

		(void)snprintf(f->host[h], sizeof(f->host[h]), "host-%u", h);
		for (unsigned j = 0; j < JVMS; j++)
			f->app[h][j] =
			    world_uniform() < 0.7 ? main_app : (unsigned)(world_uniform() * APPS);
	}
	for (unsigned j = 0; j < JVMS; j++)
		(void)snprintf(f->jvm[j], sizeof(f->jvm[j]), "%u:%u", 1000 + j, j);
}

/* What the JVMs waste in this epoch. Returns the sum of all, in bytes a second. */
static double begin_epoch(struct fleet *f)
{
	double sum = 0;

	for (unsigned h = 0; h < HOSTS; h++)
		for (unsigned j = 0; j < JVMS; j++) {
			f->rate[h][j] = f->app_rate[f->app[h][j]] * exp(0.5 * world_normal());
			sum += f->rate[h][j];
		}
	return sum;
}

struct tally {
	unsigned runs, covered;
	double error_sum, error_squares; /* relative */
	unsigned most_hosts, least_hosts;
	uint64_t starts[PLACES];
	uint64_t windows;
	unsigned apps_seen;
	bool seen[APPS];
	unsigned covered_after; /* epochs until each application was seen, or 0 */
};

/* ---------------------------------------------------------------- totals */

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
 * All zero is an empty one.
 */
struct total {
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
static void total_add(struct total *t, double value, double jvm_fraction)
{
	t->host_sum += value / jvm_fraction;
	t->host_variance += (1 - jvm_fraction) / (jvm_fraction * jvm_fraction) * value * value;
	t->host_jvms++;
}

/* No more of this host, whose probability was host_fraction. */
static void total_end_host(struct total *t, double host_fraction)
{
	double factor = (1 - host_fraction) / (host_fraction * host_fraction);

	if (t->host_jvms == 0)
		return;
	t->estimate += t->host_sum / host_fraction;
	t->variance += factor * t->host_sum * t->host_sum + t->host_variance / host_fraction;
	t->hosts++;
	t->jvms += t->host_jvms;
	t->host_sum = 0;
	t->host_variance = 0;
	t->host_jvms = 0;
}

/* 95% interval: estimate plus and minus this. Good from some tens of hosts on. */
static double total_error95(const struct total *t)
{
	return 1.959964 * sqrt(t->variance);
}

static void sample_host(const struct fleet *f, const struct draw *d, uint64_t epoch, unsigned h,
			struct total *total, struct tally *t)
{
	for (unsigned j = 0; j < JVMS; j++) {
		uint64_t offset;

		if (!draw_takes_jvm(d, epoch, f->jvm[j]))
			continue;
		/* Its window's rate, and what that says of the epoch. */
		total_add(total,
			  f->rate[h][j] * (1 + MEASURING_ERROR * world_normal()) *
			      (double)d->every_ns / NS_PER_S,
			  d->jvm_fraction);
		offset = draw_start(d, epoch, f->jvm[j]) - draw_epoch_start(d, epoch);
		t->starts[offset * PLACES / d->every_ns]++;
		t->windows++;
		if (!t->seen[f->app[h][j]]) {
			t->seen[f->app[h][j]] = true;
			if (++t->apps_seen == APPS)
				t->covered_after = t->runs + 1;
		}
	}
	total_end_host(total, d->host_fraction);
}

static void run(struct fleet *f, struct draw *d, struct tally *t)
{
	double truth = begin_epoch(f) * (double)d->every_ns / NS_PER_S;
	struct total total = {0};
	unsigned hosts = 0;
	uint64_t epoch = 1000 + t->runs;
	double error;

	for (unsigned h = 0; h < HOSTS; h++) {
		d->host = f->host[h];
		if (!draw_takes_host(d, epoch))
			continue;
		hosts++;
		sample_host(f, d, epoch, h, &total, t);
	}
	error = total.estimate / truth - 1;
	t->error_sum += error;
	t->error_squares += error * error;
	t->covered += fabs(total.estimate - truth) <= total_error95(&total);
	t->most_hosts = hosts > t->most_hosts ? hosts : t->most_hosts;
	t->least_hosts = t->runs == 0 || hosts < t->least_hosts ? hosts : t->least_hosts;
	t->runs++;
}

static int judge(const struct tally *t)
{
	double n = t->runs, mean = t->error_sum / n;
	double deviation = sqrt(t->error_squares / n - mean * mean);
	double bias_limit = 3 * deviation / sqrt(n); /* Three standard errors of the mean. */
	double covered = t->covered / n;

	printf("runs %u, windows %llu\n", t->runs, (unsigned long long)t->windows);
	printf("error of the total: mean %+.4f (unbiased within %.4f), one run %.4f\n", mean,
	       bias_limit, deviation);
	printf("95%% intervals that hold the truth: %.3f (at least %.2f)\n", covered,
	       COVERED_LEAST);
	printf("hosts at a time: %u to %u\n", t->least_hosts, t->most_hosts);
	printf("windows by tenth of the epoch:");
	for (unsigned i = 0; i < PLACES; i++)
		printf(" %.3f", (double)t->starts[i] / (double)t->windows);
	if (t->covered_after)
		printf("\nevery application seen after %u epochs\n", t->covered_after);
	else
		printf("\n%u of %u applications seen\n", t->apps_seen, APPS);
	return fabs(mean) <= bias_limit && covered >= COVERED_LEAST ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct fleet *f = calloc(1, sizeof(*f));
	struct tally tally = {0};
	unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;
	struct draw d = {.salt = "simulation",
			 .schedule = "all",
			 .every_ns = 600 * NS_PER_S,
			 .window_ns = 30 * NS_PER_S,
			 .host_fraction = argc > 2 ? strtod(argv[2], NULL) : 0.02,
			 .jvm_fraction = argc > 3 ? strtod(argv[3], NULL) : 0.25,
			 .jitter = 0.1};
	int status;

	if (!f || runs == 0 || !(d.host_fraction > 0 && d.jvm_fraction > 0)) {
		fprintf(stderr, "usage: simulate [RUNS [HOST_FRACTION [JVM_FRACTION]]]\n");
		free(f);
		return 2;
	}
	build(f);
	while (tally.runs < runs)
		run(f, &d, &tally);
	status = judge(&tally);
	free(f);
	return status;
}
