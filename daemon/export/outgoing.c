#include "daemon/export/outgoing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/export/compression.h"
#include "daemon/export/directory.h"
#include "daemon/export/settings.h"

static int encode(struct outgoing *b, const struct sender_settings *settings, void *memory,
		  const struct source_windows *from, bool compress, struct err *err)
{
	const struct export_origin origin = {.host = from->host,
					     .group = from->group,
					     .store = from->store,
					     .labels = settings->labels};
	struct export_settings for_format = settings->format_settings;
	int r;

	for_format.database = settings->database;
	r = settings->format->encode(memory, &for_format, &origin,
				     (const struct window_result *const *)from->windows,
				     from->count, clock_ns(CLOCK_REALTIME), &b->requests, err);
	if (r == 0 && compress && compression_apply(&b->requests) < 0)
		r = err_set(err, ENOMEM, "out of memory for requests to be compressed");
	for (size_t i = 0; i < b->requests.count; i++)
		b->bytes += b->requests.requests[i].body_bytes;
	return r;
}

static void take_numbers(struct outgoing *b, const struct source_windows *from)
{
	memcpy(b->numbers, from->numbers, from->count * sizeof(b->numbers[0]));
	memcpy(b->numbers + from->count, from->unreadable,
	       from->unreadable_count * sizeof(b->numbers[0]));
	b->count = from->count;
	b->unreadable = from->unreadable_count;
	b->more = from->more;
}

int outgoing_make(struct outgoing *b, const struct sender_settings *settings, void *memory,
		  const struct source *source, const struct source_wanted *wanted, bool compress,
		  const atomic_bool *cancelled, struct err *err)
{
	struct source_windows *from = calloc(1, sizeof(*from));
	int r;

	if (!from)
		return err_set(err, ENOMEM, "out of memory for windows to be sent");
	r = credentials_read(&b->credentials, settings->password_file, settings->headers_file, err);
	if (r == 0)
		r = source->read(source->arg, wanted, cancelled, from, err);
	if (r == 0)
		take_numbers(b, from);
	if (r == 0 && from->count > 0)
		r = settings->format ? encode(b, settings, memory, from, compress, err)
				     : directory_write(settings, from, &b->bytes, err);
	for (size_t i = 0; i < from->count; i++)
		window_result_free(from->windows[i]);
	free(from);
	return r;
}

void outgoing_release(struct outgoing *b)
{
	credentials_wipe(&b->credentials);
	export_batch_release(&b->requests);
}
