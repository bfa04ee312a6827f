#include "daemon/http/export_metrics.h"

#include <inttypes.h>

#include "common/clock.h"
#include "daemon/export/exports.h"
#include "daemon/http/exposition.h"

/* Names of destinations need no escaping: fleet/config admits letters, digits and "._-". */
#define SERIES(name) "jxperf_export_" name "{destination=\"%s\"} "

static void write_queue(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("queue_windows") "%" PRIu64 "\n", s->name, s->queue.windows);
}

static void write_oldest(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("oldest_seconds") "%.3f\n", s->name, s->oldest_s);
}

static void write_failing(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("failing") "%d\n", s->name, s->stats.failing);
}

static void write_last(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("last_sent_timestamp_seconds") "%.3f\n", s->name,
		clock_s(s->stats.last_unix_ns));
}

static void write_sent(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("sent_total") "%" PRIu64 "\n", s->name, s->stats.sent);
}

static void write_bytes(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("sent_bytes_total") "%" PRIu64 "\n", s->name, s->stats.bytes);
}

static void write_failed(FILE *out, const struct export_state *s)
{
	for (int i = 0; i < FAILURES; i++)
		fprintf(out,
			"jxperf_export_failed_total{destination=\"%s\",reason=\"%s\"} %" PRIu64
			"\n",
			s->name, sender_failure_name((enum sender_failure)i), s->stats.failed[i]);
}

static void write_dropped(FILE *out, const struct export_state *s)
{
	for (int i = 0; i < DROPS; i++)
		fprintf(out,
			"jxperf_export_dropped_total{destination=\"%s\",reason=\"%s\"} %" PRIu64
			"\n",
			s->name, sender_drop_name((enum sender_drop)i), s->stats.dropped[i]);
}

static void write_set_aside(FILE *out, const struct export_state *s)
{
	fprintf(out, SERIES("set_aside_windows") "%" PRIu64 "\n", s->name, s->stats.set_aside);
}

static void write_left_out(FILE *out, const struct export_state *s)
{
	fprintf(out, "jxperf_export_left_out_total{destination=\"%s\",by=\"limit\"} %" PRIu64 "\n",
		s->name, s->stats.cut);
	fprintf(out, "jxperf_export_left_out_total{destination=\"%s\",by=\"server\"} %" PRIu64 "\n",
		s->name, s->stats.lost);
}

static const struct {
	const char *name;
	enum exposition_type type;
	const char *help;
	void (*write)(FILE *out, const struct export_state *s);
} families[] = {
    {"jxperf_export_queue_windows", EXPOSITION_GAUGE, "Windows that wait to be sent.", write_queue},
    {"jxperf_export_oldest_seconds", EXPOSITION_GAUGE,
     "How long ago the oldest window that waits has ended; 0 where none waits.", write_oldest},
    {"jxperf_export_failing", EXPOSITION_GAUGE,
     "1: what was to be sent last was not taken, and is tried again.", write_failing},
    {"jxperf_export_last_sent_timestamp_seconds", EXPOSITION_GAUGE,
     "When windows were taken last, in seconds since 1970; 0: never since the daemon started.",
     write_last},
    {"jxperf_export_sent", EXPOSITION_COUNTER, "Windows that were sent and acknowledged.",
     write_sent},
    {"jxperf_export_sent_bytes", EXPOSITION_COUNTER,
     "Bytes of the bodies of requests, or of files, in which these were.", write_bytes},
    {"jxperf_export_failed", EXPOSITION_COUNTER,
     "Batches of windows that were not taken, by why. They are tried again, those that "
     "are too large or refused by halves, until one window alone is dropped.",
     write_failed},
    {"jxperf_export_dropped", EXPOSITION_COUNTER,
     "Windows that were not sent and never will be: the store's limits deleted them, they were too "
     "old for the server or refused by it, too large, could not be read, or failed while others "
     "were taken.",
     write_dropped},
    {"jxperf_export_left_out", EXPOSITION_COUNTER,
     "Rows or samples of windows that were sent which are not there: a limit of the format left "
     "them out, or the server says that it did.",
     write_left_out},
    {"jxperf_export_set_aside_windows", EXPOSITION_GAUGE,
     "Of the windows that wait those that failed by themselves, and are tried again behind the "
     "others.",
     write_set_aside},
};

void export_metrics_write(FILE *out, const struct exports *exports, bool openmetrics)
{
	size_t count = exports_count(exports);
	struct export_state state;

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]) && count > 0; i++) {
		exposition_head(out, openmetrics, families[i].type, families[i].name,
				families[i].help);
		for (size_t j = 0; j < count; j++) {
			exports_state(exports, j, &state);
			families[i].write(out, &state);
		}
	}
}
