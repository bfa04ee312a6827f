/*
 * The engine's side of one question about processes (daemon/inspector/inspector.h): asks the
 * broker, reads the inspector's answer, gives it to whoever asked.
 *
 * Loop thread only. done runs exactly once, from the loop, unless the inspection was freed before.
 */
#ifndef JXPERF_DAEMON_SERVE_INSPECTOR_ANSWER_H
#define JXPERF_DAEMON_SERVE_INSPECTOR_ANSWER_H

#include <uv.h>

#include "common/err.h"
#include "daemon/broker/client.h"
#include "proto/jxperf.pb-c.h"

struct inspection;

/* answer holds check, jvms or failure, and lives until the callback returns, which may free the
 * inspection. */
typedef void (*inspection_done_fn)(void *arg, Jxp__ControlReply *answer);

/* pid: of a process, INSPECT_MACHINE or INSPECT_LIST. On success *out is to be freed with
 * inspection_free. 0 or -errno. */
int inspection_new(struct inspection **out, uv_loop_t *loop, struct broker_client *broker, int pid,
		   inspection_done_fn done, void *arg, struct err *err);

/* At any time; an inspector that still runs is not waited for. free(NULL) is safe. */
void inspection_free(struct inspection *i);

#endif
