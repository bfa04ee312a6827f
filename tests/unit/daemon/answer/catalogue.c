#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/proc.h"
#include "daemon/answer/catalogue.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/tree_fixture.h"

/* A database of its own, and all windows of everybody. */
struct fixture {
	struct database *db;
	struct catalogue c;
	struct err err;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)tree_make();
	assert_int_equal(database_open(tree_path("windows.db"), DATABASE_WRITE, &f->db, &f->err),
			 0);
	f->c = (struct catalogue){.filter = {.owner = PROC_ANY_UID}, .most = 10};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	catalogue_release(&f->c);
	database_close(f->db);
	tree_remove();
	free(f);
	return 0;
}

static void keep(struct fixture *f, unsigned number)
{
	struct window_result *w = sample_window(number, "shop", 20);

	assert_int_equal(database_put(f->db, w, NULL, 0, &f->err), 0);
	window_result_free(w);
}

static void hold(struct fixture *f, unsigned number, enum window_state state)
{
	struct window_result *w = sample_window(number, "shop", 20);

	w->state = state;
	w->finished = state != WINDOW_RUNNING;
	assert_int_equal(catalogue_hold(&f->c, w), 0);
	window_result_free(w);
}

static void expect_numbers(struct fixture *f, const char *numbers)
{
	char found[64] = "";
	size_t length = 0;

	assert_int_equal(catalogue_read(&f->c, f->db, &f->err), 0);
	for (size_t i = 0; i < f->c.count; i++)
		length +=
		    (size_t)snprintf(found + length, sizeof(found) - length, "%s%u%s", i ? " " : "",
				     f->c.entries[i].number, f->c.entries[i].held ? "h" : "");
	assert_string_equal(found, numbers);
}

TEST(a_window_is_there_once_and_told_from_memory, set_up, tear_down)
{
	struct fixture *f = *state;

	for (unsigned i = 1; i <= 3; i++)
		keep(f, i);
	hold(f, 4, WINDOW_FAILED);
	hold(f, 2, WINDOW_RUNNING);
	expect_numbers(f, "1 2h 3 4h");
	assert_int_equal(f->c.older, 0);
}

TEST(where_only_what_was_recorded_is_meant_memory_gives_what_has_ended, set_up, tear_down)
{
	struct fixture *f = *state;

	f->c.filter.recorded = true;
	hold(f, 1, WINDOW_DONE);
	hold(f, 2, WINDOW_RUNNING);
	hold(f, 3, WINDOW_FAILED);
	expect_numbers(f, "1h");
}

TEST(the_latest_are_there_and_the_others_counted_once, set_up, tear_down)
{
	struct fixture *f = *state;

	f->c.most = 2;
	for (unsigned i = 1; i <= 4; i++)
		keep(f, i);
	hold(f, 1, WINDOW_DONE); /* Kept, too, beyond the latest. */
	hold(f, 5, WINDOW_RUNNING);
	expect_numbers(f, "4 5h");
	assert_int_equal(f->c.older, 3);
}

TEST(what_a_clock_that_was_set_dated_ahead_is_of_no_time_and_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_result *w = sample_window(2, "shop", 20);

	w->start_unix_ns = UINT64_C(1) << 62;
	keep(f, 1);
	assert_int_equal(catalogue_hold(&f->c, w), 0);
	window_result_free(w);
	f->c.is_of_a_time = true;
	expect_numbers(f, "1");
	assert_int_equal(f->c.future, 1);
	assert_int_equal(f->c.first_future, 2);
}
