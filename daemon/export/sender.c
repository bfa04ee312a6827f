#include "daemon/export/sender.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/random.h"
#include "common/utf8.h"
#include "daemon/export/outgoing.h"
#include "daemon/export/retry.h"
#include "daemon/export/suspects.h"
#include "daemon/export/transfers.h"
#include "daemon/shares/pool_work.h"

/* Windows that are refused one by one are no faster than this at the end. */
#define REFUSED_LAST_MS 10000
/* Nor is the search for one among those that fail. */
#define SEARCH_LAST_MS 10000

/* What it is at. */
enum at {
	AT_REST,   /* nothing waits, or the first waits for others: then the timer runs */
	AT_PAUSE,  /* after a failure, until the timer runs out */
	AT_BATCH,  /* the pool has the work */
	AT_SERVER, /* a transfer runs */
	AT_NOTE,   /* what has arrived is being noted */
};

/* What is known of a server and compressed requests. */
enum gzip {
	GZIP_UNKNOWN,
	GZIP_TAKEN,     /* it has taken one */
	GZIP_DOUBTED,   /* it has refused one: the same windows go as they are */
	GZIP_NOT_TAKEN, /* which it took */
};

/* A batch that is being made on the pool; its sender may be gone meanwhile. */
struct making {
	struct pool_work work;
	struct sender *sender;
	struct outgoing *batch;
	struct source_wanted wanted;
	bool compress;
};

struct sender {
	struct sender_settings settings;
	struct sender_stats stats;
	struct source source;
	struct transfers *transfers;
	uv_loop_t *loop;
	uv_timer_t timer;
	struct random random;
	void *memory; /* the format's */
	enum at at;
	bool first;               /* nothing was read yet: nobody knows what waits */
	bool woken;               /* since the read of this batch began */
	size_t windows;           /* of the next batch: fewer after one that was too much */
	uint64_t since_ms;        /* something waits since then, by the loop's clock; 0: nothing */
	unsigned failures;        /* in a row, */
	unsigned refusals;        /* and windows that were refused, without one that arrived */
	struct suspects suspects; /* windows that fail while others are taken */
	unsigned suspect;         /* that is being tried again; 0: none */
	enum gzip gzip;
	struct making *making;     /* or NULL, */
	struct outgoing *batch;    /* likewise: what is being sent */
	size_t next;               /* its request */
	uint64_t batch_lost;       /* what the server has left out of it */
	uint64_t ticket;           /* at AT_NOTE */
	enum sender_drop gives_up; /* then: why its window is given up; DROPS: it has arrived */
	struct transfer *transfer;
	unsigned holders; /* the owner, the timer until it is closed, a job on the pool */
};

static const char *const failure_names[FAILURES] = {
    [FAILURE_NO_CONNECTION] = "connection",
    [FAILURE_TLS] = "tls",
    [FAILURE_TIMEOUT] = "timeout",
    [FAILURE_BROKEN] = "broken",
    [FAILURE_ANSWER_TOO_LONG] = "answer_too_long",
    [FAILURE_BUSY] = "busy",
    [FAILURE_DENIED] = "denied",
    [FAILURE_SERVER] = "server",
    [FAILURE_STATUS] = "status",
    [FAILURE_TOO_LARGE] = "too_large",
    [FAILURE_REFUSED] = "refused",
    [FAILURE_LOCAL] = "local",
};

const char *sender_failure_name(enum sender_failure failure)
{
	return failure_names[failure];
}

static const char *const drop_names[DROPS] = {
    [DROP_LIMITS] = "limits",       [DROP_TOO_OLD] = "too_old",       [DROP_REFUSED] = "refused",
    [DROP_TOO_LARGE] = "too_large", [DROP_UNREADABLE] = "unreadable", [DROP_FAILED] = "failed",
};

const char *sender_drop_name(enum sender_drop drop)
{
	return drop_names[drop];
}

/* ---------------------------------------------------------------- memory */

static void let_go(struct sender *s)
{
	if (--s->holders > 0)
		return;
	if (s->memory)
		s->settings.format->free_memory(s->memory);
	s->source.release(s->source.arg);
	free(s);
}

static void free_batch(struct outgoing *batch)
{
	if (!batch)
		return;
	outgoing_release(batch);
	free(batch);
}

static void drop_batch(struct sender *s)
{
	free_batch(s->batch);
	s->batch = NULL;
}

/* ---------------------------------------------------------------- what is said */

static void say_failing(struct sender *s, const char *why)
{
	if (!s->stats.failing)
		log_error("windows are not sent to '%s' at present, and are tried again: %s",
			  s->settings.name, why);
	s->stats.failing = true;
	(void)snprintf(s->stats.why, sizeof(s->stats.why), "%s", why); /* Of that size. */
}

static void say_works(struct sender *s)
{
	if (s->stats.failing)
		log_info("windows are sent to '%s' again: %llu wait", s->settings.name,
			 (unsigned long long)s->source.waiting(s->source.arg));
	s->stats.failing = false;
	s->stats.why[0] = '\0';
}

/* ---------------------------------------------------------------- one batch after the other */

static void start_batch(struct sender *s);
static void send_next(struct sender *s);

static void on_timer(uv_timer_t *timer)
{
	start_batch(timer->data);
}

static uint64_t now_ms(struct sender *s)
{
	uv_update_time(s->loop);
	return uv_now(s->loop);
}

static void start_timer(struct sender *s, uint64_t ms)
{
	/* Fails only for a handle that is closing. */
	(void)uv_timer_start(&s->timer, on_timer, ms, 0);
}

/* Enough wait, or the first has waited long enough for others. Windows that were set aside wait,
 * too: where there are no others, a read comes to nothing. */
static void rest(struct sender *s)
{
	uint64_t waiting = s->source.waiting(s->source.arg), now = now_ms(s), waited_ms;

	s->at = AT_REST;
	(void)uv_timer_stop(&s->timer); /* Cannot fail. */
	if (waiting == 0 && !s->first) {
		s->since_ms = 0;
		s->suspects.count = 0; /* The store's limits have deleted them. */
		s->stats.set_aside = 0;
		return;
	}
	if (s->since_ms == 0)
		s->since_ms = now;
	waited_ms = now - s->since_ms;
	if (s->first || waiting >= s->windows || waited_ms >= s->settings.age_ms)
		start_batch(s);
	else
		start_timer(s, s->settings.age_ms - waited_ms);
}

/* Nothing waits but what was set aside, if that. */
static void rest_idle(struct sender *s)
{
	uint64_t next_ms = suspects_next_ms(&s->suspects, now_ms(s));

	s->since_ms = 0;
	s->at = AT_REST;
	if (next_ms != UINT64_MAX)
		start_timer(s, next_ms);
}

static void pause_for(struct sender *s, uint64_t ms)
{
	drop_batch(s);
	s->at = AT_PAUSE;
	start_timer(s, ms);
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Later, in most_ms at most. */
static void fail_within(struct sender *s, enum sender_failure why, const char *line,
			uint64_t wished_ms, uint64_t most_ms)
{
	s->stats.failed[why]++;
	s->failures++;
	say_failing(s, line);
	pause_for(
	    s, shorter(retry_delay_ms(s->failures, random_next(&s->random), wished_ms), most_ms));
}

/* It says nothing of the windows. */
static void fail(struct sender *s, enum sender_failure why, const char *line, uint64_t wished_ms)
{
	if (s->suspect) /* Else it would be the next again. */
		(void)suspects_postpone(&s->suspects, s->suspect, false, s->settings.patience_ms,
					now_ms(s));
	fail_within(s, why, line, wished_ms, UINT64_MAX);
}

static void count_batch(struct sender *s)
{
	const struct outgoing *b = s->batch;

	s->stats.dropped[DROP_UNREADABLE] += b->unreadable;
	if (s->gives_up < DROPS) {
		s->stats.dropped[s->gives_up] += b->count;
		return;
	}
	s->stats.sent += b->count - b->requests.too_old;
	s->stats.bytes += b->bytes;
	s->stats.dropped[DROP_TOO_OLD] += b->requests.too_old;
	s->stats.cut += b->requests.cut;
	s->stats.lost += s->batch_lost;
	if (b->count > b->requests.too_old)
		s->stats.last_unix_ns = clock_ns(CLOCK_REALTIME);
}

/* One window after the other may be refused: not as fast as that goes. */
static void go_on_after_refusal(struct sender *s)
{
	pause_for(
	    s, shorter(retry_delay_ms(s->refusals, random_next(&s->random), 0), REFUSED_LAST_MS));
}

/* None of these windows waits any more. */
static void settle_suspects(struct sender *s)
{
	const struct outgoing *b = s->batch;

	for (size_t i = 0; i < b->count + b->unreadable; i++)
		suspects_forget(&s->suspects, b->numbers[i]);
	if (b->count > b->requests.too_old && s->gives_up == DROPS)
		suspects_taken(&s->suspects, b->count, b->more || s->suspect);
	s->stats.set_aside = s->suspects.count;
}

/* What became of the batch has been noted. */
static void finish(struct sender *s)
{
	bool sent = s->batch->count > 0 && s->gives_up == DROPS;
	bool more = s->batch->more || s->suspect;

	settle_suspects(s);
	count_batch(s);
	drop_batch(s);
	s->since_ms = 0;
	if (s->gives_up < DROPS) {
		go_on_after_refusal(s);
		return;
	}
	s->windows =
	    s->windows < s->settings.windows_max / 2 ? s->windows * 2 : s->settings.windows_max;
	s->failures = 0;
	if (sent)
		s->refusals = 0;
	say_works(s);
	if (more)
		start_batch(s);
	else
		rest(s);
}

/* None of the batch is wanted again; until that is noted it would be read again. */
static void note(struct sender *s, enum sender_drop gives_up)
{
	const struct outgoing *b = s->batch;

	s->gives_up = gives_up;
	s->ticket = s->source.arrived(s->source.arg, b->numbers, b->count + b->unreadable);
	if (s->ticket == 0) {
		fail(s, FAILURE_LOCAL, "no more can be noted of what has arrived", 0);
		return;
	}
	s->at = AT_NOTE;
	sender_wake(s);
}

static void arrived(struct sender *s)
{
	const struct export_format *format = s->settings.format;

	if (format && format->acknowledged && s->batch->requests.count > 0)
		format->acknowledged(s->memory, &s->batch->requests);
	note(s, DROPS);
}

/* The one window of the batch. */
static void give_up(struct sender *s, enum sender_drop why, const char *line)
{
	if (s->refusals++ == 0)
		log_error("window w%u is not sent to '%s': %s", s->batch->numbers[0],
			  s->settings.name, line);
	note(s, why);
}

/* Fewer windows at a time; of one alone, it is the window. */
static void halve(struct sender *s, enum sender_failure why, const char *line)
{
	size_t count = s->batch->count;

	s->stats.failed[why]++;
	if (count <= 1) {
		give_up(s, why == FAILURE_TOO_LARGE ? DROP_TOO_LARGE : DROP_REFUSED, line);
		return;
	}
	s->windows = count / 2;
	drop_batch(s);
	start_batch(s);
}

/* ---------------------------------------------------------------- what fails */

/* One that was set aside has not been taken, and the others are no worse off for it. */
static void suspect_failed(struct sender *s, enum sender_failure why, const char *line)
{
	s->stats.failed[why]++;
	if (suspects_postpone(&s->suspects, s->suspect, true, s->settings.patience_ms, now_ms(s))) {
		log_error("window w%u is not sent to '%s': it has failed again and again while "
			  "others were taken: %s",
			  s->suspect, s->settings.name, line);
		note(s, DROP_FAILED);
		return;
	}
	drop_batch(s);
	start_batch(s);
}

/* The server did answer, and it may be for a window that it does not take the batch. */
static void batch_failed(struct sender *s, enum sender_failure why, const char *line)
{
	uint64_t patience_ms = s->settings.patience_ms, most_ms;
	unsigned first = s->batch->numbers[0];
	size_t count = s->batch->count;
	enum suspects_verdict verdict =
	    suspects_failed(&s->suspects, count, first, patience_ms, now_ms(s));

	most_ms = suspects_wait_max_ms(&s->suspects, patience_ms);
	if (verdict == SUSPECTS_HALVE)
		s->windows = count / 2;
	if (verdict == SUSPECTS_SET_ASIDE)
		log_warn("window w%u is set aside, and tried again behind the others that wait "
			 "for '%s': it fails by itself: %s",
			 first, s->settings.name, line);
	if (verdict != SUSPECTS_TRY_AGAIN)
		most_ms = shorter(most_ms, SEARCH_LAST_MS);
	s->stats.set_aside = s->suspects.count;
	fail_within(s, why, line, 0, most_ms);
}

/* wished_ms: a server that says when to come again is busy, and blames nothing on windows. */
static void failed(struct sender *s, bool blames, enum sender_failure why, const char *line,
		   uint64_t wished_ms)
{
	blames &= wished_ms == 0 && s->batch->count > 0;
	if (s->suspect && blames)
		suspect_failed(s, why, line);
	else if (blames)
		batch_failed(s, why, line);
	else
		fail(s, why, line, wished_ms);
}

/* ---------------------------------------------------------------- what a server answers */

static enum sender_failure failure_of_status(int status)
{
	if (status == 408 || status == 429 || status == 503)
		return FAILURE_BUSY;
	if (status == 401 || status == 403 || status == 407)
		return FAILURE_DENIED;
	return status >= 500 ? FAILURE_SERVER : FAILURE_STATUS;
}

/* Is the request that was answered compressed? */
static bool is_compressed(const struct sender *s)
{
	return s->batch->requests.requests[s->next].gzip;
}

static void gzip_taken(struct sender *s)
{
	if (is_compressed(s))
		s->gzip = GZIP_TAKEN;
	else if (s->gzip == GZIP_DOUBTED) {
		log_warn("'%s' takes no compressed requests, and gets them as they are from now "
			 "on: say 'compress: no'",
			 s->settings.name);
		s->gzip = GZIP_NOT_TAKEN;
	}
}

/* No window is to be lost because a server cannot read what is compressed: where it has taken
 * nothing of that yet, the same batch goes as it is. */
static bool goes_uncompressed(struct sender *s)
{
	if (s->gzip == GZIP_DOUBTED)
		s->gzip = GZIP_UNKNOWN; /* It refuses the windows themselves. */
	else if (s->gzip == GZIP_UNKNOWN && is_compressed(s)) {
		s->gzip = GZIP_DOUBTED;
		drop_batch(s);
		start_batch(s);
		return true;
	}
	return false;
}

static void on_answered(struct sender *s, const struct transfer_answer *a)
{
	struct err line = {.message = ""};
	uint64_t lost = 0;
	enum export_outcome outcome =
	    s->settings.format->judge(a->status, a->body, a->body_bytes, &line, &lost);
	char why[ERR_MESSAGE_MAX], text[ERR_MESSAGE_MAX];

	/* A server's words may be in it; what does not fit is cut. */
	(void)snprintf(text, sizeof(text), "it answers %d%s%.300s", a->status,
		       line.message[0] ? ": " : "", line.message);
	(void)utf8_sanitize(why, sizeof(why), text);
	switch (outcome) {
	case EXPORT_SENT:
		gzip_taken(s);
		if (lost > 0 && s->stats.lost + s->batch_lost == 0) /* Counted from then on. */
			log_warn("windows do not arrive whole at '%s': %s", s->settings.name, why);
		s->batch_lost += lost;
		s->next++;
		send_next(s);
		break;
	case EXPORT_SMALLER:
		halve(s, FAILURE_TOO_LARGE, why);
		break;
	case EXPORT_REFUSED:
		if (!goes_uncompressed(s))
			halve(s, FAILURE_REFUSED, why);
		break;
	case EXPORT_RETRY:
	case EXPORT_FAILED:
		failed(s, outcome == EXPORT_FAILED, failure_of_status(a->status), why,
		       a->wished_ms);
		break;
	}
}

/* Of an end without a whole answer. */
static enum sender_failure failure_of_end(enum transfer_end end)
{
	static const enum sender_failure failures[] = {
	    [TRANSFER_TOO_LONG] = FAILURE_ANSWER_TOO_LONG,
	    [TRANSFER_NO_CONNECTION] = FAILURE_NO_CONNECTION,
	    [TRANSFER_TLS] = FAILURE_TLS,
	    [TRANSFER_TIMEOUT] = FAILURE_TIMEOUT,
	    [TRANSFER_BROKEN] = FAILURE_BROKEN,
	    [TRANSFER_NO_MEMORY] = FAILURE_LOCAL,
	};

	return failures[end];
}

static void on_transferred(void *arg, const struct transfer_answer *answer)
{
	struct sender *s = arg;

	s->transfer = NULL;
	/* A server that goes on answering is none that says what it has done. */
	if (answer->end != TRANSFER_ANSWERED)
		failed(s, answer->begun && answer->end != TRANSFER_NO_MEMORY,
		       failure_of_end(answer->end), answer->message, answer->wished_ms);
	else
		on_answered(s, answer);
}

/* The next request of the batch, or what comes after the last. */
static void send_next(struct sender *s)
{
	const struct sender_settings *to = &s->settings;
	const struct outgoing *b = s->batch;
	struct transfer_request request = {.user = to->user,
					   .credentials = &b->credentials,
					   .ca_file = to->ca_file,
					   .certificate_file = to->certificate_file,
					   .key_file = to->key_file,
					   .timeout_ms = to->timeout_ms};
	_cleanup_free_ char *url = NULL;
	const struct export_request *r;

	if (s->next >= b->requests.count) {
		arrived(s);
		return;
	}
	r = &b->requests.requests[s->next];
	if (asprintf(&url, "%s%s", to->address, r->target) < 0)
		url = NULL;
	request.url = url;
	request.content_type = r->content_type;
	request.body = r->body;
	request.body_bytes = r->body_bytes;
	request.gzip = r->gzip;
	s->at = AT_SERVER;
	s->transfer = url ? transfer_start(s->transfers, &request, on_transferred, s) : NULL;
	if (!s->transfer)
		fail(s, FAILURE_LOCAL, "out of memory", 0);
}

/* ---------------------------------------------------------------- on the pool */

static int make_batch(void *arg, const atomic_bool *cancelled, struct err *err)
{
	struct making *m = arg;
	const struct sender *s = m->sender;

	return outgoing_make(m->batch, &s->settings, s->memory, &s->source, &m->wanted, m->compress,
			     cancelled, err);
}

/* The store's limits have deleted the one that was set aside. */
static void start_after_gone(struct sender *s)
{
	suspects_forget(&s->suspects, s->suspect);
	s->stats.set_aside = s->suspects.count;
	start_batch(s);
}

static void on_made(void *arg, int result, const char *message)
{
	struct making *m = arg;
	struct sender *s = m->sender;

	s->making = NULL;
	s->batch = m->batch;
	m->batch = NULL;
	s->next = 0;
	s->batch_lost = 0;
	s->first &= result < 0;
	if (result == -EMSGSIZE) {
		halve(s, FAILURE_TOO_LARGE, message);
	} else if (result < 0) {
		fail(s, FAILURE_LOCAL, message, 0);
	} else if (s->batch->count + s->batch->unreadable == 0) {
		drop_batch(s);
		if (s->suspect)
			start_after_gone(s);
		else if (s->woken)
			rest(s);
		else
			rest_idle(s);
	} else {
		send_next(s);
	}
}

static void on_released(void *arg)
{
	struct making *m = arg;

	free_batch(m->batch);
	let_go(m->sender);
	free(m);
}

static void want(const struct sender *s, struct source_wanted *wanted)
{
	wanted->windows = s->windows;
	wanted->bytes = s->settings.bytes_max;
	wanted->only = s->suspect;
	for (size_t i = 0; i < s->suspects.count && !s->suspect; i++)
		wanted->without[wanted->without_count++] = s->suspects.windows[i].number;
}

static void start_batch(struct sender *s)
{
	static const struct pool_task task = {
	    .run = make_batch, .done = on_made, .release = on_released};
	struct making *m = calloc(1, sizeof(*m));

	s->suspect = suspects_due(&s->suspects, now_ms(s));
	if (!m || !(m->batch = calloc(1, sizeof(*m->batch)))) {
		free(m);
		fail(s, FAILURE_LOCAL, "out of memory", 0);
		return;
	}
	m->sender = s;
	want(s, &m->wanted);
	m->compress = s->settings.compress && s->gzip != GZIP_DOUBTED && s->gzip != GZIP_NOT_TAKEN;
	s->making = m;
	s->woken = false;
	s->holders++;
	s->at = AT_BATCH;
	pool_work_start(&m->work, s->loop, &task, m);
}

/* ---------------------------------------------------------------- life */

void sender_wake(struct sender *s)
{
	if (s->at == AT_NOTE && s->source.has_noted(s->source.arg, s->ticket))
		finish(s);
	else if (s->at == AT_REST)
		rest(s);
	else
		s->woken = true;
}

struct sender *sender_new(uv_loop_t *loop, struct transfers *transfers,
			  const struct sender_settings *settings, const struct source *source,
			  const struct sender_stats *stats)
{
	const struct export_format *format = settings->format;
	struct sender *s = calloc(1, sizeof(*s));

	if (s && format && format->new_memory && !(s->memory = format->new_memory())) {
		free(s);
		s = NULL;
	}
	if (!s) {
		source->release(source->arg);
		return NULL;
	}
	memcpy(&s->settings, settings, sizeof(*settings)); /* With what is between members. */
	if (stats)
		s->stats = *stats;
	s->stats.set_aside = 0; /* The settings are new, and may be what was wrong. */
	s->source = *source;
	s->transfers = transfers;
	s->loop = loop;
	s->first = true;
	s->windows = settings->windows_max;
	s->holders = 2;
	/* Hosts that start at a time are to differ. */
	random_seed(&s->random, clock_monotonic_ns() ^ (uintptr_t)s);
	(void)uv_timer_init(loop, &s->timer); /* Cannot fail. */
	s->timer.data = s;
	rest(s);
	return s;
}

static void on_timer_closed(uv_handle_t *handle)
{
	let_go(handle->data);
}

void sender_free(struct sender *s)
{
	if (!s)
		return;
	transfer_cancel(s->transfer);
	if (s->making)
		pool_work_cancel(&s->making->work);
	drop_batch(s);
	uv_close((uv_handle_t *)&s->timer, on_timer_closed);
	let_go(s);
}

const struct sender_settings *sender_settings(const struct sender *s)
{
	return &s->settings;
}

const struct sender_stats *sender_stats(const struct sender *s)
{
	return &s->stats;
}
