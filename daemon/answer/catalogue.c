#include "daemon/answer/catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/proc.h"
#include "daemon/store/clock_trust.h"

/* ---------------------------------------------------------------- on the loop */

/* Whatever it is for, and whoever asked. */
static bool means_at_all(const struct database_filter *f, const struct window_result *w)
{
	return (f->owner == PROC_ANY_UID || f->owner == w->owner) &&
	       database_filter_means_app(f, w->app) && w->start_unix_ns >= f->since_unix_ns &&
	       (f->until_unix_ns == 0 || w->start_unix_ns < f->until_unix_ns) &&
	       (!f->recorded || (w->finished && w->state != WINDOW_FAILED));
}

/* The entry has its own copies of what is asked for on the pool: w may run. */
int catalogue_hold(struct catalogue *c, const struct window_result *w)
{
	int r = 0;

	if (!means_at_all(&c->filter, w))
		return 0;
	if (c->filter.schedule[0] && strcmp(c->filter.schedule, w->request.schedule.name) != 0) {
		c->other_schedule++;
		return 0;
	}
	if (!database_filter_means_kinds(&c->filter, kinds_mask(w->request.kinds))) {
		c->other_kinds++;
		return 0;
	}
	r = array_reserve(&c->held, &c->held_capacity, c->held_count + 1, sizeof(*c->held));
	if (r < 0)
		return r;
	c->held[c->held_count++] = (struct catalogue_entry){
	    .start_unix_ns = w->start_unix_ns, .number = w->number, .held = window_result_keep(w)};
	return 0;
}

void catalogue_release(struct catalogue *c)
{
	for (size_t i = 0; i < c->held_count; i++)
		window_result_free(c->held[i].held);
	free(c->held);
	free(c->rows);
	free(c->entries);
	*c = (struct catalogue){0};
}

/* ---------------------------------------------------------------- on the pool */

static int compare_entries(const void *a, const void *b)
{
	const struct catalogue_entry *x = a, *y = b;

	return ORDER(ASCENDING(x->start_unix_ns, y->start_unix_ns),
		     ASCENDING(x->number, y->number));
}

/* The latest that are kept, in rows; the others are counted. */
static int list_kept(struct catalogue *c, struct database *db, uint64_t future_unix_ns,
		     size_t *count, struct err *err)
{
	struct database_filter filter = c->filter;
	uint64_t all = 0;
	int r = 0;

	if (c->is_of_a_time) {
		r = database_future(db, &filter, future_unix_ns, &c->future, &c->first_future, err);
		database_filter_end(&filter, future_unix_ns);
	}
	if (r == 0)
		r = database_list(db, &filter, c->rows, c->most, count, &all, err);
	if (r == 0)
		c->older = all - *count;
	return r;
}

/* All that are kept, in the place of those of them that are in memory. */
static int count_others(struct catalogue *c, struct database *db, uint64_t future_unix_ns,
			struct err *err)
{
	struct database_filter any = c->filter, of_schedule;
	uint64_t all = 0, of_it = 0, meant = 0;
	int r;

	if (!c->filter.schedule[0] && !c->filter.kinds)
		return 0;
	if (c->is_of_a_time)
		database_filter_end(&any, future_unix_ns);
	any.kinds = 0;
	of_schedule = any;
	any.schedule[0] = '\0';
	r = database_count(db, &any, &all, err);
	if (r == 0)
		r = database_count(db, &of_schedule, &of_it, err);
	of_schedule.kinds = c->filter.kinds;
	if (r == 0)
		r = database_count(db, &of_schedule, &meant, err);
	if (r < 0)
		return r;
	/* Windows come and go between the questions. */
	c->other_schedule = all > of_it ? all - of_it : 0;
	c->other_kinds = of_it > meant ? of_it - meant : 0;
	return 0;
}

static void add_rows(struct catalogue *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct database_row *row = &c->rows[i];
		bool held = false;

		for (size_t j = 0; j < c->held_count && !held; j++)
			held = c->held[j].number == row->number;
		if (!held)
			c->entries[c->count++] = (struct catalogue_entry){
			    .start_unix_ns = row->start_unix_ns, .number = row->number, .row = row};
	}
}

static bool is_kept(struct database *db, unsigned number)
{
	struct database_row row;

	return db && database_find(db, PROC_ANY_UID, number, &row, NULL) == 0;
}

/* One that is kept was counted with what is. */
static void add_future(struct catalogue *c, unsigned number, struct database *db)
{
	if (is_kept(db, number))
		return;
	if (c->future++ == 0 || number < c->first_future)
		c->first_future = number;
}

/* from_unix_ns: the start of the oldest that was listed, where older ones are kept and were not;
 * those of them that are in memory, too, have been counted. Else 0. */
static void add_held(struct catalogue *c, struct database *db, uint64_t from_unix_ns,
		     uint64_t future_unix_ns)
{
	for (size_t i = 0; i < c->held_count; i++) {
		const struct catalogue_entry *e = &c->held[i];

		if (c->is_of_a_time && e->start_unix_ns >= future_unix_ns)
			add_future(c, e->number, db);
		else if (e->start_unix_ns >= from_unix_ns)
			c->entries[c->count++] = *e;
	}
}

static void drop_oldest(struct catalogue *c)
{
	size_t beyond = c->count > c->most ? c->count - c->most : 0;

	c->older += beyond;
	c->count -= beyond;
	memmove(c->entries, c->entries + beyond, c->count * sizeof(*c->entries));
}

int catalogue_read(struct catalogue *c, struct database *db, struct err *err)
{
	uint64_t future_unix_ns = clock_future_unix_ns();
	size_t count = 0;
	int r = 0;

	c->rows = calloc(c->most, sizeof(*c->rows));
	c->entries = calloc(c->most + c->held_count, sizeof(*c->entries));
	if (!c->rows || !c->entries)
		return err_set(err, ENOMEM, "out of memory for the list of windows");
	if (db)
		r = list_kept(c, db, future_unix_ns, &count, err);
	if (r == 0 && db)
		r = count_others(c, db, future_unix_ns, err);
	if (r < 0)
		return r;
	add_rows(c, count);
	add_held(c, db, count > 0 && c->older > 0 ? c->rows[count - 1].start_unix_ns : 0,
		 future_unix_ns);
	qsort(c->entries, c->count, sizeof(*c->entries), compare_entries);
	drop_oldest(c);
	return 0;
}
