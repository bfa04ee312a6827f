/*
 * Which methods, calling contexts and threads a window's CPU time goes to: of its ticks (kind cpu).
 *
 * A method's own time is that of ticks in it, its total that of ticks in it and in all that it
 * called; where it calls itself, a tick counts once. A context is the same whether its frames ran
 * interpreted or compiled. Ranked by time, which decides before the number of ticks.
 */
#ifndef JXPERF_DAEMON_REPORT_CONTENT_CPU_RANKING_H
#define JXPERF_DAEMON_REPORT_CONTENT_CPU_RANKING_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/window/result.h"

struct ranked_method {
	uint32_t method; /* of the profile's tree; 0: all frames without a name */
	struct cpu_sum own;
	struct cpu_sum total;
};

/* All zero is empty. */
struct cpu_ranking {
	struct ranked_method *by_own; /* methods with time of their own, */
	size_t by_own_count;
	struct ranked_method *by_total; /* and all methods */
	size_t by_total_count;
	struct cpu_context *contexts;
	size_t context_count;
	struct watched_thread *threads;
	size_t thread_count;
};

/* Takes 40 bytes for each method, twice, 72 for each context and 216 for each thread. 0 or -ENOMEM,
 * and then it is empty. */
int cpu_ranking_init(struct cpu_ranking *r, const struct window_result *w);
void cpu_ranking_release(struct cpu_ranking *r);

#endif
