#include "daemon/export/exports.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "daemon/export/store_source.h"
#include "daemon/export/transfers.h"
#include "daemon/store/keeper.h"
#include "daemon/export/formats.h"
#include "fleet/config/config.h"

_Static_assert(CONFIG_EXPORTS_MAX <= QUEUE_DESTINATIONS_MAX, "each has a queue");

struct exports {
	uv_loop_t *loop;
	struct keeper *keeper;
	struct transfers *transfers;
	struct sender *senders[CONFIG_EXPORTS_MAX];
	size_t count;
	char host[SOURCE_HOST_BYTES];
	char group[SOURCE_HOST_BYTES];
};

/* ---------------------------------------------------------------- what the configuration says */

void exports_destinations(const struct config *config, struct queue_destinations *out)
{
	*out = (struct queue_destinations){.count = config->export_count};
	for (size_t i = 0; i < config->export_count; i++) /* It fits. */
		(void)snprintf(out->names[i], QUEUE_NAME_BYTES, "%s", config->exports[i].name);
}

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from ? from : ""); /* It fits: fleet/config saw to it. */
}

#define COPY(member, value) copy(s->member, sizeof(s->member), value)

/* A line of each; all fit. */
static void copy_labels(const struct config_export *from, struct sender_settings *s)
{
	size_t used = 0;

	_Static_assert(CONFIG_LABELS_MAX <= EXPORT_LABELS_MAX &&
			   CONFIG_LABEL_BYTES_MAX + 1 < EXPORT_LABEL_BYTES,
		       "they have room");
	for (size_t i = 0; i < from->label_count; i++)
		used += (size_t)snprintf(s->labels + used, sizeof(s->labels) - used, "%s\n",
					 from->labels[i]);
}

static void settings_of(const struct config_export *from, struct sender_settings *s)
{
	memset(s, 0, sizeof(*s)); /* Two are compared as bytes. */
	COPY(name, from->name);
	s->format = export_format_find(config_export_kind_name(from->kind));
	assert(s->format || from->kind == CONFIG_EXPORT_DIRECTORY);
	COPY(address, from->address);
	COPY(user, from->user);
	COPY(password_file, from->password_file);
	COPY(headers_file, from->headers_file);
	COPY(ca_file, from->ca_file);
	COPY(certificate_file, from->certificate_file);
	COPY(key_file, from->key_file);
	COPY(database, from->database);
	copy_labels(from, s);
	s->format_settings.otlp_minor = from->otlp_minor;
	s->format_settings.body_bytes_max = from->request_bytes;
	s->compress = from->compress;
	s->timeout_ms = from->timeout_ns / NS_PER_MS;
	s->patience_ms = from->patience_ns / NS_PER_MS;
	s->windows_max = from->batch_windows;
	s->bytes_max = from->batch_bytes;
	s->age_ms = from->batch_age_ns / NS_PER_MS;
	s->files_bytes_max = from->keep_bytes;
	s->files_max = from->keep_files;
}

/* By the name that people know, the same on every day. In a container the host's own is not to be
 * had, so whoever starts it may say it. */
static void name_host(const struct config *config, char host[SOURCE_HOST_BYTES])
{
	const char *told =
	    getenv("JXPERF_HOST"); /* NOLINT(concurrency-mt-unsafe): nobody sets it */

	if (config->texts.host_id)
		copy(host, SOURCE_HOST_BYTES, config->texts.host_id);
	else if (told && told[0])
		copy(host, SOURCE_HOST_BYTES, told);
	else if (gethostname(host, SOURCE_HOST_BYTES) < 0)
		host[0] = '\0';
	host[SOURCE_HOST_BYTES - 1] = '\0';
}

/* ---------------------------------------------------------------- senders */

/* The place of its sender, unless that was taken out; the count where there is none. */
static size_t find(const struct exports *e, const char *name)
{
	size_t i = 0;

	while (i < e->count &&
	       (!e->senders[i] || strcmp(sender_settings(e->senders[i])->name, name) != 0))
		i++;
	return i;
}

static struct sender *make(struct exports *e, const struct sender_settings *settings,
			   const struct sender_stats *stats)
{
	struct sender *s = NULL;
	struct source source;

	if (store_source_new(&source, e->keeper, settings->name, e->host, e->group) == 0)
		s = sender_new(e->loop, e->transfers, settings, &source, stats);
	if (!s)
		log_error("windows are not sent to '%s': out of memory", settings->name);
	return s;
}

/* Both were made by settings_of. */
static bool is_same(const struct sender_settings *a, const struct sender_settings *b)
{
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): what is between members is 0 */
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Senders that go on are taken out, and the others freed. */
static void take(struct exports *e, const struct config *config)
{
	struct sender *after[CONFIG_EXPORTS_MAX];
	size_t count = 0;
	bool renamed;
	char host[SOURCE_HOST_BYTES] = "", group[SOURCE_HOST_BYTES] = "";

	name_host(config, host);
	copy(group, sizeof(group), config->texts.host_group);
	renamed = strcmp(host, e->host) != 0 || strcmp(group, e->group) != 0;
	memcpy(e->host, host, sizeof(host));
	memcpy(e->group, group, sizeof(group));
	for (size_t i = 0; i < config->export_count; i++) {
		struct sender_settings settings;
		size_t at = find(e, config->exports[i].name);
		const struct sender *old = at < e->count ? e->senders[at] : NULL;

		settings_of(&config->exports[i], &settings);
		if (old && !renamed && is_same(sender_settings(old), &settings))
			after[count] = TAKE_PTR(e->senders[at]);
		else
			after[count] = make(e, &settings, old ? sender_stats(old) : NULL);
		count += after[count] != NULL;
	}
	for (size_t i = 0; i < e->count; i++)
		sender_free(e->senders[i]);
	memcpy(e->senders, after, count * sizeof(after[0]));
	e->count = count;
}

static void on_written(void *arg)
{
	struct exports *e = arg;

	for (size_t i = 0; i < e->count; i++)
		sender_wake(e->senders[i]);
}

int exports_new(struct exports **out, uv_loop_t *loop, struct keeper *keeper, struct err *err)
{
	struct exports *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return err_set(err, ENOMEM, "out of memory");
	r = transfers_new(&e->transfers, loop, err);
	if (r < 0) {
		free(e);
		return r;
	}
	e->loop = loop;
	e->keeper = keeper;
	keeper_on_written(keeper, on_written, e);
	*out = e;
	return 0;
}

void exports_configure(struct exports *e, const struct config *config)
{
	struct queue_destinations to;

	exports_destinations(config, &to);
	keeper_set_destinations(e->keeper, &to);
	take(e, config);
}

void exports_free(struct exports *e)
{
	if (!e)
		return;
	keeper_on_written(e->keeper, NULL, NULL);
	for (size_t i = 0; i < e->count; i++)
		sender_free(e->senders[i]);
	transfers_free(e->transfers);
	free(e);
}

/* ---------------------------------------------------------------- how they stand */

size_t exports_count(const struct exports *e)
{
	return e ? e->count : 0;
}

void exports_state(const struct exports *e, size_t i, struct export_state *state)
{
	const struct sender_settings *s = sender_settings(e->senders[i]);
	struct keeper_queue queue = keeper_queue(e->keeper, s->name);
	uint64_t now = clock_ns(CLOCK_REALTIME);

	*state = (struct export_state){.name = s->name,
				       .kind = s->format ? s->format->name : "directory",
				       .queue = queue.state,
				       .stats = *sender_stats(e->senders[i])};
	state->stats.dropped[DROP_LIMITS] = queue.dropped;
	if (queue.state.windows > 0 && queue.state.oldest_unix_ns < now)
		state->oldest_s = clock_s(now - queue.state.oldest_unix_ns);
}
