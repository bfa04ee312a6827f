#include "daemon/engine/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/utf8.h"
#include "profile/intake/stream.h"
#include "daemon/watcher/watcher.h"

struct guard {
	uv_loop_t *loop;
	struct broker_client *broker;
	struct window_result *result;
	int request; /* to the broker; 0 once answered */
	struct stream *stream;
	guard_alarm_fn alarm; /* NULL once called */
	void *arg;
};

static void not_seen(struct guard *g, const char *reason)
{
	struct side_effects *s = &g->result->side_effects;

	(void)utf8_sanitize(s->reason, sizeof(s->reason), reason); /* May be cut. */
}

static void close_stream(struct guard *g, const char *reason)
{
	not_seen(g, reason);
	stream_free(g->stream);
	g->stream = NULL;
}

/* A figure is of the window's work as soon as that has begun, which is when objects do. */
static void judge(struct guard *g)
{
	const struct window_result *w = g->result;
	guard_alarm_fn alarm = g->alarm;
	char line[SIDE_EFFECTS_LINE_BYTES];

	if (!alarm || w->state != WINDOW_RUNNING || !window_result_tracks_objects(w) ||
	    w->objects_refused[0] || !side_effects_alarm(&w->side_effects))
		return;
	g->alarm = NULL;
	side_effects_alarm_line(&w->side_effects, line);
	alarm(g->arg, line);
}

static bool is_past(const Jxp__WatchRecord *record)
{
	return record->time_ns > 0 && record->time_ns <= clock_monotonic_ns();
}

/* The watcher reads what the JVM wrote, so what it says is not taken for granted either. A record
 * that contradicts the one before is passed over; the next one may do. */
static void on_frame(void *arg, const uint8_t *payload, size_t size)
{
	struct guard *g = arg;
	Jxp__WatchRecord *record = jxp__watch_record__unpack(NULL, size, payload);

	if (!record || !is_past(record)) {
		close_stream(g, "what was seen of the JVM is not valid");
	} else if (g->result->end_ns == 0 && side_effects_add(&g->result->side_effects, record)) {
		cpu_profile_watch(&g->result->cpu, record, g->result->state == WINDOW_RUNNING);
		if (record->no_data[0])
			not_seen(g, record->no_data);
		judge(g);
	}
	if (record)
		jxp__watch_record__free_unpacked(record, NULL);
}

static void on_end(void *arg, const char *reason)
{
	struct guard *g = arg;

	(void)reason; /* Whether it was killed in the middle of a frame makes no difference. */
	if (g->result->state == WINDOW_ATTACHING || g->result->state == WINDOW_RUNNING)
		close_stream(g, "watching the JVM from outside failed, or the JVM ended");
}

static void on_reply(void *arg, const struct broker_reply *reply, int *fds)
{
	static const struct stream_limits limits = {.in_frame = WATCHER_FRAME_MAX, .out_frame = 1};
	struct guard *g = arg;
	const struct stream_callbacks callbacks = {.arg = g, .frame = on_frame, .end = on_end};
	struct err err;

	g->request = 0;
	g->result->side_effects.watched = !reply->error && reply->fds == 1;
	if (!g->result->side_effects.watched) {
		not_seen(g, reply->error ? reply->message : "the broker gave no connection");
		return;
	}
	if (stream_new(&g->stream, g->loop, fds[0], &limits, &callbacks, &err) < 0)
		not_seen(g, err.message);
	else
		fds[0] = -1; /* The stream's now. */
}

struct guard *guard_new(uv_loop_t *loop, struct broker_client *broker, struct window_result *result,
			guard_alarm_fn alarm, void *arg)
{
	const struct broker_request request = {
	    .operation = BROKER_WATCH, .pid = result->pid, .owner = result->asker.sees};
	struct guard *g = calloc(1, sizeof(*g));
	int r;

	if (!g) {
		(void)snprintf(result->side_effects.reason, sizeof(result->side_effects.reason),
			       "out of memory");
		return NULL;
	}
	*g = (struct guard){
	    .loop = loop, .broker = broker, .result = result, .alarm = alarm, .arg = arg};
	r = broker_client_ask(broker, &request, on_reply, g);
	if (r < 0) {
		(void)snprintf(result->side_effects.reason, sizeof(result->side_effects.reason),
			       "the broker could not be asked: %s", strerror(-r));
		free(g);
		return NULL;
	}
	g->request = r;
	result->side_effects.watched = true;
	not_seen(g, "nothing was seen of the JVM from outside in time");
	return g;
}

void guard_free(struct guard *g)
{
	if (!g)
		return;
	if (g->request)
		broker_client_forget(g->broker, g->request);
	stream_free(g->stream);
	free(g);
}
