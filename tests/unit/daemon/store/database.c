#include "tests/unit/support/test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "daemon/store/query.h"
#include "daemon/store/queue.h"
#include "tests/unit/support/database_fixture.h"
#include "tests/unit/support/older_store.h"

TEST(a_window_is_there_after_the_file_was_closed, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *w = NULL;
	unsigned highest = 0;

	put_sample(f, 5, "shop");
	open_again(f);
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 5, &w, &f->err), 0);
	assert_string_equal(w->id, "w5");
	assert_int_equal(w->state, WINDOW_DONE);
	assert_int_equal(w->profile.pair_count, 3);
	window_result_free(w);
	assert_int_equal(database_highest(f->db, &highest, &f->err), 0);
	assert_int_equal(highest, 5);
}

TEST(windows_that_were_cut_off_are_salvaged_or_have_failed, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *running = sample_window(1, "shop", 30);
	struct window_result *begun = sample_window_empty(2, "shop"), *w = NULL;
	struct database_row rows[ROOM];
	unsigned count = 0;
	uint64_t all = 0;

	running->state = WINDOW_RUNNING;
	begun->state = WINDOW_ATTACHING;
	put(f, running);
	put(f, begun);
	put_sample(f, 3, "shop");
	open_again(f);
	assert_int_equal(database_salvage(f->db, 100, &count, &f->err), 0);
	assert_int_equal(count, 2);
	assert_int_equal(list(f, PROC_ANY_UID, "", rows, &all), 3);
	assert_int_equal(rows[0].state, WINDOW_DONE);
	assert_int_equal(rows[1].state, WINDOW_FAILED);
	assert_int_equal(rows[2].state, WINDOW_SALVAGED);
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 1, &w, &f->err), 0);
	assert_int_equal(w->state, WINDOW_SALVAGED);
	assert_non_null(strstr(w->reason, "the daemon ended"));
	window_result_free(w);
	assert_int_equal(database_salvage(f->db, 100, &count, &f->err), 0);
	assert_int_equal(count, 0);
	window_result_free(running);
	window_result_free(begun);
}

TEST(what_was_kept_while_a_window_ran_is_replaced_at_its_end, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *early = sample_window(1, "shop", 30), *w = NULL;

	early->state = WINDOW_RUNNING;
	put(f, early);
	window_result_free(early);
	put_sample(f, 1, "shop");
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 1, &w, &f->err), 0);
	assert_int_equal(w->state, WINDOW_DONE);
	window_result_free(w);
}

TEST(what_is_rolled_back_was_never_there, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_row rows[ROOM];
	uint64_t all = 0;

	assert_int_equal(database_begin(f->db, &f->err), 0);
	put_sample(f, 1, "shop");
	database_roll_back(f->db);
	assert_int_equal(list(f, PROC_ANY_UID, "", rows, &all), 0);
}

static unsigned retire(struct database_fixture *f, struct database_limits limits, uint64_t now)
{
	unsigned count = 0;

	assert_int_equal(database_retire(f->db, &limits, now, &count, &f->err), 0);
	return count;
}

TEST(old_windows_go_by_age, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_limits limits = {.age_ns = 20 * NS_PER_S};
	struct database_row rows[ROOM];
	uint64_t all = 0;

	for (unsigned i = 1; i <= 10; i++)
		put_sample(f, i, "shop");
	/* The first ended at 13 s, the fifth at 17. */
	assert_int_equal(retire(f, limits, SAMPLE_WINDOW_START_NS + 38 * NS_PER_S), 5);
	assert_int_equal(list(f, PROC_ANY_UID, "", rows, &all), 5);
	assert_int_equal(rows[4].number, 6);
}

TEST(the_oldest_windows_of_an_application_go_by_number, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_limits limits = {.per_app = 3};
	struct database_row rows[ROOM];
	uint64_t all = 0;

	for (unsigned i = 1; i <= 10; i++)
		put_sample(f, i, i < 3 ? "pay" : "shop");
	assert_int_equal(retire(f, limits, SAMPLE_WINDOW_START_NS), 5);
	assert_int_equal(list(f, PROC_ANY_UID, "pay", rows, &all), 2);
	assert_int_equal(list(f, PROC_ANY_UID, "shop", rows, &all), 3);
	assert_int_equal(rows[2].number, 8);
}

TEST(the_oldest_windows_go_by_size_and_the_file_shrinks, set_up, tear_down)
{
	struct database_fixture *f = *state;
	uint64_t before = 0, after = 0, windows = 0;
	struct database_limits limits = {0};

	for (unsigned i = 1; i <= 200; i++)
		put_sample(f, i, "shop");
	assert_int_equal(database_size(f->db, &before, &windows, &f->err), 0);
	assert_int_equal(windows, 200);
	limits.bytes = before / 2;
	while (retire(f, limits, SAMPLE_WINDOW_START_NS) > 0)
		;
	assert_int_equal(database_size(f->db, &after, &windows, &f->err), 0);
	assert_true(after <= before / 2);
	assert_in_range(windows, 50, 110);
}

static void put_of(struct database_fixture *f, unsigned number, const char *app, uid_t owner)
{
	struct window_result *w = sample_window(number, app, 30);

	w->owner = owner;
	put(f, w);
	window_result_free(w);
}

static uint64_t count_of(struct database_fixture *f, uid_t owner)
{
	struct database_row rows[ROOM];
	uint64_t all = 0;

	(void)list(f, owner, "", rows, &all);
	return all;
}

/* One has few windows, the oldest; another many, and goes on. */
TEST(one_users_windows_drive_out_no_others, set_up, tear_down)
{
	struct database_fixture *f = *state;
	uint64_t before = 0, windows = 0;
	struct database_limits limits = {0};

	for (unsigned i = 1; i <= 10; i++)
		put_of(f, i, "shop", 1000);
	for (unsigned i = 11; i <= 20; i++)
		put_of(f, i, "shop", 0);
	for (unsigned i = 21; i <= 200; i++)
		put_of(f, i, "shop", 1001);
	assert_int_equal(database_size(f->db, &before, &windows, &f->err), 0);
	limits.bytes = before / 2;
	while (retire(f, limits, SAMPLE_WINDOW_START_NS) > 0)
		;
	assert_int_equal(count_of(f, 1000), 10);
	assert_int_equal(count_of(f, 0), 10);
	assert_in_range(count_of(f, 1001), 30, 90);
	limits = (struct database_limits){.per_app = 10};
	(void)retire(f, limits, SAMPLE_WINDOW_START_NS);
	assert_int_equal(count_of(f, 1000), 10);
	assert_int_equal(count_of(f, 1001), 10);
}

TEST(a_window_that_runs_is_not_deleted, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *w = sample_window(1, "shop", 30);
	struct database_limits limits = {.age_ns = 1, .bytes = 1, .per_app = 1};

	w->state = WINDOW_RUNNING;
	put(f, w);
	window_result_free(w);
	put_sample(f, 2, "shop");
	put_sample(f, 3, "shop");
	assert_int_equal(retire(f, limits, SAMPLE_WINDOW_START_NS + NS_PER_S * 1000), 2);
	assert_int_equal(retire(f, limits, SAMPLE_WINDOW_START_NS + NS_PER_S * 1000), 0);
}

TEST(a_deleted_window_takes_its_record_along, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct window_result *w = NULL;

	put_sample(f, 1, "shop");
	assert_int_equal(retire(f, (struct database_limits){.age_ns = 1},
				SAMPLE_WINDOW_START_NS + 1000 * NS_PER_S),
			 1);
	/* One without a record takes its number. */
	w = sample_window_empty(1, "shop");
	w->state = WINDOW_FAILED;
	put(f, w);
	window_result_free(w);
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 1, &w, &f->err), -ECANCELED);
}

TEST(notes_are_kept, set_up, tear_down)
{
	struct database_fixture *f = *state;
	_cleanup_free_ void *value = NULL;
	size_t size = 1;

	assert_int_equal(database_note(f->db, "metrics", &value, &size, &f->err), 0);
	assert_null(value);
	assert_int_equal(size, 0);
	assert_int_equal(database_put_note(f->db, "metrics", "one", 3, &f->err), 0);
	assert_int_equal(database_put_note(f->db, "metrics", "three", 5, &f->err), 0);
	open_again(f);
	assert_int_equal(database_note(f->db, "metrics", &value, &size, &f->err), 0);
	assert_int_equal(size, 5);
	assert_memory_equal(value, "three", 5);
}

TEST(a_file_of_a_later_version_is_left_alone, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database *db = NULL;

	put_sample(f, 1, "shop");
	store_execute(f->path, "PRAGMA user_version = 99");
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &db, &f->err), -EPROTONOSUPPORT);
	assert_non_null(strstr(f->err.message, "version 99, made by a later jxperfd"));
	store_execute(f->path, "PRAGMA user_version = 5");
}

TEST(a_file_of_an_earlier_version_is_left_alone, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database *db = NULL;

	put_sample(f, 1, "shop");
	store_execute(f->path, "PRAGMA user_version = 2");
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &db, &f->err), -EPROTO);
	assert_non_null(strstr(f->err.message, "version 2, made by an earlier jxperfd"));
	store_execute(f->path, "PRAGMA user_version = 5");
}

/* Its windows are there, and say neither of which version they are nor what they stand for. */
TEST(windows_of_a_file_of_version_4_are_there, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_evidence evidence[ROOM];
	struct database_row rows[ROOM];
	uint64_t all = 0;
	size_t count = ROOM;

	put_scheduled(f, 1, "shop", SCHEDULED_NS, 600);
	older_store_make(f->path, 4);
	open_again(f);
	assert_int_equal(list(f, PROC_ANY_UID, "shop", rows, &all), 1);
	assert_string_equal(rows[0].version, "");
	assert_int_equal(
	    database_evidence(f->db, "often", 0, INT64_MAX, evidence, ROOM, &count, &f->err), 0);
	assert_int_equal(count, 0);
	put_scheduled(f, 2, "shop", SCHEDULED_NS, 600);
	assert_int_equal(list(f, PROC_ANY_UID, "shop", rows, &all), 2);
	assert_string_equal(rows[0].version, "1.2");
}

/* What they are for is not known until their records are read. */
TEST(a_file_of_version_3_becomes_one_of_this, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_row rows[ROOM];
	struct window_result *w = NULL;
	uint64_t all = 0;

	put_sample(f, 1, "shop");
	older_store_make(f->path, 3);
	open_again(f);
	assert_int_equal(list(f, PROC_ANY_UID, "shop", rows, &all), 1);
	assert_int_equal(rows[0].kinds, 0);
	assert_int_equal(rows[0].asker, 0);
	assert_int_equal(database_load(f->db, PROC_ANY_UID, 1, &w, &f->err), 0);
	assert_int_equal(w->profile.pair_count, 3);
	window_result_free(w);
	put_sample(f, 2, "shop");
	open_again(f);
	assert_int_equal(list(f, PROC_ANY_UID, "shop", rows, &all), 2);
	assert_int_not_equal(rows[0].kinds, 0);
	assert_int_equal(rows[0].asker, 1001);
}

/* A damaged one is read so: what can be learnt from it stays in it. */
static void read_for_salvage(struct database_fixture *f, unsigned version)
{
	struct database *from = NULL;
	struct database_row row;
	struct window_result *w = NULL;
	unsigned number = 0;

	put_sample(f, 1, "shop");
	older_store_make(f->path, version);
	assert_int_equal(database_open(f->path, DATABASE_SALVAGE, &from, &f->err), 0);
	assert_true(database_next(from, 0, &number));
	assert_int_equal(database_find(from, PROC_ANY_UID, number, &row, &f->err), 0);
	assert_string_equal(row.app, "shop");
	assert_string_equal(row.version, "");
	assert_int_equal(row.asker, version == 3 ? 0 : 1001);
	assert_int_equal(row.kinds == 0, version == 3);
	assert_int_equal(database_load(from, PROC_ANY_UID, number, &w, &f->err), 0);
	window_result_free(w);
	database_close(from);
	/* It has them still to get. */
	store_execute(f->path, version == 3 ? "ALTER TABLE windows ADD COLUMN kinds"
					    : "ALTER TABLE windows ADD COLUMN weight_s");
}

TEST(a_file_of_version_3_is_read_for_salvage_and_not_written, set_up, tear_down)
{
	read_for_salvage(*state, 3);
}

TEST(a_file_of_version_4_is_read_for_salvage_and_not_written, set_up, tear_down)
{
	read_for_salvage(*state, 4);
}

TEST(a_file_of_version_4_gets_a_queue, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct queue_destinations to = {.names = {"there"}, .count = 1};
	struct queue_state states[QUEUE_DESTINATIONS_MAX];

	put_sample(f, 1, "shop");
	older_store_make(f->path, 4);
	open_again(f);
	assert_int_equal(queue_states(f->db, &to, states, &f->err), 0);
	assert_int_equal(states[0].windows, 0);
	assert_int_equal(queue_put(f->db, &to, 1, &f->err), 0);
	assert_int_equal(queue_states(f->db, &to, states, &f->err), 0);
	assert_int_equal(states[0].windows, 1);
}

TEST(a_version_that_a_bit_has_changed_is_no_version, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database_row row;

	put_sample(f, 1, "shop");
	store_execute(f->path, "PRAGMA user_version = 4");
	open_again(f);
	assert_int_equal(database_find(f->db, PROC_ANY_UID, 1, &row, &f->err), 0);
	assert_string_equal(row.app, "shop");
}

TEST(somebody_elses_file_is_left_alone, set_up, tear_down)
{
	struct database_fixture *f = *state;
	struct database *db = NULL;

	store_execute(f->path, "PRAGMA application_id = 5");
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &db, &f->err), -EBADMSG);
}

TEST(what_is_no_database_is_said_to_be_damaged, set_up, tear_down)
{
	struct database_fixture *f = *state;
	char path[96];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s", tree_path("other"));
	file = fopen(path, "we");
	assert_non_null(file);
	for (int i = 0; i < 4096; i++)
		assert_true(fputs("no database ", file) >= 0);
	assert_int_equal(fclose(file), 0);
	{
		struct database *db = NULL;

		assert_int_equal(database_open(path, DATABASE_WRITE, &db, &f->err), -EBADMSG);
	}
	assert_int_equal(unlink(path), 0);
}
