#include "daemon/schedule/planner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedule/planner_state.h"
#include "fleet/draw.h"
#include "fleet/naming.h"
#include "fleet/schedule.h"

/* ---------------------------------------------------------------- configuration */

struct planner_schedule *planner_own_schedule(const struct planner *p, const char *name)
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
		const struct planner_schedule *old =
		    planner_own_schedule(p, config->schedules[i].name);

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

static void free_schedules(struct planner *p)
{
	for (size_t i = 0; p->schedules && i < p->config->schedule_count; i++)
		shares_release(&p->schedules[i].costly_of);
	free(p->schedules);
}

/* The plans of a JVM under another configuration: those of a schedule that kept its name and its
 * epochs go on, so that nothing is run twice. What matches is seen when the JVM is found again. */
static struct plan *make_plans(const struct planner *p, const struct config *config,
			       const struct known_jvm *jvm)
{
	struct plan *plans = calloc(config->schedule_count + 1, sizeof(*plans));

	for (size_t i = 0; plans && i < config->schedule_count; i++) {
		const struct planner_schedule *old =
		    planner_own_schedule(p, config->schedules[i].name);

		if (!old || old->config->every_ns != config->schedules[i].every_ns)
			continue;
		plans[i] = jvm->plans[old - p->schedules];
		plans[i].ahead_from = plans[i].ahead_to = 0; /* Other fractions draw otherwise. */
		plans[i].next_unix_ns = 0;
		plans[i].trouble = MISS_NONE;
		plans[i].probability = 0;
		plans[i].backoff = (struct backoff){0};
	}
	return plans;
}

/* 0 or -ENOMEM with nothing changed. */
static int remake_plans(struct planner *p, const struct config *config)
{
	struct plan **made = calloc(p->jvms.count + 1, sizeof(*made));
	int r = made ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < p->jvms.count; i++) {
		made[i] = make_plans(p, config, &p->jvms.rows[i]);
		if (!made[i])
			r = -ENOMEM;
	}
	for (size_t i = 0; made && i < p->jvms.count; i++) {
		if (r == 0) {
			free(p->jvms.rows[i].plans);
			p->jvms.rows[i].plans = made[i];
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
	struct planner_running *running;

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
	for (size_t i = 0; i < p->jvms.count && (p->config->app_count > 0 || config->app_count > 0);
	     i++)
		p->jvms.rows[i].unnamed = true;
	p->config = config;
	planner_forget_tuning(p);
	(void)snprintf(p->host, sizeof(p->host), "%s", host); /* May be cut. */
	return 0;
}

struct planner *planner_new(const struct config *config, const char *host)
{
	struct planner *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (known_jvms_init(&p->jvms) < 0 || planner_configure(p, config, host) < 0) {
		planner_free(p);
		return NULL;
	}
	return p;
}

void planner_free(struct planner *p)
{
	if (!p)
		return;
	known_jvms_release(&p->jvms);
	planner_forget_tuning(p);
	shares_release(&p->failures);
	shares_release(&p->turns);
	free_schedules(p);
	free(p->running);
	free(p);
}

/* ---------------------------------------------------------------- JVMs */

static bool matches_any(const struct planner *p, const struct jvm_facts *facts)
{
	for (size_t i = 0; i < p->config->schedule_count; i++)
		if (selector_matches(&p->config->schedules[i].match, facts))
			return true;
	return false;
}

void planner_begin_round(struct planner *p)
{
	for (size_t i = 0; i < p->jvms.count; i++)
		p->jvms.rows[i].found = false;
}

void planner_found(struct planner *p, const struct planner_jvm *found)
{
	struct known_jvm *jvm = known_jvms_find(&p->jvms, found->pid, found->start_ticks);
	struct jvm_facts facts = found->facts;
	char named[NAMING_BYTES], version[NAMING_BYTES] = "";

	if (naming_app(p->config, &facts, named, version))
		facts.app = named;
	if (!jvm)
		jvm = known_jvms_add(&p->jvms, found->pid, found->start_ticks, found->uid,
				     matches_any(p, &facts), p->config->schedule_count);
	if (!jvm)
		return;
	(void)snprintf(jvm->app, sizeof(jvm->app), "%s", facts.app ? facts.app : "");
	memcpy(jvm->version, version, sizeof(jvm->version));
	jvm->found = true;
	jvm->uid = found->uid;
	jvm->age_ns = found->age_ns;
	jvm->cpu_share = found->cpu_share;
	jvm->collector_share = found->collector_share;
	jvm->refused = found->refused;
	jvm->unnamed = found->unnamed;
	(void)snprintf(jvm->agent_version, sizeof(jvm->agent_version), "%s",
		       found->agent_version ? found->agent_version : "");
	jvm->matches = false;
	for (size_t i = 0; i < p->config->schedule_count; i++) {
		jvm->plans[i].matches = selector_matches(&p->config->schedules[i].match, &facts);
		jvm->matches |= jvm->plans[i].matches;
	}
	planner_tune_jvm(p, jvm);
}

void planner_end_round(struct planner *p)
{
	known_jvms_forget_unfound(&p->jvms);
}

void planner_left_out(struct planner *p, uint64_t count)
{
	p->jvms.over_limit += count;
}

void planner_lost(struct planner *p, pid_t pid)
{
	known_jvms_forget(&p->jvms, pid);
}

void planner_pass_time(struct planner *p, uint64_t ns)
{
	p->clock_ns += ns;
	for (size_t i = 0; i < p->jvms.count; i++)
		p->jvms.rows[i].age_ns += ns;
}

/* ---------------------------------------------------------------- plans */

enum miss planner_jvms_own(const struct planner *p, const struct known_jvm *jvm,
			   const struct plan *plan)
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
static double budget_left(const struct planner *p, const struct known_jvm *jvm)
{
	double left = p->config->host_budget - spent(p);
	double share = jvm->cpu_share > 0 ? jvm->cpu_share : 1e-6;

	return left > 0 ? left / share : 0;
}

static unsigned running_of(const struct planner *p, uid_t uid)
{
	unsigned count = 0;

	for (size_t i = 0; i < p->running_count; i++)
		count += p->running[i].uid == uid;
	return count;
}

/* A user whose windows failed so many times in a row has one at a time until one runs: each may
 * take its place for as long as an attach may last, and there can be any number of JVMs. */
#define FAILURES_MANY 3

static bool has_its_only_one(const struct planner *p, uid_t uid)
{
	return shares_of(&p->failures, uid) >= FAILURES_MANY && running_of(p, uid) > 0;
}

/* Is nothing in the way of a plan whose time has come? Else plan->in_the_way says what. */
static bool may_begin(const struct planner *p, const struct known_jvm *jvm,
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
static bool is_left_alone(const struct known_jvm *jvm, const struct planner_schedule *s,
			  const struct plan *plan, int minute)
{
	return !plan->matches || jvm->unnamed || s->stopped[0] ||
	       jvm->age_ns < s->config->warm_up_ns || !schedule_is_time_of_day(s->config, minute);
}

/* Is this plan's window to begin now? */
static bool is_ripe(struct planner *p, const struct known_jvm *jvm, struct planner_schedule *s,
		    struct plan *plan, uint64_t unix_ns, int minute, bool profiled)
{
	struct draw d = planner_draw(p, s->config, plan, unix_ns);
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
	if (planner_jvms_own(p, jvm, plan)) {
		miss(s, plan, planner_jvms_own(p, jvm, plan));
		return false;
	}
	if (plan_is_late(plan, s->config, unix_ns)) {
		miss(s, plan, plan->in_the_way);
		return false;
	}
	return may_begin(p, jvm, s->config, plan, profiled);
}

static void fill_order(const struct planner *p, const struct known_jvm *jvm,
		       const struct config_schedule *s, const struct plan *plan,
		       struct planner_order *order)
{
	double left = budget_left(p, jvm);

	*order = (struct planner_order){.pid = jvm->pid,
					.start_ticks = jvm->start_ticks,
					.uid = jvm->uid,
					.schedule = s,
					.budget = left < s->budget ? left : s->budget,
					.weight_s = plan->weight_s,
					.epoch = plan->epoch};
	memcpy(order->app, jvm->app, sizeof(order->app));
	memcpy(order->version, jvm->version, sizeof(order->version));
}

void planner_set_others(struct planner *p, const struct planner_other *others, size_t count)
{
	p->admins_cost = p->users_cost = 0;
	for (size_t i = 0; i < count; i++) {
		const struct planner_other *o = &others[i];
		const struct known_jvm *jvm = known_jvms_of_pid(&p->jvms, o->pid);
		double cost = o->budget * (jvm ? jvm->cpu_share : o->of_admin);

		*(o->of_admin ? &p->admins_cost : &p->users_cost) += cost;
	}
}

void planner_hold(struct planner *p, enum miss why)
{
	p->held = why;
}

void planner_begin_row(struct planner_schedule *s)
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
		planner_begin_row(s);
		return s;
	}
	return NULL;
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
	if (p->turns.count >= KNOWN_JVMS_MAX)
		shares_release(&p->turns);
	(void)shares_set(&p->turns, uid, ++p->begun);
}

bool planner_next(struct planner *p, uint64_t unix_ns, int minute,
		  bool (*is_profiled)(void *arg, pid_t pid), void *arg, struct planner_order *order)
{
	const struct known_jvm *best = NULL;
	size_t of = 0;

	for (size_t i = 0; i < p->jvms.count; i++) {
		struct known_jvm *jvm = &p->jvms.rows[i];
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

static struct plan *plan_of(struct planner *p, const struct planner_order *order,
			    struct known_jvm **jvm)
{
	*jvm = known_jvms_find(&p->jvms, order->pid, order->start_ticks);
	return *jvm ? &(*jvm)->plans[order->schedule - p->config->schedules] : NULL;
}

void planner_began(struct planner *p, const struct planner_order *order, const char *window)
{
	struct planner_running *r =
	    &p->running[p->running_count++]; /* may_begin saw that there is room. */
	struct known_jvm *jvm;
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
	struct known_jvm *jvm;
	struct plan *plan = plan_of(p, order, &jvm);

	if (!plan)
		return;
	plan->refused = why ? why : MISS_REFUSED;
	miss(&p->schedules[order->schedule - p->config->schedules], plan, plan->refused);
}

uint64_t planner_next_unix_ns(const struct planner *p, uint64_t unix_ns)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < p->jvms.count; i++)
		for (size_t j = 0; j < p->config->schedule_count; j++) {
			const struct plan *plan = &p->jvms.rows[i].plans[j];
			struct draw d = planner_draw(p, p->schedules[j].config, plan, unix_ns);
			uint64_t at = plan->state == PLAN_DUE && plan->start_unix_ns > unix_ns
					  ? plan->start_unix_ns
					  : draw_epoch_start(&d, draw_epoch(&d, unix_ns) + 1);

			if (plan->matches && at < next)
				next = at;
		}
	return next;
}

bool planner_look_ahead(struct planner *p, uint64_t unix_ns, unsigned *draws)
{
	for (size_t i = 0; i < p->jvms.count; i++)
		for (size_t j = 0; j < p->config->schedule_count; j++) {
			struct plan *plan = &p->jvms.rows[i].plans[j];
			struct draw d = planner_draw(p, p->schedules[j].config, plan, unix_ns);

			if (plan->matches &&
			    !plan_look_ahead(plan, &d, p->jvms.rows[i].identity, unix_ns, draws))
				return false;
		}
	return true;
}
