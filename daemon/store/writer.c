#include "daemon/store/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/proc.h"
#include "daemon/store/query.h"
#include "daemon/store/record.h"

/* Invariant: batch belongs to the thread from writer_start until it is NULL again; both sides
 * touch it, and quit, with the lock held. dir, db and clock are the thread's alone while it runs.
 */
struct writer {
	uv_async_t done;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct writer_batch *batch;
	bool quit;
	bool waited;
	const struct state_dir *dir;
	struct database *db;
	struct clock_trust clock;
	enum clock_verdict verdict; /* that was not told yet */
	int64_t set_ns;
	void (*on_done)(void *arg);
	void *arg;
};

/* ---------------------------------------------------------------- writing */

static int put_window(struct database *db, const struct window_result *w, struct err *err)
{
	_cleanup_free_ uint8_t *record = NULL;
	size_t size = 0;

	if (w->state != WINDOW_FAILED) {
		int r = record_encode(w, &record, &size);

		/* One that no record has room for has its row, and does not keep others out. */
		if (r < 0 && r != -EMSGSIZE)
			return err_set_errno(err, -r, "cannot keep window %s", w->id);
	}
	return database_put(db, w, record, size, err);
}

static int put_clock(struct database *db, const struct clock_trust *clock, struct err *err)
{
	char note[CLOCK_NOTE_BYTES];
	size_t size = clock_trust_note(clock, note);

	return database_put_note(db, DATABASE_NOTE_CLOCK, note, size, err);
}

/* Those that run wait for nothing yet, and a snapshot of one is final, too; nor do those that have
 * nothing to show. */
static int queue_window(struct database *db, const struct writer_batch *b,
			const struct window_result *w, struct err *err)
{
	if (w->state == WINDOW_ATTACHING || w->state == WINDOW_RUNNING || w->state == WINDOW_FAILED)
		return 0;
	return queue_put(db, &b->destinations, w->number, err);
}

static int put_queue(struct database *db, struct writer_batch *b)
{
	int r = b->destinations.count > 0 ? queue_store_id_make(db, &b->err) : 0;

	for (size_t i = 0; i < b->count && r == 0; i++)
		r = queue_window(db, b, b->windows[i], &b->err);
	for (size_t i = 0; i < b->arrival_count && r == 0; i++)
		r = queue_take_out(db, b->arrivals[i].destination, b->arrivals[i].numbers,
				   b->arrivals[i].count, &b->err);
	if (r == 0 && b->forget_others)
		r = queue_forget_others(db, &b->destinations, b->forgotten, &b->err);
	return r;
}

static int put_all(struct database *db, const struct clock_trust *clock, struct writer_batch *b)
{
	struct err *err = &b->err;
	int r = database_begin(db, err);

	if (r < 0)
		return r;
	r = put_clock(db, clock, err);
	for (size_t i = 0; i < b->count && r == 0; i++)
		r = put_window(db, b->windows[i], err);
	if (r == 0)
		r = put_queue(db, b);
	if (r == 0 && b->metrics)
		r = database_put_note(db, DATABASE_NOTE_METRICS, b->metrics, b->metrics_bytes, err);
	if (r == 0)
		return database_commit(db, err);
	database_roll_back(db);
	return r;
}

/* What a start has to do before anything else, where it could not. */
static int catch_up(struct database *db, struct writer_batch *b)
{
	int r = 0;

	if (b->salvage_below > 0)
		r = queue_salvage(db, &b->destinations, b->salvage_below, &b->salvaged, &b->err);
	if (r == 0 && b->want_metrics && !b->metrics_found)
		r = database_note(db, DATABASE_NOTE_METRICS, &b->metrics_found,
				  &b->metrics_found_bytes, &b->err);
	return r;
}

/* What an earlier daemon left; a note that is none of ours is as good as none. */
static int restore_clock(struct writer *w, struct err *err)
{
	_cleanup_free_ void *note = NULL;
	size_t size = 0;
	int r = database_note(w->db, DATABASE_NOTE_CLOCK, &note, &size, err);

	if (r == 0 && note)
		(void)clock_trust_restore(&w->clock, note, size);
	return r;
}

/* At the start, and before each batch, whose windows are of the clock as it is. */
static int look_at_clock(struct writer *w, struct err *err)
{
	uint64_t bytes = 0, windows = 0;
	enum clock_verdict verdict;
	int64_t set_ns;
	int r = 0;

	if (!w->clock.known) {
		r = restore_clock(w, err);
		if (r == 0)
			r = database_size(w->db, &bytes, &windows, err);
	}
	if (r < 0)
		return r;
	verdict = clock_trust_look(&w->clock, windows > 0, &set_ns);
	if (verdict != CLOCK_EVEN) {
		w->verdict = verdict;
		w->set_ns = set_ns;
	}
	return 0;
}

/* Each once. */
static void tell_clock(struct writer *w, struct writer_batch *b)
{
	b->clock = w->verdict;
	b->clock_set_ns = w->set_ns;
	b->clock_trusted = clock_trust_is_trusted(&w->clock);
	w->verdict = CLOCK_EVEN;
}

static int write_once(struct writer *w, struct writer_batch *b)
{
	int r = b->check ? database_check(w->db, &b->err) : 0;

	if (r == 0)
		r = catch_up(w->db, b);
	if (r == 0)
		r = look_at_clock(w, &b->err);
	if (r == 0 && b->next_number > 0)
		r = state_dir_take_numbers(w->dir, b->next_number, &b->err);
	return r < 0 ? r : put_all(w->db, &w->clock, b);
}

/* What waits, when that is known of the time before some were retired: the limits have dropped the
 * difference. */
static void count_dropped(struct database *db, struct writer_batch *b)
{
	struct queue_state before[QUEUE_DESTINATIONS_MAX];
	struct err ignored; /* Shown only. */

	memcpy(before, b->queued, sizeof(before));
	b->queues_known = queue_states(db, &b->destinations, b->queued, &ignored) == 0;
	for (size_t i = 0; i < b->destinations.count && b->queues_known; i++)
		b->dropped[i] = before[i].windows > b->queued[i].windows
				    ? before[i].windows - b->queued[i].windows
				    : 0;
}

/* Limits are kept after each batch, so what is beyond them is little; that it cannot be deleted now
 * is no failure of the batch. */
static void retire(struct database *db, uint64_t now_unix_ns, struct writer_batch *b)
{
	const struct database_filter all = {.owner = PROC_ANY_UID, .app = ""};
	struct database_limits limits = b->limits;
	unsigned count = DATABASE_RETIRE_MAX, first;
	struct err ignored;

	if (!b->clock_trusted)
		limits.age_ns = 0;
	b->queues_known = queue_states(db, &b->destinations, b->queued, &ignored) == 0;
	for (int round = 0; round < 8 && count >= DATABASE_RETIRE_MAX; round++) {
		if (database_retire(db, &limits, now_unix_ns, &count, &ignored) < 0)
			break;
		b->retired += count;
	}
	if (b->retired > 0 && b->queues_known)
		count_dropped(db, b);
	(void)database_size(db, &b->bytes, &b->windows_kept, &ignored); /* Shown only, both. */
	(void)database_future(db, &all, now_unix_ns + CLOCK_FUTURE_NS, &b->future, &first,
			      &ignored);
}

/* Those set aside are as old as windows may be. */
static void tidy(const struct writer *w, struct writer_batch *b)
{
	uint64_t age_ns = b->clock_trusted ? b->limits.age_ns : 0;
	uint64_t now_ns = w->clock.last_unix_ns;

	b->set_aside = state_dir_tidy(
	    w->dir, age_ns > 0 && age_ns < now_ns ? (time_t)((now_ns - age_ns) / NS_PER_S) : 0);
	b->log_bytes = state_dir_log_bytes(w->dir);
}

static void write_batch(struct writer *w, struct writer_batch *b)
{
	uint64_t started_ns = clock_monotonic_ns();

	b->retired = 0;
	b->queues_known = false;
	b->salvage = (struct salvage_account){0};
	/* After a salvage that failed there is none, or after a start. */
	b->result = w->db ? 0 : salvage_open(w->dir, &w->db, &b->salvage, &b->err);
	b->disk_low = state_dir_is_low(w->dir, b->limits.free_part, &b->err);
	if (b->disk_low)
		b->result = -ENOSPC;
	if (b->result == 0)
		b->result = write_once(w, b);
	if (b->result == -EBADMSG) {
		struct err damage = b->err;

		b->result = salvage_again(w->dir, damage.message, &w->db, &b->salvage, &b->err);
		b->check = false;
		if (b->result == 0)
			b->result = write_once(w, b);
	}
	tell_clock(w, b);
	/* What goes makes room, too. */
	if (b->result == 0 || (b->disk_low && w->db))
		retire(w->db, w->clock.last_unix_ns, b);
	tidy(w, b);
	b->took_ns = clock_monotonic_ns() - started_ns;
}

static void *run(void *arg)
{
	struct writer *w = arg;

	(void)pthread_mutex_lock(&w->lock); /* Fails only for a broken mutex, here and below. */
	while (!w->quit) {
		struct writer_batch *batch = w->batch;

		if (!batch) {
			(void)pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&w->lock);
		write_batch(w, batch);
		(void)pthread_mutex_lock(&w->lock);
		w->batch = NULL;
		(void)pthread_cond_broadcast(&w->changed);
		(void)uv_async_send(&w->done); /* Fails only for a handle that is none. */
	}
	(void)pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* ---------------------------------------------------------------- the loop's side */

static void on_async(uv_async_t *async)
{
	struct writer *w = async->data;

	if (!w->waited)
		w->on_done(w->arg);
}

/* Signals are the loop's. */
static int start_thread(struct writer *w)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&w->thread, NULL, run, w);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

int writer_new(struct writer **out, uv_loop_t *loop, const struct state_dir *dir,
	       struct database *db, void (*done)(void *arg), void *arg, struct err *err)
{
	struct writer *w = calloc(1, sizeof(*w));
	struct err ignored;
	int r;

	if (!w)
		return err_set(err, ENOMEM, "out of memory");
	w->dir = dir;
	w->db = db;
	w->on_done = done;
	w->arg = arg;
	if (db) /* Where it cannot be read now, the first batch does it. */
		(void)look_at_clock(w, &ignored);
	(void)pthread_mutex_init(&w->lock, NULL); /* Neither can fail on Linux. */
	(void)pthread_cond_init(&w->changed, NULL);
	w->done.data = w;
	r = uv_async_init(loop, &w->done, on_async);
	if (r < 0) {
		free(w);
		return err_set_errno(err, -r, "cannot start to keep windows");
	}
	r = start_thread(w);
	if (r < 0) {
		uv_close((uv_handle_t *)&w->done, on_closed);
		return err_set_errno(err, -r, "cannot start to keep windows");
	}
	*out = w;
	return 0;
}

void writer_start(struct writer *w, struct writer_batch *batch)
{
	(void)pthread_mutex_lock(&w->lock);
	w->batch = batch;
	(void)pthread_cond_broadcast(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
}

void writer_wait(struct writer *w)
{
	(void)pthread_mutex_lock(&w->lock);
	while (w->batch)
		(void)pthread_cond_wait(&w->changed, &w->lock);
	w->quit = true;
	(void)pthread_cond_broadcast(&w->changed);
	(void)pthread_mutex_unlock(&w->lock);
	if (!w->waited)
		(void)pthread_join(w->thread, NULL); /* It is there, and joined once. */
	w->waited = true;
}

void writer_write_now(struct writer *w, struct writer_batch *batch)
{
	write_batch(w, batch);
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	writer_wait(w);
	database_close(w->db);
	(void)pthread_cond_destroy(&w->changed);
	(void)pthread_mutex_destroy(&w->lock);
	uv_close((uv_handle_t *)&w->done, on_closed);
}
