#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "daemon/answer/selection.h"
#include "daemon/store/clock_trust.h"
#include "daemon/store/database.h"
#include "daemon/store/record.h"
#include "tests/unit/support/sample_window.h"
#include "tests/unit/support/tree_fixture.h"

#define OTHER_USER 2000

/* The time of day: before the C library's function, this one is found. */
static uint64_t now_unix_ns;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	if (clock != CLOCK_REALTIME)
		return (int)syscall(SYS_clock_gettime, clock, out);
	*out = (struct timespec){.tv_sec = (time_t)(now_unix_ns / NS_PER_S)};
	return 0;
}

/* A database of its own, and a selection of all windows of "shop" in it. */
struct fixture {
	char path[96];
	struct database *db;
	struct selection s;
	atomic_bool cancelled;
	const struct window_result *found;
	struct err err;
};

static void select_shop(struct fixture *f, const char *database)
{
	selection_init(&f->s, database, PROC_ANY_UID);
	memcpy(f->s.windows.filter.app, "shop", sizeof("shop"));
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	now_unix_ns = SAMPLE_WINDOW_START_NS + 86400 * NS_PER_S;
	(void)tree_make();
	(void)snprintf(f->path, sizeof(f->path), "%s", tree_path("windows.db"));
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &f->db, &f->err), 0);
	select_shop(f, f->path);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	selection_release(&f->s);
	database_close(f->db);
	tree_remove();
	free(f);
	return 0;
}

/* Keeps w, of so many first bytes of its record, and frees it. */
static void keep_part(struct fixture *f, struct window_result *w, size_t cut)
{
	_cleanup_free_ uint8_t *record = NULL;
	size_t size = 0;

	assert_int_equal(record_encode(w, &record, &size), 0);
	assert_int_equal(database_put(f->db, w, record, size - cut, &f->err), 0);
	window_result_free(w);
}

static void keep(struct fixture *f, struct window_result *w)
{
	keep_part(f, w, 0);
}

static void hold(struct fixture *f, struct window_result *w)
{
	assert_int_equal(selection_hold(&f->s, w), 0);
	window_result_free(w);
}

static int load(struct fixture *f)
{
	return selection_load(&f->s, &f->cancelled, &f->found, &f->err);
}

TEST(an_id_is_a_number, set_up, tear_down)
{
	unsigned number = 0;

	assert_true(selection_number("w7", &number));
	assert_int_equal(number, 7);
	assert_false(selection_number("w0", &number) || selection_number("7", &number) ||
		     selection_number("w7x", &number) || selection_number("w4294967296", &number));
	assert_int_equal(number, 7);
}

TEST(one_window_is_taken_from_memory_before_the_store, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_result *w = sample_window(7, "shop", 10);

	keep(f, sample_window(7, "shop", 20));
	f->s.number = 7;
	hold(f, w);
	assert_int_equal(load(f), 0);
	assert_ptr_equal(f->found, f->s.held);
}

TEST(one_window_of_the_store_is_its_owners, set_up, tear_down)
{
	struct fixture *f = *state;

	keep(f, sample_window(7, "shop", 20));
	f->s.number = 7;
	f->s.windows.filter.owner = OTHER_USER;
	assert_int_equal(load(f), -ENOENT);
	assert_string_equal(f->err.message, "no window 'w7': see 'jxperfctl windows'");
	f->s.windows.filter.owner = 1000; /* sample_window's */
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->number, 7);
}

TEST(without_a_store_there_is_what_is_in_memory, set_up, tear_down)
{
	struct fixture *f = *state;

	select_shop(f, NULL);
	assert_int_equal(load(f), -ENOENT);
	selection_release(&f->s);
	select_shop(f, NULL);
	hold(f, sample_window(3, "shop", 20));
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->windows, 1);
}

TEST(those_of_an_application_and_a_time_are_merged, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_result *in_memory = sample_window(4, "shop", 20);

	for (unsigned i = 1; i <= 3; i++)
		keep(f, sample_window(i, "shop", 20));
	keep(f, sample_window(9, "other", 20));
	f->s.windows.filter.since_unix_ns =
	    SAMPLE_WINDOW_START_NS + 2 * NS_PER_S; /* w2 began then. */
	hold(f, in_memory);
	hold(f, sample_window(3, "shop", 20)); /* Kept, too: it counts once. */
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->windows, 3);
	assert_int_equal(f->found->merged->first, 2);
	assert_int_equal(f->found->merged->last, 4);
	assert_int_equal(f->found->merged->skipped, 0);
}

TEST(windows_of_others_are_not_in_a_merge, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_result *theirs = sample_window(1, "shop", 20);

	theirs->owner = OTHER_USER;
	keep(f, theirs);
	keep(f, sample_window(2, "shop", 20));
	f->s.windows.filter.owner = 1000;
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->windows, 1);
	assert_int_equal(f->found->merged->skipped, 0);
}

TEST(what_cannot_be_read_is_left_out_and_said, set_up, tear_down)
{
	struct fixture *f = *state;

	keep(f, sample_window(1, "shop", 20));
	keep_part(f, sample_window(2, "shop", 20), 8);
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->windows, 1);
	assert_int_equal(f->found->merged->notes[MERGED_UNREADABLE].windows, 1);
	assert_int_equal(f->found->merged->notes[MERGED_UNREADABLE].first, 2);
}

TEST(a_window_that_runs_is_told_from_one_that_was_cut_short, set_up, tear_down)
{
	struct fixture *f = *state;
	struct window_result *w = sample_window(1, "shop", 20);

	w->state = WINDOW_RUNNING;
	keep(f, w);
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->notes[MERGED_RUNNING].windows, 1);
	assert_int_equal(f->found->merged->notes[MERGED_CUT_SHORT].windows, 0);
}

TEST(the_newest_are_merged_and_the_others_counted, set_up, tear_down)
{
	struct fixture *f = *state;
	unsigned most = SELECTION_WINDOWS_MAX + 10;

	assert_int_equal(database_begin(f->db, &f->err), 0);
	for (unsigned i = 1; i <= most; i++)
		keep(f, sample_window_empty(i, "shop"));
	assert_int_equal(database_commit(f->db, &f->err), 0);
	hold(f, sample_window_empty(1, "shop"));        /* One of the older ones. */
	hold(f, sample_window_empty(most + 1, "shop")); /* Not kept yet. */
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->windows, SELECTION_WINDOWS_MAX);
	assert_int_equal(f->found->merged->last, most + 1);
	assert_int_equal(f->found->merged->notes[MERGED_OLDER].windows, 11);
	assert_int_equal(f->found->merged->skipped, 11);
}

/* The clock was ahead when they were taken, or is behind now. */
TEST(windows_of_the_future_are_in_no_merge, set_up, tear_down)
{
	struct fixture *f = *state;

	for (unsigned i = 1; i <= 4; i++)
		keep(f, sample_window(i, "shop", 20));
	hold(f, sample_window(4, "shop", 20)); /* Kept, too. */
	hold(f, sample_window(5, "shop", 20));
	now_unix_ns = SAMPLE_WINDOW_START_NS + 3 * NS_PER_S - CLOCK_FUTURE_NS;
	assert_int_equal(load(f), 0);
	assert_int_equal(f->found->merged->windows, 2);
	assert_int_equal(f->found->merged->last, 2);
	assert_int_equal(f->found->merged->notes[MERGED_FUTURE].windows, 3);
	assert_int_equal(f->found->merged->notes[MERGED_FUTURE].first, 3);
	assert_int_equal(f->found->merged->notes[MERGED_OLDER].windows, 0);
}

TEST(where_all_are_of_the_future_it_is_said_which, set_up, tear_down)
{
	struct fixture *f = *state;

	keep(f, sample_window(3, "shop", 20));
	now_unix_ns = SAMPLE_WINDOW_START_NS - CLOCK_FUTURE_NS;
	assert_int_equal(load(f), -ENOENT);
	assert_non_null(strstr(f->err.message, "1 (first w3) that began later than now"));
	f->s.number = 3; /* By its number it is there. */
	assert_int_equal(load(f), 0);
}

TEST(who_leaves_ends_a_merge, set_up, tear_down)
{
	struct fixture *f = *state;

	keep(f, sample_window(1, "shop", 20));
	atomic_store(&f->cancelled, true);
	assert_int_equal(load(f), -ECANCELED);
}

TEST(more_names_than_there_is_room_for_are_refused, set_up, tear_down)
{
	char names[DATABASE_APPS_BYTES + 1];
	Jxp__Selection asked = JXP__SELECTION__INIT;
	struct database_filter filter = {.owner = PROC_ANY_UID};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(names); i++)
		names[i] = i % 4 ? 'a' : ',';
	names[DATABASE_APPS_BYTES] = '\0';
	asked.app = names;
	assert_int_equal(selection_ask(&filter, &asked, &f->err), -EINVAL);
	assert_non_null(strstr(f->err.message, "512 characters, and 511 are the most"));
	assert_string_equal(filter.app, "");
	names[DATABASE_APPS_BYTES - 1] = '\0';
	assert_int_equal(selection_ask(&filter, &asked, &f->err), 0);
	assert_string_equal(filter.app, names);
}
