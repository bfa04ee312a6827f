/*
 * What the planner's parts share, for them alone: planner.c, which says what is due and what may
 * begin, planner_ended.c, what became of it, planner_tuning.c, how
 * probable windows are where there is a target, planner_view.c, what shows of all, and
 * planner_agents.c, whose agents there are.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_PLANNER_STATE_H
#define JXPERF_DAEMON_SCHEDULE_PLANNER_STATE_H

#include "daemon/schedule/known_jvms.h"
#include "daemon/schedule/planner_schedule.h"
#include "fleet/draw.h"

/* A window that the planner ordered and that has not ended. */
struct planner_running {
	char schedule[PLANNER_NAME_BYTES];
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid;
	double cost; /* share of all processors' CPU time, at most */
};

/* What the days before brought, and the day whose probabilities follow from it. */
struct planner_tuning {
	bool known;
	bool lacking;      /* newer evidence could not be read */
	uint64_t day;      /* that they are of, */
	uint64_t held_day; /* and for which they hold: a later one where nothing newer is known */
	struct planner_evidence *rows; /* by schedule and application; owned */
	size_t count;
};

struct planner {
	const struct config *config;
	char host[PLANNER_REASON_BYTES];
	struct planner_schedule *schedules;
	struct known_jvms jvms;
	struct planner_tuning tuning;
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

/* Sets the probability of each schedule that has a target for the JVM, whose application or
 * evidence may be another one now. */
void planner_tune_jvm(const struct planner *p, struct known_jvm *jvm);

/* The evidence is of no use any more. */
void planner_forget_tuning(struct planner *p);

/* The draws of a schedule for the plan's JVM in the epoch that unix_ns is in; jvm_fraction is 0
 * where that is not known yet. */
struct draw planner_draw(const struct planner *p, const struct config_schedule *s,
			 const struct plan *plan, uint64_t unix_ns);

/* What is counted of a schedule in a row begins anew. */
void planner_begin_row(struct planner_schedule *s);

#endif
