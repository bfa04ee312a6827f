#include "client/output/table.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/terminal/terminal.h"
#include "common/clock.h"
#include "common/utf8.h"

#define GAP 2

/* Takes text. */
static void append(struct table *t, char *text)
{
	char **grown = t->cells;

	if (t->count == t->capacity) {
		size_t capacity = t->capacity ? 2 * t->capacity : 64;

		grown = text ? reallocarray(t->cells, capacity, sizeof(char *)) : NULL;
		if (grown) {
			t->cells = grown;
			t->capacity = capacity;
		}
	}
	if (!text || !grown) {
		free(text);
		t->failed = true;
		return;
	}
	t->cells[t->count++] = text;
}

void table_init(struct table *t, const char *const *headings)
{
	*t = (struct table){0};
	for (; headings[t->columns]; t->columns++) {
		assert(t->columns < TABLE_COLUMNS_MAX);
		append(t, strdup(headings[t->columns]));
	}
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i]);
	free(t->cells);
	*t = (struct table){0};
}

void table_cell(struct table *t, const char *fmt, ...)
{
	char text[TABLE_CELL_BYTES], clean[TABLE_CELL_BYTES];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* Cut at the cell's limit. */
	va_end(ap);
	(void)utf8_sanitize(clean, sizeof(clean), text); /* As above. */
	append(t, strdup(clean));
}

void table_time(struct table *t, uint64_t unix_ns)
{
	time_t seconds = (time_t)(unix_ns / NS_PER_S);
	char text[TABLE_CELL_BYTES];
	struct tm tm;

	if (unix_ns == 0 || !localtime_r(&seconds, &tm) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strcpy(text, "-");
	table_cell(t, "%s", text);
}

int table_print(const struct table *t, FILE *out)
{
	size_t widths[TABLE_COLUMNS_MAX] = {0};
	/* A stream in memory has no descriptor, and so no colour. */
	bool colour = terminal_may_colour(fileno(out), false);

	if (t->failed)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		size_t w = utf8_columns(t->cells[i], strlen(t->cells[i]));

		if (w > widths[i % t->columns])
			widths[i % t->columns] = w;
	}
	for (size_t i = 0; i < t->count; i++) {
		bool bold = colour && i < t->columns, last = i % t->columns == t->columns - 1;
		size_t pad = last ? 0
				  : widths[i % t->columns] -
					utf8_columns(t->cells[i], strlen(t->cells[i])) + GAP;

		/* What went wrong with out is for its owner to find. */
		(void)fprintf(out, "%s%s%s%*s%s", bold ? terminal_sequence(STYLE_HEADING) : "",
			      t->cells[i], bold ? TERMINAL_PLAIN : "", (int)pad, "",
			      last ? "\n" : "");
	}
	return 0;
}
