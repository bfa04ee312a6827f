#include "daemon/schedule/plan.h"

/* A plan may begin so late, as a part of its epoch; at least a window's length. */
#define SLACK_PART 10

/* Epochs that the clock may go back without what was done being forgotten. */
#define EPOCHS_BACK_MAX 1

const char *name_of_miss(enum miss miss)
{
	static const char *const names[] = {
	    [MISS_BUSY] = "busy", [MISS_LIMIT] = "limit",     [MISS_BUDGET] = "budget",
	    [MISS_LATE] = "late", [MISS_REFUSED] = "refused",
	};

	return (unsigned)miss < MISS_MAX ? names[miss] : "unknown";
}

bool plan_look(struct plan *plan, const struct draw *d, const char *jvm, uint64_t unix_ns,
	       enum miss *missed)
{
	uint64_t epoch = draw_epoch(d, unix_ns);
	bool first = !plan->looked_at, was_due = plan->state == PLAN_DUE;

	if (!first && (epoch == plan->epoch ||
		       (epoch < plan->epoch && plan->epoch - epoch <= EPOCHS_BACK_MAX)))
		return false;
	*missed = plan->in_the_way;
	plan->looked_at = true;
	plan->epoch = epoch;
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
	while (plan->next_unix_ns <= unix_ns && plan->ahead_to < epoch + PLAN_EPOCHS_AHEAD_MAX) {
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
