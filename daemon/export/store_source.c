#include "daemon/export/store_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "daemon/store/keeper.h"
#include "daemon/store/query.h"
#include "daemon/store/queue.h"
#include "profile/window/tables.h"

struct store_source {
	struct keeper *keeper;
	char *database;
	char destination[QUEUE_NAME_BYTES];
	char host[SOURCE_HOST_BYTES];
	char group[SOURCE_HOST_BYTES];
};

/* One that is gone was deleted meanwhile, and has left the queue with that. */
static int read_window(struct database *db, unsigned number, struct source_windows *out,
		       struct err *err)
{
	struct window_result *w = NULL;
	int r = database_load(db, PROC_ANY_UID, number, &w, err);

	if (r == 0) {
		out->numbers[out->count] = number;
		out->windows[out->count++] = w;
	} else if (r == -EBADMSG || r == -ECANCELED) {
		out->unreadable[out->unreadable_count++] = number;
		r = 0;
	}
	return r == -ENOENT ? 0 : r;
}

static bool is_without(const struct source_wanted *wanted, unsigned number)
{
	size_t i = 0;

	while (i < wanted->without_count && wanted->without[i] != number)
		i++;
	return i < wanted->without_count;
}

/* At most room numbers. */
static int list_numbers(struct database *db, const struct store_source *s,
			const struct source_wanted *wanted, unsigned *numbers, size_t room,
			size_t *count, struct err *err)
{
	unsigned waiting[SOURCE_WINDOWS_MAX + SOURCE_WITHOUT_MAX];
	size_t all = 0;
	int r;

	if (wanted->only) {
		numbers[(*count)++] = wanted->only;
		return 0;
	}
	r = queue_numbers(db, s->destination, waiting, room + wanted->without_count, &all, err);
	for (size_t i = 0; i < all && *count < room; i++)
		if (!is_without(wanted, waiting[i]))
			numbers[(*count)++] = waiting[i];
	return r;
}

static int read_windows(struct database *db, const struct store_source *s,
			const struct source_wanted *wanted, const atomic_bool *cancelled,
			struct source_windows *out, struct err *err)
{
	unsigned numbers[SOURCE_WINDOWS_MAX];
	size_t room = wanted->windows < SOURCE_WINDOWS_MAX ? wanted->windows : SOURCE_WINDOWS_MAX;
	size_t count = 0, taken = 0, i = 0;
	int r = list_numbers(db, s, wanted, numbers, room, &count, err);

	if (r == 0 && count > 0)
		r = queue_store_id(db, out->store, err);
	for (; i < count && r == 0 && taken < wanted->bytes && !atomic_load(cancelled); i++) {
		size_t before = out->count;

		r = read_window(db, numbers[i], out, err);
		if (out->count > before)
			taken += window_result_memory_bytes(out->windows[before]);
	}
	out->more = i < count || count == room;
	return r;
}

static int source_read(void *arg, const struct source_wanted *wanted, const atomic_bool *cancelled,
		       struct source_windows *out, struct err *err)
{
	const struct store_source *s = arg;
	struct database *db = NULL;
	int r = database_open(s->database, DATABASE_READ, &db, err);

	memcpy(out->host, s->host, sizeof(out->host));
	memcpy(out->group, s->group, sizeof(out->group));
	if (r == 0)
		r = read_windows(db, s, wanted, cancelled, out, err);
	database_close(db);
	return r;
}

static uint64_t source_waiting(void *arg)
{
	const struct store_source *s = arg;

	return keeper_queue(s->keeper, s->destination).state.windows;
}

static uint64_t source_arrived(void *arg, const unsigned *numbers, size_t count)
{
	const struct store_source *s = arg;

	return keeper_arrived(s->keeper, s->destination, numbers, count);
}

static bool source_has_noted(void *arg, uint64_t ticket)
{
	const struct store_source *s = arg;

	return keeper_has_written(s->keeper, ticket);
}

static void source_release(void *arg)
{
	struct store_source *s = arg;

	free(s->database);
	free(s);
}

int store_source_new(struct source *out, struct keeper *keeper, const char *destination,
		     const char *host, const char *group)
{
	struct store_source *s = calloc(1, sizeof(*s));

	if (!s || !(s->database = strdup(keeper_database(keeper)))) {
		free(s);
		return -ENOMEM;
	}
	s->keeper = keeper;
	(void)snprintf(s->destination, sizeof(s->destination), "%s", destination); /* These fit. */
	(void)snprintf(s->host, sizeof(s->host), "%s", host);
	(void)snprintf(s->group, sizeof(s->group), "%s", group);
	*out = (struct source){.arg = s,
			       .read = source_read,
			       .waiting = source_waiting,
			       .arrived = source_arrived,
			       .has_noted = source_has_noted,
			       .release = source_release};
	return 0;
}
