/*
 * Reports that a client asks for: what is meant by the request, and the job that has it written
 * (daemon/answer/render.h), from what is in memory and what is kept alike.
 */
#ifndef JXPERF_DAEMON_SERVE_REPORTS_H
#define JXPERF_DAEMON_SERVE_REPORTS_H

#include "daemon/serve/connection.h"

/* Answers the request of the connection, at once or when the text is there. */
void reports_send_report(struct connection *c, const Jxp__ReportRequest *request);

/* Answers with the report of w, which is in memory and final. */
void reports_send_window(struct connection *c, const struct window_result *w,
			 const struct report_wanted *wanted);

#endif
