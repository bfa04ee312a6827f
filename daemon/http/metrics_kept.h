/*
 * Which of the metrics may be shown: those that are on the disk, so that what was shown never
 * falls, also when the daemon is killed. Where nothing is kept, or cannot be at present, all of
 * them.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_KEPT_H
#define JXPERF_DAEMON_HTTP_METRICS_KEPT_H

#include <stdbool.h>

#include "common/err.h"
#include "daemon/http/metrics.h"
#include "daemon/store/keeper.h"

/* All zero but for live, which is borrowed: nothing is kept, and live is shown. */
struct metrics_kept {
	struct metrics *live;
	struct metrics *written;   /* what was encoded last, and may be on its way to the disk */
	struct metrics *published; /* a copy, or NULL */
	bool failing;              /* live is shown in place of the copy */
};

/* Has keeper keep the metrics from now on, and goes on with those that it found; what is damaged of
 * them is said in err, and they begin at 0. k has to outlive the keeper. 0, -EBADMSG, or -ENOMEM
 * with nothing kept. Before live has counted anything. */
int metrics_kept_begin(struct metrics_kept *k, struct keeper *keeper, struct err *err);

/* Without freeing live. */
void metrics_kept_release(struct metrics_kept *k);

const struct metrics *metrics_kept_shown(const struct metrics_kept *k);

#endif
