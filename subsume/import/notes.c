#include "subsume/import/notes.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

static const struct import_left_out *find(const struct import_notes *notes,
					  const struct import_reason *reason)
{
	for (unsigned i = 0; i < notes->count; i++)
		if (notes->left_out[i].reason == reason)
			return &notes->left_out[i];
	return NULL;
}

void import_notes_leave_out(struct import_notes *notes, const struct import_reason *reason,
			    uint64_t number, uint64_t parts, uint64_t cost, const char *why)
{
	struct import_left_out *found = (struct import_left_out *)find(notes, reason);

	if (!found) {
		assert(notes->count < IMPORT_LEFT_OUT_MAX);
		found = &notes->left_out[notes->count++];
		*found = (struct import_left_out){.reason = reason, .first = number};
		(void)utf8_sanitize(found->why, sizeof(found->why), why); /* May be cut. */
	}
	found->count += parts;
	if (__builtin_add_overflow(found->cost, cost, &found->cost))
		found->cost = UINT64_MAX;
}

uint64_t import_notes_count(const struct import_notes *notes, const struct import_reason *reason)
{
	const struct import_left_out *found = find(notes, reason);

	return found ? found->count : 0;
}

const char *import_notes_why(const struct import_notes *notes, const struct import_reason *reason)
{
	const struct import_left_out *found = find(notes, reason);

	return found ? found->why : "";
}

void import_notes_remark(struct import_notes *notes, const char *fmt, ...)
{
	char text[sizeof(notes->remark)];
	size_t used = strlen(notes->remark);
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* Cut when it is too long. */
	va_end(ap);
	if (used > 0 && used + 2 < sizeof(notes->remark))
		used += (size_t)snprintf(notes->remark + used, 3, "; ");
	(void)utf8_sanitize(notes->remark + used, sizeof(notes->remark) - used, text);
}

static void write_left_out(FILE *out, const struct import_left_out *l, uint64_t whole,
			   const char *unit)
{
	const struct import_reason *reason = l->reason;

	(void)fprintf(out, "%" PRIu64 " %s%s %s (%s%s %" PRIu64 "%s%s", l->count, reason->part,
		      l->count == 1 ? "" : "s", l->count == 1 ? reason->one : reason->all,
		      l->count == 1 ? "" : "the first: ", reason->part, l->first,
		      l->why[0] ? ": " : "", l->why);
	if (l->cost > 0)
		(void)fprintf(out, "; %" PRIu64 " of %" PRIu64 " %s", l->cost, whole, unit);
	(void)fputc(')', out);
}

void import_notes_line(const struct import_notes *notes, const struct subsume_tree *tree,
		       char *line, size_t size)
{
	uint64_t whole = tree->truncated;
	FILE *out;

	line[0] = '\0';
	out = fmemopen(line, size, "w");
	if (!out)
		return;
	for (size_t n = 0; n < tree->node_count; n++)
		whole += tree->cost[n];
	for (unsigned i = 0; i < notes->count; i++)
		whole += notes->left_out[i].cost;
	for (unsigned i = 0; i < notes->count; i++) {
		(void)fputs(i > 0 ? "; " : "", out);
		write_left_out(out, &notes->left_out[i], whole, tree->unit);
	}
	(void)fprintf(out, "%s%s", notes->count && notes->remark[0] ? "; " : "", notes->remark);
	(void)fclose(out); /* What has no room is cut. */
}
