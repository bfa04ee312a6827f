#include "daemon/schedule/planner.h"

#include <string.h>

#include "daemon/schedule/planner_state.h"

/* What keeps all schedules from the JVM that mean it, and in *until_ns for how long, by the
 * planner's clock; 0: until that is over. */
static enum miss why_not(const struct planner *p, const struct known_jvm *jvm, uint64_t *until_ns)
{
	enum miss why = jvm->refused;

	*until_ns = 0;
	for (size_t i = 0; i < p->config->schedule_count && !jvm->refused; i++) {
		const struct plan *plan = &jvm->plans[i];
		enum miss own = planner_jvms_own(p, jvm, plan);

		if (!plan->matches)
			continue;
		if (!own && !plan->refused)
			return MISS_NONE;
		if (own && (!*until_ns || plan->backoff.until_ns < *until_ns))
			*until_ns = plan->backoff.until_ns;
		why = own ? own : plan->refused;
	}
	return why;
}

/* Of a JVM that some schedule matches: have all that do stopped themselves? */
static bool is_stopped(const struct planner *p, const struct known_jvm *jvm)
{
	for (size_t i = 0; i < p->config->schedule_count; i++)
		if (jvm->plans[i].matches && !p->schedules[i].stopped[0])
			return false;
	return true;
}

/* Why none of its windows begins now, though nothing is wrong with it. */
static enum miss why_held(const struct planner *p, const struct known_jvm *jvm)
{
	if (p->held)
		return p->held;
	if (jvm->collector_share >= p->config->guards.collector)
		return MISS_COLLECTOR;
	return is_stopped(p, jvm) ? MISS_COST : MISS_NONE;
}

/* How the JVM stands, and in *why for what reason. */
static enum jvm_state state_of(const struct planner *p, const struct known_jvm *jvm, enum miss *why)
{
	enum jvm_state state;
	uint64_t until_ns;

	*why = MISS_NONE;
	if (!jvm->matches)
		return JVM_UNMATCHED;
	*why = why_not(p, jvm, &until_ns);
	state = miss_state(*why);
	if (state == JVM_SKIPPED || state == JVM_REFUSED)
		return state;
	*why = why_held(p, jvm);
	return *why ? JVM_HELD : JVM_COVERED;
}

size_t planner_count_jvms(const struct planner *p, struct planner_count *counts)
{
	unsigned jvms[JVM_STATES][MISS_MAX] = {0};
	enum miss why;
	size_t n = 0;

	for (size_t i = 0; i < p->jvms.count; i++) {
		enum jvm_state state = state_of(p, &p->jvms.rows[i], &why);

		jvms[state][why]++;
	}
	counts[n++] =
	    (struct planner_count){JVM_UNMATCHED, MISS_NONE, jvms[JVM_UNMATCHED][MISS_NONE]};
	counts[n++] = (struct planner_count){JVM_HELD, MISS_COST, jvms[JVM_HELD][MISS_COST]};
	for (why = MISS_NONE; why < MISS_MAX; why++)
		if (why == MISS_NONE || miss_state(why) != JVM_COVERED)
			counts[n++] = (struct planner_count){miss_state(why), why,
							     jvms[miss_state(why)][why]};
	return n;
}

size_t planner_schedule_count(const struct planner *p)
{
	return p->config->schedule_count;
}

const struct planner_schedule *planner_schedule(const struct planner *p, size_t i)
{
	return &p->schedules[i];
}

const struct planner_schedule *planner_find_schedule(const struct planner *p, const char *name)
{
	return planner_own_schedule(p, name);
}

uint64_t planner_jvms_over_limit(const struct planner *p)
{
	return p->jvms.over_limit;
}

/* When the JVM's next window of a schedule is due; 0: that is not known. */
static uint64_t next_start(const struct planner *p, const struct known_jvm *jvm, size_t schedule,
			   uint64_t unix_ns)
{
	const struct plan *plan = &jvm->plans[schedule];

	if (!plan->matches || p->schedules[schedule].stopped[0])
		return 0;
	if (plan->state == PLAN_DUE && plan->start_unix_ns >= unix_ns)
		return plan->start_unix_ns;
	return plan->next_unix_ns >= unix_ns ? plan->next_unix_ns : 0;
}

bool planner_view(const struct planner *p, pid_t pid, uint64_t unix_ns, struct planner_view *out)
{
	const struct known_jvm *jvm = known_jvms_of_pid(&p->jvms, pid);
	uint64_t until_ns = 0;

	if (!jvm)
		return false;
	*out = (struct planner_view){.start_ticks = jvm->start_ticks,
				     .uid = jvm->uid,
				     .app = jvm->app,
				     .schedule = "",
				     .last_window = jvm->last_window,
				     .why = jvm->matches ? why_not(p, jvm, &until_ns) : MISS_NONE};
	if (out->why && until_ns > p->clock_ns)
		out->until_unix_ns = unix_ns + (until_ns - p->clock_ns);
	for (size_t j = 0; j < p->config->schedule_count; j++) {
		uint64_t start_ns = next_start(p, jvm, j, unix_ns);

		if (out->why && (out->until_unix_ns == 0 || start_ns < out->until_unix_ns))
			continue; /* It is not run, or not known. */
		if (start_ns == 0 || (out->next_unix_ns && start_ns >= out->next_unix_ns))
			continue;
		out->schedule = p->schedules[j].config->name;
		out->probability = jvm->plans[j].probability;
		out->next_unix_ns = start_ns;
	}
	return true;
}
