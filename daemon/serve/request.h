/* The control requests: what each means and what it is answered. */
#ifndef JXPERF_DAEMON_SERVE_REQUEST_H
#define JXPERF_DAEMON_SERVE_REQUEST_H

#include "daemon/serve/connection.h"
#include "proto/jxperf.pb-c.h"

/* Answers request on c, or starts what will. */
void request_handle(struct connection *c, const Jxp__ControlRequest *request);

#endif
