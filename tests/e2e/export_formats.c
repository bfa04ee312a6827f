/*
 * In place of daemon/export/formats.c, for what is tested of sending alone: one format, which every
 * kind of server's name stands for. A request is a line for each window, "HOST STORE NUMBER START
 * APP", and is judged by its status; a request has at most as many windows as fit its size.
 */
#include "daemon/export/formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

#define TARGET "/lines?database="

static int write_lines(FILE *out, const struct export_origin *origin,
		       const struct window_result *const *windows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s %s %u %" PRIu64 " %s\n", origin->host, origin->store,
			windows[i]->number, windows[i]->start_unix_ns, windows[i]->app);
	return fclose(out) == 0 ? 0 : -ENOMEM;
}

static int make_request(struct export_request *r, const struct export_settings *settings,
			const struct export_origin *origin,
			const struct window_result *const *windows, size_t count)
{
	char *body = NULL, *target = NULL;
	FILE *out = open_memstream(&body, &r->body_bytes);
	int e = out ? write_lines(out, origin, windows, count) : -ENOMEM;

	if (e == 0 && asprintf(&target, TARGET "%s", settings->database) < 0)
		e = -ENOMEM;
	r->body = (uint8_t *)body;
	r->target = e == 0 ? target : NULL;
	r->content_type = "text/plain";
	return e;
}

/* Two requests, so that what happens between them is tested, too. */
static int encode(void *memory, const struct export_settings *settings,
		  const struct export_origin *origin, const struct window_result *const *windows,
		  size_t count, uint64_t now_unix_ns, struct export_batch *out, struct err *err)
{
	size_t half = (count + 1) / 2;
	int r;

	(void)memory;
	(void)now_unix_ns;
	out->requests = calloc(2, sizeof(*out->requests));
	if (!out->requests)
		return err_set(err, ENOMEM, "out of memory");
	out->count = count > half ? 2 : 1;
	r = make_request(&out->requests[0], settings, origin, windows, half);
	if (r == 0 && count > half)
		r = make_request(&out->requests[1], settings, origin, windows + half, count - half);
	return r < 0 ? err_set(err, -r, "out of memory") : 0;
}

static enum export_outcome judge(int status, const void *body, size_t body_bytes, struct err *line,
				 uint64_t *lost)
{
	bool leaves_out = body_bytes > 4 && memcmp(body, "lost", 4) == 0;

	*lost = status < 300 && leaves_out;
	if (status >= 300 || leaves_out)
		(void)err_set(line, EPROTO, "%.*s", (int)(body_bytes < 60 ? body_bytes : 60),
			      (const char *)body);
	return export_judge_status(status);
}

static const struct export_format lines = {.name = "lines", .encode = encode, .judge = judge};

const struct export_format *export_format_find(const char *name)
{
	return strcmp(name, "directory") == 0 ? NULL : &lines;
}
