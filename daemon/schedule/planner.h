/*
 * Which JVM of this host is to be profiled next, and why another is not: the schedules of the
 * configuration, the draws of this host (fleet/draw.h) and the limits that hold for all windows.
 *
 * For every JVM and schedule that match there is one plan an epoch. It is run when its time has
 * come and nothing is in the way; what is in the way for too long makes it a missed one, which is
 * counted and not caught up. Where more are due than may run, users take turns: next is one of
 * the user who has fewest windows, then of the one whose last began longest ago.
 *
 * A failure is the JVM's: after a window that failed, was refused or cost too much its schedule
 * leaves that JVM alone, longer each time, and its windows are missed for that reason. A user whose
 * windows failed one after the other has one at a time. A schedule stops for cost alone, in several
 * JVMs in a row, and where JVMs of several users match it, in those of two users or more: so nobody
 * can stop it for others. It goes on by itself, later each time. All of this is forgotten when
 * another configuration comes.
 *
 * A schedule with a target of evidence draws a JVM with its application's probability, which
 * follows once a day from what windows of the days before brought (fleet/evidence.h).
 *
 * Knows no loop, engine or clock: it is told what there is and what became of windows, and asked
 * what to do, so that days can be tested in milliseconds. Times: unix_ns is CLOCK_REALTIME, which
 * may jump; age_ns and the rest come from clocks that do not.
 */
#ifndef JXPERF_DAEMON_SCHEDULE_PLANNER_H
#define JXPERF_DAEMON_SCHEDULE_PLANNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/schedule/known_jvms.h"
#include "daemon/schedule/planner_schedule.h"
#include "fleet/config/config.h"
#include "fleet/evidence.h"
#include "fleet/selector.h"
#include "proto/agent_note.h"

/* One JVM as it was found. */
struct planner_jvm {
	pid_t pid;
	uint64_t start_ticks; /* with pid, an identity that reuse cannot forge */
	uint64_t age_ns;      /* since it started, at this moment */
	uid_t uid;            /* whose it is */
	double cpu_share;     /* of the CPU time of all processors that it uses; 1 when not known */
	double collector_share; /* of the CPU time that it used lately; 0 where that is little, or
				 * not known */
	bool unnamed;           /* what the rules call it is not known yet, and waited for */
	enum miss refused;      /* what about it forbids to attach; MISS_NONE: nothing */
	struct jvm_facts facts; /* facts.app: its name without rules */
	const char *agent_version; /* of the agent that it has loaded; "" or NULL: none */
};

/* A window that is to be begun. */
struct planner_order {
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid;
	const struct config_schedule *schedule; /* of the configuration in force */
	double budget;                          /* the schedule's, or what the host's has left */
	double weight_s;                        /* draw_weight_s */
	uint64_t epoch;
	char app[PLANNER_NAME_BYTES];
	char version[PLANNER_NAME_BYTES]; /* of the application, or "" */
};

/* What `list` shows of a JVM. */
struct planner_view {
	uint64_t start_ticks; /* which one of this pid it is */
	uid_t uid;            /* whose */
	const char *app;
	const char *schedule;    /* of the next window, or "" */
	const char *last_window; /* id, or "" */
	enum miss why;           /* it has no windows at present, or MISS_NONE */
	double probability;     /* of a window in an epoch, where the schedule has a target; or 0 */
	uint64_t until_unix_ns; /* ... for so long; 0: until that is over */
	uint64_t next_unix_ns;  /* when it is due; 0: not in PLAN_EPOCHS_AHEAD_MAX, or not known yet
				 */
};

/* A window that runs and was not ordered here: somebody asked for it. */
struct planner_other {
	pid_t pid;
	double budget; /* of the JVM's CPU time */
	bool of_admin; /* asked for it */
};

/* How a window ended that was ordered. */
enum planner_outcome {
	OUTCOME_RAN,
	OUTCOME_COSTLY,
	OUTCOME_FAILED,
	OUTCOME_REFUSED, /* before anything was done to the JVM */
	OUTCOME_GONE, /* the JVM ended, or somebody ended the window: says nothing of the schedule
		       */
	OUTCOME_UNTRIED, /* the privileged half went before it could: a missed one */
};

struct planner_end {
	enum planner_outcome outcome;
	enum miss why;      /* of OUTCOME_REFUSED */
	const char *reason; /* in words */
	uint64_t overhead_ns;
	uint64_t unix_ns; /* now */
};

struct planner;

/* Borrows config, which has to last until the planner has another. host: this host in the draws.
 * NULL without memory. */
struct planner *planner_new(const struct config *config, const char *host);
void planner_free(struct planner *p);

/* From now on another configuration holds: names, schedules and limits are those of it. What a
 * schedule of the same name has counted stays; what stopped it, and what JVMs are left alone for,
 * does not. Windows that run are not touched. 0 or -ENOMEM with the old one in force. */
int planner_configure(struct planner *p, const struct config *config, const char *host);

/* The JVMs that there are: planner_found for each, between these two. Those that were not found are
 * forgotten at the end. planner_found also works alone: that JVM is there. */
void planner_begin_round(struct planner *p);
void planner_found(struct planner *p, const struct planner_jvm *jvm);
void planner_end_round(struct planner *p);

/* So many more JVMs are there, of which nothing is known since there are too many. */
void planner_left_out(struct planner *p, uint64_t count);

/* One JVM has ended, or is none. One that is not known is ignored. */
void planner_lost(struct planner *p, pid_t pid);

/* So much time has passed, by a clock that does not jump: all JVMs are older. */
void planner_pass_time(struct planner *p, uint64_t ns);

/* The part of the host's budget that windows of users who are no administrators take at most: the
 * rest is the schedules'. */
#define PLANNER_USERS_PART 0.5

/* The others that there are now. They never wait; what they may cost is the host's budget, too. An
 * administrator's in a JVM that is not known yet may cost what all processors do; a user's costs
 * nothing until it is known. */
void planner_set_others(struct planner *p, const struct planner_other *others, size_t count);

/* From now on nothing is begun, because the host is in that state; MISS_NONE: no more. */
void planner_hold(struct planner *p, enum miss why);

/* A schedule whose stop is over and that goes on now, or NULL: to be asked until then, before
 * planner_next. */
const struct planner_schedule *planner_resume(struct planner *p);

/* The window to begin now. True with *order set; the caller then says what came of it with
 * planner_began or planner_refused, and asks again. False: nothing is due, or not permitted.
 * minute: of the local day. is_profiled: does a window run in that JVM? */
bool planner_next(struct planner *p, uint64_t unix_ns, int minute,
		  bool (*is_profiled)(void *arg, pid_t pid), void *arg,
		  struct planner_order *order);

/* The order's window has been begun and is called window; or could not be. */
void planner_began(struct planner *p, const struct planner_order *order, const char *window);
void planner_refused(struct planner *p, const struct planner_order *order, enum miss why);

/* The JVM's window of this schedule has ended: a JVM has one window at a time. Windows that are not
 * of the planner's, whose schedule is "", are ignored. */
void planner_ended(struct planner *p, pid_t pid, const char *schedule,
		   const struct planner_end *end);

/* What an application's windows of a schedule brought, on the latest day before that has any. */
struct planner_evidence {
	char schedule[PLANNER_NAME_BYTES];
	char app[PLANNER_NAME_BYTES];
	struct day_evidence evidence;
};

/* Is there a schedule with a target, whose probabilities of the time's day (evidence_day) are not
 * known? Its JVMs have no windows until they are. */
bool planner_wants_evidence(const struct planner *p, uint64_t unix_ns);

/* This is all the evidence of the days before that day: rows, which is allocated and the planner's
 * from here on; NULL without any. What is not there is not known. */
void planner_take_evidence(struct planner *p, uint64_t day, struct planner_evidence *rows,
			   size_t count);

/* It cannot be read: probabilities of the day before hold on that day, too, or those of no evidence
 * where none are known. */
void planner_lack_evidence(struct planner *p, uint64_t day);

/* Do they hold for want of something newer? */
bool planner_lacks_evidence(const struct planner *p);

/* The mean probability, over its JVMs, of a window in an epoch; 0 where it is not known, or the
 * schedule has no target. */
double planner_probability(const struct planner *p, size_t schedule);

/* When planner_next has to be asked next, at the latest; UINT64_MAX: when something changes. */
uint64_t planner_next_unix_ns(const struct planner *p, uint64_t unix_ns);

/* How many JVMs of the last look stand so, for that reason. */
struct planner_count {
	enum jvm_state state;
	enum miss why;
	unsigned jvms;
};

/* One count for each state of a reason, also where it is 0; counts has room for
 * PLANNER_COUNTS_MAX. Returns how many there are. One whose schedules have all stopped themselves
 * is held, for MISS_COST. */
#define PLANNER_COUNTS_MAX (MISS_MAX + 2)
size_t planner_count_jvms(const struct planner *p, struct planner_count *counts);

/* How many JVMs of the last look have an agent of a version. Versions are JVMs' own word: what is
 * none ("1.2.3", "1.2.3-rc1"), what there is no room for, and of one user what is beyond
 * PLANNER_AGENTS_OF_USER is "other", which is the last. */
struct planner_agents {
	char version[AGENT_VERSION_BYTES];
	unsigned jvms;
};
#define PLANNER_AGENTS_MAX     16
#define PLANNER_AGENTS_OF_USER 3
size_t planner_count_agents(const struct planner *p,
			    struct planner_agents counts[PLANNER_AGENTS_MAX]);

size_t planner_schedule_count(const struct planner *p);
const struct planner_schedule *planner_schedule(const struct planner *p, size_t i);
/* NULL without one of that name. */
const struct planner_schedule *planner_find_schedule(const struct planner *p, const char *name);
uint64_t planner_jvms_over_limit(const struct planner *p);

/* Looks for the next window of every JVM, of which planner_view tells, with at most *draws draws, a
 * hash or two each, which are taken off: one an epoch on average, once the first are found. False
 * when they did not suffice: to be called again. */
bool planner_look_ahead(struct planner *p, uint64_t unix_ns, unsigned *draws);

/* Draws nothing. False for a JVM that is not known. */
bool planner_view(const struct planner *p, pid_t pid, uint64_t unix_ns, struct planner_view *out);

#endif
