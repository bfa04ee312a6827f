/*
 * Loads a server with the windows of a fleet, by the daemon's own sender and a real format: in
 * place of the store's queue its source is windows that are made from the number of their host and
 * their own, so that the same command makes the same windows, whatever was sent before.
 *
 *   export_load FORMAT URL [hosts=2000] [windows=50] [senders=4] [batch=50] [methods=60] [pairs=24]
 *               [user=NAME] [password-file=PATH] [database=NAME] [start=UNIX_SECONDS] [timeout=S]
 *               [skew=DAYS] [programs=0] [compress=0]
 *
 * Host N is called host-N, is of the group group-(N mod 4), and runs the applications app0 to app9;
 * windows begin a minute apart, the last host's like the first's, and half of the hosts' have
 * another JDK. Windows have methods and paths of their own; with programs=1 all of an application
 * have the same ones, as they have in a fleet, and only what they count differs. With a skew the
 * clock of host N is off by (N mod 7) - 3 times so many days, and from the middle of its windows on
 * by none, as after a clock that was set. At the end it prints what was sent, how long that took,
 * and the sums that the windows hold: rows of pairs, and bytes checked and wasted of each kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <uv.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mix.h"
#include "common/random.h"
#include "daemon/export/sender.h"
#include "daemon/export/transfers.h"
#include "daemon/export/formats.h"
#include "proto/kinds.h"
#include "tests/unit/support/sample_window.h"

#define SENDERS_MAX 64
#define APART_NS    (60 * NS_PER_S)
#define DAY_NS      (86400 * NS_PER_S)
#define SKEWS       7u /* of clocks: the one in the middle is right */
#define LOOK_MS     20
#define METHODS_MAX 2000

struct load {
	unsigned hosts, windows, senders, batch, methods, pairs, timeout_s, skew_days, programs,
	    compress;
	const char *user, *password_file, *database;
	uint64_t start_unix_ns;
};

/* A sender's share: every so manyth host, one after the other. */
struct share {
	const struct load *load;
	unsigned host, arrived; /* of its windows; the hosts before are done */
};

/* ---------------------------------------------------------------- windows */

/* By the clock of the host, which may be days off. */
static uint64_t start_of(const struct load *load, unsigned host, unsigned number)
{
	uint64_t start = load->start_unix_ns + number * APART_NS;
	uint64_t day = load->skew_days * DAY_NS;

	if (number > load->windows / 2)
		return start;
	return start + host % SKEWS * day - SKEWS / 2 * day;
}

static struct window_result *make_window(const struct load *load, unsigned host, unsigned number)
{
	static const Jxp__Kind kinds[] = {JXP__KIND__KIND_DEAD_STORE, JXP__KIND__KIND_SILENT_STORE,
					  JXP__KIND__KIND_SILENT_LOAD};
	uint32_t nodes[METHODS_MAX] = {0};
	char text[64];
	unsigned app = (host + number) % 10;
	struct random random, paths;
	struct window_result *w;

	random_seed(&random, mix((uint64_t)host << 32 | number));
	random_seed(&paths, load->programs ? mix(app) : mix((uint64_t)number << 32 | host));
	(void)snprintf(text, sizeof(text), "app%u", app);
	w = sample_window_empty(number, text);
	(void)snprintf(w->jdk, sizeof(w->jdk), "%s", host % 2 ? "21.0.5" : "17.0.9");
	w->start_unix_ns = start_of(load, host, number);
	w->end_unix_ns = w->start_unix_ns + 12 * NS_PER_S;
	for (unsigned i = 0; i < load->methods; i++) {
		(void)snprintf(text, sizeof(text), "method%u", i);
		nodes[i] = sample_window_node(w, i < 4 ? 0 : nodes[random_below(&paths, i)], text,
					      (int32_t)i);
	}
	for (unsigned i = 0; i < load->pairs; i++)
		sample_window_pairs(w, kinds[i % 3], nodes[random_below(&paths, load->methods)],
				    nodes[random_below(&paths, load->methods)],
				    1 + random_below(&random, 10), random_below(&random, 3) == 0);
	return w;
}

static int share_read(void *arg, const struct source_wanted *wanted, const atomic_bool *cancelled,
		      struct source_windows *out, struct err *err)
{
	struct share *s = arg;
	unsigned left = s->load->windows - s->arrived;

	(void)err;
	(void)snprintf(out->host, sizeof(out->host), "host-%u", s->host);
	(void)snprintf(out->group, sizeof(out->group), "group-%u", s->host % 4);
	(void)snprintf(out->store, sizeof(out->store), "%016" PRIx64 "%016" PRIx64, mix(s->host),
		       mix(s->host + UINT64_C(0x5eed)));
	if (s->host >= s->load->hosts)
		return 0;
	while (out->count < wanted->windows && out->count < left && !atomic_load(cancelled)) {
		unsigned number = s->arrived + (unsigned)out->count + 1;

		out->numbers[out->count] = number;
		out->windows[out->count++] = make_window(s->load, s->host, number);
	}
	return 0;
}

static uint64_t share_waiting(void *arg)
{
	const struct share *s = arg;
	unsigned after =
	    s->host < s->load->hosts ? (s->load->hosts - s->host - 1) / s->load->senders : 0;

	return s->host < s->load->hosts
		   ? s->load->windows - s->arrived + (uint64_t)after * s->load->windows
		   : 0;
}

static uint64_t share_arrived(void *arg, const unsigned *numbers, size_t count)
{
	struct share *s = arg;

	(void)numbers; /* The first that waited. */
	s->arrived += (unsigned)count;
	if (s->arrived == s->load->windows) {
		s->arrived = 0;
		s->host += s->load->senders;
	}
	return 1;
}

static bool share_has_noted(void *arg, uint64_t ticket)
{
	(void)arg;
	(void)ticket;
	return true;
}

static void share_release(void *arg)
{
	(void)arg; /* main's. */
}

/* ---------------------------------------------------------------- the load */

static struct load load = {.hosts = 2000,
			   .windows = 50,
			   .senders = 4,
			   .batch = 50,
			   .methods = 60,
			   .pairs = 24,
			   .timeout_s = 60,
			   .user = "",
			   .password_file = "",
			   .database = "jxperf"};
static struct share shares[SENDERS_MAX];
static struct sender *senders[SENDERS_MAX];

static void on_look(uv_timer_t *timer)
{
	static uint64_t said_ns;
	uint64_t waiting = 0, now = clock_monotonic_ns();

	for (unsigned i = 0; i < load.senders; i++)
		waiting += share_waiting(&shares[i]);
	if (waiting == 0)
		uv_stop(timer->loop);
	if (now - said_ns > 10 * NS_PER_S) {
		said_ns = now;
		(void)fprintf(stderr, "%" PRIu64 " windows wait\n", waiting);
	}
}

static void start_senders(uv_loop_t *loop, struct transfers *transfers,
			  const struct export_format *format, const char *url)
{
	for (unsigned i = 0; i < load.senders; i++) {
		struct sender_settings s;
		const struct source source = {.arg = &shares[i],
					      .read = share_read,
					      .waiting = share_waiting,
					      .arrived = share_arrived,
					      .has_noted = share_has_noted,
					      .release = share_release};

		memset(&s, 0, sizeof(s));
		(void)snprintf(s.name, sizeof(s.name), "load-%u", i);
		(void)snprintf(s.address, sizeof(s.address), "%s", url);
		(void)snprintf(s.user, sizeof(s.user), "%s", load.user);
		(void)snprintf(s.password_file, sizeof(s.password_file), "%s", load.password_file);
		(void)snprintf(s.database, sizeof(s.database), "%s", load.database);
		s.format = format;
		s.format_settings.body_bytes_max = (size_t)16 << 20;
		s.format_settings.otlp_minor = 11;
		s.timeout_ms = load.timeout_s * 1000ull;
		s.windows_max = load.batch;
		s.bytes_max = (uint64_t)64 << 20;
		s.patience_ms = UINT64_MAX / 8; /* No window is to be blamed. */
		s.compress = load.compress;
		shares[i] = (struct share){.load = &load, .host = i};
		senders[i] = sender_new(loop, transfers, &s, &source, NULL);
	}
}

static void print_outcome(double seconds)
{
	uint64_t sent = 0, bytes = 0;
	struct rusage usage;

	for (unsigned i = 0; i < load.senders; i++) {
		const struct sender_stats *s = sender_stats(senders[i]);

		sent += s->sent;
		bytes += s->bytes;
		for (int f = 0; f < FAILURES; f++)
			if (s->failed[f])
				(void)printf("sender %u failed: %s %" PRIu64 "\n", i,
					     sender_failure_name((enum sender_failure)f),
					     s->failed[f]);
		for (int d = 0; d < DROPS; d++)
			if (s->dropped[d])
				(void)printf("sender %u dropped: %s %" PRIu64 "\n", i,
					     sender_drop_name((enum sender_drop)d), s->dropped[d]);
	}
	(void)getrusage(RUSAGE_SELF, &usage); /* Cannot fail. */
	(void)printf("%" PRIu64 " windows, %.1f MiB in %.1f s: %.0f windows/s; CPU %.1f s, at most "
		     "%ld MiB of memory\n",
		     sent, (double)bytes / (1 << 20), seconds, (double)sent / seconds,
		     (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		     usage.ru_maxrss / 1024);
}

/* What a server should say of all of them together. */
static void print_truth(void)
{
	static struct totals sums[KIND_VALUES];
	uint64_t rows = 0;

	for (unsigned host = 0; host < load.hosts; host++)
		for (unsigned number = 1; number <= load.windows; number++) {
			struct window_result *w = make_window(&load, host, number);

			for (int k = 0; k < KIND_VALUES; k++) {
				const struct totals *t = &w->profile.kinds[k].application;

				sums[k].count += t->count;
				sums[k].checked_bytes += t->checked_bytes;
				sums[k].wasteful_bytes += t->wasteful_bytes;
			}
			rows += w->profile.pair_count;
			window_result_free(w);
		}
	(void)printf("truth: %" PRIu64 " rows of pairs\n", rows);
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		const struct totals *t = &sums[pair_kinds[i].kind];

		if (t->count)
			(void)printf("truth %s: %" PRIu64 " pairs, %" PRIu64
				     " bytes checked, %" PRIu64 " wasted\n",
				     pair_kinds[i].name, t->count, t->checked_bytes,
				     t->wasteful_bytes);
	}
}

/* "hosts=2000" */
static bool take_option(char *text)
{
	struct {
		const char *name;
		unsigned *number;
		const char **text;
	} options[] = {
	    {"hosts", &load.hosts, NULL},       {"windows", &load.windows, NULL},
	    {"senders", &load.senders, NULL},   {"batch", &load.batch, NULL},
	    {"methods", &load.methods, NULL},   {"pairs", &load.pairs, NULL},
	    {"timeout", &load.timeout_s, NULL}, {"skew", &load.skew_days, NULL},
	    {"programs", &load.programs, NULL}, {"compress", &load.compress, NULL},
	    {"user", NULL, &load.user},         {"password-file", NULL, &load.password_file},
	    {"database", NULL, &load.database}};
	char *value = strchr(text, '=');

	if (!value)
		return false;
	*value++ = '\0';
	if (strcmp(text, "start") == 0) {
		load.start_unix_ns = strtoull(value, NULL, 10) * NS_PER_S;
		return true;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(text, options[i].name) != 0)
			continue;
		if (options[i].number)
			*options[i].number = (unsigned)strtoul(value, NULL, 10);
		else
			*options[i].text = value;
		return true;
	}
	return false;
}

static bool take_options(int argc, char **argv)
{
	bool known = argc >= 3;

	/* The day before today, so that a load that goes on over midnight has the same windows. */
	load.start_unix_ns = ((uint64_t)time(NULL) / 86400 - 1) * 86400 * NS_PER_S;
	for (int i = 3; i < argc && known; i++)
		known = take_option(argv[i]);
	return known && load.hosts > 0 && load.windows > 0 && load.batch > 0 &&
	       load.batch <= SOURCE_WINDOWS_MAX && load.senders > 0 &&
	       load.senders <= SENDERS_MAX && load.methods > 0 && load.methods <= METHODS_MAX;
}

int main(int argc, char **argv)
{
	const struct export_format *format = argc > 1 ? export_format_find(argv[1]) : NULL;
	struct transfers *transfers = NULL;
	uint64_t started_ns = clock_monotonic_ns();
	uv_timer_t look;
	uv_loop_t loop;
	struct err err;

	if (!take_options(argc, argv) || !format) {
		(void)fprintf(stderr,
			      "usage: export_load FORMAT URL [hosts=2000] [windows=50] ...: see "
			      "the head of bench/export_load.c\n");
		return 2;
	}
	log_init("export_load", false);
	if (uv_loop_init(&loop) < 0 || transfers_new(&transfers, &loop, &err) < 0)
		return EXIT_FAILURE;
	start_senders(&loop, transfers, format, argv[2]);
	(void)uv_timer_init(&loop, &look); /* Cannot fail, nor can this. */
	(void)uv_timer_start(&look, on_look, LOOK_MS, LOOK_MS);
	(void)uv_run(&loop, UV_RUN_DEFAULT); /* Until uv_stop. */
	print_outcome(clock_s(clock_monotonic_ns() - started_ns));
	for (unsigned i = 0; i < load.senders; i++)
		sender_free(senders[i]);
	transfers_free(transfers);
	uv_close((uv_handle_t *)&look, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT); /* Until every handle is closed. */
	(void)uv_loop_close(&loop);
	print_truth();
	return EXIT_SUCCESS;
}
