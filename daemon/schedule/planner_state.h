/*
 * What the planner's parts share, for them alone: planner.c, which says what is due and what may
 * begin, planner_ended.c, what became of it, planner_view.c, what shows
 * of both, and planner_agents.c, whose agents there are.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_PLANNER_STATE_H
#define JXPERF_DAEMON_SCHEDULE_PLANNER_STATE_H

#include "daemon/schedule/known_jvms.h"
#include "daemon/schedule/planner_schedule.h"

/* A window that the planner ordered and that has not ended. */
struct planner_running {
	char schedule[PLANNER_NAME_BYTES];
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid;
	double cost; /* share of all processors' CPU time, at most */
};

struct planner {
	const struct config *config;
	char host[PLANNER_REASON_BYTES];
	struct planner_schedule *schedules;
	struct known_jvms jvms;
	struct planner_running *running; /* config->windows_at_once of them */
	size_t running_count;
	size_t running_capacity;
	double admins_cost, users_cost; /* likewise, of windows that were not ordered here */
	enum miss held;
	uint64_t clock_ns;      /* time that has passed */
	struct shares failures; /* windows of a user in a row that failed */
	uint64_t begun;         /* windows so far */
	struct shares turns;    /* how many were, when a user's last one was */
};

/* NULL without one of that name. */
struct planner_schedule *planner_own_schedule(const struct planner *p, const char *name);

/* Why the JVM has no window of the plan's schedule now, whatever else is in the way. */
enum miss planner_jvms_own(const struct planner *p, const struct known_jvm *jvm,
			   const struct plan *plan);

/* What is counted of a schedule in a row begins anew. */
void planner_begin_row(struct planner_schedule *s);

#endif
