#include "tests/unit/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/proc.h"
#include "daemon/store/query.h"
#include "profile/window/tables.h"
#include "tests/unit/support/keeper_fixture.h"
#include "tests/unit/support/older_store.h"
#include "tests/unit/support/sample_window.h"

/* The time of day as a test sets it: before the C library's function, this one is found. Without a
 * step it is some days after the sample windows, whatever the machine's date is. */
#define DATE_S ((time_t)(SAMPLE_WINDOW_START_NS / NS_PER_S) + 5 * 86400)

static time_t clock_step_s, boot_step_s, date_step_s;

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int r = (int)syscall(SYS_clock_gettime, clock, out);

	if (clock == CLOCK_REALTIME && date_step_s == 0)
		date_step_s = DATE_S - out->tv_sec;
	if (clock == CLOCK_REALTIME)
		out->tv_sec += clock_step_s + date_step_s;
	if (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME)
		out->tv_sec += boot_step_s;
	return r;
}

static void open_keeper(struct keeper_fixture *f)
{
	keeper_fixture_open(f, (struct keeper_settings){.flush_ms = 50});
}

static int set_up(void **state)
{
	struct keeper_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	(void)tree_make();
	keeper_fixture_init(f, "state");
	open_keeper(f);
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

static void finish(struct keeper_fixture *f, struct window_result *w)
{
	w->state = WINDOW_DONE;
	w->finished = true;
	f->sink.finished(f->sink.arg, w);
}

static struct window_result *begin(struct keeper_fixture *f, unsigned number)
{
	struct window_result *w = sample_window(number, "shop", 30);

	w->state = WINDOW_RUNNING;
	w->finished = false;
	w->asker.uid = 1000;
	f->sink.started(f->sink.arg, w);
	return w;
}

static struct database *open_database(struct keeper_fixture *f)
{
	struct database *db = NULL;

	assert_int_equal(database_open(f->path, DATABASE_READ, &db, &f->err), 0);
	return db;
}

static enum window_state state_in_database(struct keeper_fixture *f, unsigned number)
{
	struct database *db = open_database(f);
	struct database_row row;

	assert_int_equal(database_find(db, PROC_ANY_UID, number, &row, &f->err), 0);
	database_close(db);
	return row.state;
}

TEST(a_finished_window_is_written_at_once, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w = begin(f, 1);

	finish(f, w);
	window_result_free(w);
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= 1);
	assert_int_equal(state_in_database(f, 1), WINDOW_DONE);
}

TEST(a_window_has_a_row_from_its_beginning, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w = begin(f, 1);

	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 1);
	assert_int_equal(state_in_database(f, 1), WINDOW_RUNNING);
	finish(f, w);
	window_result_free(w);
}

/* So that no other has room beside it in one flush. */
static void make_large(struct window_result *w)
{
	char text[4000];
	uint32_t id;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (unsigned i = 0; window_result_memory_bytes(w) <= KEEPER_COPIES_BYTES / 2; i++) {
		(void)snprintf(text, 16, "%015u", i);
		text[15] = '-';
		assert_int_equal(strings_intern(&w->profile.strings, text, &id), 0);
	}
	(void)snprintf(w->jdk, sizeof(w->jdk), "large");
}

static unsigned count_large(struct keeper_fixture *f, struct database *db, unsigned numbers)
{
	unsigned count = 0;

	for (unsigned number = 1; number <= numbers; number++) {
		struct window_result *kept = NULL;

		assert_int_equal(database_load(db, PROC_ANY_UID, number, &kept, &f->err), 0);
		count += strcmp(kept->jdk, "large") == 0;
		window_result_free(kept);
	}
	return count;
}

TEST(large_windows_that_run_are_written_one_after_the_other, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w[2];
	struct database *db;
	unsigned large = 0, before = 0;
	uint64_t last_ns, now_ns, flush_ms = 1500; /* Reading what was written takes a while. */

	keeper_fixture_close(f);
	keeper_fixture_open(f, (struct keeper_settings){.flush_ms = flush_ms});
	for (unsigned i = 0; i < 2; i++)
		w[i] = begin(f, i + 1);
	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 2);
	db = open_database(f);
	make_large(w[0]);
	make_large(w[1]);
	for (unsigned i = 0; i < 2; i++)
		f->sink.progressed(f->sink.arg, w[i]);
	last_ns = clock_monotonic_ns();
	for (int round = 0; round < 200 && large < 2; round++) {
		(void)uv_run(&f->loop, UV_RUN_ONCE);
		large = count_large(f, db, 2);
		now_ns = clock_monotonic_ns();
		/* Where a look took longer, both may have been written meanwhile. */
		if (now_ns - last_ns < flush_ms * NS_PER_MS)
			assert_in_range(large, before, before + 1);
		before = large;
		last_ns = now_ns;
	}
	assert_int_equal(large, 2);
	database_close(db);
	for (int i = 0; i < 2; i++) {
		finish(f, w[i]);
		window_result_free(w[i]);
	}
}

TEST(a_running_window_is_written_again_as_it_grows, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w = begin(f, 1), *kept = NULL;
	struct database *db;
	uint64_t before;

	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 1);
	db = open_database(f);
	assert_int_equal(database_load(db, PROC_ANY_UID, 1, &kept, &f->err), 0);
	before = kept->profile.kinds[JXP__KIND__KIND_DEAD_STORE].application.count;
	window_result_free(kept);
	sample_window_pairs(w, JXP__KIND__KIND_DEAD_STORE, 2, 2, 5, true);
	f->sink.progressed(f->sink.arg, w);
	for (int round = 0; round < 100; round++) {
		(void)uv_run(&f->loop, UV_RUN_ONCE);
		assert_int_equal(database_load(db, PROC_ANY_UID, 1, &kept, &f->err), 0);
		if (kept->profile.kinds[JXP__KIND__KIND_DEAD_STORE].application.count > before)
			break;
		window_result_free(kept);
		kept = NULL;
	}
	assert_non_null(kept);
	window_result_free(kept);
	database_close(db);
	finish(f, w);
	window_result_free(w);
}

/* Nobody tells that it has changed, so nothing of it is seen. */
TEST(a_window_that_does_not_change_is_not_written_again, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w = begin(f, 1);
	struct database *db;

	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 1);
	make_large(w);
	db = open_database(f);
	for (int round = 0; round < 10; round++) {
		(void)uv_run(&f->loop, UV_RUN_ONCE);
		assert_int_equal(count_large(f, db, 1), 0);
	}
	f->sink.progressed(f->sink.arg, w);
	for (int round = 0; round < 200 && count_large(f, db, 1) == 0; round++)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(count_large(f, db, 1), 1);
	/* Large as it is, it is not again for minutes. */
	(void)snprintf(w->jdk, sizeof(w->jdk), "larger");
	f->sink.progressed(f->sink.arg, w);
	for (int round = 0; round < 10; round++)
		(void)uv_run(&f->loop, UV_RUN_ONCE);
	assert_int_equal(count_large(f, db, 1), 1);
	database_close(db);
	finish(f, w);
	window_result_free(w);
}

TEST(all_that_waits_is_written_at_the_end, set_up, tear_down)
{
	struct keeper_fixture *f = *state;

	for (unsigned i = 1; i <= 100; i++) {
		struct window_result *w = begin(f, i);

		finish(f, w);
		window_result_free(w);
	}
	keeper_fixture_close(f);
	open_keeper(f);
	assert_int_equal(keeper_stats(f->keeper).windows, 100);
	assert_int_equal(keeper_first_number(f->keeper), 101);
}

/* As if killed: nothing of the keeper's ending happens. */
static void copy_directory(const struct keeper_fixture *f, struct keeper_fixture *copy)
{
	char command[256];

	keeper_fixture_init(copy, "copy");
	(void)snprintf(command, sizeof(command), "cp -r %s %s", f->directory, copy->directory);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
}

TEST(after_a_loss_of_power_what_ran_is_salvaged_and_numbers_go_on, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct keeper_fixture copy;
	struct window_result *w = begin(f, 1), *done = begin(f, 2);

	finish(f, done);
	window_result_free(done);
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= 1);
	copy_directory(f, &copy);
	open_keeper(&copy);
	assert_int_equal(keeper_stats(copy.keeper).salvaged, 1);
	assert_int_equal(state_in_database(&copy, 1), WINDOW_SALVAGED);
	assert_int_equal(state_in_database(&copy, 2), WINDOW_DONE);
	assert_true(keeper_first_number(copy.keeper) > 2);
	keeper_fixture_release(&copy);
	finish(f, w);
	window_result_free(w);
}

static sqlite3 *lock_database(struct keeper_fixture *f)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	return db;
}

static void unlock_database(sqlite3 *db)
{
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(what_a_start_cannot_write_is_written_later, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct keeper_fixture copy;
	struct window_result *running = begin(f, 1), *w;
	sqlite3 *locked;

	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 1);
	copy_directory(f, &copy);
	locked = lock_database(&copy);
	open_keeper(&copy);
	assert_true(keeper_stats(copy.keeper).failing);
	assert_int_equal(keeper_stats(copy.keeper).salvaged, 0);
	assert_true(keeper_first_number(copy.keeper) > 1);
	w = begin(&copy, keeper_first_number(copy.keeper));
	finish(&copy, w);
	unlock_database(locked);
	TURN_UNTIL(&copy, keeper_stats(copy.keeper).written >= 1);
	assert_int_equal(keeper_stats(copy.keeper).salvaged, 1);
	assert_int_equal(state_in_database(&copy, 1), WINDOW_SALVAGED);
	assert_int_equal(state_in_database(&copy, w->number), WINDOW_DONE);
	window_result_free(w);
	keeper_fixture_release(&copy);
	finish(f, running);
	window_result_free(running);
}

TEST(a_second_daemon_is_refused, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct keeper_settings settings = {.directory = f->directory};
	struct keeper *second = NULL;

	assert_int_equal(keeper_new(&second, &f->loop, &settings, &f->err), -EBUSY);
	assert_non_null(strstr(f->err.message, "another jxperfd uses the state directory"));
}

TEST(what_cannot_be_written_is_written_later, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w = begin(f, 1);
	sqlite3 *locked;

	TURN_UNTIL(f, keeper_stats(f->keeper).windows >= 1);
	locked = lock_database(f);
	finish(f, w);
	window_result_free(w);
	TURN_UNTIL(f, keeper_stats(f->keeper).errors >= 1);
	assert_true(keeper_stats(f->keeper).failing);
	assert_int_equal(keeper_stats(f->keeper).waiting, 1);
	unlock_database(locked);
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= 1);
	assert_false(keeper_stats(f->keeper).failing);
	assert_int_equal(keeper_stats(f->keeper).lost, 0);
}

TEST(what_waits_is_bounded_and_the_oldest_is_lost, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	sqlite3 *locked = lock_database(f);

	for (unsigned i = 1; i <= KEEPER_WAITING_MAX + 10; i++) {
		struct window_result *w = sample_window_empty(i, "shop");

		finish(f, w);
		window_result_free(w);
	}
	assert_int_equal(keeper_stats(f->keeper).waiting, KEEPER_WAITING_MAX);
	assert_int_equal(keeper_stats(f->keeper).lost, 10);
	unlock_database(locked);
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= KEEPER_WAITING_MAX);
}

static int encode_count(void *arg, void **bytes, size_t *size)
{
	(void)arg;
	*bytes = strdup("sums");
	*size = 4;
	return *bytes ? 0 : -ENOMEM;
}

/* What metrics were told, by whether writing fails. */
static void on_kept(void *arg, bool failing)
{
	unsigned *told = arg;

	told[failing]++;
}

/* As an earlier daemon left them. */
static void leave_windows(struct keeper_fixture *f, unsigned count)
{
	struct database *db = NULL;

	assert_int_equal(database_open(f->path, DATABASE_WRITE, &db, &f->err), 0);
	assert_int_equal(database_begin(db, &f->err), 0);
	for (unsigned i = 1; i <= count; i++) {
		struct window_result *w = sample_window_empty(i, "shop");

		assert_int_equal(database_put(db, w, NULL, 0, &f->err), 0);
		window_result_free(w);
	}
	assert_int_equal(database_commit(db, &f->err), 0);
	database_close(db);
}

TEST(a_lower_limit_is_reached_without_another_window, set_up, tear_down)
{
	struct keeper_fixture *f = *state;

	keeper_fixture_close(f);
	leave_windows(f, 2600);
	open_keeper(f);
	keeper_set_limits(f->keeper, &(struct database_limits){.per_app = 100});
	TURN_UNTIL(f, keeper_stats(f->keeper).retired >= 2500);
	assert_int_equal(keeper_stats(f->keeper).windows, 100);
}

TEST(nothing_is_written_where_others_are_to_have_the_rest_of_the_disk, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct window_result *w;

	keeper_set_limits(f->keeper, &(struct database_limits){.free_part = 1.5});
	w = begin(f, 1);
	finish(f, w);
	window_result_free(w);
	TURN_UNTIL(f, keeper_stats(f->keeper).disk_low);
	assert_true(keeper_stats(f->keeper).failing);
	assert_int_equal(keeper_stats(f->keeper).written, 0);
	assert_int_equal(keeper_stats(f->keeper).waiting, 1);
	keeper_set_limits(f->keeper, &(struct database_limits){.free_part = 0});
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= 1);
	assert_false(keeper_stats(f->keeper).failing);
	assert_false(keeper_stats(f->keeper).disk_low);
}

TEST(metrics_are_kept_with_windows_and_come_back, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	unsigned told[2] = {0};
	const struct keeper_metrics metrics = {
	    .arg = told, .encode = encode_count, .kept = on_kept};
	struct window_result *w;
	size_t size = 1;

	assert_null(keeper_metrics_found(f->keeper, &size));
	keeper_add_metrics(f->keeper, &metrics);
	w = begin(f, 1);
	finish(f, w);
	window_result_free(w);
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= 1);
	assert_true(told[false] > 0);
	assert_int_equal(told[true], 0);
	keeper_fixture_close(f);
	open_keeper(f);
	assert_memory_equal(keeper_metrics_found(f->keeper, &size), "sums", 4);
	assert_int_equal(size, 4);
}

/* Has one window after the other kept, and says how many went. */
static uint64_t keep_some(struct keeper_fixture *f, unsigned first)
{
	for (unsigned i = first; i < first + 3; i++) {
		struct window_result *w = begin(f, i);

		finish(f, w);
		window_result_free(w);
	}
	TURN_UNTIL(f, keeper_stats(f->keeper).written >= first + 2);
	return keeper_stats(f->keeper).retired;
}

TEST(windows_are_not_deleted_for_an_age_that_the_clock_made_up, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct database_limits limits = {.age_ns = 3650 * 86400 * NS_PER_S};

	keeper_set_limits(f->keeper, &limits);
	clock_step_s = (time_t)20 * 365 * 86400;
	assert_int_equal(keep_some(f, 1), 0);
	clock_step_s = 0;
	limits.age_ns = NS_PER_S; /* The samples are of an earlier day. */
	keeper_set_limits(f->keeper, &limits);
	assert_int_equal(keep_some(f, 4), 0);
	assert_true(keeper_stats(f->keeper).clock_doubted);
	/* Nor by the next daemon, before a day has passed evenly. */
	keeper_fixture_close(f);
	open_keeper(f);
	keeper_set_limits(f->keeper, &limits);
	TURN_UNTIL(f, keeper_stats(f->keeper).clock_doubted);
	assert_int_equal(keeper_stats(f->keeper).retired, 0);
	assert_int_equal(keeper_stats(f->keeper).windows, 6);
	boot_step_s = 86400;
	keeper_set_limits(f->keeper, &limits);
	TURN_UNTIL(f, keeper_stats(f->keeper).retired >= 6);
	assert_false(keeper_stats(f->keeper).clock_doubted);
	boot_step_s = 0;
}

/* All that is kept would be gone before anybody could set the clock right. */
TEST(a_daemon_that_starts_with_its_clock_ahead_deletes_nothing, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct database_limits limits = {.age_ns = 3650 * 86400 * NS_PER_S};

	keeper_set_limits(f->keeper, &limits);
	assert_int_equal(keep_some(f, 1), 0);
	assert_false(keeper_stats(f->keeper).clock_doubted);
	keeper_fixture_close(f);
	clock_step_s = (time_t)20 * 365 * 86400;
	open_keeper(f);
	keeper_set_limits(f->keeper, &limits);
	TURN_UNTIL(f, keeper_stats(f->keeper).clock_doubted);
	assert_int_equal(keeper_stats(f->keeper).windows, 3);
	assert_int_equal(keeper_stats(f->keeper).retired, 0);
	clock_step_s = 0;
}

/* ---------------------------------------------------------------- damage */

static void fill(struct keeper_fixture *f, unsigned windows)
{
	for (unsigned i = 1; i <= windows; i++) {
		struct window_result *w = begin(f, i);

		finish(f, w);
		window_result_free(w);
	}
	keeper_fixture_close(f);
}

static void flip(struct keeper_fixture *f, uint64_t random)
{
	struct stat st;
	int fd;
	unsigned char byte;
	off_t at;

	fd = open(f->path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	at = (off_t)((random >> 8) % (uint64_t)st.st_size);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= (unsigned char)(1u << random % 8);
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	assert_int_equal(close(fd), 0);
}

/* Whatever bit flips: the daemon starts, keeps windows, and what it then has of the old ones is as
 * it was. */
static void flip_bits(struct keeper_fixture *f, unsigned version)
{
	uint64_t random = 20261122;
	unsigned readable = 0;

	for (int place = 0; place < 100; place++) {
		struct database_filter all = {.owner = PROC_ANY_UID, .app = ""};
		struct database_row rows[16];
		struct database *db;
		char command[128];
		size_t count = 0;
		uint64_t sum;
		struct window_result *w;

		fill(f, 8);
		if (version < DATABASE_VERSION)
			older_store_make(f->path, version);
		random = random * 6364136223846793005u + 1442695040888963407u;
		flip(f, random >> 16);
		open_keeper(f);
		w = begin(f, keeper_first_number(f->keeper));
		finish(f, w);
		TURN_UNTIL(f, keeper_stats(f->keeper).written >= 1);
		db = open_database(f);
		assert_int_equal(database_list(db, &all, rows, 16, &count, &sum, &f->err), 0);
		assert_int_equal(rows[0].number, w->number);
		for (size_t i = 0; i < count; i++) {
			struct window_result *old = NULL;
			int r = database_load(db, PROC_ANY_UID, rows[i].number, &old, &f->err);

			if (i > 0)
				assert_int_equal(rows[i].asker, version == 3 ? 0 : 1001);
			readable += r == 0;
			if (r == 0)
				assert_int_equal(old->profile.pair_count, w->profile.pair_count);
			window_result_free(old);
		}
		database_close(db);
		window_result_free(w);
		keeper_fixture_close(f);
		(void)snprintf(command, sizeof(command), "rm -rf %s/*", f->directory);
		assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): a path of ours */
		open_keeper(f);
	}
	/* Most bits that flip are one window's; 9 were kept each time. */
	assert_in_range(readable, 700, 900);
}

TEST(a_database_with_flipped_bits_is_salvaged_or_set_aside, set_up, tear_down)
{
	flip_bits(*state, DATABASE_VERSION);
}

TEST(one_of_version_3_with_flipped_bits_likewise, set_up, tear_down)
{
	flip_bits(*state, 3);
}

TEST(one_of_version_4_with_flipped_bits_likewise, set_up, tear_down)
{
	flip_bits(*state, 4);
}

TEST(a_directory_of_a_later_version_is_left_alone, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	struct keeper_settings settings = {.directory = f->directory};
	struct keeper *later = NULL;

	keeper_fixture_close(f);
	store_execute(f->path, "PRAGMA user_version = 99");
	assert_int_equal(keeper_new(&later, &f->loop, &settings, &f->err), -EPROTONOSUPPORT);
	(void)uv_run(&f->loop, UV_RUN_NOWAIT);
	store_execute(f->path, "PRAGMA user_version = 5");
	open_keeper(f);
}

/* Versions 1 and 2, of 0.1.0. */
TEST(a_database_of_an_earlier_version_is_set_aside_as_it_is, set_up, tear_down)
{
	struct keeper_fixture *f = *state;
	char command[512];

	keeper_fixture_close(f);
	(void)snprintf(command, sizeof(command), "rm -f %s* && cp tests/data/store-version-1.db %s",
		       f->path, f->path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
	open_keeper(f);
	assert_int_equal(keeper_stats(f->keeper).damages, 0);
	(void)snprintf(command, sizeof(command), "cmp tests/data/store-version-1.db %s.earlier-*",
		       f->path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
	assert_int_equal(keeper_stats(f->keeper).set_aside.count, 1);
}

TEST(what_was_set_aside_goes_with_windows_of_its_age, set_up, tear_down)
{
	const struct database_limits limits = {.age_ns = 3600 * NS_PER_S};
	struct keeper_fixture *f = *state;
	char command[4096];

	keeper_fixture_close(f);
	(void)snprintf(command, sizeof(command),
		       "echo 12 > %s.damaged-1000; echo 34 > %s.damaged-1000-wal; "
		       "echo 56789 > %s.damaged-$(date +%%s); echo x > %s.mine",
		       f->path, f->path, f->path, f->path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
	open_keeper(f);
	assert_int_equal(keeper_stats(f->keeper).set_aside.count, 2);
	assert_int_equal(keeper_stats(f->keeper).set_aside.bytes, 12);
	keeper_set_limits(f->keeper, &limits);
	(void)keep_some(f, 1);
	assert_int_equal(keeper_stats(f->keeper).set_aside.count, 1);
	assert_int_equal(keeper_stats(f->keeper).set_aside.bytes, 6);
	(void)snprintf(command, sizeof(command), "test ! -e %s.damaged-1000-wal && test -e %s.mine",
		       f->path, f->path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): paths of ours */
}
