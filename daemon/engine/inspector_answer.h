/*
 * The engine's side of one question about processes (daemon/inspector/inspector.h): asks the
 * broker, reads the inspector's answer, gives it to whoever asked.
 *
 * Loop thread only. done runs exactly once, from the loop, unless it was freed before.
 */
#ifndef JXPERF_DAEMON_ENGINE_INSPECTOR_ANSWER_H
#define JXPERF_DAEMON_ENGINE_INSPECTOR_ANSWER_H

#include <uv.h>

#include "common/err.h"
#include "daemon/broker/client.h"
#include "proto/jxperf.pb-c.h"

struct inspector_answer;

/* answer holds check, jvms or failure, and lives until the callback returns, which may free it.
 */
typedef void (*inspector_answer_done_fn)(void *arg, Jxp__ControlReply *answer);

/* question: a BROKER_INSPECT, of which pid (of a process, INSPECTOR_MACHINE or INSPECTOR_LIST),
 * owner (there are only processes of owner; PROC_ANY_UID: of all users) and, for a list as if there
 * were only these processes, pids count. On success *out is to be freed with inspector_answer_free.
 * 0 or -errno. */
int inspector_answer_new(struct inspector_answer **out, uv_loop_t *loop,
			 struct broker_client *broker, const struct broker_request *question,
			 inspector_answer_done_fn done, void *arg, struct err *err);

/* At any time; an inspector that still runs is not waited for. free(NULL) is safe. */
void inspector_answer_free(struct inspector_answer *i);

#endif
