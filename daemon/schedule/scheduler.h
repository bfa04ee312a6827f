/*
 * Windows that nobody asked for: has the planner (daemon/schedule/planner.h) told which JVMs there
 * are, begins the windows that it orders, and tells it what became of them.
 *
 * Which JVMs there are it has from daemon/schedule/survey.h. Without a schedule nothing runs at
 * all.
 *
 * Loop thread only. Engine, broker client and configuration are borrowed.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_SCHEDULER_H
#define JXPERF_DAEMON_SCHEDULE_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "common/err.h"
#include "daemon/schedule/planner.h"
#include "profile/window/request.h"

/* A window has cost too much above this many times its budget: the budget is kept on average, and a
 * short window ends before the average is reached. */
#define SCHEDULER_COSTLY 1.5
/* And beyond what a window costs whatever it samples, in the JVM: of a program that has little to
 * do that is more than its budget (9 to 23 ms were measured, docs/measurements.md). */
#define SCHEDULER_FIXED_NS UINT64_C(30000000)

struct broker_client;
struct broker_event;
struct newcomers;
struct engine;
struct scheduler;
struct survey_pace;

/* Begins with a round at once, if config has schedules. config has to last until the scheduler has
 * another. The scheduler becomes a sink of the engine's and asks in its queue: it is to be freed
 * before it, with no turn of the loop in between. 0 or -ENOMEM. */
int scheduler_new(struct scheduler **out, uv_loop_t *loop, struct engine *engine,
		  struct broker_client *broker, const struct config *config,
		  const struct survey_pace *pace, struct err *err);

/* From now on another configuration holds (planner_configure); a round follows at once. 0, or
 * -ENOMEM with the old one in force. */
int scheduler_configure(struct scheduler *s, const struct config *config, struct err *err);

/* Windows are kept in that database, whose path is copied (daemon/schedule/tuner.h); until then, or
 * with NULL, in none. */
void scheduler_set_store(struct scheduler *s, const char *database);

/* No round and no window begins any more. */
void scheduler_stop(struct scheduler *s);

/* The memory goes when the loop has closed a handle. free(NULL) is safe. */
void scheduler_free(struct scheduler *s);

/* Without a broker nothing is begun: what is due then is missed for that reason.
 * survey_lost_broker, survey_has_broker. */
void scheduler_lost_broker(struct scheduler *s);
void scheduler_has_broker(struct scheduler *s);

/* What the broker says unasked. */
void scheduler_take_event(struct scheduler *s, const struct broker_event *event);

/* What counts are of; there is always one. */
const struct planner *scheduler_planner(const struct scheduler *s);

/* How JVMs are found. */
const struct newcomers *scheduler_newcomers(const struct scheduler *s);

bool scheduler_has_schedules(const struct scheduler *s);

/* What the rules call a JVM, whether there are schedules or not; false where none of them does. */
bool scheduler_name(const struct scheduler *s, const Jxp__Jvm *jvm, char app[WINDOW_NAME_BYTES],
		    char version[WINDOW_NAME_BYTES]);

/* What is known of a JVM that a round has found; false for others. */
bool scheduler_view(const struct scheduler *s, pid_t pid, struct planner_view *out);

#endif
