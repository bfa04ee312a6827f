/*
 * A database of windows (daemon/store/database.h) in a throw-away directory, and windows in it.
 */
#ifndef JXPERF_TESTS_DATABASE_FIXTURE_H
#define JXPERF_TESTS_DATABASE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/store/query.h"
#include "daemon/store/record.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/test.h"
#include "tests/unit/support/tree_fixture.h"

#define ROOM 64

struct database_fixture {
	char path[96];
	struct database *db;
	struct err err;
};

static inline int set_up(void **state)
{
	struct database_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)tree_make();
	(void)snprintf(f->path, sizeof(f->path), "%s", tree_path("windows.db"));
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &f->db, &f->err), 0);
	*state = f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct database_fixture *f = *state;

	database_close(f->db);
	tree_remove();
	free(f);
	return 0;
}

static inline void open_again(struct database_fixture *f)
{
	database_close(f->db);
	f->db = NULL;
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &f->db, &f->err), 0);
}

static inline void put(struct database_fixture *f, struct window_result *w)
{
	_cleanup_free_ uint8_t *record = NULL;
	size_t size = 0;

	if (w->state != WINDOW_FAILED && w->state != WINDOW_ATTACHING)
		assert_int_equal(record_encode(w, &record, &size), 0);
	assert_int_equal(database_put(f->db, w, record, size, &f->err), 0);
}

static inline void put_sample(struct database_fixture *f, unsigned number, const char *app)
{
	struct window_result *w = sample_window(number, app, 30);

	put(f, w);
	window_result_free(w);
}

/* Noon of some day. */
#define SCHEDULED_NS (UINT64_C(20000) * DATABASE_DAY_NS + DATABASE_DAY_NS / 2)

/* A window of the schedule "often" with 7 pairs, of version 1.2. */
static inline void put_scheduled(struct database_fixture *f, unsigned number, const char *app,
				 uint64_t start_unix_ns, double weight_s)
{
	struct window_result *w = sample_window(number, app, 30);

	strcpy(w->request.schedule.name, "often");
	strcpy(w->version, "1.2");
	w->request.schedule.weight_s = weight_s;
	w->start_unix_ns = start_unix_ns;
	w->counters[JXP__COUNTER__COUNTER_TRAPS] = 7;
	put(f, w);
	window_result_free(w);
}

static inline size_t list(struct database_fixture *f, uid_t owner, const char *app,
			  struct database_row *rows, uint64_t *all)
{
	struct database_filter filter = {.owner = owner};
	size_t count = 0;

	(void)snprintf(filter.app, sizeof(filter.app), "%s", app); /* Ours, and short. */
	assert_int_equal(database_list(f->db, &filter, rows, ROOM, &count, all, &f->err), 0);
	return count;
}

#endif
