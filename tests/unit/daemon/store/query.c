#include "tests/unit/support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/proc.h"
#include "daemon/store/query.h"
#include "tests/unit/support/database_fixture.h"

TEST(lists_are_newest_first_and_by_owner_and_application, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_row rows[ROOM];
	uint64_t all = 0;

	for (unsigned i = 1; i <= 6; i++)
		put_sample(f, i, i % 2 ? "shop" : "pay");
	assert_int_equal(list(f, PROC_ANY_UID, "", rows, &all), 6);
	assert_int_equal(all, 6);
	assert_int_equal(rows[0].number, 6);
	assert_int_equal(rows[5].number, 1);
	assert_string_equal(rows[0].app, "pay");
	assert_int_equal(rows[0].samples, 2000);
	assert_int_equal(list(f, PROC_ANY_UID, "shop", rows, &all), 3);
	assert_int_equal(rows[0].number, 5);
	assert_int_equal(list(f, 1000, "", rows, &all), 6);
	assert_int_equal(list(f, 1001, "", rows, &all), 0);
}

TEST(lists_are_of_a_time_and_say_how_many_there_are, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_filter filter = {.owner = PROC_ANY_UID,
					 .app = "",
					 .since_unix_ns = SAMPLE_WINDOW_START_NS + 3 * NS_PER_S,
					 .until_unix_ns = SAMPLE_WINDOW_START_NS + 9 * NS_PER_S};
	struct database_row rows[2];
	size_t count = 0;
	uint64_t all = 0;

	for (unsigned i = 1; i <= 10; i++)
		put_sample(f, i, "shop");
	assert_int_equal(database_list(f->db, &filter, rows, 2, &count, &all, &f->err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(all, 6);
	assert_int_equal(rows[0].number, 8);
}

TEST(what_is_not_there_is_not_found, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *w = NULL;
	struct database_row row;

	put_sample(f, 1, "shop");
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 2, &w, &f->err), -ENOENT);
	assert_int_equal(database_find(f->db, 1001, 1, &row, &f->err), -ENOENT);
	assert_string_equal(f->err.message, "no window 'w1': see 'jxperfctl windows'");
}

TEST(a_window_that_could_not_run_says_why, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *w = sample_window_empty(3, "shop"), *back = NULL;

	w->state = WINDOW_FAILED;
	(void)snprintf(w->reason, sizeof(w->reason), "it is not a JVM");
	put(f, w);
	window_result_free(w);
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 3, &back, &f->err), -ECANCELED);
	assert_string_equal(
	    f->err.message,
	    "window w3 of pid 4242 has no report, it could not run: it is not a JVM");
}

TEST(windows_that_begin_later_than_a_time_are_counted, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_filter filter = {.owner = PROC_ANY_UID, .app = "shop"};
	uint64_t count = 9;
	unsigned first = 9;

	assert_int_equal(database_future(f->db, &filter, 0, &count, &first, &f->err), 0);
	assert_int_equal(count, 0);
	assert_int_equal(first, 0);
	for (unsigned i = 1; i <= 5; i++)
		put_sample(f, i, i < 5 ? "shop" : "other");
	assert_int_equal(database_future(f->db, &filter, SAMPLE_WINDOW_START_NS + 3 * NS_PER_S,
					 &count, &first, &f->err),
			 0);
	assert_int_equal(count, 2);
	assert_int_equal(first, 3);
	filter.until_unix_ns = SAMPLE_WINDOW_START_NS + 4 * NS_PER_S;
	assert_int_equal(database_future(f->db, &filter, SAMPLE_WINDOW_START_NS + 3 * NS_PER_S,
					 &count, &first, &f->err),
			 0);
	assert_int_equal(count, 1);
}

TEST(evidence_is_of_the_latest_day_of_each_application, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_evidence rows[ROOM];
	size_t count = 0;
	uint64_t day = SCHEDULED_NS / DATABASE_DAY_NS;

	put_scheduled(f, 1, "shop", SCHEDULED_NS - DATABASE_DAY_NS, 100);
	put_scheduled(f, 2, "shop", SCHEDULED_NS + 2, 600);
	put_scheduled(f, 3, "shop", SCHEDULED_NS + 1, 1200);
	put_scheduled(f, 4, "cart", SCHEDULED_NS - DATABASE_DAY_NS, 100);
	put_scheduled(f, 5, "cart", SCHEDULED_NS + DATABASE_DAY_NS, 100); /* It is too new, */
	put_sample(f, 6, "shop");                                         /* and nobody's. */
	assert_int_equal(database_evidence(f->db, "often", SCHEDULED_NS - DATABASE_DAY_NS,
					   SCHEDULED_NS + DATABASE_DAY_NS, rows, ROOM, &count,
					   &f->err),
			 0);
	assert_int_equal(count, 2);
	assert_string_equal(rows[0].app, "shop");
	assert_true(rows[0].day == day);
	assert_true(rows[0].weight_s == 600);
	assert_true(rows[0].pairs_s == 7 * 600 + 7 * 1200);
	assert_string_equal(rows[1].app, "cart");
	assert_true(rows[1].day == day - 1);
	assert_int_equal(
	    database_evidence(f->db, "seldom", 0, INT64_MAX, rows, ROOM, &count, &f->err), 0);
	assert_int_equal(count, 0);
}

TEST(windows_are_chosen_by_kinds_schedule_and_names_with_signs, set_up, tear_down)
{
	static const struct {
		struct database_filter filter;
		size_t count;
	} cases[] = {{{.app = "shop-*"}, 2},
		     {{.app = "shop-*,pay"}, 3},
		     {{.app = "pa?"}, 1},
		     {{.app = "shop"}, 0},
		     {{.app = "a[b]"}, 1}, /* It is a name, too. */
		     {{.schedule = "loops"}, 2},
		     {{.kinds = 1u << JXP__KIND__KIND_LOOPS}, 1},
		     {{.kinds = 1u << JXP__KIND__KIND_LOOPS | 2, .app = "shop-*"}, 2}};
	static const char *const apps[] = {"shop-a", "shop-b", "pay", "a[b]"};
	struct database_fixture *f = *state;
	struct database_app found[ROOM];
	struct database_filter any = {.owner = PROC_ANY_UID};
	uint64_t all_apps = 0;
	size_t count = 0;

	for (unsigned i = 0; i < 4; i++) {
		struct window_result *w = sample_window(i + 1, apps[i], 30);

		w->request.kinds[JXP__KIND__KIND_LOOPS] = i == 1;
		(void)snprintf(w->request.schedule.name, sizeof(w->request.schedule.name), "%s",
			       i < 2 ? "loops" : "");
		put(f, w);
		window_result_free(w);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct database_filter filter = cases[i].filter;
		uint64_t all = 0;

		filter.owner = PROC_ANY_UID;
		assert_int_equal(database_count(f->db, &filter, &all, &f->err), 0);
		assert_int_equal(all, cases[i].count);
		all = 0;
		for (size_t a = 0; a < 4 && filter.app[0]; a++)
			all += database_filter_means_app(&filter, apps[a]);
		assert_int_equal(all, filter.app[0] ? cases[i].count : 0);
	}
	assert_int_equal(database_apps(f->db, &any, found, 2, &count, &all_apps, &f->err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(all_apps, 4);
	assert_int_equal(database_apps(f->db, &any, found, ROOM, &count, &all_apps, &f->err), 0);
	assert_int_equal(count, 4);
	assert_int_equal(all_apps, 4);
	assert_string_equal(found[3].name, "shop-b");
	assert_int_equal(found[3].windows, 1);
	assert_true(found[3].kinds & 1u << JXP__KIND__KIND_LOOPS);
	assert_false(found[2].kinds & 1u << JXP__KIND__KIND_LOOPS);
}

TEST(as_many_names_as_there_is_room_for_are_all_asked_for, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_filter filter = {.owner = PROC_ANY_UID};
	struct window_result *w = sample_window(1, "z", 30);
	uint64_t all = 0;

	put(f, w);
	window_result_free(w);
	for (size_t i = 0; i + 3 < sizeof(filter.app); i += 2)
		memcpy(filter.app + i, "a,", 3);
	strcat(filter.app, "z");
	assert_int_equal(database_count(f->db, &filter, &all, &f->err), 0);
	assert_int_equal(all, 1);
}
