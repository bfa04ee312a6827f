#include "daemon/schedule/planner.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/saturate.h"
#include "daemon/schedule/planner_state.h"

/* Does the schedule match JVMs of several users? */
static bool has_several_users(const struct planner *p, const struct planner_schedule *s)
{
	size_t of = (size_t)(s - p->schedules);
	uid_t first = PROC_ANY_UID;

	for (size_t i = 0; i < p->jvms.count; i++) {
		assert(p->jvms.rows[i].plans); /* known_jvms_add saw to it. */
		if (!p->jvms.rows[i].plans[of].matches)
			continue;
		if (first != PROC_ANY_UID && p->jvms.rows[i].uid != first)
			return true;
		first = p->jvms.rows[i].uid;
	}
	return false;
}

/* Each JVM counts once in a row of costly windows. */
static void count_cost(struct planner *p, struct planner_schedule *s, struct plan *plan,
		       const struct planner_running *r, const char *reason)
{
	if (plan && plan->row == s->row)
		return;
	if (plan)
		plan->row = s->row;
	s->in_a_row++;
	(void)shares_add(&s->costly_of, r->uid, 1); /* Without memory it stops later. */
	if (s->stopped[0] || s->in_a_row < s->config->failures ||
	    (s->costly_of.count < 2 && has_several_users(p, s)))
		return;
	backoff_extend(&s->backoff, p->clock_ns, s->config->every_ns);
	(void)snprintf(s->stopped, sizeof(s->stopped),
		       "windows in %u JVMs in a row cost more than their budget: %s", s->in_a_row,
		       reason); /* May be cut. */
}

/* A JVM that another daemon is in is free again when that has ended: nothing is wrong with it. */
static void leave_alone(const struct planner *p, const struct planner_schedule *s,
			struct plan *plan, enum miss why)
{
	if (!plan || why == MISS_BUSY)
		return;
	plan->trouble = why;
	backoff_extend(&plan->backoff, p->clock_ns, s->config->every_ns);
}

static void window_ran(struct planner *p, struct planner_schedule *s, struct plan *plan,
		       const struct planner_running *r, const struct planner_end *end)
{
	s->windows++;
	s->last_ran_unix_ns = end->unix_ns;
	s->backoff = s->stopped[0] ? s->backoff : (struct backoff){0};
	planner_begin_row(s);
	(void)shares_set(&p->failures, r->uid, 0); /* Takes no memory. */
	if (plan)
		plan->backoff = (struct backoff){0};
}

static void judge(struct planner *p, struct planner_schedule *s, const struct planner_running *r,
		  const struct planner_end *end)
{
	struct known_jvm *jvm = known_jvms_find(&p->jvms, r->pid, r->start_ticks);
	struct plan *plan = jvm ? &jvm->plans[s - p->schedules] : NULL;

	saturate_add(&s->overhead_ns, end->overhead_ns);
	switch (end->outcome) {
	case OUTCOME_RAN:
		window_ran(p, s, plan, r, end);
		break;
	case OUTCOME_COSTLY:
		s->windows++;
		s->costly++;
		leave_alone(p, s, plan, MISS_COST);
		count_cost(p, s, plan, r, end->reason);
		break;
	case OUTCOME_FAILED:
		s->failed++;
		leave_alone(p, s, plan, MISS_FAILED);
		(void)shares_add(&p->failures, r->uid, 1); /* Without memory it is not counted. */
		break;
	case OUTCOME_REFUSED:
		s->missed[end->why]++;
		leave_alone(p, s, plan, end->why);
		break;
	case OUTCOME_UNTRIED:
		s->missed[MISS_BROKER]++;
		break;
	case OUTCOME_GONE:
		break;
	}
}

void planner_ended(struct planner *p, pid_t pid, const char *schedule,
		   const struct planner_end *end)
{
	for (size_t i = 0; i < p->running_count; i++) {
		struct planner_running ended = p->running[i];
		struct planner_schedule *s;

		if (ended.pid != pid || strcmp(ended.schedule, schedule) != 0)
			continue;
		p->running[i] = p->running[--p->running_count];
		s = planner_own_schedule(p, ended.schedule);
		if (s)
			judge(p, s, &ended, end);
		return;
	}
}
