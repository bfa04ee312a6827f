#include "daemon/store/keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "daemon/store/queue.h"
#include "daemon/store/salvage.h"
#include "daemon/store/state_dir.h"
#include "daemon/store/writer.h"
#include "daemon/shares/makes_way.h"
#include "profile/window/tables.h"

/* Windows that run at a time; one more is kept when it ends. */
#define RUNNING_MAX 64

/* A window that runs. */
struct runner {
	const struct window_result *window;
	bool changed;    /* since it was copied for a flush */
	uint64_t due_ns; /* the next flush of it, CLOCK_MONOTONIC */
};

struct keeper {
	struct state_dir dir;
	struct writer *writer;
	uv_timer_t *timer; /* freed by the loop */
	struct database_limits limits;
	uint64_t flush_ms;
	unsigned next_number;  /* not taken yet */
	unsigned taken_number; /* the lowest that is not taken in the directory */
	void *metrics_found;
	size_t metrics_found_bytes;
	struct keeper_metrics metrics;
	/* What the start could not do: unfinished windows below this number, 0: none; and the
	 * metrics that are not known yet, whose place may not be taken. */
	unsigned salvage_below;
	bool metrics_unknown;

	struct runner running[RUNNING_MAX];
	size_t running_count;
	struct window_result *waiting[KEEPER_WAITING_MAX]; /* ended, oldest first; kept */
	size_t waiting_count;
	bool changed; /* metrics may have, or there is a window that was never written */

	/* Where windows go, and what waits for each. A place of arrivals is a batch's until that
	 * is written; tickets count them. */
	struct queue_destinations destinations;
	struct keeper_queue queues[QUEUE_DESTINATIONS_MAX];
	bool forget_others;
	struct writer_arrival arrivals[WRITER_ARRIVALS_MAX];
	size_t arrival_count;
	uint64_t arrivals_written;
	void (*written)(void *arg);
	void *written_arg;

	bool writing;
	bool checked; /* the file was read through once */
	struct writer_batch batch;
	size_t batch_waiting; /* so many of the batch are the first of waiting, */
	void *batch_metrics;
	struct keeper_stats stats;
};

/* ---------------------------------------------------------------- batches */

/* Snapshots are the batch's own; who waits is kept by its place in the queue. */
static void release_batch(struct keeper *k)
{
	for (size_t i = k->batch_waiting; i < k->batch.count; i++)
		window_result_free((struct window_result *)k->batch.windows[i]); /* A snapshot. */
	free(k->batch_metrics);
	free(k->batch.metrics_found);
	k->batch_metrics = NULL;
	k->batch_waiting = 0;
	k->batch = (struct writer_batch){0};
}

/* The first count of those that run go to the end. */
static void rotate(struct keeper *k, size_t count)
{
	struct runner first[RUNNING_MAX];
	size_t rest = k->running_count - count;

	memcpy(first, k->running, count * sizeof(first[0]));
	memmove(k->running, k->running + count, rest * sizeof(first[0]));
	memcpy(k->running + rest, first, count * sizeof(first[0]));
}

/* Who was left out for want of memory is first in the next batch. */
static void add_running(struct keeper *k)
{
	size_t left = KEEPER_COPIES_BYTES, i = 0;
	uint64_t now = clock_monotonic_ns();

	for (; i < k->running_count && k->batch.count < WRITER_WINDOWS_MAX; i++) {
		struct runner *r = &k->running[i];
		size_t bytes = window_result_memory_bytes(r->window);
		const struct window_result *copy;

		if (!r->changed || now < r->due_ns)
			continue;
		copy = bytes <= left ? window_result_snapshot(r->window) : NULL;
		if (!copy)
			break;
		left -= bytes;
		k->batch.windows[k->batch.count++] = copy;
		r->changed = false;
		r->due_ns = now + bytes * NS_PER_S / KEEPER_FLUSH_BYTES_PER_S;
	}
	if (i > 0 && i < k->running_count)
		rotate(k, i);
}

static void add_metrics(struct keeper *k)
{
	size_t size = 0;

	k->batch.want_metrics = k->metrics_unknown;
	if (k->metrics_unknown || !k->metrics.encode ||
	    k->metrics.encode(k->metrics.arg, &k->batch_metrics, &size) < 0)
		return;
	k->batch.metrics = k->batch_metrics;
	k->batch.metrics_bytes = size;
}

/* A block further, well before the numbers that are taken are used up. */
static void add_numbers(struct keeper *k)
{
	if (k->next_number + STATE_DIR_NUMBERS / 2 < k->taken_number)
		return;
	k->batch.next_number = k->next_number + STATE_DIR_NUMBERS;
}

static void add_queues(struct keeper *k)
{
	k->batch.destinations = k->destinations;
	k->batch.forget_others = k->forget_others;
	k->batch.arrivals = k->arrivals;
	k->batch.arrival_count = k->arrival_count;
	k->forget_others = false;
}

static void make_batch(struct keeper *k)
{
	size_t room = WRITER_WINDOWS_MAX - RUNNING_MAX;

	k->batch = (struct writer_batch){
	    .limits = k->limits, .check = !k->checked, .salvage_below = k->salvage_below};
	k->batch_waiting = k->waiting_count < room ? k->waiting_count : room;
	for (size_t i = 0; i < k->batch_waiting; i++)
		k->batch.windows[k->batch.count++] = k->waiting[i];
	add_running(k);
	add_metrics(k);
	add_numbers(k);
	add_queues(k);
	k->changed = false;
}

static void drop_arrivals(struct keeper *k, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(k->arrivals[i].numbers);
	k->arrival_count -= count;
	k->arrivals_written += count;
	memmove(k->arrivals, k->arrivals + count, k->arrival_count * sizeof(k->arrivals[0]));
}

static void drop_waiting(struct keeper *k, size_t count)
{
	for (size_t i = 0; i < count; i++)
		window_result_free(k->waiting[i]);
	k->waiting_count -= count;
	memmove(k->waiting, k->waiting + count, k->waiting_count * sizeof(struct window_result *));
}

static size_t is_one(const struct window_result *w)
{
	(void)w;
	return 1;
}

/* One of the first end that is not being written. */
static void lose_one(struct keeper *k, size_t end, window_weight_fn *weight)
{
	size_t first = k->writing ? k->batch_waiting : 0;
	size_t oldest = window_makes_way(k->waiting, k->waiting_count, first, end, weight);

	log_error("window %s is lost: it could not be kept, and too many others wait",
		  k->waiting[oldest]->id);
	window_result_free(k->waiting[oldest]);
	k->waiting_count--;
	memmove(k->waiting + oldest, k->waiting + oldest + 1,
		(k->waiting_count - oldest) * sizeof(struct window_result *));
	k->stats.lost++;
}

/* What is being written stays, and the newest. */
static void keep_to_memory(struct keeper *k)
{
	while (k->waiting_count > k->batch_waiting + 1 &&
	       window_weight_sum(k->waiting, k->waiting_count, window_result_memory_bytes) >
		   KEEPER_WAITING_BYTES)
		lose_one(k, k->waiting_count - 1, window_result_memory_bytes);
}

static void say_set_aside(struct keeper *k, const struct salvage_account *s)
{
	if (s->earlier)
		log_warn("%s: it is set aside as '%s', and windows are kept in a new one",
			 s->reason, s->aside);
	if (!s->damaged)
		return;
	k->stats.damages++;
	log_error("the database of windows was damaged (%s): %u windows were taken over, %u could "
		  "not be read; the old one is '%s'",
		  s->reason, s->kept, s->lost, s->aside);
	if (s->unqueued)
		log_error("of some of these it could not be read whether they wait to be sent: "
			  "they are not sent any more");
}

/* Can what there is be written? why: the reason, or NULL. Said when that changes: a disk that is
 * full stays so for a while. */
static void set_failing(struct keeper *k, const char *why)
{
	if (why && !k->stats.failing)
		log_error("windows are not kept at present, and are tried again: %s", why);
	else if (!why && k->stats.failing)
		log_info("windows are kept again");
	k->stats.failing = why != NULL;
	k->changed |= why != NULL;
}

static void say_salvaged(unsigned count)
{
	if (count > 0)
		log_warn(
		    "%u windows were cut off when the last daemon ended; what was kept of them "
		    "is there",
		    count);
}

/* What the start could not do is done. */
static void take_late_start(struct keeper *k, const struct writer_batch *b)
{
	k->stats.salvaged += b->salvaged;
	say_salvaged(b->salvaged);
	k->salvage_below = 0;
	if (!k->metrics_unknown)
		return;
	k->metrics_unknown = false;
	k->changed = true; /* What is counted by now was not in this batch. */
	if (b->metrics_found && k->metrics.found)
		k->metrics.found(k->metrics.arg, b->metrics_found, b->metrics_found_bytes);
}

/* Said when it is decided, once. */
static void say_clock(const struct writer_batch *b)
{
	if (b->clock == CLOCK_WAS_SET)
		log_warn("the clock was set by %lld s (or the machine was off for so long): until "
			 "it has gone on evenly for a day, no window is deleted for its age",
			 (long long)b->clock_set_ns / (long long)NS_PER_S);
	else if (b->clock == CLOCK_UNKNOWN)
		log_warn("nothing is known of the clock that the kept windows are of: until it has "
			 "gone on evenly for a day, no window is deleted for its age");
	else if (b->clock == CLOCK_TRUSTED)
		log_info("the clock has gone on evenly for a day: windows are deleted for their "
			 "age again");
}

/* The destinations may be others by now. */
static void take_queues(struct keeper *k, const struct writer_batch *b)
{
	for (size_t i = 0; i < b->destinations.count && b->queues_known; i++) {
		size_t at = queue_find(&k->destinations, b->destinations.names[i]);

		if (at == k->destinations.count)
			continue;
		k->queues[at].state = b->queued[i];
		k->queues[at].dropped += b->dropped[i];
	}
}

static void say_forgotten(const struct writer_batch *b)
{
	for (size_t i = 0; i < QUEUE_DESTINATIONS_MAX && b->forgotten[i].name[0]; i++)
		log_warn("%llu windows waited to be sent to '%s', which the configuration does not "
			 "have any more: they are not sent there",
			 (unsigned long long)b->forgotten[i].windows, b->forgotten[i].name);
}

/* It is not known any more which were written last. */
static void flush_all_again(struct keeper *k)
{
	for (size_t i = 0; i < k->running_count; i++) {
		k->running[i].changed = true;
		k->running[i].due_ns = 0;
	}
}

static void take_result(struct keeper *k)
{
	const struct writer_batch *b = &k->batch;

	say_set_aside(k, &b->salvage);
	say_clock(b);
	set_failing(k, b->result < 0 ? b->err.message : NULL);
	k->stats.errors += b->result < 0;
	k->stats.disk_low = b->disk_low;
	if (b->result < 0)
		flush_all_again(k);
	k->forget_others |= b->result < 0 && b->forget_others;
	k->stats.retired += b->retired;
	take_queues(k, b);
	k->stats.last_write_s = (double)b->took_ns / (double)NS_PER_S;
	if (b->result == 0) {
		take_late_start(k, b);
		k->checked = true;
		k->stats.bytes = b->bytes;
		k->stats.log_bytes = b->log_bytes;
		k->stats.set_aside = b->set_aside;
		k->stats.windows = b->windows_kept;
		k->stats.future = b->future;
		k->stats.clock_doubted = !b->clock_trusted;
		k->stats.written += k->batch_waiting;
		drop_waiting(k, k->batch_waiting);
		drop_arrivals(k, b->arrival_count);
		say_forgotten(b);
		/* No more go at a time than a batch can wait for; there may be others. */
		k->changed |= b->retired > 0;
		if (b->next_number > 0)
			k->taken_number = b->next_number;
	}
	if (k->metrics.kept)
		k->metrics.kept(k->metrics.arg, k->stats.failing);
	release_batch(k);
	keep_to_memory(k);
}

static void write_soon(struct keeper *k);
static void on_timer(uv_timer_t *timer);

static void on_written(void *arg)
{
	struct keeper *k = arg;

	k->writing = false;
	take_result(k);
	if (!k->stats.failing && k->written)
		k->written(k->written_arg);
	write_soon(k);
	if (k->stats.failing) /* Fails only for a handle that is closing. */
		(void)uv_timer_start(k->timer, on_timer,
				     k->flush_ms < KEEPER_RETRY_MS ? k->flush_ms : KEEPER_RETRY_MS,
				     k->flush_ms);
}

static void start_batch(struct keeper *k)
{
	k->writing = true;
	make_batch(k);
	writer_start(k->writer, &k->batch);
}

static void on_timer(uv_timer_t *timer)
{
	struct keeper *k = timer->data;

	if (k->writing) /* It takes long; who waits is written after it. */
		return;
	if (k->running_count == 0 && k->waiting_count == 0 && k->arrival_count == 0 && !k->changed)
		(void)uv_timer_stop(timer); /* Cannot fail. */
	else
		start_batch(k);
}

/* What has ended is written at once, unless the last attempt has failed. */
static void write_soon(struct keeper *k)
{
	/* Fails only for a handle that is closing. */
	if (!uv_is_active((uv_handle_t *)k->timer))
		(void)uv_timer_start(k->timer, on_timer, k->flush_ms, k->flush_ms);
	if (!k->writing && !k->stats.failing && (k->waiting_count > 0 || k->arrival_count > 0))
		start_batch(k);
}

/* ---------------------------------------------------------------- the sink */

static void use_number(struct keeper *k, const struct window_result *w)
{
	if (w->number >= k->next_number)
		k->next_number = w->number + 1;
}

static void on_started(void *arg, const struct window_result *w)
{
	struct keeper *k = arg;

	use_number(k, w);
	if (k->running_count < RUNNING_MAX)
		k->running[k->running_count++] = (struct runner){.window = w, .changed = true};
	k->changed = true;
	write_soon(k);
	if (!k->writing && !k->stats.failing)
		start_batch(k); /* It has a row from its beginning. */
}

/* NULL of one that is none of those. */
static struct runner *find_running(struct keeper *k, const struct window_result *w)
{
	for (size_t i = 0; i < k->running_count; i++)
		if (k->running[i].window == w)
			return &k->running[i];
	return NULL;
}

static void on_progressed(void *arg, const struct window_result *w)
{
	struct runner *r = find_running(arg, w);

	if (r)
		r->changed = true;
}

static void forget_running(struct keeper *k, const struct window_result *w)
{
	struct runner *r = find_running(k, w);

	if (r)
		*r = k->running[--k->running_count];
}

static void add_waiting(struct keeper *k, const struct window_result *w)
{
	if (k->waiting_count == KEEPER_WAITING_MAX)
		lose_one(k, k->waiting_count, is_one);
	k->waiting[k->waiting_count++] = window_result_keep(w);
	keep_to_memory(k);
}

static void on_finished(void *arg, const struct window_result *w)
{
	struct keeper *k = arg;

	forget_running(k, w);
	add_waiting(k, w);
	write_soon(k);
}

/* What was given no number was no window. */
static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	struct keeper *k = arg;

	(void)error; /* The window has its reason. */
	(void)message;
	k->changed = true;
	if (w)
		forget_running(k, w);
	if (w && w->number > 0) {
		use_number(k, w);
		add_waiting(k, w);
	}
	write_soon(k);
}

struct window_sink keeper_sink(struct keeper *k)
{
	return (struct window_sink){.arg = k,
				    .started = on_started,
				    .progressed = on_progressed,
				    .finished = on_finished,
				    .failed = on_failed};
}

/* ---------------------------------------------------------------- beginning and end */

/* May it be another time? A disk has room again, who locks a file lets it go. */
static bool may_pass(int r)
{
	return r == -ENOSPC || r == -EBUSY || r == -EIO || r == -ENOMEM;
}

/* Reads what there is, before the thread has the database. */
static int read_database(struct keeper *k, struct database *db, unsigned *highest, struct err *err)
{
	int r = database_highest(db, highest, err);

	if (r == 0)
		r = database_note(db, DATABASE_NOTE_METRICS, &k->metrics_found,
				  &k->metrics_found_bytes, err);
	if (r == 0)
		r = database_size(db, &k->stats.bytes, &k->stats.windows, err);
	k->stats.log_bytes = state_dir_log_bytes(&k->dir);
	k->stats.set_aside = state_dir_tidy(&k->dir, 0);
	return r;
}

/* Numbers of earlier windows are all below next_number; what they lack of an end is theirs. */
static void number_from(struct keeper *k, unsigned highest)
{
	unsigned next = state_dir_next(&k->dir);

	k->next_number = next > highest ? next : highest + 1;
	k->taken_number = k->next_number; /* None yet. */
	k->salvage_below = k->next_number;
}

static int read_queues(struct keeper *k, struct database *db, struct err *err)
{
	struct queue_state states[QUEUE_DESTINATIONS_MAX];
	int r = queue_states(db, &k->destinations, states, err);

	for (size_t i = 0; i < k->destinations.count && r == 0; i++)
		k->queues[i].state = states[i];
	return r;
}

/* What a start writes. What cannot be written now is with the first batch that can. */
static int write_start(struct keeper *k, struct database *db, struct err *err)
{
	unsigned unfinished = 0;
	int r = queue_salvage(db, &k->destinations, k->salvage_below, &unfinished, err);

	if (r < 0)
		return r;
	k->salvage_below = 0;
	k->stats.salvaged = unfinished;
	say_salvaged(unfinished);
	r = state_dir_take_numbers(&k->dir, k->next_number + STATE_DIR_NUMBERS, err);
	if (r == 0)
		k->taken_number = k->next_number + STATE_DIR_NUMBERS;
	return r;
}

/* *db stays NULL where it could not be opened for the time being. */
static int open_database(struct keeper *k, struct database **db, struct err *err)
{
	struct salvage_account salvage;
	struct err own = {0};
	unsigned highest = 0;
	int r;

	if (!err) /* What it says is wanted here in any case. */
		err = &own;
	r = salvage_open(&k->dir, db, &salvage, err);
	if (r == -EROFS) /* Also what SQLite says where no other file can be made. */
		r = state_dir_has_room(&k->dir, err) ? r : -ENOSPC;
	say_set_aside(k, &salvage);
	if (r == 0)
		r = read_database(k, *db, &highest, err);
	k->metrics_unknown = r < 0;
	number_from(k, highest);
	if (r == 0)
		r = write_start(k, *db, err);
	if (r == 0)
		r = read_queues(k, *db, err);
	if (!may_pass(r))
		return r;
	set_failing(k, err->message);
	return 0;
}

static int start(struct keeper *k, uv_loop_t *loop, struct database *db, struct err *err)
{
	int r = writer_new(&k->writer, loop, &k->dir, db, on_written, k, err);

	if (r < 0)
		return r;
	(void)uv_timer_init(loop, k->timer); /* Cannot fail. */
	k->timer->data = k;
	k->changed = true; /* What is found of the clock at the start is said soon. */
	write_soon(k);
	return 0;
}

int keeper_new(struct keeper **out, uv_loop_t *loop, const struct keeper_settings *settings,
	       struct err *err)
{
	struct keeper *k = calloc(1, sizeof(*k));
	struct database *db = NULL;
	int r;

	if (k)
		k->timer = calloc(1, sizeof(*k->timer));
	if (!k || !k->timer) {
		free(k);
		return err_set(err, ENOMEM, "out of memory");
	}
	k->limits = settings->limits;
	k->destinations = settings->destinations;
	k->forget_others = true;
	k->flush_ms = settings->flush_ms ? settings->flush_ms : KEEPER_FLUSH_MS;
	r = state_dir_open(&k->dir, settings->directory, err);
	if (r == 0) {
		r = open_database(k, &db, err);
		if (r == 0)
			r = start(k, loop, db, err);
		if (r < 0) {
			database_close(db);
			state_dir_close(&k->dir);
		}
	}
	if (r < 0) {
		free(k->metrics_found);
		free(k->timer);
		free(k);
		return r;
	}
	*out = k;
	return 0;
}

/* The last batches; as many as it takes, unless one fails. A clean end gives no number away that
 * was not used. */
static void write_rest(struct keeper *k)
{
	struct err ignored;

	writer_wait(k->writer);
	if (k->writing)
		take_result(k);
	k->writing = false;
	do {
		make_batch(k);
		k->batch.check = false;
		writer_write_now(k->writer, &k->batch);
		take_result(k);
	} while (!k->stats.failing && (k->waiting_count > 0 || k->arrival_count > 0));
	if (k->waiting_count > 0)
		log_error("%zu windows could not be kept", k->waiting_count);
	/* A gap is no harm. */
	(void)state_dir_take_numbers(&k->dir, k->next_number, &ignored);
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(handle);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	k->running_count = 0; /* The engine has ended them or dropped them. */
	write_rest(k);
	drop_waiting(k, k->waiting_count);
	drop_arrivals(k, k->arrival_count);
	writer_free(k->writer);
	state_dir_close(&k->dir);
	uv_close((uv_handle_t *)k->timer, on_timer_closed);
	free(k->metrics_found);
	free(k);
}

unsigned keeper_first_number(const struct keeper *k)
{
	return k->next_number;
}

const void *keeper_metrics_found(const struct keeper *k, size_t *size)
{
	*size = k->metrics_found_bytes;
	return k->metrics_found;
}

void keeper_add_metrics(struct keeper *k, const struct keeper_metrics *m)
{
	k->metrics = *m;
}

void keeper_set_limits(struct keeper *k, const struct database_limits *limits)
{
	k->limits = *limits;
	k->changed = true;
	write_soon(k);
}

void keeper_set_destinations(struct keeper *k, const struct queue_destinations *to)
{
	struct keeper_queue queues[QUEUE_DESTINATIONS_MAX];

	memset(queues, 0, sizeof(queues));
	for (size_t i = 0; i < to->count; i++)
		queues[i] = keeper_queue(k, to->names[i]);
	memcpy(k->queues, queues, sizeof(queues));
	k->destinations = *to;
	k->forget_others = k->changed = true;
	write_soon(k);
}

uint64_t keeper_arrived(struct keeper *k, const char *destination, const unsigned *numbers,
			size_t count)
{
	struct writer_arrival *a = &k->arrivals[k->arrival_count];
	unsigned *copy;

	/* All places may be of destinations that are gone, while nothing can be written. */
	if (k->arrival_count == WRITER_ARRIVALS_MAX ||
	    !(copy = calloc(count ? count : 1, sizeof(*copy))))
		return 0;
	memcpy(copy, numbers, count * sizeof(*copy));
	*a = (struct writer_arrival){.numbers = copy, .count = count};
	(void)snprintf(a->destination, sizeof(a->destination), "%s", destination); /* Fits. */
	k->arrival_count++;
	write_soon(k);
	return k->arrivals_written + k->arrival_count;
}

bool keeper_has_written(const struct keeper *k, uint64_t ticket)
{
	return ticket <= k->arrivals_written;
}

void keeper_on_written(struct keeper *k, void (*written)(void *arg), void *arg)
{
	k->written = written;
	k->written_arg = arg;
}

struct keeper_queue keeper_queue(const struct keeper *k, const char *destination)
{
	size_t at = queue_find(&k->destinations, destination);

	return at < k->destinations.count ? k->queues[at] : (struct keeper_queue){.dropped = 0};
}

const char *keeper_database(const struct keeper *k)
{
	return k->dir.database;
}

struct keeper_stats keeper_stats(const struct keeper *k)
{
	struct keeper_stats stats = k->stats;

	stats.waiting = k->waiting_count;
	return stats;
}
