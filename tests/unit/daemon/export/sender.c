/* A sender and a server that takes windows, or does not, by their number. */
#include "tests/unit/support/test.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "daemon/export/sender.h"
#include "daemon/export/transfers.h"
#include "tests/unit/support/loop_helper.h"
#include "tests/unit/support/sample_window.h"

#define WINDOWS     40u
#define PATIENCE_MS 60u
#define LONG        3000 /* of a window's line: it is worth its compression */

/* What the server does with a request that has a window in it. */
enum does { TAKES, FAILS, RESETS, IS_BUSY, REFUSES_GZIP };

struct server {
	struct MHD_Daemon *daemon;
	pthread_mutex_t lock;
	enum does does[WINDOWS + 1]; /* the first that is not TAKES is what becomes of a request */
	unsigned came[WINDOWS + 1];  /* how often each was taken */
	unsigned requests, compressed;
};

struct body {
	char bytes[1 << 18];
	size_t size;
};

/* Numbers that wait; the last one of all that have come. */
struct waiting {
	bool waits[WINDOWS + 1];
	atomic_uint reads; /* that have come to their end */
};

struct sending {
	uv_loop_t loop;
	struct server server;
	struct waiting waiting;
	struct transfers *transfers;
	struct sender *sender;
	uv_timer_t look;
	bool (*wanted)(const struct sending *s);
	bool done;
};

/* ---------------------------------------------------------------- the server */

static enum does find_out(struct server *s, const char *text)
{
	enum does does = TAKES;
	char *end;

	for (; *text; text = strchr(text, '\n') + 1) {
		unsigned long number = strtoul(text, &end, 10);

		assert_true(end > text && number >= 1 && number <= WINDOWS);
		if (s->does[number] != TAKES)
			does = s->does[number];
	}
	return does;
}

static void take(struct server *s, const char *text)
{
	for (; *text; text = strchr(text, '\n') + 1)
		s->came[strtoul(text, NULL, 10)]++;
}

static enum MHD_Result say(struct MHD_Connection *c, unsigned status)
{
	struct MHD_Response *r =
	    MHD_create_response_from_buffer(2, (void *)"no", MHD_RESPMEM_PERSISTENT);
	enum MHD_Result queued;

	if (status == 429)
		(void)MHD_add_response_header(r, "Retry-After", "1");
	queued = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return queued;
}

static enum MHD_Result answer_whole(struct server *s, struct MHD_Connection *c, struct body *b)
{
	static const unsigned statuses[] = {[TAKES] = 200, [FAILS] = 500, [IS_BUSY] = 429};
	bool gzip = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Encoding") != NULL;
	enum does does;

	(void)pthread_mutex_lock(&s->lock);
	s->requests++;
	s->compressed += gzip;
	does = gzip ? s->does[0] : find_out(s, b->bytes);
	if (does == TAKES && !gzip)
		take(s, b->bytes);
	(void)pthread_mutex_unlock(&s->lock);
	free(b);
	if (does == RESETS)
		return MHD_NO;
	return say(c, does == REFUSES_GZIP ? 415 : statuses[does]);
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **of_request)
{
	struct body *b = *of_request;

	(void)url;
	(void)method;
	(void)version;
	if (!b) {
		*of_request = calloc(1, sizeof(*b));
		return *of_request ? MHD_YES : MHD_NO;
	}
	if (*upload_size == 0) {
		*of_request = NULL;
		return answer_whole(arg, c, b);
	}
	assert_true(b->size + *upload_size < sizeof(b->bytes));
	memcpy(b->bytes + b->size, upload, *upload_size);
	b->size += *upload_size;
	*upload_size = 0;
	return MHD_YES;
}

/* ---------------------------------------------------------------- windows, and their format */

static bool is_without(const struct source_wanted *wanted, unsigned number)
{
	if (wanted->only)
		return wanted->only != number;
	for (size_t i = 0; i < wanted->without_count; i++)
		if (wanted->without[i] == number)
			return true;
	return false;
}

static int read_windows(void *arg, const struct source_wanted *wanted, const atomic_bool *cancelled,
			struct source_windows *out, struct err *err)
{
	struct waiting *w = arg;

	(void)cancelled;
	(void)err;
	for (unsigned n = 1; n <= WINDOWS && out->count < wanted->windows; n++) {
		if (!w->waits[n] || is_without(wanted, n))
			continue;
		out->numbers[out->count] = n;
		out->windows[out->count++] = sample_window_empty(n, "shop");
	}
	out->more = out->count == wanted->windows;
	atomic_fetch_add(&w->reads, 1);
	return 0;
}

static uint64_t count_waiting(void *arg)
{
	const struct waiting *w = arg;
	uint64_t count = 0;

	for (unsigned n = 1; n <= WINDOWS; n++)
		count += w->waits[n];
	return count;
}

static uint64_t arrived(void *arg, const unsigned *numbers, size_t count)
{
	struct waiting *w = arg;

	for (size_t i = 0; i < count; i++)
		w->waits[numbers[i]] = false;
	return 1;
}

static bool has_noted(void *arg, uint64_t ticket)
{
	(void)arg;
	return ticket == 1;
}

static void release(void *arg)
{
	(void)arg; /* The test's. */
}

/* A line for each window. */
static int encode(void *memory, const struct export_settings *settings,
		  const struct export_origin *origin, const struct window_result *const *windows,
		  size_t count, uint64_t now_unix_ns, struct export_batch *out, struct err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)memory;
	(void)settings;
	(void)origin;
	(void)now_unix_ns;
	(void)err;
	assert_non_null(f);
	for (size_t i = 0; i < count; i++)
		(void)fprintf(f, "%u %*s\n", windows[i]->number, LONG, "");
	assert_int_equal(fclose(f), 0);
	out->requests = calloc(1, sizeof(*out->requests));
	assert_non_null(out->requests);
	out->count = 1;
	out->requests[0] = (struct export_request){.target = strdup("/"),
						   .content_type = "text/plain",
						   .body = (uint8_t *)text,
						   .body_bytes = size};
	return 0;
}

static enum export_outcome judge(int status, const void *body, size_t body_bytes, struct err *line,
				 uint64_t *lost)
{
	(void)body;
	(void)body_bytes;
	*lost = 0;
	if (status != 200)
		(void)err_set(line, EPROTO, "no");
	return export_judge_status(status);
}

static const struct export_format lines = {.name = "lines", .encode = encode, .judge = judge};

/* ---------------------------------------------------------------- a sender */

static void start_server(struct server *s)
{
	assert_int_equal(pthread_mutex_init(&s->lock, NULL), 0);
	s->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer, s,
				     MHD_OPTION_END);
	assert_non_null(s->daemon);
}

/* The first so many windows wait. */
static void start(struct sending *s, unsigned windows, unsigned batch, bool compress)
{
	const struct source source = {.arg = &s->waiting,
				      .read = read_windows,
				      .waiting = count_waiting,
				      .arrived = arrived,
				      .has_noted = has_noted,
				      .release = release};
	struct sender_settings settings;
	struct err err;

	memset(&settings, 0, sizeof(settings));
	(void)snprintf(settings.name, sizeof(settings.name), "there");
	(void)snprintf(settings.address, sizeof(settings.address), "http://127.0.0.1:%u",
		       MHD_get_daemon_info(s->server.daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	settings.format = &lines;
	settings.timeout_ms = 5000;
	settings.windows_max = batch;
	settings.bytes_max = 1 << 30;
	settings.patience_ms = PATIENCE_MS;
	settings.compress = compress;
	for (unsigned n = 1; n <= windows; n++)
		s->waiting.waits[n] = true;
	assert_int_equal(transfers_new(&s->transfers, &s->loop, &err), 0);
	s->sender = sender_new(&s->loop, s->transfers, &settings, &source, NULL);
	assert_non_null(s->sender);
}

static void on_look(uv_timer_t *timer)
{
	struct sending *s = timer->data;

	s->done = s->wanted(s);
}

static void run_until(struct sending *s, bool (*wanted)(const struct sending *s))
{
	s->wanted = wanted;
	s->done = false;
	assert_int_equal(uv_timer_start(&s->look, on_look, 1, 1), 0);
	loop_until(&s->loop, &s->done);
	(void)uv_timer_stop(&s->look);
}

static int set_up(void **state)
{
	struct sending *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*state = s;
	log_init("sender", false);
	assert_int_equal(uv_loop_init(&s->loop), 0);
	assert_int_equal(uv_timer_init(&s->loop, &s->look), 0);
	s->look.data = s;
	start_server(&s->server);
	return 0;
}

static int tear_down(void **state)
{
	struct sending *s = *state;

	sender_free(s->sender);
	transfers_free(s->transfers);
	uv_close((uv_handle_t *)&s->look, NULL);
	loop_finish(&s->loop);
	MHD_stop_daemon(s->server.daemon);
	(void)pthread_mutex_destroy(&s->server.lock);
	free(s);
	return 0;
}

static const struct sender_stats *stats(const struct sending *s)
{
	return sender_stats(s->sender);
}

static void set(struct sending *s, unsigned number, enum does does)
{
	(void)pthread_mutex_lock(&s->server.lock);
	s->server.does[number] = does;
	(void)pthread_mutex_unlock(&s->server.lock);
}

static uint64_t dropped(const struct sending *s)
{
	uint64_t count = 0;

	for (int i = 0; i < DROPS; i++)
		count += stats(s)->dropped[i];
	return count;
}

static bool nothing_waits(const struct sending *s)
{
	return count_waiting((void *)&s->waiting) == 0;
}

static bool one_waits(const struct sending *s)
{
	return count_waiting((void *)&s->waiting) == 1;
}

static bool one_is_set_aside(const struct sending *s)
{
	return one_waits(s) && stats(s)->set_aside == 1;
}

static bool some_are_set_aside(const struct sending *s)
{
	return stats(s)->set_aside >= 2;
}

static bool failed_thirty_times(const struct sending *s)
{
	return stats(s)->failed[FAILURE_SERVER] >= 30;
}

static bool was_busy(const struct sending *s)
{
	return stats(s)->failed[FAILURE_BUSY] >= 1;
}

/* A window comes, and has been sent. */
static void send_one_more(struct sending *s, unsigned number)
{
	s->waiting.waits[number] = true;
	sender_wake(s->sender);
	run_until(s, one_waits);
	assert_int_equal(s->server.came[number], 1);
}

/* ---------------------------------------------------------------- what it does */

TEST(one_window_that_always_fails_holds_no_others_up_and_is_given_up_in_the_end, set_up, tear_down)
{
	struct sending *s = *state;

	set(s, 5, FAILS);
	start(s, 20, 100, false);
	run_until(s, one_is_set_aside);
	assert_true(s->waiting.waits[5]);
	assert_int_equal(dropped(s), 0);
	for (unsigned n = 1; n <= 20; n++)
		assert_int_equal(s->server.came[n], n != 5);
	/* It fails again and again, and that counts only where others were taken in between. */
	for (unsigned n = 21; s->waiting.waits[5]; n++) {
		uint64_t before = stats(s)->failed[FAILURE_SERVER];

		assert_true(n <= WINDOWS);
		s->waiting.waits[n] = true;
		sender_wake(s->sender);
		while (stats(s)->failed[FAILURE_SERVER] == before && s->waiting.waits[5])
			(void)uv_run(&s->loop, UV_RUN_ONCE);
	}
	run_until(s, nothing_waits);
	assert_int_equal(stats(s)->dropped[DROP_FAILED], 1);
	assert_int_equal(dropped(s), 1);
	assert_int_equal(stats(s)->set_aside, 0);
	assert_int_equal(s->server.came[5], 0);
}

TEST(one_that_is_taken_in_the_end_is_sent, set_up, tear_down)
{
	struct sending *s = *state;

	set(s, 20, RESETS); /* In the middle of the request. */
	start(s, 20, 100, false);
	run_until(s, one_is_set_aside);
	send_one_more(s, 21);
	set(s, 20, TAKES);
	run_until(s, nothing_waits);
	assert_int_equal(dropped(s), 0);
	assert_int_equal(stats(s)->set_aside, 0);
	assert_int_equal(stats(s)->sent, 21);
	assert_int_equal(s->server.came[20], 1);
}

TEST(a_server_that_takes_nothing_costs_no_window, set_up, tear_down)
{
	struct sending *s = *state;

	for (unsigned n = 1; n <= WINDOWS; n++)
		set(s, n, FAILS);
	start(s, WINDOWS, 2, false);
	run_until(s, some_are_set_aside);
	run_until(s, failed_thirty_times);
	assert_int_equal(dropped(s), 0);
	for (unsigned n = 1; n <= WINDOWS; n++)
		set(s, n, TAKES);
	run_until(s, nothing_waits);
	assert_int_equal(dropped(s), 0);
	assert_int_equal(stats(s)->set_aside, 0);
	for (unsigned n = 1; n <= WINDOWS; n++)
		assert_int_equal(s->server.came[n], 1);
}

TEST(a_window_that_comes_behind_a_read_that_found_none_is_sent, set_up, tear_down)
{
	struct sending *s = *state;

	start(s, 0, 1, false);
	while (atomic_load(&s->waiting.reads) == 0)
		usleep(1000);
	s->waiting.waits[1] = true; /* The loop has not heard of the read's end yet. */
	sender_wake(s->sender);
	run_until(s, nothing_waits);
	assert_int_equal(s->server.came[1], 1);
}

TEST(a_server_that_is_busy_blames_nothing_on_windows, set_up, tear_down)
{
	struct sending *s = *state;

	set(s, 1, IS_BUSY);
	start(s, 4, 4, false);
	run_until(s, was_busy);
	set(s, 1, TAKES);
	run_until(s, nothing_waits);
	assert_int_equal(stats(s)->set_aside, 0);
	assert_int_equal(stats(s)->sent, 4);
}

TEST(a_server_that_reads_nothing_compressed_gets_all_as_it_is, set_up, tear_down)
{
	struct sending *s = *state;

	set(s, 0, REFUSES_GZIP);
	start(s, 20, 5, true);
	run_until(s, nothing_waits);
	assert_int_equal(s->server.compressed, 1);
	assert_int_equal(s->server.requests, 5);
	assert_int_equal(dropped(s), 0);
	for (unsigned n = 1; n <= 20; n++)
		assert_int_equal(s->server.came[n], 1);
}

TEST(a_server_that_takes_compressed_requests_gets_them, set_up, tear_down)
{
	struct sending *s = *state;

	start(s, 20, 5, true);
	run_until(s, nothing_waits);
	assert_int_equal(s->server.compressed, 4);
	assert_int_equal(s->server.requests, 4);
	assert_true(stats(s)->bytes < 20 * LONG / 10);
}
