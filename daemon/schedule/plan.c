#include "daemon/schedule/plan.h"

/* A plan may begin so late, as a part of its epoch; at least a window's length. */
#define SLACK_PART 10

static size_t span_count(const struct plan *plan)
{
	return plan->spans < PLAN_SPANS ? plan->spans : PLAN_SPANS;
}

static bool was_looked_at(const struct plan *plan, uint64_t epoch)
{
	for (size_t i = 0; i < span_count(plan); i++)
		if (epoch >= plan->looked_at[i].first && epoch <= plan->looked_at[i].last)
			return true;
	return false;
}

static void remember(struct plan *plan, uint64_t epoch)
{
	for (size_t i = 0; i < span_count(plan); i++)
		if (epoch == plan->looked_at[i].last + 1) {
			plan->looked_at[i].last = epoch;
			return;
		}
	plan->looked_at[plan->spans++ % PLAN_SPANS] = (struct plan_span){epoch, epoch};
}

/* In an epoch that the clock was in before. A plan of a later one waits for that; one of an earlier
 * one is over. */
static bool look_again(struct plan *plan, uint64_t epoch, enum miss *missed)
{
	if (epoch <= plan->epoch || plan->state != PLAN_DUE)
		return false;
	*missed = plan->in_the_way;
	plan->state = PLAN_DONE;
	return true;
}

bool plan_look(struct plan *plan, const struct draw *d, const char *jvm, uint64_t unix_ns,
	       enum miss *missed)
{
	uint64_t epoch = draw_epoch(d, unix_ns);
	bool first = plan->spans == 0, was_due = plan->state == PLAN_DUE;

	if (was_looked_at(plan, epoch))
		return look_again(plan, epoch, missed);
	if (d->jvm_fraction <= 0)
		return false;
	remember(plan, epoch);
	*missed = plan->in_the_way;
	plan->epoch = epoch;
	plan->weight_s = draw_weight_s(d);
	plan->start_unix_ns = draw_start(d, epoch, jvm);
	plan->in_the_way = MISS_LATE;
	plan->state =
	    draw_takes_host(d, epoch) && draw_takes_jvm(d, epoch, jvm) ? PLAN_DUE : PLAN_NONE;
	/* One that is found after its time was never planned. */
	if (plan->state == PLAN_DUE && first && unix_ns > plan->start_unix_ns)
		plan->state = PLAN_NONE;
	return was_due;
}

/* A clock that jumped, either way, begins anew. */
static bool is_ahead(const struct plan *plan, uint64_t epoch)
{
	return plan->ahead_from <= epoch && epoch <= plan->ahead_to;
}

bool plan_look_ahead(struct plan *plan, const struct draw *d, const char *jvm, uint64_t unix_ns,
		     unsigned *draws)
{
	uint64_t epoch = draw_epoch(d, unix_ns);

	if (!is_ahead(plan, epoch)) {
		plan->ahead_from = plan->ahead_to = epoch;
		plan->next_unix_ns = 0;
	}
	while (d->jvm_fraction > 0 && plan->next_unix_ns <= unix_ns &&
	       plan->ahead_to < epoch + PLAN_EPOCHS_AHEAD_MAX) {
		if (*draws == 0)
			return false;
		--*draws;
		plan->ahead_to++;
		plan->next_unix_ns =
		    draw_takes_host(d, plan->ahead_to) && draw_takes_jvm(d, plan->ahead_to, jvm)
			? draw_start(d, plan->ahead_to, jvm)
			: 0;
	}
	return true;
}

bool plan_is_due(const struct plan *plan, uint64_t unix_ns)
{
	return plan->state == PLAN_DUE && unix_ns >= plan->start_unix_ns;
}

static uint64_t slack_ns(const struct config_schedule *s)
{
	uint64_t part = s->every_ns / SLACK_PART;

	return part > s->window_ns ? part : s->window_ns;
}

bool plan_is_late(const struct plan *plan, const struct config_schedule *s, uint64_t unix_ns)
{
	return unix_ns > plan->start_unix_ns && unix_ns - plan->start_unix_ns > slack_ns(s);
}
