#include "client/terminal/lines.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

/* A line that is folded has some room for text beside its blanks. */
#define FOLDED_TEXT_MIN 20

void lines_release(struct lines *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->rows[i].text);
	free(l->rows);
	*l = (struct lines){0};
}

static void append(struct lines *l, enum terminal_style style, const char *text)
{
	char clean[LINES_BYTES_MAX];
	struct lines_row *row;

	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 32;
		struct lines_row *grown = reallocarray(l->rows, capacity, sizeof(*grown));

		if (!grown) {
			l->failed = true;
			return;
		}
		l->rows = grown;
		l->capacity = capacity;
	}
	(void)utf8_sanitize(clean, sizeof(clean), text); /* May be cut. */
	row = &l->rows[l->count];
	*row = (struct lines_row){strdup(clean), style};
	if (row->text)
		l->count++;
	else
		l->failed = true;
}

void lines_add(struct lines *l, enum terminal_style style, const char *fmt, ...)
{
	char text[LINES_BYTES_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap); /* May be cut. */
	va_end(ap);
	append(l, style, text);
}

/* How many bytes take at most so many columns. A character takes one, near enough. */
static size_t fitting(const char *text, size_t columns)
{
	size_t bytes = 0;

	for (; text[bytes]; bytes++)
		if (((unsigned char)text[bytes] & 0xc0) != 0x80 && columns-- == 0)
			break;
	return bytes;
}

/* How many bytes of text go onto a line of so many columns: up to a blank, if there is one. */
static size_t folded_at(const char *text, size_t columns)
{
	size_t fits = fitting(text, columns), at = fits;

	if (text[fits] == '\0')
		return fits;
	while (at > 0 && text[at] != ' ')
		at--;
	return at > 0 ? at : fits;
}

void lines_add_folded(struct lines *l, enum terminal_style style, size_t width, size_t indent,
		      const char *text)
{
	size_t blanks = 0;

	do {
		size_t room = width > blanks + FOLDED_TEXT_MIN ? width - blanks : FOLDED_TEXT_MIN;
		size_t bytes = folded_at(text, room);

		lines_add(l, style, "%*s%.*s", (int)blanks, "", (int)bytes, text);
		text += bytes;
		text += strspn(text, " ");
		blanks = indent;
	} while (*text);
}

void lines_add_text(struct lines *l, enum terminal_style style, char *text)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line || rest)
			append(l, style, line);
}

void lines_print(const struct lines *l, FILE *out)
{
	for (size_t i = 0; i < l->count; i++)
		(void)fprintf(out, "%s\n", l->rows[i].text);
}
