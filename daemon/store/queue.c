#include "daemon/store/queue.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/cleanup.h"
#include "daemon/store/connection.h"
#include "daemon/store/database.h"
#include "daemon/store/sql.h"

size_t queue_find(const struct queue_destinations *d, const char *name)
{
	size_t i = 0;

	while (i < d->count && strcmp(d->names[i], name) != 0)
		i++;
	return i;
}

static int put_row(struct database *db, const char *destination, unsigned number, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite,
			    "INSERT OR IGNORE INTO queue (destination, number) VALUES (?1, ?2)", &s,
			    err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, destination);
	sql_bind_number(s, 2, number);
	return sql_run(s, "queue a window", err);
}

int queue_put(struct database *db, const struct queue_destinations *to, unsigned number,
	      struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < to->count && r == 0; i++)
		r = put_row(db, to->names[i], number, err);
	return r;
}

static int put_cut_off(struct database *db, const char *destination, unsigned below,
		       struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite,
			    "INSERT OR IGNORE INTO queue (destination, number)"
			    " SELECT ?1, number FROM windows WHERE state IN (?2, ?3)"
			    " AND record_bytes > 0 AND number < ?4",
			    &s, err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, destination);
	sql_bind_number(s, 2, WINDOW_ATTACHING);
	sql_bind_number(s, 3, WINDOW_RUNNING);
	sql_bind_number(s, 4, below);
	return sql_run(s, "queue windows that were cut off", err);
}

int queue_salvage(struct database *db, const struct queue_destinations *to, unsigned below,
		  unsigned *count, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < to->count && r == 0; i++)
		r = put_cut_off(db, to->names[i], below, err);
	return r < 0 ? r : database_salvage(db, below, count, err);
}

int queue_take_out(struct database *db, const char *destination, const unsigned *numbers,
		   size_t count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite, "DELETE FROM queue WHERE destination = ?1 AND number = ?2",
			    &s, err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, destination);
	for (size_t i = 0; i < count && r == 0; i++) {
		sql_bind_number(s, 2, numbers[i]);
		r = sql_run(s, "take a window out of its queue", err);
		(void)sqlite3_reset(s); /* Repeats an error that was seen. */
	}
	return r;
}

static int forget(struct database *db, const char *destination, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite, "DELETE FROM queue WHERE destination = ?1", &s, err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, destination);
	return sql_run(s, "forget a destination", err);
}

int queue_forget_others(struct database *db, const struct queue_destinations *these,
			struct queue_forgotten forgotten[QUEUE_DESTINATIONS_MAX], struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	size_t count = 0;
	int r = sql_prepare(
	    db->sqlite, "SELECT destination, count(*) FROM queue GROUP BY destination", &s, err);

	memset(forgotten, 0, QUEUE_DESTINATIONS_MAX * sizeof(*forgotten));
	while (r >= 0 && count < QUEUE_DESTINATIONS_MAX && (r = sql_row(s, err)) > 0) {
		struct queue_forgotten *f = &forgotten[count];

		sql_text_at(s, 0, f->name, sizeof(f->name));
		f->windows = sql_number_at(s, 1);
		if (queue_find(these, f->name) == these->count)
			count++;
		else
			f->name[0] = '\0';
	}
	for (size_t i = 0; i < count && r >= 0; i++)
		r = forget(db, forgotten[i].name, err);
	return r < 0 ? r : 0;
}

static int read_state(struct database *db, const char *destination, struct queue_state *state,
		      struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	int r = sql_prepare(db->sqlite,
			    "SELECT (SELECT count(*) FROM queue WHERE destination = ?1),"
			    " (SELECT end_unix_ns FROM windows WHERE number ="
			    "  (SELECT min(number) FROM queue WHERE destination = ?1))",
			    &s, err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, destination);
	r = sql_row(s, err);
	if (r > 0)
		*state = (struct queue_state){.windows = sql_number_at(s, 0),
					      .oldest_unix_ns = sql_number_at(s, 1)};
	return r < 0 ? r : 0;
}

int queue_states(struct database *db, const struct queue_destinations *d,
		 struct queue_state states[QUEUE_DESTINATIONS_MAX], struct err *err)
{
	struct queue_state found[QUEUE_DESTINATIONS_MAX] = {{0}};
	int r = 0;

	for (size_t i = 0; i < d->count && r == 0; i++)
		r = read_state(db, d->names[i], &found[i], err);
	if (r == 0)
		memcpy(states, found, sizeof(found));
	return r;
}

int queue_numbers(struct database *db, const char *destination, unsigned *numbers, size_t room,
		  size_t *count, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	size_t found = 0;
	int r = sql_prepare(db->sqlite,
			    "SELECT number FROM queue WHERE destination = ?1"
			    " ORDER BY number LIMIT ?2",
			    &s, err);

	if (r < 0)
		return r;
	sql_bind_text(s, 1, destination);
	sql_bind_number(s, 2, room);
	while (found < room && (r = sql_row(s, err)) > 0)
		numbers[found++] = (unsigned)sql_number_at(s, 0);
	if (r >= 0)
		*count = found;
	return r < 0 ? r : 0;
}

int queue_take_over(struct database *from, struct database *to, unsigned number, struct err *err)
{
	_cleanup_statement_ sqlite3_stmt *s = NULL;
	char destination[QUEUE_NAME_BYTES];
	int r =
	    sql_prepare(from->sqlite, "SELECT destination FROM queue WHERE number = ?1", &s, err);

	if (r < 0)
		return r;
	sql_bind_number(s, 1, number);
	while ((r = sql_row(s, err)) > 0) {
		sql_text_at(s, 0, destination, sizeof(destination));
		r = put_row(to, destination, number, err);
		if (r < 0)
			return r;
	}
	return r;
}

/* ---------------------------------------------------------------- which store it is */

static bool is_id(const void *value, size_t size)
{
	char text[QUEUE_STORE_BYTES] = "";

	if (!value || size != QUEUE_STORE_BYTES - 1)
		return false;
	memcpy(text, value, size);
	return strspn(text, "0123456789abcdef") == size;
}

int queue_store_id(struct database *db, char id[QUEUE_STORE_BYTES], struct err *err)
{
	_cleanup_free_ void *value = NULL;
	size_t size = 0;
	int r = database_note(db, DATABASE_NOTE_STORE, &value, &size, err);

	if (r < 0)
		return r;
	if (!is_id(value, size))
		return err_set(err, ENOENT, "the database of windows has no name yet");
	memcpy(id, value, size);
	id[size] = '\0';
	return 0;
}

int queue_store_id_make(struct database *db, struct err *err)
{
	char id[QUEUE_STORE_BYTES];
	uint64_t random[2];
	int r = queue_store_id(db, id, err);

	if (r != -ENOENT)
		return r;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set(err, EIO, "the kernel has no random numbers");
	(void)snprintf(id, sizeof(id), "%016llx%016llx", (unsigned long long)random[0],
		       (unsigned long long)random[1]);
	return database_put_note(db, DATABASE_NOTE_STORE, id, sizeof(id) - 1, err);
}
