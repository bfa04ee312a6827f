/* The readers' common end. */
#include "subsume/import/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/label.h"
#include "common/utf8.h"

int import_fail(struct import_sink *s, int code, uint64_t offset, const char *fmt, ...)
{
	char message[ERR_MESSAGE_MAX / 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap); /* Cut when it is too long. */
	va_end(ap);
	return err_set(s->err, code, "at byte %" PRIu64 ": %s", offset, message);
}

/* Tells what the builder said. */
static int builder_failed(struct import_sink *s, int r, uint64_t offset)
{
	if (r == -ENOSPC)
		return import_fail(s, EFBIG, offset,
				   "too large a profile: more than %" PRIu32 " nodes, %" PRIu32
				   " methods or %" PRIu64 " MiB of names",
				   SUBSUME_NODES_MAX, SUBSUME_METHODS_MAX, SUBSUME_NAMES_MAX >> 20);
	if (r == -ENOMEM)
		return err_set(s->err, ENOMEM, "no memory for the profile's tree");
	return import_fail(s, -r, offset, "the stack cannot be added: %s", strerror(-r));
}

int import_method(struct import_sink *s, uint64_t offset, const char *name, size_t length,
		  uint32_t *method)
{
	int r;

	if (length > SUBSUME_NAME_MAX)
		return import_fail(s, EFBIG, offset, "a name of %zu bytes: at most %u are taken",
				   length, SUBSUME_NAME_MAX);
	if (length == 0) {
		name = METHOD_UNKNOWN;
		length = strlen(name);
	}
	r = subsume_builder_method(s->builder, name, length, method);
	return r < 0 ? builder_failed(s, r, offset) : 0;
}

static int add_to_total(struct import_sink *s, uint64_t offset, uint64_t cost)
{
	if (cost > SUBSUME_COST_MAX - s->total)
		return import_fail(s, EBADMSG, offset, "counts add up to 2^63 or more");
	s->total += cost;
	return 0;
}

int import_stack(struct import_sink *s, uint64_t offset, const uint32_t *path, size_t count,
		 uint64_t cost)
{
	int r = add_to_total(s, offset, cost);

	if (r < 0)
		return r;
	r = subsume_builder_add(s->builder, path, count, cost);
	return r < 0 ? builder_failed(s, r, offset) : 0;
}

int import_truncated(struct import_sink *s, uint64_t offset, uint64_t cost, uint64_t samples)
{
	int r = add_to_total(s, offset, cost);

	if (r == 0)
		subsume_builder_truncated(s->builder, cost, samples);
	return r;
}

void import_unit(struct import_sink *s, const char *unit, size_t length)
{
	char raw[sizeof(s->unit)];

	if (length >= sizeof(raw))
		length = sizeof(raw) - 1;
	memcpy(raw, unit, length);
	raw[length] = '\0';
	(void)utf8_sanitize(s->unit, sizeof(s->unit), raw);
}
