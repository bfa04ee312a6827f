#include "daemon/serve/window_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/engine/history.h"
#include "daemon/store/clock_trust.h"
#include "daemon/store/database.h"
#include "proto/counters.h"
#include "proto/words.h"

/* As many as can be in memory: running, finished and failed. */
#define HERE_MAX (ENGINE_RUNNING_MAX + HISTORY_MAX)

/* What is asked of the store, and where its answer goes. */
struct stored_list {
	struct pool_work work;
	struct connection *connection; /* may have gone when it is on the pool */
	const char *database;
	struct database_filter filter;
	char app[WINDOW_LABEL_BYTES];
	size_t limit;
	struct database_row *rows;
	size_t count;
	uint64_t all;
	/* What begins then or later is of the future: of a time that is asked for, it is left out
	 * and counted. */
	uint64_t future_unix_ns;
	uint64_t future;
	unsigned first_future;
};

/* The reply as it grows, oldest first. */
struct window_list {
	Jxp__WindowInfo *infos;
	Jxp__WindowInfo **pointers;
	char (*ids)[WINDOW_ID_BYTES]; /* of rows, which have numbers only */
	size_t count;
};

static void list_release(struct window_list *l)
{
	free(l->infos);
	free(l->pointers);
	free(l->ids);
}

static bool list_init(struct window_list *l, size_t room)
{
	*l = (struct window_list){.infos = calloc(room + 1, sizeof(*l->infos)),
				  .pointers = calloc(room + 1, sizeof(Jxp__WindowInfo *)),
				  .ids = calloc(room + 1, sizeof(*l->ids))};
	return l->infos && l->pointers && l->ids;
}

static Jxp__WindowInfo *add_info(struct window_list *l)
{
	Jxp__WindowInfo *info = &l->infos[l->count];

	l->pointers[l->count++] = info;
	return info;
}

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
}

static void describe_row(struct window_list *l, const struct database_row *row)
{
	char *id = l->ids[l->count];
	Jxp__WindowInfo *info = add_info(l);

	window_id(id, row->number);
	jxp__window_info__init(info);
	info->id = id;
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
}

/* Is it a time that is asked for? */
static bool is_of_a_time(const struct stored_list *s)
{
	return s->filter.since_unix_ns > 0 || s->filter.until_unix_ns > 0;
}

static bool is_meant(const struct stored_list *s, const struct window_result *w)
{
	const struct database_filter *f = &s->filter;

	return window_asker_sees(connection_asker(s->connection), w->owner) &&
	       (!f->app[0] || strcmp(f->app, w->app) == 0) &&
	       w->start_unix_ns >= f->since_unix_ns &&
	       (f->until_unix_ns == 0 || w->start_unix_ns < f->until_unix_ns);
}

/* In memory alone: of what is kept, the store has told. */
static void count_future(struct stored_list *s)
{
	const struct engine *e = connection_context(s->connection)->engine;

	for (size_t i = 0; i < engine_window_count(e); i++) {
		const struct window_result *w = engine_window(e, i);

		if (!is_meant(s, w) || w->start_unix_ns < s->future_unix_ns)
			continue;
		if (s->future++ == 0 || w->number < s->first_future)
			s->first_future = w->number;
	}
}

static bool has_row(const struct stored_list *s, unsigned number)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->rows[i].number == number)
			return true;
	return false;
}

static bool is_in_memory(const struct engine *e, unsigned number)
{
	for (size_t i = 0; i < engine_window_count(e); i++)
		if (engine_window(e, i)->number == number)
			return true;
	return false;
}

/* Oldest first. */
static int compare_times(const void *a, const void *b)
{
	uint64_t x = (*(Jxp__WindowInfo *const *)a)->started_unix_ns;
	uint64_t y = (*(Jxp__WindowInfo *const *)b)->started_unix_ns;

	return x < y ? -1 : x > y;
}

/* What is in memory is told from there: a row may be behind it, of one that has just ended, too. */
static void fill(struct window_list *l, const struct stored_list *s, uint64_t *all)
{
	const struct engine *e = connection_context(s->connection)->engine;

	*all = s->all;
	for (size_t i = s->count; i-- > 0;)
		if (!is_in_memory(e, s->rows[i].number))
			describe_row(l, &s->rows[i]);
	for (size_t i = 0; i < engine_window_count(e); i++) {
		const struct window_result *w = engine_window(e, i);
		bool shown = has_row(s, w->number);

		/* Older than what is shown: the store has it, beyond the limit. */
		if (!is_meant(s, w) || (w->finished && !shown && s->all > s->count &&
					w->number < s->rows[s->count - 1].number))
			continue;
		window_list_describe(add_info(l), w);
		*all += !shown;
	}
	qsort(l->pointers, l->count, sizeof(Jxp__WindowInfo *), compare_times);
}

/* The latest, when there are more than are asked for. */
static void reply(const struct stored_list *s)
{
	_cleanup_(list_release) struct window_list l;
	Jxp__WindowList list = JXP__WINDOW_LIST__INIT;
	char first[WINDOW_ID_BYTES];
	size_t skipped;

	if (!list_init(&l, s->count + HERE_MAX)) {
		connection_fail(s->connection, false, "out of memory");
		return;
	}
	fill(&l, s, &list.all);
	skipped = l.count > s->limit ? l.count - s->limit : 0;
	list.windows = l.pointers + skipped;
	list.n_windows = l.count - skipped;
	list.future = s->future;
	if (s->future > 0) {
		window_id(first, s->first_future);
		list.first_future = first;
	}
	connection_reply(s->connection, JXP__CONTROL_REPLY__BODY_WINDOWS, &list);
}

/* ---------------------------------------------------------------- the store's part */

static int list_stored(struct stored_list *s, struct database *db, struct err *err)
{
	int r = 0;

	s->rows = calloc(s->limit, sizeof(*s->rows));
	if (!s->rows)
		return err_set(err, ENOMEM, "out of memory");
	if (is_of_a_time(s)) {
		r = database_future(db, &s->filter, s->future_unix_ns, &s->future, &s->first_future,
				    err);
		database_filter_end(&s->filter, s->future_unix_ns);
	}
	if (r < 0)
		return r;
	return database_list(db, &s->filter, s->rows, s->limit, &s->count, &s->all, err);
}

static int ask(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct stored_list *s = arg;
	struct database *db = NULL;
	int r = database_open(s->database, DATABASE_READ, &db, err);

	(void)cancelled; /* It does not take long. */
	if (r == 0)
		r = list_stored(s, db, err);
	database_close(db);
	return r;
}

static void on_answer(void *arg, int result, const char *message)
{
	struct stored_list *s = arg;

	if (result < 0)
		connection_fail(s->connection, false, message);
	else
		reply(s);
}

static void release(void *arg)
{
	struct stored_list *s = arg;

	free(s->rows);
	free(s);
}

void window_list_answer(struct connection *c, const Jxp__WindowsRequest *request)
{
	static const struct pool_task task = {.run = ask, .done = on_answer, .release = release};
	struct stored_list *s = calloc(1, sizeof(*s));

	if (!s) {
		connection_fail(c, false, "out of memory");
		return;
	}
	s->connection = c;
	(void)snprintf(s->app, sizeof(s->app), "%s", request->app); /* No app is longer. */
	s->filter = (struct database_filter){.owner = connection_asker(c)->sees,
					     .app = s->app,
					     .since_unix_ns = request->since_unix_ns,
					     .until_unix_ns = request->until_unix_ns};
	s->limit = request->limit ? request->limit : WINDOW_LIST_DEFAULT;
	if (s->limit > WINDOW_LIST_MAX)
		s->limit = WINDOW_LIST_MAX;
	s->future_unix_ns = clock_future_unix_ns();
	s->database = connection_context(c)->store;
	if (s->database) {
		connection_read(c, &s->work, &task, s);
		return;
	}
	if (is_of_a_time(s)) {
		count_future(s);
		database_filter_end(&s->filter, s->future_unix_ns);
	}
	reply(s);
	release(s);
}
