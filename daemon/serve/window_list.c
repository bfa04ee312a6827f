#include "daemon/serve/window_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/answer/catalogue.h"
#include "daemon/answer/selection.h"
#include "daemon/store/clock_trust.h"
#include "proto/counters.h"
#include "proto/words.h"

/* What is asked for, and where the answer goes. */
struct windows_asked {
	struct pool_work work;
	struct connection *connection; /* may have gone when it is on the pool */
	struct catalogue windows;
	bool only_apps;
	struct database_app *apps;
	size_t app_count;
	uint64_t apps_all; /* above app_count: the first by name are here */
};

/* To be shown. */
struct shown_app {
	Jxp__AppInfo info;
	Jxp__Kind kinds[KIND_VALUES];
};

struct shown_window {
	Jxp__WindowInfo info;
	char id[WINDOW_ID_BYTES]; /* of a row, which has a number only */
	Jxp__Kind kinds[KIND_VALUES];
};

static bool is_of_future(uint64_t start_unix_ns)
{
	return start_unix_ns >= clock_future_unix_ns();
}

void window_list_describe(Jxp__WindowInfo *info, const struct window_result *w)
{
	jxp__window_info__init(info);
	info->id = (char *)w->id;
	info->pid = (uint32_t)w->pid;
	info->app = (char *)w->app;
	info->state = (char *)window_result_state_name(w);
	info->reason = (char *)w->reason;
	info->sampler = (char *)name_of_sampler(w->findings.sampler);
	info->started_unix_ns = w->start_unix_ns;
	info->elapsed_ns = window_result_elapsed_ns(w);
	info->duration_ns = w->request.duration_ns;
	info->samples = window_result_samples(w);
	info->traps = counters_pairs(w->counters);
	info->future = is_of_future(w->start_unix_ns);
	info->schedule = (char *)w->request.schedule.name;
	info->asker = (uint64_t)w->asker.uid + 1;
	info->version = (char *)w->version;
}

/* In the order of kinds. Returns how many they are. */
static size_t list_kinds(Jxp__Kind list[KIND_VALUES], uint32_t mask)
{
	bool kinds[KIND_VALUES];

	for (int kind = 0; kind < KIND_VALUES; kind++)
		kinds[kind] = mask >> kind & 1;
	return kinds_list(kinds, list);
}

static void describe_kinds(struct shown_window *shown, uint32_t mask)
{
	shown->info.kinds = shown->kinds;
	shown->info.n_kinds = list_kinds(shown->kinds, mask);
}

static void describe_row(struct shown_window *shown, const struct database_row *row)
{
	Jxp__WindowInfo *info = &shown->info;

	window_id(shown->id, row->number);
	jxp__window_info__init(info);
	info->id = shown->id;
	info->pid = (uint32_t)row->pid;
	info->app = (char *)row->app;
	info->state = (char *)window_state_name(row->state);
	info->reason = (char *)row->reason;
	info->sampler = (char *)name_of_sampler(row->sampler);
	info->started_unix_ns = row->start_unix_ns;
	info->elapsed_ns = row->elapsed_ns;
	info->duration_ns = row->duration_ns;
	info->samples = row->samples;
	info->traps = row->traps;
	info->future = is_of_future(row->start_unix_ns);
	info->schedule = (char *)row->schedule;
	info->asker = row->asker;
	info->version = (char *)row->version;
	describe_kinds(shown, row->kinds);
}

static void reply(struct connection *c, const struct catalogue *windows)
{
	_cleanup_free_ struct shown_window *shown = calloc(windows->count + 1, sizeof(*shown));
	_cleanup_free_ Jxp__WindowInfo **infos =
	    calloc(windows->count + 1, sizeof(Jxp__WindowInfo *));
	Jxp__WindowList list = JXP__WINDOW_LIST__INIT;
	char first[WINDOW_ID_BYTES];

	if (!shown || !infos) {
		connection_fail(c, ENOMEM, "out of memory");
		return;
	}
	for (size_t i = 0; i < windows->count; i++) {
		const struct catalogue_entry *e = &windows->entries[i];

		infos[i] = &shown[i].info;
		if (e->held) {
			window_list_describe(infos[i], e->held);
			describe_kinds(&shown[i], kinds_mask(e->held->request.kinds));
		} else {
			describe_row(&shown[i], e->row);
		}
	}
	list.windows = infos;
	list.n_windows = windows->count;
	list.all = windows->count + windows->older;
	list.future = windows->future;
	if (windows->future > 0) {
		window_id(first, windows->first_future);
		list.first_future = first;
	}
	connection_reply(c, JXP__CONTROL_REPLY__BODY_WINDOWS, &list);
}

static void reply_apps(struct connection *c, const struct windows_asked *a)
{
	_cleanup_free_ struct shown_app *shown = calloc(a->app_count + 1, sizeof(*shown));
	_cleanup_free_ Jxp__AppInfo **infos = calloc(a->app_count + 1, sizeof(Jxp__AppInfo *));
	Jxp__WindowList list = JXP__WINDOW_LIST__INIT;

	if (!shown || !infos) {
		connection_fail(c, ENOMEM, "out of memory");
		return;
	}
	for (size_t i = 0; i < a->app_count; i++) {
		const struct database_app *app = &a->apps[i];
		Jxp__AppInfo *info = infos[i] = &shown[i].info;

		jxp__app_info__init(info);
		info->app = (char *)app->name;
		info->windows = app->windows;
		info->last_unix_ns = app->last_unix_ns;
		info->kinds = shown[i].kinds;
		info->n_kinds = list_kinds(shown[i].kinds, app->kinds);
	}
	list.apps = infos;
	list.n_apps = a->app_count;
	list.all = a->apps_all;
	connection_reply(c, JXP__CONTROL_REPLY__BODY_WINDOWS, &list);
}

/* Where nothing is kept: of the windows in memory, which are few (HISTORY_MAX). */
static void count_apps(struct windows_asked *a)
{
	for (size_t i = 0; i < a->windows.count; i++) {
		const struct window_result *w = a->windows.entries[i].held;
		struct database_app *app = a->apps;

		while (app < a->apps + a->app_count && strcmp(app->name, w->app) != 0)
			app++;
		if (app == a->apps + a->app_count)
			memcpy(a->apps[a->app_count++].name, w->app, sizeof(w->app));
		app->windows++;
		app->kinds |= kinds_mask(w->request.kinds);
		if (w->start_unix_ns > app->last_unix_ns)
			app->last_unix_ns = w->start_unix_ns;
	}
	a->apps_all = a->app_count;
}

static int find_apps(struct windows_asked *a, struct database *db, struct err *err)
{
	int r;

	a->apps = calloc(WINDOW_LIST_APPS_MAX, sizeof(*a->apps));
	if (!a->apps)
		return err_set(err, ENOMEM, "out of memory for the list of applications");
	if (db)
		return database_apps(db, &a->windows.filter, a->apps, WINDOW_LIST_APPS_MAX,
				     &a->app_count, &a->apps_all, err);
	r = catalogue_read(&a->windows, NULL, err);
	if (r == 0)
		count_apps(a);
	return r;
}

static int ask(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct windows_asked *a = arg;
	struct catalogue *windows = &a->windows;
	struct database *db = NULL;
	int r = windows->database ? database_open(windows->database, DATABASE_READ, &db, err) : 0;

	(void)cancelled; /* It does not take long. */
	if (r == 0)
		r = a->only_apps ? find_apps(a, db, err) : catalogue_read(windows, db, err);
	database_close(db);
	return r;
}

static void on_answer(void *arg, int result, const char *message)
{
	struct windows_asked *a = arg;

	if (result < 0)
		connection_fail(a->connection, -result, message);
	else if (a->only_apps)
		reply_apps(a->connection, a);
	else
		reply(a->connection, &a->windows);
}

static void release(void *arg)
{
	struct windows_asked *a = arg;

	catalogue_release(&a->windows);
	free(a->apps);
	free(a);
}

static int hold_all(struct catalogue *windows, const struct engine *e)
{
	int r = 0;

	for (size_t i = 0; i < engine_window_count(e) && r == 0; i++)
		r = catalogue_hold(windows, engine_window(e, i));
	return r;
}

void window_list_answer(struct connection *c, const Jxp__WindowsRequest *request)
{
	static const struct pool_task task = {.run = ask, .done = on_answer, .release = release};
	struct windows_asked *a = calloc(1, sizeof(*a));
	struct catalogue *windows;
	Jxp__Selection which = JXP__SELECTION__INIT;
	struct err err;

	if (!a) {
		connection_fail(c, ENOMEM, "out of memory");
		return;
	}
	a->connection = c;
	a->only_apps = request->apps;
	windows = &a->windows;
	windows->database = connection_context(c)->store;
	windows->filter.owner = connection_asker(c)->sees;
	which.app = request->app;
	which.since_unix_ns = request->since_unix_ns;
	which.until_unix_ns = request->until_unix_ns;
	if (selection_ask(&windows->filter, request->which ? request->which : &which, &err) < 0) {
		connection_fail(c, EINVAL, err.message);
		release(a);
		return;
	}
	windows->is_of_a_time =
	    windows->filter.since_unix_ns > 0 || windows->filter.until_unix_ns > 0;
	windows->most = request->limit ? request->limit : WINDOW_LIST_DEFAULT;
	if (windows->most > WINDOW_LIST_MAX)
		windows->most = WINDOW_LIST_MAX;
	if (hold_all(windows, connection_context(c)->engine) < 0) {
		connection_fail(c, ENOMEM, "out of memory");
		release(a);
		return;
	}
	connection_read(c, &a->work, &task, a);
}
