/*
 * Reports of what the store keeps, as jobs for the pool (daemon/answer/render.h).
 */
#ifndef JXPERF_DAEMON_SERVE_STORED_H
#define JXPERF_DAEMON_SERVE_STORED_H

#include "daemon/serve/connection.h"

/* The number of an id ("w7"); false for what is none. */
bool stored_number(const char *id, unsigned *number);

/* Sends the report of a window that is not in memory any more, if there is one for the client. */
void stored_send_report(struct connection *c, const Jxp__ReportRequest *request);

#endif
