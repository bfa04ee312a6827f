#include "daemon/schedule/planner.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/label.h"
#include "common/saturate.h"
#include "daemon/schedule/plan.h"
#include "daemon/shares/shares.h"
#include "fleet/draw.h"
#include "fleet/naming.h"
#include "fleet/schedule.h"

/* "4194304:18446744073709551615" */
#define IDENTITY_BYTES 32

struct jvm {
	pid_t pid;
	uint64_t start_ticks;
	uid_t uid, first_uid; /* now, and when it came: whose share it is of */
	char identity[IDENTITY_BYTES];
	char app[PLANNER_NAME_BYTES];
	uint64_t age_ns;
	double cpu_share;
	double collector_share;
	enum miss refused;
	bool unnamed; /* by the rules in force */
	bool matches; /* a schedule */
	bool found;   /* in this round */
	char agent_version[AGENT_VERSION_BYTES];
	char last_window[PLANNER_WINDOW_BYTES];
	struct plan *plans; /* one for each schedule */
};

/* A window that the planner ordered and that has not ended. */
struct running {
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
	struct jvm *jvms;
	size_t jvm_count;
	struct shares owners; /* how many of the JVMs are whose */
	uint64_t over_limit;
	struct running *running; /* config->windows_at_once of them */
	size_t running_count;
	size_t running_capacity;
	double admins_cost, users_cost; /* likewise, of windows that were not ordered here */
	enum miss held;
	uint64_t clock_ns;      /* time that has passed */
	struct shares failures; /* windows of a user in a row that failed */
	uint64_t begun;         /* windows so far */
	struct shares turns;    /* how many were, when a user's last one was */
};

/* ---------------------------------------------------------------- configuration */

static struct planner_schedule *find_schedule(const struct planner *p, const char *name)
{
	for (size_t i = 0; p->schedules && i < p->config->schedule_count; i++)
		if (strcmp(p->schedules[i].config->name, name) == 0)
			return &p->schedules[i];
	return NULL;
}

/* What was counted under the same name goes on. 0 or -ENOMEM. */
static int make_schedules(const struct planner *p, const struct config *config,
			  struct planner_schedule **out)
{
	struct planner_schedule *made = calloc(config->schedule_count + 1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	for (size_t i = 0; i < config->schedule_count; i++) {
		const struct planner_schedule *old = find_schedule(p, config->schedules[i].name);

		if (old)
			made[i] = *old;
		made[i].config = &config->schedules[i];
		made[i].in_a_row = 0;
		made[i].stopped[0] = '\0';
		made[i].backoff = (struct backoff){0};
		made[i].costly_of = (struct shares){0};
		made[i].row++;
	}
	*out = made;
	return 0;
}

/* Its place is the caller's to fill. */
static void forget_jvm(struct planner *p, struct jvm *jvm)
{
	shares_give(&p->owners, jvm->first_uid, 1);
	free(jvm->plans);
}

static void free_schedules(struct planner *p)
{
	for (size_t i = 0; p->schedules && i < p->config->schedule_count; i++)
		shares_release(&p->schedules[i].costly_of);
	free(p->schedules);
}

static void forget_jvms(struct planner *p)
{
	for (size_t i = 0; i < p->jvm_count; i++)
		forget_jvm(p, &p->jvms[i]);
	p->jvm_count = 0;
}

/* The plans of a JVM under another configuration: those of a schedule that kept its name and its
 * epochs go on, so that nothing is run twice. What matches is seen when the JVM is found again. */
static struct plan *make_plans(const struct planner *p, const struct config *config,
			       const struct jvm *jvm)
{
	struct plan *plans = calloc(config->schedule_count + 1, sizeof(*plans));

	for (size_t i = 0; plans && i < config->schedule_count; i++) {
		const struct planner_schedule *old = find_schedule(p, config->schedules[i].name);

		if (!old || old->config->every_ns != config->schedules[i].every_ns)
			continue;
		plans[i] = jvm->plans[old - p->schedules];
		plans[i].ahead_from = plans[i].ahead_to = 0; /* Other fractions draw otherwise. */
		plans[i].next_unix_ns = 0;
		plans[i].trouble = MISS_NONE;
		plans[i].backoff = (struct backoff){0};
	}
	return plans;
}

/* 0 or -ENOMEM with nothing changed. */
static int remake_plans(struct planner *p, const struct config *config)
{
	struct plan **made = calloc(p->jvm_count + 1, sizeof(*made));
	int r = made ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < p->jvm_count; i++) {
		made[i] = make_plans(p, config, &p->jvms[i]);
		if (!made[i])
			r = -ENOMEM;
	}
	for (size_t i = 0; made && i < p->jvm_count; i++) {
		if (r == 0) {
			free(p->jvms[i].plans);
			p->jvms[i].plans = made[i];
		} else {
			free(made[i]);
		}
	}
	free(made);
	return r;
}

int planner_configure(struct planner *p, const struct config *config, const char *host)
{
	struct planner_schedule *schedules;
	size_t capacity = config->windows_at_once > p->running_capacity ? config->windows_at_once
									: p->running_capacity;
	struct running *running;

	if (make_schedules(p, config, &schedules) < 0)
		return -ENOMEM;
	running = reallocarray(p->running, capacity, sizeof(*running));
	if (running)
		p->running = running;
	if (!running || remake_plans(p, config) < 0) {
		free(schedules);
		return -ENOMEM;
	}
	p->running_capacity = capacity;
	free_schedules(p);
	shares_release(&p->failures);
	p->schedules = schedules;
	/* The round that follows names them again. */
	for (size_t i = 0; i < p->jvm_count && (p->config->app_count > 0 || config->app_count > 0);
	     i++)
		p->jvms[i].unnamed = true;
	p->config = config;
	(void)snprintf(p->host, sizeof(p->host), "%s", host); /* May be cut. */
	return 0;
}

struct planner *planner_new(const struct config *config, const char *host)
{
	struct planner *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->jvms = calloc(PLANNER_JVMS_MAX, sizeof(*p->jvms));
	if (!p->jvms || planner_configure(p, config, host) < 0) {
		planner_free(p);
		return NULL;
	}
	return p;
}

void planner_free(struct planner *p)
{
	if (!p)
		return;
	forget_jvms(p);
	shares_release(&p->owners);
	shares_release(&p->failures);
	shares_release(&p->turns);
	free(p->jvms);
	free_schedules(p);
	free(p->running);
	free(p);
}

/* ---------------------------------------------------------------- JVMs */

static struct jvm *find_jvm(const struct planner *p, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < p->jvm_count; i++)
		if (p->jvms[i].pid == pid && p->jvms[i].start_ticks == start_ticks)
			return &p->jvms[i];
	return NULL;
}

/* Which one makes way for a newcomer that there is no room for, or NULL: one that no schedule
 * matches for one that some does, else one of the user who has most. */
static struct jvm *who_makes_way(struct planner *p, uid_t uid, bool matches)
{
	struct jvm *most = NULL;

	for (size_t i = p->jvm_count; i-- > 0;) {
		struct jvm *jvm = &p->jvms[i];

		if (matches && !jvm->matches)
			return jvm;
		if (jvm->matches == matches && shares_makes_way(&p->owners, jvm->first_uid, uid) &&
		    (!most || shares_of(&p->owners, jvm->first_uid) >
				  shares_of(&p->owners, most->first_uid)))
			most = jvm;
	}
	return most;
}

/* False when there is none. What some schedule matches and has no place is counted. */
static bool make_room(struct planner *p, uid_t uid, bool matches)
{
	struct jvm *jvm;

	if (p->jvm_count < PLANNER_JVMS_MAX)
		return true;
	jvm = who_makes_way(p, uid, matches);
	p->over_limit += jvm ? jvm->matches : matches;
	if (!jvm)
		return false;
	forget_jvm(p, jvm);
	*jvm = p->jvms[--p->jvm_count];
	return true;
}

static bool matches_any(const struct planner *p, const struct jvm_facts *facts)
{
	for (size_t i = 0; i < p->config->schedule_count; i++)
		if (selector_matches(&p->config->schedules[i].match, facts))
			return true;
	return false;
}

static struct jvm *add_jvm(struct planner *p, const struct planner_jvm *found, bool matches)
{
	struct jvm *jvm;

	if (!make_room(p, found->uid, matches) || shares_add(&p->owners, found->uid, 1) < 0)
		return NULL;
	jvm = &p->jvms[p->jvm_count];
	*jvm = (struct jvm){
	    .pid = found->pid, .start_ticks = found->start_ticks, .first_uid = found->uid};
	jvm->plans = calloc(p->config->schedule_count + 1, sizeof(*jvm->plans));
	if (!jvm->plans) {
		forget_jvm(p, jvm);
		return NULL;
	}
	(void)snprintf(jvm->identity, sizeof(jvm->identity), "%d:%llu", (int)found->pid,
		       (unsigned long long)found->start_ticks);
	p->jvm_count++;
	return jvm;
}

void planner_begin_round(struct planner *p)
{
	for (size_t i = 0; i < p->jvm_count; i++)
		p->jvms[i].found = false;
}

void planner_found(struct planner *p, const struct planner_jvm *found)
{
	struct jvm *jvm = find_jvm(p, found->pid, found->start_ticks);
	struct jvm_facts facts = found->facts;
	char named[NAMING_BYTES];
	bool matches;

	if (naming_app(p->config, &facts, named))
		facts.app = named;
	matches = matches_any(p, &facts);
	if (!jvm)
		jvm = add_jvm(p, found, matches);
	if (!jvm)
		return;
	jvm->matches = matches;
	(void)snprintf(jvm->app, sizeof(jvm->app), "%s", facts.app ? facts.app : "");
	jvm->found = true;
	jvm->uid = found->uid;
	jvm->age_ns = found->age_ns;
	jvm->cpu_share = found->cpu_share;
	jvm->collector_share = found->collector_share;
	jvm->refused = found->refused;
	jvm->unnamed = found->unnamed;
	(void)snprintf(jvm->agent_version, sizeof(jvm->agent_version), "%s",
		       found->agent_version ? found->agent_version : "");
	for (size_t i = 0; i < p->config->schedule_count; i++)
		jvm->plans[i].matches = selector_matches(&p->config->schedules[i].match, &facts);
}

/* Those that were not found in this round, or have the pid. */
static void forget_some(struct planner *p, bool not_found, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->jvm_count; i++) {
		if (not_found ? p->jvms[i].found : p->jvms[i].pid != pid)
			p->jvms[kept++] = p->jvms[i];
		else
			forget_jvm(p, &p->jvms[i]);
	}
	p->jvm_count = kept;
}

void planner_end_round(struct planner *p)
{
	forget_some(p, true, 0);
}

void planner_lost(struct planner *p, pid_t pid)
{
	forget_some(p, false, pid);
}

void planner_pass_time(struct planner *p, uint64_t ns)
{
	p->clock_ns += ns;
	for (size_t i = 0; i < p->jvm_count; i++)
		p->jvms[i].age_ns += ns;
}

/* ---------------------------------------------------------------- plans */

static struct draw draw_of(const struct planner *p, const struct config_schedule *s)
{
	return schedule_draw(s, p->config->texts.salt, p->host);
}

/* Why the JVM has no window of this schedule now, whatever else is in the way. */
static enum miss jvms_own(const struct planner *p, const struct jvm *jvm, const struct plan *plan)
{
	if (jvm->refused)
		return jvm->refused;
	return backoff_lasts(&plan->backoff, p->clock_ns) ? plan->trouble : MISS_NONE;
}

static void miss(struct planner_schedule *s, struct plan *plan, enum miss why)
{
	s->missed[why]++;
	plan->state = PLAN_DONE;
}

static double spent(const struct planner *p)
{
	double users = p->config->host_budget * PLANNER_USERS_PART;
	double sum = p->admins_cost + (p->users_cost < users ? p->users_cost : users);

	for (size_t i = 0; i < p->running_count; i++)
		sum += p->running[i].cost;
	return sum;
}

/* What of the host's budget a window in this JVM may have, as a share of the JVM's CPU time. */
static double budget_left(const struct planner *p, const struct jvm *jvm)
{
	double left = p->config->host_budget - spent(p);
	double share = jvm->cpu_share > 0 ? jvm->cpu_share : 1e-6;

	return left > 0 ? left / share : 0;
}

/* A user whose windows failed so many times in a row has one at a time until one runs: each may
 * take its place for as long as an attach may last, and there can be any number of JVMs. */
#define FAILURES_MANY 3

static bool has_its_only_one(const struct planner *p, uid_t uid)
{
	bool many = shares_of(&p->failures, uid) >= FAILURES_MANY, runs = false;

	for (size_t i = 0; many && i < p->running_count; i++)
		runs = runs || p->running[i].uid == uid;
	return runs;
}

/* Is nothing in the way of a plan whose time has come? Else plan->in_the_way says what. */
static bool may_begin(const struct planner *p, const struct jvm *jvm,
		      const struct config_schedule *s, struct plan *plan, bool profiled)
{
	if (p->held)
		plan->in_the_way = p->held;
	else if (profiled)
		plan->in_the_way = MISS_BUSY;
	else if (jvm->collector_share >= p->config->guards.collector)
		plan->in_the_way = MISS_COLLECTOR;
	else if (p->running_count >= p->config->windows_at_once || has_its_only_one(p, jvm->uid))
		plan->in_the_way = MISS_LIMIT;
	/* With less than half of its budget a window says too little. */
	else if (budget_left(p, jvm) < s->budget / 2)
		plan->in_the_way = MISS_BUDGET;
	else
		return true;
	return false;
}

/* Whom a schedule leaves alone, without a window being missed: a JVM that it does not match or
 * that has just started, and all of them at other times of the day. */
static bool is_left_alone(const struct jvm *jvm, const struct planner_schedule *s,
			  const struct plan *plan, int minute)
{
	return !plan->matches || jvm->unnamed || s->stopped[0] ||
	       jvm->age_ns < s->config->warm_up_ns || !schedule_is_time_of_day(s->config, minute);
}

/* Is this plan's window to begin now? */
static bool is_ripe(struct planner *p, const struct jvm *jvm, struct planner_schedule *s,
		    struct plan *plan, uint64_t unix_ns, int minute, bool profiled)
{
	struct draw d = draw_of(p, s->config);
	enum miss missed;

	if (is_left_alone(jvm, s, plan, minute)) {
		if (plan_is_due(plan, unix_ns))
			plan->state = PLAN_NONE;
		return false;
	}
	if (plan_look(plan, &d, jvm->identity, unix_ns, &missed))
		s->missed[missed]++;
	if (!plan_is_due(plan, unix_ns))
		return false;
	if (jvms_own(p, jvm, plan)) {
		miss(s, plan, jvms_own(p, jvm, plan));
		return false;
	}
	if (plan_is_late(plan, s->config, unix_ns)) {
		miss(s, plan, plan->in_the_way);
		return false;
	}
	return may_begin(p, jvm, s->config, plan, profiled);
}

static void fill_order(const struct planner *p, const struct jvm *jvm,
		       const struct config_schedule *s, const struct plan *plan,
		       struct planner_order *order)
{
	struct draw d = draw_of(p, s);
	double left = budget_left(p, jvm);

	*order = (struct planner_order){.pid = jvm->pid,
					.start_ticks = jvm->start_ticks,
					.uid = jvm->uid,
					.schedule = s,
					.budget = left < s->budget ? left : s->budget,
					.weight_s = draw_weight_s(&d),
					.epoch = plan->epoch};
	memcpy(order->app, jvm->app, sizeof(order->app));
}

static double share_of(const struct planner *p, pid_t pid, double unknown)
{
	double share = unknown;

	for (size_t i = 0; i < p->jvm_count; i++)
		if (p->jvms[i].pid == pid)
			share = p->jvms[i].cpu_share;
	return share;
}

void planner_set_others(struct planner *p, const struct planner_other *others, size_t count)
{
	p->admins_cost = p->users_cost = 0;
	for (size_t i = 0; i < count; i++) {
		const struct planner_other *o = &others[i];
		double cost = o->budget * share_of(p, o->pid, o->of_admin ? 1 : 0);

		*(o->of_admin ? &p->admins_cost : &p->users_cost) += cost;
	}
}

void planner_hold(struct planner *p, enum miss why)
{
	p->held = why;
}

static void begin_row(struct planner_schedule *s)
{
	s->row++;
	s->in_a_row = 0;
	shares_release(&s->costly_of);
}

const struct planner_schedule *planner_resume(struct planner *p)
{
	for (size_t i = 0; i < p->config->schedule_count; i++) {
		struct planner_schedule *s = &p->schedules[i];

		if (!s->stopped[0] || backoff_lasts(&s->backoff, p->clock_ns))
			continue;
		s->stopped[0] = '\0';
		begin_row(s);
		return s;
	}
	return NULL;
}

static unsigned running_of(const struct planner *p, uid_t uid)
{
	unsigned count = 0;

	for (size_t i = 0; i < p->running_count; i++)
		count += p->running[i].uid == uid;
	return count;
}

/* Users take turns: a user with many JVMs would have all places again and again. */
static bool comes_before(const struct planner *p, uid_t uid, uid_t other)
{
	unsigned runs = running_of(p, uid), others = running_of(p, other);

	return runs != others ? runs < others
			      : shares_of(&p->turns, uid) < shares_of(&p->turns, other);
}

/* Without memory the user's next turn comes early. */
static void take_turn(struct planner *p, uid_t uid)
{
	if (p->turns.count >= PLANNER_JVMS_MAX)
		shares_release(&p->turns);
	(void)shares_add(&p->turns, uid, ++p->begun - shares_of(&p->turns, uid));
}

bool planner_next(struct planner *p, uint64_t unix_ns, int minute,
		  bool (*is_profiled)(void *arg, pid_t pid), void *arg, struct planner_order *order)
{
	const struct jvm *best = NULL;
	size_t of = 0;

	for (size_t i = 0; i < p->jvm_count; i++) {
		struct jvm *jvm = &p->jvms[i];
		bool profiled = is_profiled(arg, jvm->pid);

		for (size_t j = 0; j < p->config->schedule_count; j++)
			if (is_ripe(p, jvm, &p->schedules[j], &jvm->plans[j], unix_ns, minute,
				    profiled) &&
			    (!best || comes_before(p, jvm->uid, best->uid))) {
				best = jvm;
				of = j;
			}
	}
	if (best)
		fill_order(p, best, p->schedules[of].config, &best->plans[of], order);
	return best;
}

static struct plan *plan_of(struct planner *p, const struct planner_order *order, struct jvm **jvm)
{
	*jvm = find_jvm(p, order->pid, order->start_ticks);
	return *jvm ? &(*jvm)->plans[order->schedule - p->config->schedules] : NULL;
}

void planner_began(struct planner *p, const struct planner_order *order, const char *window)
{
	struct running *r = &p->running[p->running_count++]; /* may_begin saw that there is room. */
	struct jvm *jvm;
	struct plan *plan = plan_of(p, order, &jvm);

	(void)snprintf(r->schedule, sizeof(r->schedule), "%s", order->schedule->name);
	r->pid = order->pid;
	r->start_ticks = order->start_ticks;
	r->uid = order->uid;
	take_turn(p, order->uid);
	r->cost = order->budget * (jvm ? jvm->cpu_share : 1);
	if (!plan)
		return;
	plan->state = PLAN_DONE;
	plan->refused = MISS_NONE;
	(void)snprintf(jvm->last_window, sizeof(jvm->last_window), "%s",
		       window); /* Window ids are short. */
}

void planner_refused(struct planner *p, const struct planner_order *order, enum miss why)
{
	struct jvm *jvm;
	struct plan *plan = plan_of(p, order, &jvm);

	if (!plan)
		return;
	plan->refused = why ? why : MISS_REFUSED;
	miss(&p->schedules[order->schedule - p->config->schedules], plan, plan->refused);
}

/* ---------------------------------------------------------------- how windows ended */

/* Does the schedule match JVMs of several users? */
static bool has_several_users(const struct planner *p, const struct planner_schedule *s)
{
	size_t of = (size_t)(s - p->schedules);
	uid_t first = PROC_ANY_UID;

	for (size_t i = 0; i < p->jvm_count; i++) {
		assert(p->jvms[i].plans); /* add_jvm saw to it. */
		if (!p->jvms[i].plans[of].matches)
			continue;
		if (first != PROC_ANY_UID && p->jvms[i].uid != first)
			return true;
		first = p->jvms[i].uid;
	}
	return false;
}

/* Each JVM counts once in a row of costly windows. */
static void count_cost(struct planner *p, struct planner_schedule *s, struct plan *plan,
		       const struct running *r, const char *reason)
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
		       const struct running *r, const struct planner_end *end)
{
	s->windows++;
	s->last_ran_unix_ns = end->unix_ns;
	s->backoff = s->stopped[0] ? s->backoff : (struct backoff){0};
	begin_row(s);
	shares_give(&p->failures, r->uid, shares_of(&p->failures, r->uid));
	if (plan)
		plan->backoff = (struct backoff){0};
}

static void judge(struct planner *p, struct planner_schedule *s, const struct running *r,
		  const struct planner_end *end)
{
	struct jvm *jvm = find_jvm(p, r->pid, r->start_ticks);
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
		struct running ended = p->running[i];
		struct planner_schedule *s;

		if (ended.pid != pid || strcmp(ended.schedule, schedule) != 0)
			continue;
		p->running[i] = p->running[--p->running_count];
		s = find_schedule(p, ended.schedule);
		if (s)
			judge(p, s, &ended, end);
		return;
	}
}

/* ---------------------------------------------------------------- questions */

uint64_t planner_next_unix_ns(const struct planner *p, uint64_t unix_ns)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < p->jvm_count; i++)
		for (size_t j = 0; j < p->config->schedule_count; j++) {
			const struct plan *plan = &p->jvms[i].plans[j];
			struct draw d = draw_of(p, p->schedules[j].config);
			uint64_t at = plan->state == PLAN_DUE && plan->start_unix_ns > unix_ns
					  ? plan->start_unix_ns
					  : draw_epoch_start(&d, draw_epoch(&d, unix_ns) + 1);

			if (plan->matches && at < next)
				next = at;
		}
	return next;
}

/* What keeps all schedules from the JVM that mean it, and in *until_ns for how long, by the
 * planner's clock; 0: until that is over. */
static enum miss why_not(const struct planner *p, const struct jvm *jvm, uint64_t *until_ns)
{
	enum miss why = jvm->refused;

	*until_ns = 0;
	for (size_t i = 0; i < p->config->schedule_count && !jvm->refused; i++) {
		const struct plan *plan = &jvm->plans[i];
		enum miss own = jvms_own(p, jvm, plan);

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

/* All schedules that match it have stopped themselves. */
static bool is_stopped(const struct planner *p, const struct jvm *jvm)
{
	for (size_t i = 0; i < p->config->schedule_count; i++)
		if (jvm->plans[i].matches && !p->schedules[i].stopped[0])
			return false;
	return jvm->matches;
}

/* Why none of its windows begins now, though nothing is wrong with it. */
static enum miss why_held(const struct planner *p, const struct jvm *jvm)
{
	if (p->held)
		return p->held;
	if (jvm->collector_share >= p->config->guards.collector)
		return MISS_COLLECTOR;
	return is_stopped(p, jvm) ? MISS_COST : MISS_NONE;
}

size_t planner_count_jvms(const struct planner *p, struct planner_count *counts)
{
	unsigned unmatched = 0, stopped, held[MISS_MAX] = {0}, jvms[MISS_MAX] = {0};
	uint64_t until_ns;
	size_t n = 0;

	for (size_t i = 0; i < p->jvm_count; i++) {
		const struct jvm *jvm = &p->jvms[i];
		enum miss own = why_not(p, jvm, &until_ns);

		if (!jvm->matches)
			unmatched++;
		else if (miss_state(own) == JVM_SKIPPED || miss_state(own) == JVM_REFUSED)
			jvms[own]++;
		else
			held[why_held(p, jvm)]++;
	}
	stopped = held[MISS_COST];
	counts[n++] = (struct planner_count){JVM_UNMATCHED, MISS_NONE, unmatched};
	counts[n++] = (struct planner_count){JVM_HELD, MISS_COST, stopped};
	for (unsigned why = 0; why < MISS_MAX; why++)
		if (why == MISS_NONE || miss_state(why) != JVM_COVERED)
			counts[n++] = (struct planner_count){
			    miss_state(why), why,
			    miss_state(why) == JVM_HELD || why == MISS_NONE ? held[why]
									    : jvms[why]};
	return n;
}

/* "1.2.3", and what may follow behind '-', '+' or '~'. */
static bool is_version(const char *text)
{
	for (int part = 0; part < 3; part++) {
		size_t digits = strspn(text, "0123456789");

		if (digits < 1 || digits > 4 || (part < 2 && text[digits] != '.'))
			return false;
		text += digits + (part < 2);
	}
	return !*text ||
	       (strchr("-+~", *text) && text[1] && label_is_valid(text + 1, strlen(text + 1)));
}

struct version_owner {
	uid_t uid;
	unsigned versions; /* a bit for each place */
};

static struct version_owner *find_owner(struct version_owner *owners, size_t *count, uid_t uid)
{
	size_t i = 0;

	while (i < *count && owners[i].uid != uid)
		i++;
	if (i == *count)
		owners[(*count)++] = (struct version_owner){.uid = uid};
	return &owners[i];
}

#define OTHER_VERSION (PLANNER_AGENTS_MAX - 1)

/* Where a JVM's version is counted. */
static size_t place_version(const struct planner_agents *counts, size_t n, const char *version,
			    struct version_owner *owner)
{
	size_t at = 0;
	bool has;

	if (strcmp(version, AGENT_VERSION_UNTOLD) != 0 && !is_version(version))
		return OTHER_VERSION;
	while (at < n && strcmp(counts[at].version, version) != 0)
		at++;
	if (at >= OTHER_VERSION)
		return OTHER_VERSION;
	has = owner->versions & 1u << at;
	if (!has && __builtin_popcount(owner->versions) >= PLANNER_AGENTS_OF_USER)
		return OTHER_VERSION;
	owner->versions |= 1u << at;
	return at;
}

size_t planner_count_agents(const struct planner *p,
			    struct planner_agents counts[PLANNER_AGENTS_MAX])
{
	struct version_owner owners[PLANNER_JVMS_MAX];
	struct planner_agents *other = &counts[OTHER_VERSION];
	size_t n = 0, owner_count = 0;

	*other = (struct planner_agents){.version = "other"};
	for (size_t i = 0; i < p->jvm_count; i++) {
		const struct jvm *jvm = &p->jvms[i];
		size_t at;

		if (!jvm->agent_version[0])
			continue;
		at = place_version(counts, n, jvm->agent_version,
				   find_owner(owners, &owner_count, jvm->uid));
		if (at == n && at < OTHER_VERSION) {
			counts[n++] = (struct planner_agents){0};
			strcpy(counts[at].version, jvm->agent_version); /* Same size. */
		}
		counts[at].jvms++;
	}
	if (other->jvms)
		counts[n++] = *other;
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
	return find_schedule(p, name);
}

void planner_left_out(struct planner *p, uint64_t count)
{
	p->over_limit += count;
}

uint64_t planner_jvms_over_limit(const struct planner *p)
{
	return p->over_limit;
}

bool planner_look_ahead(struct planner *p, uint64_t unix_ns, unsigned *draws)
{
	for (size_t i = 0; i < p->jvm_count; i++)
		for (size_t j = 0; j < p->config->schedule_count; j++) {
			struct plan *plan = &p->jvms[i].plans[j];
			struct draw d = draw_of(p, p->schedules[j].config);

			if (plan->matches &&
			    !plan_look_ahead(plan, &d, p->jvms[i].identity, unix_ns, draws))
				return false;
		}
	return true;
}

/* When the JVM's next window of a schedule is due; 0: that is not known. */
static uint64_t next_start(const struct planner *p, const struct jvm *jvm, size_t schedule,
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
	const struct jvm *jvm = NULL;
	uint64_t until_ns = 0;

	for (size_t i = 0; i < p->jvm_count; i++)
		if (p->jvms[i].pid == pid)
			jvm = &p->jvms[i];
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
		out->next_unix_ns = start_ns;
	}
	return true;
}
