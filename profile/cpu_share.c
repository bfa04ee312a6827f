#include "profile/cpu_share.h"

#include <math.h>

/* Tells what one observation effectively stands for, in ns. */
static double effective_ns(const struct cpu_sums *cpu)
{
	return cpu->ns > 0 ? cpu->squares / cpu->ns : 0;
}

/* a of the header, in ticks; 0: nothing is known of it. */
static double effective_ticks(const struct cpu_sums *cpu, uint64_t count,
			      const struct cpu_whole *whole)
{
	double own = effective_ns(cpu), kind = effective_ns(&whole->cpu), n = (double)count;

	if (own > 0)
		own = (n * own + CPU_SHARE_PRIOR * fmax(own, kind)) / (n + CPU_SHARE_PRIOR);
	else
		own = kind;
	return own * whole->ticks / whole->ns;
}

struct cpu_share cpu_share_estimate(const struct cpu_sums *cpu, uint64_t count,
				    const struct cpu_whole *whole)
{
	struct cpu_share result = {.ci95 = {.low = 0, .high = 1}};
	double a, share, n;

	if (!(whole->ns > 0) || !(whole->ticks > 0))
		return result;
	share = cpu->ns / whole->ns;
	result.known = true;
	result.share = fmin(share, 1);
	a = effective_ticks(cpu, count, whole);
	if (a > 0) {
		struct interval scaled;

		/* A larger variance is that of fewer ticks. */
		n = whole->ticks / fmax(whole->design_effect, 1);
		scaled = estimate_ci95(fmin(share / a, 1) * n, n, n);
		result.ci95.low = fmin(a * scaled.low, result.share);
		result.ci95.high =
		    fmax(fmin(a * scaled.high / (1 - whole->after), 1), result.share);
	}
	return result;
}
