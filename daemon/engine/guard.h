/*
 * The guard of one window: has the JVM watched from outside from the attach on, keeps what is seen
 * in the window's side_effects, and says when objects have to be switched off. It knows nothing of
 * the agent and does not believe it.
 *
 * A watcher that cannot be had, hangs or dies only means that side effects are not known, which the
 * report says.
 *
 * Loop thread only. Broker client and window are borrowed.
 */
#ifndef JXPERF_DAEMON_ENGINE_GUARD_H
#define JXPERF_DAEMON_ENGINE_GUARD_H

#include <uv.h>

#include "daemon/broker/client.h"
#include "profile/window/result.h"

struct guard;

/* line says what rose; from the loop, at most once, and only while the window tracks objects. */
typedef void (*guard_alarm_fn)(void *arg, const char *line);

/* Has the window's process watched from now on. NULL when it cannot be; the window's side_effects
 * say why. */
struct guard *guard_new(uv_loop_t *loop, struct broker_client *broker, struct window_result *result,
			guard_alarm_fn alarm, void *arg);

/* At any time: the watcher ends. free(NULL) is safe. */
void guard_free(struct guard *g);

#endif
