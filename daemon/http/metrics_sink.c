#include "daemon/http/metrics_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "daemon/engine/engine.h"
#include "daemon/http/metrics_sums.h"
#include "daemon/shares/miss.h"

struct accounted_window {
	struct accounted_window *next;
	const struct window_result *window; /* only compared */
	struct metrics_cursor cursor;
};

static struct accounted_window **find(struct metrics_sink *s, const struct window_result *w)
{
	struct accounted_window **at = &s->running;

	while (*at && (*at)->window != w)
		at = &(*at)->next;
	return at;
}

/* Once for each name, which is a label and so needs no quotes. */
static void tell_pooled(struct metrics_sink *s, const char *app)
{
	for (size_t i = 0; i < METRICS_SINK_TOLD; i++)
		if (strcmp(s->told[i], app) == 0)
			return;
	(void)snprintf(s->told[s->told_count++ % METRICS_SINK_TOLD], APP_NAME_BYTES, "%.*s",
		       APP_NAME_BYTES - 1, app);
	log_info(
	    "metrics: windows of '%s' are counted under app=\"other\", since %d applications "
	    "have labels of their own, which is the limit: rules of 'apps:' name several alike",
	    app, METRICS_APPS_MAX);
}

/* Without memory the window is not accounted for until it is finished. */
static void on_started(void *arg, const struct window_result *w)
{
	struct metrics_sink *s = arg;
	struct accounted_window *accounted = calloc(1, sizeof(*accounted));

	if (!metrics_window_started(s->metrics, w))
		tell_pooled(s, w->app);
	if (!accounted)
		return;
	accounted->window = w;
	accounted->next = s->running;
	s->running = accounted;
}

static void on_progressed(void *arg, const struct window_result *w)
{
	struct metrics_sink *s = arg;
	struct accounted_window *accounted = *find(s, w);

	if (accounted)
		metrics_account(s->metrics, w, &accounted->cursor);
}

static void forget(struct metrics_sink *s, const struct window_result *w)
{
	struct accounted_window **at = find(s, w), *accounted = *at;

	if (!accounted)
		return;
	*at = accounted->next;
	free(accounted);
}

static void on_finished(void *arg, const struct window_result *w)
{
	struct metrics_sink *s = arg;
	struct accounted_window *accounted = *find(s, w);
	struct metrics_cursor nothing = {0};

	metrics_window_ended(s->metrics, w, accounted ? &accounted->cursor : &nothing);
	forget(s, w);
}

static void on_failed(void *arg, const struct window_result *w, int error, const char *message)
{
	struct metrics_sink *s = arg;

	(void)message; /* The reason that a label has is bounded. */
	if (!attach_error(error)->absent)
		metrics_attach_failed(s->metrics, error);
	forget(s, w);
}

static void on_strangers(void *arg, uint64_t total)
{
	struct metrics_sink *s = arg;

	metrics_strangers(s->metrics, total);
}

struct window_sink metrics_sink(struct metrics_sink *s)
{
	return (struct window_sink){.arg = s,
				    .started = on_started,
				    .progressed = on_progressed,
				    .finished = on_finished,
				    .failed = on_failed,
				    .strangers = on_strangers};
}

void metrics_sink_release(struct metrics_sink *s)
{
	while (s->running)
		forget(s, s->running->window);
}
