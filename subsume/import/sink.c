/* The readers' common end. */
#include "subsume/import/sink.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "subsume/import/import.h"

int import_fail(struct import_sink *s, int code, uint64_t offset, const char *fmt, ...)
{
	char message[ERR_MESSAGE_MAX / 2];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(message, sizeof(message), fmt, ap); /* Cut when it is too long. */
	va_end(ap);
	return err_set(s->err, code, "at byte %" PRIu64 ": %s", offset, message);
}

/* What the builder said. */
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
		name = "[unknown]";
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

static struct import_left_out *find_left_out(const struct import_sink *s,
					     const struct import_reason *reason)
{
	for (unsigned i = 0; i < s->notes->count; i++)
		if (strcmp(s->notes->left_out[i].one, reason->one) == 0 &&
		    strcmp(s->notes->left_out[i].part, reason->part) == 0)
			return &s->notes->left_out[i];
	return NULL;
}

void import_left_out(struct import_sink *s, const struct import_reason *reason, uint64_t number,
		     uint64_t cost, const char *why)
{
	struct import_left_out *found = find_left_out(s, reason);

	if (!found) {
		/* There are fewer reasons. */
		assert(s->notes->count < IMPORT_LEFT_OUT_MAX);
		found = &s->notes->left_out[s->notes->count++];
		*found = (struct import_left_out){
		    .part = reason->part, .one = reason->one, .all = reason->all, .first = number};
		(void)utf8_sanitize(found->why, sizeof(found->why), why); /* May be cut. */
	}
	found->count++;
	if (__builtin_add_overflow(found->cost, cost, &found->cost))
		found->cost = UINT64_MAX;
}

uint64_t import_left_out_count(const struct import_sink *s, const struct import_reason *reason)
{
	const struct import_left_out *found = find_left_out(s, reason);

	return found ? found->count : 0;
}

void import_remark(struct import_sink *s, const char *fmt, ...)
{
	char text[sizeof(s->notes->remark)];
	size_t used = strlen(s->notes->remark);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* Cut when it is too long. */
	va_end(ap);
	if (used > 0 && used + 2 < sizeof(s->notes->remark))
		used += (size_t)snprintf(s->notes->remark + used, 3, "; ");
	(void)utf8_sanitize(s->notes->remark + used, sizeof(s->notes->remark) - used, text);
}

void import_notes_line(const struct import_notes *notes, const struct subsume_tree *tree,
		       char *line, size_t size)
{
	uint64_t whole = tree->truncated;
	FILE *out = fmemopen(line, size, "w");

	line[0] = '\0';
	if (!out)
		return;
	for (size_t n = 0; n < tree->node_count; n++)
		whole += tree->cost[n];
	for (unsigned i = 0; i < notes->count; i++)
		whole += notes->left_out[i].cost;
	for (unsigned i = 0; i < notes->count; i++) {
		const struct import_left_out *l = &notes->left_out[i];

		(void)fprintf(out, "%s%" PRIu64 " %s%s %s (%s%s %" PRIu64 "%s%s", i ? "; " : "",
			      l->count, l->part, l->count == 1 ? "" : "s",
			      l->count == 1 ? l->one : l->all,
			      l->count == 1 ? "" : "the first: ", l->part, l->first,
			      l->why[0] ? ": " : "", l->why);
		if (l->cost > 0)
			(void)fprintf(out, "; %" PRIu64 " of %" PRIu64 " %s", l->cost, whole,
				      tree->unit);
		(void)fputc(')', out);
	}
	(void)fprintf(out, "%s%s", notes->count && notes->remark[0] ? "; " : "", notes->remark);
	(void)fclose(out); /* What has no room is cut. */
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
