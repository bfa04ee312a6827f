/*
 * A window's loops compared with those of one before it, the baseline.
 */
#ifndef JXPERF_CLIENT_COMMAND_BASELINE_H
#define JXPERF_CLIENT_COMMAND_BASELINE_H

#include <stdint.h>

#include "client/daemon/client.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* Is there such a window, with loops, of the application that pid is, as far as the daemon knows
 * that? 0, or -errno with a line. */
int baseline_check(struct client *c, const char *window, uint32_t pid, struct err *err);

/* The report that request says, which has a baseline; free *reply with exchange_free_reply. 0, or
 * -errno with a line. */
int baseline_report(struct client *c, Jxp__ReportRequest *report, Jxp__ControlReply **reply,
		    struct err *err);

#endif
