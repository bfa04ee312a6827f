#include "tests/unit/support/test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "daemon/store/database.h"
#include "daemon/store/queue.h"
#include "daemon/store/record.h"
#include "daemon/store/salvage.h"
#include "tests/unit/support/keeper_fixture.h"
#include "tests/unit/support/sample_window.h"

static const struct queue_destinations both = {.names = {"house", "files"}, .count = 2};
static const struct queue_destinations house = {.names = {"house"}, .count = 1};

static void open_keeper(struct keeper_fixture *f, const struct queue_destinations *to)
{
	keeper_fixture_open(f, (struct keeper_settings){.flush_ms = 50, .destinations = *to});
}

static int set_up(void **state)
{
	struct keeper_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)tree_make();
	keeper_fixture_init(f, "state");
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	keeper_fixture_release(*state);
	tree_remove();
	free(*state);
	return 0;
}

static struct database *open_database(struct keeper_fixture *f)
{
	struct database *db = NULL;

	assert_int_equal(database_open(f->path, DATABASE_READ, &db, &f->err), 0);
	return db;
}

static void finish(struct keeper_fixture *f, unsigned number, enum window_state end)
{
	struct window_result *w = sample_window(number, "shop", 30);

	w->state = WINDOW_RUNNING;
	w->finished = false;
	f->sink.started(f->sink.arg, w);
	w->state = end;
	w->finished = true;
	if (end == WINDOW_FAILED)
		f->sink.failed(f->sink.arg, w, EIO, "no");
	else
		f->sink.finished(f->sink.arg, w);
	window_result_free(w);
}

static uint64_t waiting(struct keeper_fixture *f, const char *destination)
{
	return keeper_queue(f->keeper, destination).state.windows;
}

/* What the file has in a queue, as a text: "1 2 3". */
static const char *queue_of(struct keeper_fixture *f, const char *destination)
{
	static char text[256];
	unsigned numbers[32];
	size_t count = 0, used = 0;
	struct database *db = open_database(f);

	assert_int_equal(queue_numbers(db, destination, numbers, 32, &count, &f->err), 0);
	database_close(db);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "",
					 numbers[i]);
	return text;
}

TEST(a_finished_window_with_a_record_waits_for_each_destination, set_up, tear_down)
{
	struct keeper_fixture *f = *state;

	open_keeper(f, &both);
	finish(f, 1, WINDOW_DONE);
	finish(f, 2, WINDOW_FAILED);
	finish(f, 3, WINDOW_ENDED_EARLY);
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= 3);
	assert_string_equal(queue_of(f, "house"), "1 3");
	assert_string_equal(queue_of(f, "files"), "1 3");
	assert_int_equal(waiting(f, "house"), 2);
	assert_true(keeper_queue(f->keeper, "house").state.oldest_unix_ns > SAMPLE_WINDOW_START_NS);
}

TEST(a_window_that_runs_waits_for_nothing_though_it_is_written, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w = sample_window(1, "shop", 30);

	open_keeper(f, &house);
	w->state = WINDOW_RUNNING;
	w->finished = false;
	f->sink.started(f->sink.arg, w);
	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 1);
	assert_string_equal(queue_of(f, "house"), "");
	w->state = WINDOW_DONE;
	w->finished = true;
	f->sink.finished(f->sink.arg, w);
	window_result_free(w);
	TURN_UNTIL(f, waiting(f, "house") >= 1);
	assert_string_equal(queue_of(f, "house"), "1");
}

TEST(what_has_arrived_leaves_one_queue_with_the_next_batch, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	const unsigned numbers[] = {1, 2};
	uint64_t ticket;

	open_keeper(f, &both);
	for (unsigned i = 1; i <= 3; i++)
		finish(f, i, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 3);
	ticket = keeper_arrived(f->keeper, "house", numbers, 2);
	assert_true(ticket > 0);
	assert_false(keeper_has_written(f->keeper, ticket));
	TURN_UNTIL(f, keeper_has_written(f->keeper, ticket));
	assert_string_equal(queue_of(f, "house"), "3");
	assert_string_equal(queue_of(f, "files"), "1 2 3");
	assert_int_equal(waiting(f, "house"), 1);
}

/* The daemon dies between the server's acknowledgement and the next batch: the file is copied as it
 * is then. */
TEST(what_has_arrived_and_was_not_written_is_sent_again, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	const unsigned number = 1;
	char command[512];

	open_keeper(f, &house);
	finish(f, 1, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 1);
	(void)snprintf(command, sizeof(command), "cp -r %s %s.copy", f->directory, f->directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
	assert_true(keeper_arrived(f->keeper, "house", &number, 1) > 0);
	keeper_fixture_close(f);
	assert_string_equal(queue_of(f, "house"), "");
	(void)snprintf(command, sizeof(command), "rm -r %s && mv %s.copy %s", f->directory,
		       f->directory, f->directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
	assert_string_equal(queue_of(f, "house"), "1");
	open_keeper(f, &house);
	assert_int_equal(waiting(f, "house"), 1);
}

TEST(what_the_limits_delete_before_it_arrived_is_counted_by_destination, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	const struct database_limits limits = {.per_app = 2};
	const unsigned numbers[] = {1, 2, 3};

	open_keeper(f, &both);
	for (unsigned i = 1; i <= 6; i++)
		finish(f, i, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 6);
	assert_true(keeper_arrived(f->keeper, "files", numbers, 3) > 0);
	TURN_UNTIL(f, waiting(f, "files") <= 3);
	keeper_set_limits(f->keeper, &limits);
	TURN_UNTIL(f, keeper_stats(f->keeper).retired >= 4);
	assert_int_equal(keeper_queue(f->keeper, "house").dropped, 4);
	assert_int_equal(keeper_queue(f->keeper, "files").dropped, 1);
	assert_int_equal(waiting(f, "house"), 2);
	assert_int_equal(waiting(f, "files"), 2);
}

TEST(what_the_limits_delete_while_the_disk_is_low_is_counted_likewise, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	const struct database_limits limits = {.per_app = 2, .free_part = 1.5};

	open_keeper(f, &house);
	for (unsigned i = 1; i <= 6; i++)
		finish(f, i, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 6);
	keeper_set_limits(f->keeper, &limits);
	TURN_UNTIL(f, keeper_stats(f->keeper).retired >= 4);
	assert_true(keeper_stats(f->keeper).disk_low);
	assert_int_equal(keeper_queue(f->keeper, "house").dropped, 4);
	assert_int_equal(waiting(f, "house"), 2);
}

static void count_batch(void *arg)
{
	(*(unsigned *)arg)++;
}

TEST(a_queue_that_cannot_be_read_is_as_it_was_and_not_empty, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	const struct database_limits limits = {.per_app = 2};
	unsigned batches = 0;
	sqlite3 *db = NULL;

	open_keeper(f, &house);
	for (unsigned i = 1; i <= 3; i++)
		finish(f, i, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 3);
	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "ALTER TABLE queue RENAME TO away", NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	keeper_on_written(f->keeper, count_batch, &batches);
	keeper_set_limits(f->keeper, &limits);
	TURN_UNTIL(f, keeper_stats(f->keeper).retired >= 1);
	assert_true(batches > 0);
	assert_int_equal(waiting(f, "house"), 3);
	assert_int_equal(keeper_queue(f->keeper, "house").dropped, 0);
}

TEST(windows_of_a_destination_that_is_none_any_more_are_forgotten, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	const struct queue_destinations other = {.names = {"files", "new"}, .count = 2};

	open_keeper(f, &both);
	finish(f, 1, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 1);
	keeper_set_destinations(f->keeper, &other);
	finish(f, 2, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "new") >= 1);
	assert_string_equal(queue_of(f, "house"), "");
	assert_string_equal(queue_of(f, "files"), "1 2");
	assert_string_equal(queue_of(f, "new"), "2");
	keeper_fixture_close(f);
	open_keeper(f, &house);
	TURN_UNTIL(f, keeper_stats(f->keeper).last_write_s > 0);
	assert_string_equal(queue_of(f, "files"), "");
}

static void unfinished(struct keeper_fixture *f)
{
	struct queue_state states[QUEUE_DESTINATIONS_MAX];
	struct window_result *w = sample_window(1, "shop", 30);
	_cleanup_free_ uint8_t *record = NULL;
	struct database *db = NULL;
	size_t size = 0;

	open_keeper(f, &house);
	TURN_UNTIL(f, keeper_stats(f->keeper).last_write_s > 0);
	keeper_fixture_close(f);
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &db, &f->err), 0);
	w->state = WINDOW_RUNNING;
	assert_int_equal(record_encode(w, &record, &size), 0);
	assert_int_equal(database_put(db, w, record, size, &f->err), 0);
	assert_int_equal(queue_states(db, &house, states, &f->err), 0);
	assert_int_equal(states[0].windows, 0);
	database_close(db);
	window_result_free(w);
}

TEST(what_was_kept_of_a_window_that_was_cut_off_is_sent, set_up, tear_down)
{
	struct keeper_fixture *f = *state;

	unfinished(f);
	open_keeper(f, &house);
	assert_string_equal(queue_of(f, "house"), "1");
	assert_int_equal(waiting(f, "house"), 1);
}

static void store_id(struct keeper_fixture *f, char id[QUEUE_STORE_BYTES])
{
	struct database *db = open_database(f);

	assert_int_equal(queue_store_id(db, id, &f->err), 0);
	database_close(db);
}

TEST(a_store_has_one_name_for_good_and_another_store_another, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	char first[QUEUE_STORE_BYTES], second[QUEUE_STORE_BYTES], command[256];

	open_keeper(f, &house);
	keeper_fixture_close(f);
	store_id(f, first);
	assert_int_equal(strlen(first), 32);
	open_keeper(f, &house);
	keeper_fixture_close(f);
	store_id(f, second);
	assert_string_equal(first, second);
	(void)snprintf(command, sizeof(command), "rm -r %s", f->directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of ours */
	open_keeper(f, &house);
	keeper_fixture_close(f);
	store_id(f, second);
	assert_string_not_equal(first, second);
}

TEST(queue_and_name_outlive_a_salvage, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	char before[QUEUE_STORE_BYTES], after[QUEUE_STORE_BYTES];
	struct salvage_account account;
	struct database *db = NULL;
	struct state_dir dir;

	open_keeper(f, &both);
	for (unsigned i = 1; i <= 3; i++)
		finish(f, i, WINDOW_DONE);
	TURN_UNTIL(f, waiting(f, "house") >= 3);
	keeper_fixture_close(f);
	store_id(f, before);
	assert_int_equal(state_dir_open(&dir, f->directory, &f->err), 0);
	assert_int_equal(database_open(f->path, DATABASE_WRITE, &db, &f->err), 0);
	assert_int_equal(salvage_again(&dir, "a test says so", &db, &account, &f->err), 0);
	assert_int_equal(account.kept, 3);
	assert_false(account.unqueued);
	database_close(db);
	state_dir_close(&dir);
	store_id(f, after);
	assert_string_equal(before, after);
	assert_string_equal(queue_of(f, "house"), "1 2 3");
	assert_string_equal(queue_of(f, "files"), "1 2 3");
}
