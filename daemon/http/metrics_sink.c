#include "daemon/http/metrics_sink.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "daemon/container/hash.h"
#include "daemon/http/metrics_sums.h"

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

static void say_pooled(struct metrics_sink *s, const char *app)
{
	uint32_t hash = hash_bytes(app, strlen(app));

	if (!metrics_pools(s->metrics, app) || s->pooled_count == METRICS_POOLED_MAX)
		return;
	for (size_t i = 0; i < s->pooled_count; i++)
		if (s->pooled[i] == hash)
			return;
	s->pooled[s->pooled_count++] = hash;
	log_info(
	    "metrics: windows of '%s' are counted as app=\"other\": %u applications have a name of "
	    "their own there%s",
	    app, METRICS_APPS_MAX,
	    s->pooled_count < METRICS_POOLED_MAX ? "" : "; further ones are not said");
}

/* Without memory the window is not accounted for until it is finished. */
static void on_started(void *arg, const struct window_result *w)
{
	struct metrics_sink *s = arg;
	struct accounted_window *accounted = calloc(1, sizeof(*accounted));

	metrics_window_started(s->metrics, w);
	say_pooled(s, w->app);
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
