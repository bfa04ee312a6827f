#include "daemon/schedule/planner.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/schedule/planner_state.h"
#include "fleet/schedule.h"

static int compare(const void *a, const void *b)
{
	const struct planner_evidence *one = a, *other = b;
	int order = strcmp(one->schedule, other->schedule);

	return order ? order : strcmp(one->app, other->app);
}

static const struct day_evidence *evidence_of(const struct planner_tuning *t, const char *schedule,
					      const char *app)
{
	struct planner_evidence wanted = {.schedule = ""};
	const struct planner_evidence *found;

	if (t->count == 0)
		return NULL;
	strcpy(wanted.schedule, schedule); /* fleet/config saw to its length, */
	strcpy(wanted.app, app);           /* and the JVM's has the same. */
	found = bsearch(&wanted, t->rows, t->count, sizeof(wanted), compare);
	return found ? &found->evidence : NULL;
}

/* 0 where it is not known, or there is no target. */
static double probability_of(const struct planner *p, const struct config_schedule *s,
			     const struct known_jvm *jvm)
{
	const struct planner_tuning *t = &p->tuning;

	if (!t->known || s->pairs_per_day == 0)
		return 0;
	return evidence_probability(s->pairs_per_day, s->host_fraction,
				    evidence_of(t, s->name, jvm->app), t->day);
}

void planner_tune_jvm(const struct planner *p, struct known_jvm *jvm)
{
	for (size_t i = 0; i < p->config->schedule_count; i++) {
		struct plan *plan = &jvm->plans[i];
		double before = plan->probability;

		plan->probability = probability_of(p, &p->config->schedules[i], jvm);
		if (plan->probability == before)
			continue;
		plan->ahead_from = plan->ahead_to = 0; /* It is drawn otherwise now. */
		plan->next_unix_ns = 0;
	}
}

static void tune_jvms(struct planner *p)
{
	for (size_t i = 0; i < p->jvms.count; i++)
		planner_tune_jvm(p, &p->jvms.rows[i]);
}

struct draw planner_draw(const struct planner *p, const struct config_schedule *s,
			 const struct plan *plan, uint64_t unix_ns)
{
	struct draw d = schedule_draw(s, p->config->texts.salt, p->host);
	uint64_t start = draw_epoch_start(&d, draw_epoch(&d, unix_ns));

	if (s->pairs_per_day > 0)
		d.jvm_fraction = evidence_day(start) == p->tuning.held_day ? plan->probability : 0;
	return d;
}

void planner_forget_tuning(struct planner *p)
{
	free(p->tuning.rows);
	p->tuning = (struct planner_tuning){.known = false};
}

bool planner_wants_evidence(const struct planner *p, uint64_t unix_ns)
{
	if (p->tuning.known && p->tuning.held_day == evidence_day(unix_ns))
		return false;
	for (size_t i = 0; i < p->config->schedule_count; i++)
		if (p->config->schedules[i].pairs_per_day > 0)
			return true;
	return false;
}

void planner_take_evidence(struct planner *p, uint64_t day, struct planner_evidence *rows,
			   size_t count)
{
	planner_forget_tuning(p);
	if (count > 0)
		qsort(rows, count, sizeof(*rows), compare);
	p->tuning = (struct planner_tuning){
	    .known = true, .day = day, .held_day = day, .rows = rows, .count = count};
	tune_jvms(p);
}

void planner_lack_evidence(struct planner *p, uint64_t day)
{
	if (p->tuning.known)
		p->tuning.held_day = day;
	else
		planner_take_evidence(p, day, NULL, 0);
	p->tuning.lacking = true;
}

bool planner_lacks_evidence(const struct planner *p)
{
	return p->tuning.lacking;
}

double planner_probability(const struct planner *p, size_t schedule)
{
	double sum = 0;
	size_t jvms = 0;

	for (size_t i = 0; i < p->jvms.count; i++) {
		const struct plan *plan = &p->jvms.rows[i].plans[schedule];

		if (!plan->matches)
			continue;
		sum += plan->probability;
		jvms++;
	}
	return jvms > 0 ? sum / (double)jvms : 0;
}
