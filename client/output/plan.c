#include "client/output/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/output/json.h"
#include "client/output/table.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "fleet/config/config.h"
#include "fleet/plan.h"

/* Whoever compares a plan with what daemons do has to know it. */
#define NOTE_IDENTITY                                                                   \
	"JVMs have numbers here and process ids for their daemons, which draw others: " \
	"how many, not which"
#define NOTE_BY_MORE "it matches by more than the application, which is taken to match"

static double seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static void free_plan(struct fleet_plan **p)
{
	fleet_plan_free(*p);
}
#define _cleanup_plan_ _cleanup_(free_plan)

static int new_plan(const struct plan_question *q, const struct config_schedule *s,
		    struct fleet_plan **out, struct err *err)
{
	return fleet_plan_new(out, s, q->config->texts.salt, q->hosts, q->pairs_per_window, err);
}

static bool is_asked_for(const struct plan_question *q, const struct config_schedule *s)
{
	return !q->schedule || q->schedule == s;
}

/* ---------------------------------------------------------------- text */

static void print_outlook(const struct plan_question *q, const struct config_schedule *s,
			  const struct fleet_outlook *o)
{
	(void)printf("schedule %s: every %g s a window of %g s, host-fraction %g, ", s->name,
		     seconds(s->every_ns), seconds(s->window_ns), s->host_fraction);
	if (s->pairs_per_day > 0)
		(void)printf("pairs-per-day %" PRIu32, s->pairs_per_day);
	else
		(void)printf("jvm-fraction %g", s->jvm_fraction);
	(void)printf(", budget %g%%\n", s->budget * 100);
	(void)printf("matches %" PRIu64 " of %" PRIu64 " JVMs and %zu of %zu applications on %zu "
		     "hosts\n",
		     o->jvms, q->hosts->jvm_count, o->apps, q->hosts->app_count,
		     q->hosts->host_count);
	if (o->by_more)
		(void)puts("note: " NOTE_BY_MORE);
	(void)printf("expected: %.6g windows in an epoch, at most %.3g%% of these JVMs' CPU time\n",
		     o->windows, o->cost * 100);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void add_epoch(struct table *t, const struct fleet_epoch *e, const struct fleet_outlook *o)
{
	table_cell(t, "%" PRIu64, e->epoch);
	table_time(t, e->start_unix_ns);
	table_cell(t, "%zu", e->hosts);
	table_cell(t, "%zu", e->window_count);
	table_cell(t, "%zu", e->most_on_host);
	table_cell(t, "%zu", e->most_at_once);
	table_cell(t, "%.3g%%", 100 * e->probability);
	table_cell(t, "%.1f%%", percent(e->jvms_covered, o->jvms));
	table_cell(t, "%.1f%%", percent(e->apps_covered, o->apps));
}

static void add_windows(struct table *t, const struct fleet_epoch *e)
{
	for (size_t i = 0; i < e->window_count; i++) {
		const struct fleet_window *w = &e->windows[i];

		table_cell(t, "%" PRIu64, e->epoch);
		table_time(t, w->start_unix_ns);
		table_cell(t, "%s", w->host);
		table_cell(t, "%s/%" PRIu32, w->app, w->number);
	}
}

static int print_tables(const struct plan_question *q, const struct table *epochs,
			const struct table *windows, struct err *err)
{
	if (table_print(epochs, stdout) < 0)
		return err_set(err, ENOMEM, "out of memory");
	if (!q->verbose)
		return 0;
	(void)putchar('\n');
	return table_print(windows, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

/* What its target comes to; nothing without one. */
static int print_targets(const struct plan_question *q, const struct config_schedule *s,
			 const struct fleet_plan *p, struct err *err)
{
	static const char *const headings[] = {"APP",       "HOSTS", "JVMS", "WINDOWS/DAY",
					       "PAIRS/DAY", "DRAWN", NULL};
	_cleanup_free_ struct fleet_target *targets = NULL;
	_cleanup_(table_release) struct table t;
	size_t count;

	table_init(&t, headings);
	if (s->pairs_per_day == 0)
		return 0;
	targets = calloc(q->hosts->app_count + 1, sizeof(*targets));
	if (!targets)
		return err_set(err, ENOMEM, "out of memory");
	count = fleet_plan_targets(p, targets);
	for (size_t i = 0; i < count; i++) {
		table_cell(&t, "%s", targets[i].app);
		table_cell(&t, "%" PRIu64, targets[i].hosts);
		table_cell(&t, "%" PRIu64, targets[i].jvms);
		table_cell(&t, "%.6g", targets[i].windows);
		table_cell(&t, "%.6g", targets[i].pairs);
		table_cell(&t, "%.3g%%", 100 * targets[i].probability);
	}
	(void)printf("target: once the probabilities are tuned, where a window brings %" PRIu32
		     " pairs (--pairs-per-window), which is an assumption\n",
		     q->pairs_per_window);
	return table_print(&t, stdout) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int print_schedule(const struct plan_question *q, const struct config_schedule *s,
			  struct err *err)
{
	static const char *const epoch_headings[] = {"EPOCH",     "BEGINS",  "HOSTS", "WINDOWS",
						     "ON-A-HOST", "AT-ONCE", "DRAWN", "JVMS-SEEN",
						     "APPS-SEEN", NULL};
	static const char *const window_headings[] = {"EPOCH", "WINDOW", "HOST", "JVM", NULL};
	_cleanup_(table_release) struct table epochs, windows;
	_cleanup_plan_ struct fleet_plan *p = NULL;
	struct fleet_outlook outlook;
	uint64_t first;
	size_t most_on_host = 0;
	int r;

	table_init(&epochs, epoch_headings);
	table_init(&windows, window_headings);
	r = new_plan(q, s, &p, err);
	if (r < 0)
		return r;
	fleet_plan_outlook(p, &outlook);
	first = fleet_plan_epoch_of(p, q->from_unix_ns);
	for (uint32_t i = 0; i < q->epochs; i++) {
		struct fleet_epoch e;

		r = fleet_plan_look(p, first + i, &e, err);
		if (r < 0)
			return r;
		add_epoch(&epochs, &e, &outlook);
		if (q->verbose)
			add_windows(&windows, &e);
		if (e.most_on_host > most_on_host)
			most_on_host = e.most_on_host;
	}
	print_outlook(q, s, &outlook);
	if (most_on_host > q->config->windows_at_once)
		(void)printf("note: a host runs at most %" PRIu32 " at a time (windows-at-once): "
			     "others wait, or are missed\n",
			     q->config->windows_at_once);
	r = print_targets(q, s, p, err);
	return r < 0 ? r : print_tables(q, &epochs, &windows, err);
}

int plan_print(const struct plan_question *q, struct err *err)
{
	for (size_t i = 0; i < q->config->schedule_count; i++) {
		const struct config_schedule *s = &q->config->schedules[i];
		int r = is_asked_for(q, s) ? print_schedule(q, s, err) : 0;

		if (r < 0)
			return r;
		if (is_asked_for(q, s))
			(void)putchar('\n');
	}
	(void)puts("note: " NOTE_IDENTITY);
	return 0;
}

/* ---------------------------------------------------------------- JSON */

static json_t *windows_of(const struct fleet_epoch *e)
{
	json_t *array = json_array();

	for (size_t i = 0; i < e->window_count; i++) {
		const struct fleet_window *w = &e->windows[i];
		json_t *object = json_object();

		json_put(&object, "host", json_readable(w->host));
		json_put(&object, "app", json_readable(w->app));
		json_put(&object, "number", json_integer(w->number));
		json_put(&object, "start_unix_s", json_real(seconds(w->start_unix_ns)));
		json_push(&array, object);
	}
	return array;
}

static json_t *epoch_json(const struct plan_question *q, const struct fleet_epoch *e)
{
	json_t *object = json_object();

	json_put(&object, "epoch", json_integer((json_int_t)e->epoch));
	json_put(&object, "start_unix_s", json_real(seconds(e->start_unix_ns)));
	json_put(&object, "hosts", json_integer((json_int_t)e->hosts));
	json_put(&object, "windows", json_integer((json_int_t)e->window_count));
	json_put(&object, "most_on_a_host", json_integer((json_int_t)e->most_on_host));
	json_put(&object, "most_at_once", json_integer((json_int_t)e->most_at_once));
	json_put(&object, "jvm_fraction", json_real(e->probability));
	json_put(&object, "jvms_covered", json_integer((json_int_t)e->jvms_covered));
	json_put(&object, "apps_covered", json_integer((json_int_t)e->apps_covered));
	if (q->verbose)
		json_put(&object, "drawn", windows_of(e));
	return object;
}

static json_t *epochs_json(const struct plan_question *q, struct fleet_plan *p, struct err *err)
{
	uint64_t first = fleet_plan_epoch_of(p, q->from_unix_ns);
	json_t *array = json_array();

	for (uint32_t i = 0; i < q->epochs; i++) {
		struct fleet_epoch e;

		if (fleet_plan_look(p, first + i, &e, err) < 0) {
			json_decref(array);
			return NULL;
		}
		json_push(&array, epoch_json(q, &e));
	}
	return array;
}

/* null without a target; NULL without memory. */
static json_t *target_json(const struct plan_question *q, const struct config_schedule *s,
			   const struct fleet_plan *p)
{
	_cleanup_free_ struct fleet_target *targets = NULL;
	json_t *object, *apps;
	size_t count;

	if (s->pairs_per_day == 0)
		return json_null();
	targets = calloc(q->hosts->app_count + 1, sizeof(*targets));
	if (!targets)
		return NULL;
	object = json_object();
	apps = json_array();
	count = fleet_plan_targets(p, targets);
	for (size_t i = 0; i < count; i++) {
		json_t *app = json_object();

		json_put(&app, "app", json_readable(targets[i].app));
		json_put(&app, "hosts", json_integer((json_int_t)targets[i].hosts));
		json_put(&app, "jvms", json_integer((json_int_t)targets[i].jvms));
		json_put(&app, "windows_per_day", json_real(targets[i].windows));
		json_put(&app, "pairs_per_day", json_real(targets[i].pairs));
		json_put(&app, "jvm_fraction", json_real(targets[i].probability));
		json_push(&apps, app);
	}
	json_put(&object, "pairs_per_day", json_integer(s->pairs_per_day));
	json_put(&object, "pairs_per_window", json_integer(q->pairs_per_window));
	json_put(&object, "apps", apps);
	return object;
}

static json_t *schedule_json(const struct plan_question *q, const struct config_schedule *s,
			     struct err *err)
{
	_cleanup_plan_ struct fleet_plan *p = NULL;
	json_t *object = json_object();
	struct fleet_outlook o;

	if (new_plan(q, s, &p, err) < 0) {
		json_decref(object);
		return NULL;
	}
	fleet_plan_outlook(p, &o);
	json_put(&object, "name", json_readable(s->name));
	json_put(&object, "every_s", json_real(seconds(s->every_ns)));
	json_put(&object, "window_s", json_real(seconds(s->window_ns)));
	json_put(&object, "host_fraction", json_real(s->host_fraction));
	json_put(&object, "jvm_fraction",
		 s->pairs_per_day ? json_null() : json_real(s->jvm_fraction));
	json_put(&object, "target", target_json(q, s, p));
	json_put(&object, "budget", json_real(s->budget));
	json_put(&object, "jvms", json_integer((json_int_t)o.jvms));
	json_put(&object, "apps", json_integer((json_int_t)o.apps));
	json_put(&object, "matches_by_more_than_app", json_boolean(o.by_more));
	json_put(&object, "windows_expected", json_real(o.windows));
	json_put(&object, "cost_fraction", json_real(o.cost));
	json_put(&object, "epochs", epochs_json(q, p, err));
	return object;
}

json_t *plan_json(const struct plan_question *q, struct err *err)
{
	json_t *object = json_object(), *schedules = json_array();

	for (size_t i = 0; i < q->config->schedule_count; i++)
		if (is_asked_for(q, &q->config->schedules[i]))
			json_push(&schedules, schedule_json(q, &q->config->schedules[i], err));
	json_put(&object, "hosts", json_integer((json_int_t)q->hosts->host_count));
	json_put(&object, "jvms", json_integer((json_int_t)q->hosts->jvm_count));
	json_put(&object, "apps", json_integer((json_int_t)q->hosts->app_count));
	json_put(&object, "windows_at_once", json_integer(q->config->windows_at_once));
	json_put(&object, "schedules", schedules);
	json_put(&object, "note", json_readable(NOTE_IDENTITY));
	return object;
}
