/*
 * `wait` for a window that is not in memory any more, or was an earlier daemon's: the store knows
 * how it ended.
 */
#ifndef JXPERF_DAEMON_SERVE_STORED_END_H
#define JXPERF_DAEMON_SERVE_STORED_END_H

#include "daemon/serve/connection.h"

/* Is the window perhaps in the store, and not in memory? */
bool stored_end_may_be(const struct connection *c, const char *id);

/* Sends how it ended, if there is such a window for the client. */
void stored_end_send(struct connection *c, const char *id);

#endif
