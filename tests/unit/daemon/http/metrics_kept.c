#include "tests/unit/support/test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/http/metrics_kept.h"
#include "daemon/http/metrics_record.h"
#include "tests/unit/support/keeper_fixture.h"

struct fixture {
	struct keeper_fixture store;
	struct metrics_kept kept;
};

static void open_keeper(struct fixture *f)
{
	keeper_fixture_open(&f->store, (struct keeper_settings){.flush_ms = 20});
	f->kept = (struct metrics_kept){.live = metrics_new()};
	assert_int_equal(metrics_kept_begin(&f->kept, f->store.keeper, NULL), 0);
}

static void close_keeper(struct fixture *f)
{
	keeper_fixture_close(&f->store);
	metrics_kept_release(&f->kept);
	metrics_free(f->kept.live);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)tree_make();
	keeper_fixture_init(&f->store, "state");
	open_keeper(f);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	close_keeper(f);
	keeper_fixture_release(&f->store);
	tree_remove();
	free(f);
	return 0;
}

/* Counts a failure, and tells the keeper of it. */
static void count_one(struct fixture *f)
{
	metrics_attach_failed(f->kept.live, EBUSY);
	f->store.sink.failed(f->store.sink.arg, NULL, EBUSY, "busy");
}

static unsigned failures_in(const struct metrics *m)
{
	static const char series[] = "\njxperf_attach_failures_total{reason=\"busy\"} ";
	char *text = NULL, *at;
	size_t size = 0;
	unsigned value = 0;
	FILE *out = open_memstream(&text, &size);

	metrics_write(out, m, 0, false);
	assert_int_equal(fclose(out), 0);
	at = strstr(text, series);
	assert_non_null(at);
	assert_int_equal(sscanf(at + strlen(series), "%u", &value), 1);
	free(text);
	return value;
}

static unsigned shown(const struct fixture *f)
{
	return failures_in(metrics_kept_shown(&f->kept));
}

static void turn_until_shown(struct fixture *f, unsigned wanted)
{
	TURN_UNTIL(&f->store, shown(f) == wanted);
}

/* What a daemon would find that was started now. */
static unsigned on_disk(struct fixture *f)
{
	struct database *db = NULL;
	struct metrics *found = NULL;
	void *bytes = NULL;
	size_t size = 0;
	unsigned value;

	assert_int_equal(database_open(f->store.path, DATABASE_READ, &db, NULL), 0);
	assert_int_equal(database_note(db, DATABASE_NOTE_METRICS, &bytes, &size, NULL), 0);
	database_close(db);
	if (!bytes)
		return 0;
	assert_int_equal(metrics_decode(bytes, size, &found, NULL), 0);
	value = failures_in(found);
	metrics_free(found);
	free(bytes);
	return value;
}

TEST(nothing_is_shown_that_is_not_on_the_disk, set_up, tear_down)
{
	struct fixture *f = *state;

	for (unsigned i = 1; i <= 5; i++) {
		count_one(f);
		assert_int_equal(shown(f), i - 1);
		turn_until_shown(f, i);
		assert_true(on_disk(f) >= i);
	}
}

TEST(a_later_daemon_goes_on_with_what_was_kept, set_up, tear_down)
{
	struct fixture *f = *state;

	count_one(f);
	count_one(f);
	close_keeper(f);
	open_keeper(f);
	assert_int_equal(shown(f), 2);
	count_one(f);
	turn_until_shown(f, 3);
}

TEST(without_a_keeper_all_is_shown_at_once, set_up, tear_down)
{
	struct metrics_kept kept = {.live = metrics_new()};

	metrics_attach_failed(kept.live, EBUSY);
	assert_int_equal(failures_in(metrics_kept_shown(&kept)), 1);
	metrics_kept_release(&kept);
	metrics_free(kept.live);
}

/* Nothing else is shown before it is there. */
static bool stands_on_disk(struct fixture *f, unsigned value)
{
	assert_int_equal(shown(f), value);
	return on_disk(f) >= value;
}

/* Another's lock is in the way of writing. */
TEST(while_nothing_can_be_written_all_is_shown_and_never_falls_after, set_up, tear_down)
{
	struct fixture *f = *state;
	unsigned before = 0;
	struct sqlite3 *other = NULL;

	assert_int_equal(sqlite3_open(f->store.path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	count_one(f);
	turn_until_shown(f, 1); /* The batch has failed. */
	assert_int_equal(on_disk(f), 0);
	assert_true(keeper_stats(f->store.keeper).failing);
	count_one(f);
	assert_int_equal(shown(f), 2);
	assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	while (keeper_stats(f->store.keeper).failing) {
		count_one(f); /* Also between encoding and the end of writing. */
		assert_true(shown(f) >= before);
		before = shown(f);
		(void)uv_run(&f->store.loop, UV_RUN_ONCE);
	}
	assert_true(shown(f) >= before);
	/* What was shown meanwhile stands, and is on the disk with the next batch. */
	before = shown(f);
	TURN_UNTIL(&f->store, stands_on_disk(f, before));
	assert_int_equal(on_disk(f), before);
}

TEST(what_a_start_could_not_read_is_added_when_it_can, set_up, tear_down)
{
	struct fixture *f = *state;
	struct sqlite3 *other = NULL;

	count_one(f);
	count_one(f);
	close_keeper(f);
	assert_int_equal(sqlite3_open(f->store.path, &other), SQLITE_OK);
	/* Also its readers are kept out. */
	assert_int_equal(sqlite3_exec(other,
				      "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	open_keeper(f);
	assert_null(keeper_metrics_found(f->store.keeper, &(size_t){0}));
	count_one(f);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	turn_until_shown(f, 3);
	assert_int_equal(on_disk(f), 3);
}

TEST(damaged_metrics_begin_at_zero_and_are_said, set_up, tear_down)
{
	struct fixture *f = *state;
	struct sqlite3 *db = NULL;
	struct err err = {""};

	count_one(f);
	close_keeper(f);
	assert_int_equal(sqlite3_open(f->store.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "UPDATE notes SET value = x'00112233' WHERE name = "
				      "'" DATABASE_NOTE_METRICS "'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 1);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	keeper_fixture_open(&f->store, (struct keeper_settings){0});
	f->kept = (struct metrics_kept){.live = metrics_new()};
	assert_int_equal(metrics_kept_begin(&f->kept, f->store.keeper, &err), -EBADMSG);
	assert_non_null(strstr(err.message, "damaged"));
	assert_int_equal(shown(f), 0);
	count_one(f);
	turn_until_shown(f, 1);
}
