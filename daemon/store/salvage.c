#include "daemon/store/salvage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/store/query.h"
#include "daemon/store/queue.h"
#include "daemon/store/record.h"

/* So many windows are written at a time, to wait for the disk less often. */
#define AT_A_TIME 64

/* One window, checked by reading it as a report would. What has no record has its row. */
static int take_over(struct database *from, struct database *to, unsigned number, bool *unqueued,
		     struct err *err)
{
	struct database_row row = {0};
	struct err ignored;
	struct window_result *w = NULL;
	_cleanup_free_ uint8_t *record = NULL;
	size_t size = 0;
	int r = database_find(from, PROC_ANY_UID, number, &row, err);

	if (r == 0)
		r = database_load(from, PROC_ANY_UID, number, &w, err);
	if (r == -ECANCELED)
		r = database_load_row(from, PROC_ANY_UID, number, &w, err);
	else if (r == 0)
		r = record_encode(w, &record, &size);
	if (r == 0)
		r = database_put(to, w, record, size, err);
	if (r == 0)
		r = database_put_known(to, &row, err);
	window_result_free(w);
	/* One that waits where that cannot be read any more is not sent. */
	if (r == 0 && queue_take_over(from, to, number, &ignored) < 0)
		*unqueued = true;
	return r;
}

/* Only a new database that cannot be written to ends it. */
static int take_over_all(struct database *from, struct database *to,
			 struct salvage_account *account, struct err *err)
{
	unsigned number = 0, done = 0;
	int r = database_begin(to, err);

	while (r == 0 && database_next(from, number, &number)) {
		struct err ignored; /* The number says it. */

		if (take_over(from, to, number, &account->unqueued, &ignored) == 0)
			account->kept++;
		else
			account->lost++;
		if (++done % AT_A_TIME == 0) {
			r = database_commit(to, err);
			if (r == 0)
				r = database_begin(to, err);
		}
	}
	return r == 0 ? database_commit(to, err) : r;
}

/* Metrics, what is known of the clock and which store it is go on from what they were, where that
 * can be read. */
static void take_over_note(struct database *from, struct database *to, const char *name)
{
	_cleanup_free_ void *value = NULL;
	size_t size = 0;
	struct err ignored;

	if (database_note(from, name, &value, &size, &ignored) == 0 && value)
		(void)database_put_note(to, name, value, size, &ignored);
}

static int begin_anew(const struct state_dir *d, const char *why, struct database **db,
		      struct salvage_account *account, struct err *err)
{
	int r = state_dir_set_aside(d, why, account->aside, err);

	return r == 0 ? database_open(d->database, DATABASE_WRITE, db, err) : r;
}

int salvage_again(const struct state_dir *d, const char *reason, struct database **db,
		  struct salvage_account *account, struct err *err)
{
	struct database *from = NULL;
	struct err ignored; /* Nothing of it can be read. */
	int r;

	*account = (struct salvage_account){.damaged = true};
	(void)snprintf(account->reason, sizeof(account->reason), "%s", reason);
	database_close(*db);
	*db = NULL;
	r = begin_anew(d, "damaged", db, account, err);
	if (r < 0)
		return r;
	if (database_open(account->aside, DATABASE_SALVAGE, &from, &ignored) == 0) {
		r = take_over_all(from, *db, account, err);
		take_over_note(from, *db, DATABASE_NOTE_METRICS);
		take_over_note(from, *db, DATABASE_NOTE_CLOCK);
		take_over_note(from, *db, DATABASE_NOTE_STORE);
	}
	database_close(from);
	if (r < 0) {
		database_close(*db);
		*db = NULL;
	}
	return r;
}

int salvage_open(const struct state_dir *d, struct database **db, struct salvage_account *account,
		 struct err *err)
{
	struct err why;
	unsigned highest = 0;
	int r;

	*account = (struct salvage_account){0};
	*db = NULL;
	r = database_open(d->database, DATABASE_WRITE, db, &why);
	if (r == 0)
		r = database_highest(*db, &highest, &why);
	if (r == -EBADMSG)
		return salvage_again(d, why.message, db, account, err);
	if (r == -EPROTO) {
		account->earlier = true;
		(void)snprintf(account->reason, sizeof(account->reason), "%s", why.message);
		return begin_anew(d, "earlier", db, account, err);
	}
	if (r < 0) {
		database_close(*db);
		*db = NULL;
		return err_set(err, -r, "%s", why.message);
	}
	return 0;
}
