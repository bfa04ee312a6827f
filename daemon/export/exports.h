/*
 * All destinations that the configuration names: a sender each, from the queue of the store.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_EXPORT_EXPORTS_H
#define JXPERF_DAEMON_EXPORT_EXPORTS_H

#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/export/sender.h"
#include "daemon/store/queue.h"

struct config;
struct exports;
struct keeper;

/* Whose queue the store has for them. */
void exports_destinations(const struct config *config, struct queue_destinations *out);

/* Without any destination. The keeper has to outlive it. 0 or -errno with a line. */
int exports_new(struct exports **out, uv_loop_t *loop, struct keeper *keeper, struct err *err);

/* What the configuration says, and the keeper's queues with it. Senders whose destination is the
 * same go on, the others begin anew with the counts of the name. config is needed during the call
 * only. */
void exports_configure(struct exports *e, const struct config *config);

/* Abandons what is under way. Some memory goes when the loop has closed its handles. free(NULL) is
 * safe. */
void exports_free(struct exports *e);

/* One destination as it stands. */
struct export_state {
	const char *name;
	const char *kind; /* "clickhouse", "directory" */
	struct queue_state queue;
	double oldest_s; /* since the oldest window that waits has ended; 0 without any */
	struct sender_stats stats;
};

size_t exports_count(const struct exports *e);
/* Texts are borrowed until the configuration changes. */
void exports_state(const struct exports *e, size_t i, struct export_state *state);

#endif
