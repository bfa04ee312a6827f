/*
 * Asks the store once a day what windows brought, for schedules with a target of evidence
 * (fleet/evidence.h), and tells the planner.
 *
 * The store is read beside the loop. What was asked follows from it alone, so nothing else is kept:
 * after a restart or a reload the same windows give the same probabilities. Of each schedule's
 * applications those with the latest windows are read, as many as JVMs are known. Where the store
 * cannot be read, or nothing is kept, the planner goes on with what it has, and the store is asked
 * again every TUNER_RETRY_NS.
 *
 * Loop thread only. Planner and configuration are borrowed.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_TUNER_H
#define JXPERF_DAEMON_SCHEDULE_TUNER_H

#include <stdint.h>
#include <uv.h>

#include "common/clock.h"
#include "fleet/config/config.h"

#define TUNER_RETRY_NS (60 * NS_PER_S)

struct planner;
struct tuner;

/* changed: the planner has other probabilities. NULL without memory. */
struct tuner *tuner_new(uv_loop_t *loop, struct planner *planner, const struct config *config,
			void (*changed)(void *arg), void *arg);

/* Before the planner goes. The loop has to turn until what is asked has ended. free(NULL) is safe.
 */
void tuner_free(struct tuner *t);

/* Where the database of windows is, which is copied; NULL: none are kept. */
void tuner_set_store(struct tuner *t, const char *database);

/* Another configuration holds; the planner has it already. */
void tuner_configure(struct tuner *t, const struct config *config);

/* Asks, where the planner wants evidence and nothing is asked yet. To be called every now and then.
 */
void tuner_look(struct tuner *t, uint64_t unix_ns);

#endif
