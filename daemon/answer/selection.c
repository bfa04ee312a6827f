#include "daemon/answer/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "profile/combine/merge.h"
#include "profile/window/tables.h"
#include "daemon/store/database.h"

bool selection_number(const char *id, unsigned *number)
{
	char *end;
	unsigned long value;

	if (id[0] != 'w' || id[1] < '1' || id[1] > '9')
		return false;
	value = strtoul(id + 1, &end, 10);
	if (*end || value > UINT_MAX)
		return false;
	*number = (unsigned)value;
	return true;
}

void selection_init(struct selection *s, const char *database, uid_t owner)
{
	*s = (struct selection){.windows = {.database = database,
					    .filter = {.owner = owner, .recorded = true},
					    .is_of_a_time = true,
					    .most = SELECTION_WINDOWS_MAX}};
}

int selection_ask(struct database_filter *f, const Jxp__Selection *asked, struct err *err)
{
	bool kinds[KIND_VALUES] = {false};

	if (strlen(asked->app) >= sizeof(f->app))
		return err_set(err, EINVAL,
			       "the names of applications have %zu characters, and %d are the "
			       "most: use patterns like 'shop-*', or ask several times",
			       strlen(asked->app), DATABASE_APPS_BYTES - 1);
	if (strlen(asked->schedule) >= sizeof(f->schedule))
		return err_set(err, ENOENT, "no schedule has a name as long as that");
	if (asked->until_unix_ns && asked->until_unix_ns <= asked->since_unix_ns)
		return err_set(err, EINVAL, "the time ends before it begins");
	for (size_t i = 0; i < asked->n_kinds; i++) {
		if (asked->kinds[i] <= JXP__KIND__KIND_NONE || (int)asked->kinds[i] >= KIND_VALUES)
			return err_set(err, EINVAL, "there is no such kind");
		kinds[asked->kinds[i]] = true;
	}
	(void)snprintf(f->app, sizeof(f->app), "%s", asked->app);
	(void)snprintf(f->schedule, sizeof(f->schedule), "%s", asked->schedule);
	f->kinds = kinds_mask(kinds);
	f->since_unix_ns = asked->since_unix_ns;
	f->until_unix_ns = asked->until_unix_ns;
	return 0;
}

static int hold_one(struct selection *s, const struct window_result *w)
{
	uid_t owner = s->windows.filter.owner;

	if (s->held || w->number != s->number || (owner != PROC_ANY_UID && owner != w->owner))
		return 0;
	s->held = window_result_still(w);
	return s->held ? 0 : -ENOMEM;
}

int selection_hold(struct selection *s, const struct window_result *w)
{
	return s->number ? hold_one(s, w) : catalogue_hold(&s->windows, w);
}

void selection_release(struct selection *s)
{
	catalogue_release(&s->windows);
	window_result_free(s->held);
	window_result_free(s->loaded);
	*s = (struct selection){0};
}

/* ---------------------------------------------------------------- one window */

static int read_one(struct selection *s, struct err *err)
{
	struct database *db = NULL;
	int r = database_open(s->windows.database, DATABASE_READ, &db, err);

	if (r == 0)
		r = database_load(db, s->windows.filter.owner, s->number, &s->loaded, err);
	database_close(db);
	return r;
}

static int load_one(struct selection *s, const struct window_result **w, struct err *err)
{
	char id[WINDOW_ID_BYTES];
	int r;

	if (!s->held && !s->windows.database) {
		window_id(id, s->number);
		return window_absent(id, err);
	}
	if (s->held && s->held->state == WINDOW_FAILED)
		return window_without_report(s->number, s->held->pid, s->held->reason, err);
	r = s->held ? 0 : read_one(s, err);
	if (r == 0)
		*w = s->held ? s->held : s->loaded;
	return r;
}

/* ---------------------------------------------------------------- many */

/* One that was deleted meanwhile is not missed; one that is damaged is. What a row of an earlier
 * version is for, its record says. */
static int add_one(struct merge *m, struct database *db, const struct database_filter *f,
		   const struct catalogue_entry *e)
{
	struct window_result *w = NULL;
	struct err why;
	int r;

	if (e->held)
		return merge_add(m, e->held);
	r = database_load(db, PROC_ANY_UID, e->number, &w, &why);
	if (r == 0 && !database_filter_means_kinds(f, kinds_mask(w->request.kinds)))
		r = merge_leave_out(m, MERGED_OTHER_KINDS, 1, e->number, "");
	else if (r == 0)
		r = merge_add(m, w);
	else if (r == -ENOENT || r == -ECANCELED)
		r = 0;
	else if (r != -ENOMEM)
		r = merge_leave_out(m, MERGED_UNREADABLE, 1, e->number, why.message);
	window_result_free(w);
	return r;
}

static int none_began(const struct catalogue *c, struct err *err)
{
	if (c->future > 0)
		return err_set(err, ENOENT,
			       "no window of an application '%s' began then, but for %" PRIu64
			       " (first w%u) that began later than now, by a clock that was set "
			       "since: see 'jxperfctl report w%u'",
			       c->filter.app, c->future, c->first_future, c->first_future);
	return err_set(err, ENOENT,
		       "no window of an application '%s' began then%s: see 'jxperfctl apps'",
		       c->filter.app,
		       c->other_kinds || c->other_schedule
			   ? " for these kinds or by that schedule, though others did"
			   : "");
}

static int merge_all(struct selection *s, struct merge *m, struct database *db,
		     const atomic_bool *cancelled, struct err *err)
{
	struct catalogue *c = &s->windows;
	int r = catalogue_read(c, db, err);

	if (r < 0)
		return r;
	if (c->count == 0)
		return none_began(c, err);
	if (c->older > 0)
		r = merge_leave_out(m, MERGED_OLDER, (unsigned)c->older, 0, "");
	if (r == 0 && c->future > 0)
		r = merge_leave_out(m, MERGED_FUTURE, (unsigned)c->future, c->first_future, "");
	if (r == 0 && c->other_schedule > 0)
		r = merge_leave_out(m, MERGED_OTHER_SCHEDULE, (unsigned)c->other_schedule, 0, "");
	if (r == 0 && c->other_kinds > 0)
		r = merge_leave_out(m, MERGED_OTHER_KINDS, (unsigned)c->other_kinds, 0, "");
	for (size_t i = 0; i < c->count && r == 0; i++) {
		if (atomic_load(cancelled))
			return err_set(err, ECANCELED, "nobody waits for these windows any more");
		r = add_one(m, db, &c->filter, &c->entries[i]);
	}
	return r < 0 ? err_set(err, -r, "out of memory while merging windows")
		     : merge_finish(m, &s->loaded, err);
}

static int load_many(struct selection *s, const atomic_bool *cancelled,
		     const struct window_result **w, struct err *err)
{
	const char *path = s->windows.database;
	struct merge m = {0};
	struct database *db = NULL;
	int r = path ? database_open(path, DATABASE_READ, &db, err) : 0;

	if (r == 0)
		r = merge_all(s, &m, db, cancelled, err);
	merge_release(&m);
	database_close(db);
	if (r == 0)
		*w = s->loaded;
	return r;
}

int selection_load(struct selection *s, const atomic_bool *cancelled,
		   const struct window_result **w, struct err *err)
{
	return s->number ? load_one(s, w, err) : load_many(s, cancelled, w, err);
}
