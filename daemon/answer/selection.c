#include "daemon/answer/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "profile/combine/merge.h"
#include "daemon/store/clock_trust.h"
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

bool selection_means(const struct selection *s, const struct window_result *w)
{
	if (s->number)
		return w->number == s->number;
	return strcmp(s->app, w->app) == 0 && w->start_unix_ns >= s->since_unix_ns &&
	       (s->until_unix_ns == 0 || w->start_unix_ns < s->until_unix_ns);
}

int selection_hold(struct selection *s, const struct window_result *w)
{
	int r = array_reserve(&s->held, &s->held_capacity, s->held_count + 1,
			      sizeof(struct window_result *));

	if (r < 0)
		return r;
	s->held[s->held_count++] = (struct window_result *)window_result_keep(w);
	return 0;
}

void selection_release(struct selection *s)
{
	for (size_t i = 0; i < s->held_count; i++)
		window_result_free(s->held[i]);
	free(s->held);
	window_result_free(s->loaded);
	*s = (struct selection){0};
}

static struct database_filter filter_of(const struct selection *s)
{
	return (struct database_filter){.owner = s->owner,
					.app = s->app,
					.since_unix_ns = s->since_unix_ns,
					.until_unix_ns = s->until_unix_ns,
					.recorded = true};
}

/* ---------------------------------------------------------------- one window */

static int read_one(struct selection *s, struct err *err)
{
	struct database *db = NULL;
	int r = database_open(s->database, DATABASE_READ, &db, err);

	if (r == 0)
		r = database_load(db, s->owner, s->number, &s->loaded, err);
	database_close(db);
	return r;
}

static int load_one(struct selection *s, const struct window_result **w, struct err *err)
{
	char id[WINDOW_ID_BYTES];
	int r;

	if (s->held_count == 0 && !s->database) {
		window_id(id, s->number);
		return window_absent(id, err);
	}
	if (s->held_count == 0) {
		r = read_one(s, err);
		if (r == 0)
			*w = s->loaded;
		return r;
	}
	if (s->held[0]->state == WINDOW_FAILED)
		return window_without_report(s->number, s->held[0]->pid, s->held[0]->reason, err);
	*w = s->held[0];
	return 0;
}

/* ---------------------------------------------------------------- many */

/* One of the windows of a time, kept or in memory. */
struct merge_candidate {
	uint64_t start_unix_ns;
	unsigned number;
	const struct window_result *held; /* NULL: it is read */
};

/* Those that are merged, earliest first; how many older ones are not, and how many that began later
 * than now, with the first number of these. */
struct entries {
	struct merge_candidate *entries;
	size_t count;
	uint64_t older;
	uint64_t future;
	unsigned first_future;
};

static void entries_release(struct entries *e)
{
	free(e->entries);
}

static int compare_entries(const void *a, const void *b)
{
	const struct merge_candidate *x = a, *y = b;

	if (x->start_unix_ns != y->start_unix_ns)
		return x->start_unix_ns < y->start_unix_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* What is in memory counts of a window that is kept, too: it needs no decoding. */
static void add_rows(struct entries *e, const struct selection *s, const struct database_row *rows,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool held = false;

		for (size_t j = 0; j < s->held_count && !held; j++)
			held = s->held[j]->number == rows[i].number;
		if (!held)
			e->entries[e->count++] =
			    (struct merge_candidate){rows[i].start_unix_ns, rows[i].number, NULL};
	}
}

static void add_future(struct entries *e, uint64_t windows, unsigned first)
{
	if (windows > 0 && (e->future == 0 || first < e->first_future))
		e->first_future = first;
	e->future += windows;
}

static bool is_kept(struct database *db, unsigned number)
{
	struct database_row row;

	return db && database_find(db, PROC_ANY_UID, number, &row, NULL) == 0;
}

/* from_unix_ns: the start of the oldest that was listed, where older ones are kept and were not;
 * those of them that are in memory, too, have been counted. Else 0. */
static void add_held(struct entries *e, const struct selection *s, struct database *db,
		     uint64_t from_unix_ns, uint64_t future_unix_ns)
{
	for (size_t i = 0; i < s->held_count; i++) {
		const struct window_result *w = s->held[i];

		if (w->state == WINDOW_FAILED)
			continue;
		if (w->start_unix_ns >= future_unix_ns)
			add_future(e, !is_kept(db, w->number), w->number);
		else if (w->start_unix_ns >= from_unix_ns)
			e->entries[e->count++] =
			    (struct merge_candidate){w->start_unix_ns, w->number, w};
	}
}

/* What is beyond SELECTION_WINDOWS_MAX is the oldest. */
static void drop_oldest(struct entries *e)
{
	size_t beyond = e->count > SELECTION_WINDOWS_MAX ? e->count - SELECTION_WINDOWS_MAX : 0;

	e->older += beyond;
	e->count -= beyond;
	memmove(e->entries, e->entries + beyond, e->count * sizeof(*e->entries));
}

/* Those that are kept and may be merged, the latest, in rows; the others are counted. */
static int list_kept(struct entries *e, const struct selection *s, struct database *db,
		     uint64_t future_unix_ns, struct database_row *rows, size_t *count,
		     struct err *err)
{
	struct database_filter filter = filter_of(s);
	uint64_t all = 0, future = 0;
	unsigned first = 0;
	int r = database_future(db, &filter, future_unix_ns, &future, &first, err);

	database_filter_end(&filter, future_unix_ns);
	if (r == 0)
		r = database_list(db, &filter, rows, SELECTION_WINDOWS_MAX, count, &all, err);
	if (r < 0)
		return r;
	e->older = all - *count;
	add_future(e, future, first);
	return 0;
}

static int list(struct entries *e, const struct selection *s, struct database *db, struct err *err)
{
	uint64_t future_unix_ns = clock_future_unix_ns();
	_cleanup_free_ struct database_row *rows = calloc(SELECTION_WINDOWS_MAX, sizeof(*rows));
	size_t count = 0;
	int r = 0;

	e->entries = calloc(SELECTION_WINDOWS_MAX + s->held_count, sizeof(*e->entries));
	if (!rows || !e->entries)
		return err_set(err, ENOMEM, "out of memory for the list of windows");
	if (db)
		r = list_kept(e, s, db, future_unix_ns, rows, &count, err);
	if (r < 0)
		return r;
	add_rows(e, s, rows, count);
	add_held(e, s, db, count > 0 && e->older > 0 ? rows[count - 1].start_unix_ns : 0,
		 future_unix_ns);
	qsort(e->entries, e->count, sizeof(*e->entries), compare_entries);
	drop_oldest(e);
	return 0;
}

/* One that was deleted meanwhile is not missed; one that is damaged is. */
static int add_one(struct merge *m, struct database *db, const struct merge_candidate *e)
{
	struct window_result *w = NULL;
	struct err why;
	int r;

	if (e->held)
		return merge_add(m, e->held);
	r = database_load(db, PROC_ANY_UID, e->number, &w, &why);
	if (r == 0)
		r = merge_add(m, w);
	else if (r == -ENOENT || r == -ECANCELED)
		r = 0;
	else if (r != -ENOMEM)
		r = merge_leave_out(m, MERGED_UNREADABLE, 1, e->number, why.message);
	window_result_free(w);
	return r;
}

static int none_began(const struct selection *s, const struct entries *e, struct err *err)
{
	if (e->future > 0)
		return err_set(err, ENOENT,
			       "no window of an application '%s' began then, but for %" PRIu64
			       " (first w%u) that began later than now, by a clock that was set "
			       "since: see 'jxperfctl report w%u'",
			       s->app, e->future, e->first_future, e->first_future);
	return err_set(err, ENOENT,
		       "no window of an application '%s' began then: see 'jxperfctl windows "
		       "--app %s'",
		       s->app, s->app);
}

static int merge_all(struct selection *s, struct merge *m, struct database *db,
		     const atomic_bool *cancelled, struct err *err)
{
	_cleanup_(entries_release) struct entries e = {0};
	int r = list(&e, s, db, err);

	if (r < 0)
		return r;
	if (e.count == 0)
		return none_began(s, &e, err);
	if (e.older > 0)
		r = merge_leave_out(m, MERGED_OLDER, (unsigned)e.older, 0, "");
	if (r == 0 && e.future > 0)
		r = merge_leave_out(m, MERGED_FUTURE, (unsigned)e.future, e.first_future, "");
	for (size_t i = 0; i < e.count && r == 0; i++) {
		if (atomic_load(cancelled))
			return err_set(err, ECANCELED, "nobody waits for these windows any more");
		r = add_one(m, db, &e.entries[i]);
	}
	return r < 0 ? err_set(err, -r, "out of memory while merging windows")
		     : merge_finish(m, &s->loaded, err);
}

static int load_many(struct selection *s, const atomic_bool *cancelled,
		     const struct window_result **w, struct err *err)
{
	struct merge m = {0};
	struct database *db = NULL;
	int r = s->database ? database_open(s->database, DATABASE_READ, &db, err) : 0;

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
