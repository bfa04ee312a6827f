/*
 * The queue of the store (daemon/store/queue.h) as a sender's source: read on a connection of its
 * own that is opened for each batch, so that a database that was set aside is not read on; what has
 * arrived is noted by the keeper.
 */
#ifndef JXPERF_DAEMON_EXPORT_STORE_SOURCE_H
#define JXPERF_DAEMON_EXPORT_STORE_SOURCE_H

#include "daemon/export/source.h"

struct keeper;

/* Of one destination; host and group are those of all windows. Texts are copied; the keeper has to
 * outlive the sender's calls on the loop. 0 or -ENOMEM. */
int store_source_new(struct source *out, struct keeper *keeper, const char *destination,
		     const char *host, const char *group);

#endif
