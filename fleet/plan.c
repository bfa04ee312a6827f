#include "fleet/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "fleet/evidence.h"
#include "fleet/schedule.h"
#include "fleet/selector.h"

/* "APP/NUMBER" */
#define IDENTITY_BYTES (FLEET_NAME_BYTES_MAX + 12)

/* A group's days, where there is a target. */
struct group_tuning {
	bool known;
	uint64_t day; /* whose probability it is */
	double probability;
	struct day_evidence today;  /* the day of the last window; pairs of 0: there was none */
	struct day_evidence before; /* and the day with windows before it */
};

struct fleet_plan {
	const struct config_schedule *schedule;
	const char *salt;
	const struct fleet_hosts *hosts;
	double pairs_per_window;
	double hours;                 /* the part of the day in which windows begin */
	struct group_tuning *tunings; /* of each group; NULL without a target */
	bool *matches;                /* of each group */
	bool *app_covered;            /* of each application */
	bool *jvm_covered;            /* of each JVM, in the order of the groups */
	size_t apps;                  /* that match */
	uint64_t jvms_covered;
	size_t apps_covered;
	struct fleet_window *windows; /* of the epoch that was looked at last */
	uint64_t *starts;             /* of them, for sorting; as much room */
	size_t count;
	size_t capacity;
};

static bool matches(const struct config_match *m, const char *app)
{
	const struct config_match by_app = {.app = m->app};
	const struct jvm_facts facts = {.app = app};

	return selector_matches(&by_app, &facts);
}

/* Which groups match, and of how many applications they are. */
static void find_matches(struct fleet_plan *p)
{
	for (size_t i = 0; i < p->hosts->count; i++) {
		const struct fleet_group *group = &p->hosts->groups[i];

		p->matches[i] = matches(&p->schedule->match, group->app);
		p->apps += p->matches[i] && !p->app_covered[group->app_number];
		p->app_covered[group->app_number] |= p->matches[i];
	}
	/* It only served to count each once. */
	memset(p->app_covered, 0, p->hosts->app_count * sizeof(p->app_covered[0]));
}

static double hours_part(const struct config_schedule *s)
{
	int minutes = 0;

	for (int minute = 0; minute < CONFIG_DAY_MINUTES; minute++)
		minutes += schedule_is_time_of_day(s, minute);
	return (double)minutes / CONFIG_DAY_MINUTES;
}

int fleet_plan_new(struct fleet_plan **out, const struct config_schedule *schedule,
		   const char *salt, const struct fleet_hosts *hosts, double pairs_per_window,
		   struct err *err)
{
	struct fleet_plan *p = calloc(1, sizeof(*p));

	if (!p)
		return err_set(err, ENOMEM, "out of memory");
	p->schedule = schedule;
	p->salt = salt;
	p->hosts = hosts;
	p->pairs_per_window = pairs_per_window;
	p->hours = hours_part(schedule);
	if (schedule->pairs_per_day > 0)
		p->tunings = calloc(hosts->count + 1, sizeof(p->tunings[0]));
	p->matches = calloc(hosts->count + 1, sizeof(p->matches[0]));
	p->app_covered = calloc(hosts->app_count + 1, sizeof(p->app_covered[0]));
	p->jvm_covered = calloc(hosts->jvm_count + 1, sizeof(p->jvm_covered[0]));
	if (!p->matches || !p->app_covered || !p->jvm_covered ||
	    (schedule->pairs_per_day > 0 && !p->tunings)) {
		fleet_plan_free(p);
		return err_set(err, ENOMEM, "out of memory");
	}
	find_matches(p);
	*out = p;
	return 0;
}

void fleet_plan_free(struct fleet_plan *p)
{
	if (!p)
		return;
	free(p->tunings);
	free(p->matches);
	free(p->app_covered);
	free(p->jvm_covered);
	free(p->windows);
	free(p->starts);
	free(p);
}

static bool matches_by_more(const struct config_match *m)
{
	return m->user || m->main_class || m->command || m->cgroup || m->container || m->pod ||
	       m->environment_count > 0;
}

/* Windows a day that one JVM has on a host that takes part in each epoch and draws all. */
static double most_windows(const struct fleet_plan *p)
{
	return (double)EVIDENCE_DAY_NS / (double)p->schedule->every_ns * p->hours;
}

/* The probability with which windows of so many JVMs of a host meet the target. */
static double met_probability(const struct fleet_plan *p, double jvms)
{
	const struct config_schedule *s = p->schedule;
	double all = s->host_fraction * jvms * most_windows(p) * p->pairs_per_window;
	double wanted = all > 0 ? s->pairs_per_day / all : 1;

	if (wanted < EVIDENCE_LEAST)
		return EVIDENCE_LEAST;
	return wanted < 1 ? wanted : 1;
}

size_t fleet_plan_targets(const struct fleet_plan *p, struct fleet_target *out)
{
	const struct config_schedule *s = p->schedule;
	size_t count = 0;

	memset(out, 0, p->hosts->app_count * sizeof(*out));
	for (size_t i = 0; i < p->hosts->count; i++) {
		const struct fleet_group *group = &p->hosts->groups[i];
		struct fleet_target *t = &out[group->app_number];
		double probability;

		if (!p->matches[i])
			continue;
		probability = met_probability(p, group->count);
		t->app = group->app;
		t->hosts++;
		t->jvms += group->count;
		t->probability += probability * group->count;
		t->windows += s->host_fraction * probability * group->count * most_windows(p);
	}
	for (size_t i = 0; i < p->hosts->app_count; i++) {
		struct fleet_target t = out[i];

		if (!t.app)
			continue;
		t.probability /= (double)t.jvms;
		t.pairs = t.windows * p->pairs_per_window;
		out[count++] = t;
	}
	return count;
}

/* Of a group's JVMs, on average over the day: once the target is met, if there is one. */
static double drawn_part(const struct fleet_plan *p, const struct fleet_group *group)
{
	const struct config_schedule *s = p->schedule;
	double jvms = s->pairs_per_day ? met_probability(p, group->count) : s->jvm_fraction;

	return s->host_fraction * jvms * p->hours;
}

void fleet_plan_outlook(const struct fleet_plan *p, struct fleet_outlook *out)
{
	const struct config_schedule *s = p->schedule;

	*out = (struct fleet_outlook){.apps = p->apps, .by_more = matches_by_more(&s->match)};
	for (size_t i = 0; i < p->hosts->count; i++)
		if (p->matches[i]) {
			const struct fleet_group *group = &p->hosts->groups[i];

			out->jvms += group->count;
			out->windows += drawn_part(p, group) * group->count;
		}
	if (out->jvms > 0)
		out->cost = s->budget * (double)s->window_ns / (double)s->every_ns * out->windows /
			    (double)out->jvms;
}

uint64_t fleet_plan_epoch_of(const struct fleet_plan *p, uint64_t unix_ns)
{
	struct draw d = schedule_draw(p->schedule, p->salt, "");

	return draw_epoch(&d, unix_ns);
}

/* ---------------------------------------------------------------- one epoch */

static bool in_hours(const struct config_schedule *s, uint64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / NS_PER_S);
	struct tm tm;

	return s->from_minute == CONFIG_ALWAYS ||
	       (localtime_r(&t, &tm) && schedule_is_time_of_day(s, tm.tm_hour * 60 + tm.tm_min));
}

static int make_room(struct fleet_plan *p)
{
	size_t wanted = p->capacity ? p->capacity * 2 : 1024;
	struct fleet_window *windows;
	uint64_t *starts;

	if (p->count < p->capacity)
		return 0;
	windows = reallocarray(p->windows, wanted, sizeof(*windows));
	if (!windows)
		return -ENOMEM;
	p->windows = windows;
	starts = reallocarray(p->starts, wanted, sizeof(*starts));
	if (!starts)
		return -ENOMEM;
	p->starts = starts;
	p->capacity = wanted;
	return 0;
}

static void cover(struct fleet_plan *p, const struct fleet_group *group, size_t jvm)
{
	p->jvms_covered += !p->jvm_covered[jvm];
	p->jvm_covered[jvm] = true;
	p->apps_covered += !p->app_covered[group->app_number];
	p->app_covered[group->app_number] = true;
}

/* The probability of a group's JVMs in an epoch that begins then. */
static double group_probability(struct fleet_plan *p, size_t group, uint64_t unix_ns)
{
	struct group_tuning *t = p->tunings ? &p->tunings[group] : NULL;
	uint64_t day = evidence_day(unix_ns);
	const struct day_evidence *latest;

	if (!t)
		return p->schedule->jvm_fraction;
	if (t->known && t->day == day)
		return t->probability;
	latest = t->today.day < day ? &t->today : &t->before;
	t->known = true;
	t->day = day;
	t->probability =
	    evidence_probability(p->schedule->pairs_per_day, p->schedule->host_fraction,
				 latest->pairs > 0 ? latest : NULL, day);
	return t->probability;
}

/* A window of an epoch that begins then. */
static void note_window(struct fleet_plan *p, size_t group, const struct draw *d, uint64_t unix_ns)
{
	struct group_tuning *t = p->tunings ? &p->tunings[group] : NULL;
	uint64_t day = unix_ns / EVIDENCE_DAY_NS;

	if (!t)
		return;
	if (t->today.pairs > 0 && t->today.day != day)
		t->before = t->today;
	if (t->today.day != day)
		t->today = (struct day_evidence){.day = day};
	t->today.pairs += p->pairs_per_window / (d->host_fraction * d->jvm_fraction);
	t->today.probability = d->jvm_fraction;
}

/* The windows of one group, whose first JVM has this number among all. 0 or -ENOMEM. */
static int look_at_group(struct fleet_plan *p, const struct draw *d, uint64_t epoch,
			 const struct fleet_group *group, size_t first)
{
	char identity[IDENTITY_BYTES];

	for (uint32_t i = 0; i < group->count; i++) {
		struct fleet_window w = {.host = group->host, .app = group->app, .number = i};

		(void)snprintf(identity, sizeof(identity), "%s/%u", group->app, i); /* Fits. */
		if (!draw_takes_jvm(d, epoch, identity))
			continue;
		w.start_unix_ns = draw_start(d, epoch, identity);
		if (!in_hours(p->schedule, w.start_unix_ns))
			continue;
		if (make_room(p) < 0)
			return -ENOMEM;
		note_window(p, (size_t)(group - p->hosts->groups), d, draw_epoch_start(d, epoch));
		p->windows[p->count++] = w;
		cover(p, group, first + i);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* How many of count windows run at the same time. All are as long, and none leaves its epoch. */
static size_t most_at_once(struct fleet_plan *p, const struct fleet_window *windows, size_t count)
{
	size_t most = 0, oldest = 0;

	for (size_t i = 0; i < count; i++)
		p->starts[i] = windows[i].start_unix_ns;
	if (count > 1)
		qsort(p->starts, count, sizeof(p->starts[0]), compare);
	for (size_t i = 0; i < count; i++) {
		while (p->starts[i] - p->starts[oldest] >= p->schedule->window_ns)
			oldest++;
		if (i - oldest + 1 > most)
			most = i - oldest + 1;
	}
	return most;
}

/* The windows from first on are one host's. */
static void end_host(struct fleet_plan *p, size_t first, struct fleet_epoch *out)
{
	size_t most = most_at_once(p, p->windows + first, p->count - first);

	out->hosts += p->count > first;
	if (most > out->most_on_host)
		out->most_on_host = most;
}

/* Groups of the same host follow each other. */
static int look_at_hosts(struct fleet_plan *p, struct fleet_epoch *out)
{
	struct draw d = {0};
	bool drawn = false;
	size_t jvm = 0, first = 0;
	uint64_t matching = 0;

	for (size_t i = 0; i < p->hosts->count; i++) {
		const struct fleet_group *group = &p->hosts->groups[i];

		if (i == 0 || strcmp(group->host, d.host) != 0) {
			end_host(p, first, out);
			first = p->count;
			d = schedule_draw(p->schedule, p->salt, group->host);
			drawn = draw_takes_host(&d, out->epoch);
		}
		jvm += group->count;
		if (!p->matches[i])
			continue;
		d.jvm_fraction = group_probability(p, i, out->start_unix_ns);
		out->probability += d.jvm_fraction * group->count;
		matching += group->count;
		if (drawn && look_at_group(p, &d, out->epoch, group, jvm - group->count) < 0)
			return -ENOMEM;
	}
	end_host(p, first, out);
	if (matching > 0)
		out->probability /= (double)matching;
	return 0;
}

int fleet_plan_look(struct fleet_plan *p, uint64_t epoch, struct fleet_epoch *out, struct err *err)
{
	struct draw d = schedule_draw(p->schedule, p->salt, "");
	struct fleet_epoch found = {.epoch = epoch, .start_unix_ns = draw_epoch_start(&d, epoch)};

	p->count = 0;
	if (look_at_hosts(p, &found) < 0)
		return err_set(err, ENOMEM, "out of memory");
	found.windows = p->windows;
	found.window_count = p->count;
	found.most_at_once = most_at_once(p, p->windows, p->count);
	found.jvms_covered = p->jvms_covered;
	found.apps_covered = p->apps_covered;
	*out = found;
	return 0;
}
