#include "client/terminal/paint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "client/terminal/terminal.h"
#include "proto/kinds.h"

/* A line of the text, without its newline. */
struct text_line {
	const char *text;
	size_t size;
};

static bool begins(const struct text_line *l, const char *with)
{
	size_t size = strlen(with);

	return l->size >= size && memcmp(l->text, with, size) == 0;
}

/* The kind whose pairs begin here; KIND_NONE for none. */
static Jxp__Kind heads(const struct text_line *l)
{
	for (size_t i = 0; i < PAIR_KINDS; i++)
		if (begins(l, pair_kinds[i].heading))
			return pair_kinds[i].kind;
	return JXP__KIND__KIND_NONE;
}

/* "dead stores    0.0% ...": how many bytes of it name the kind; 0 where it is no such row. */
static size_t names(const struct text_line *l, Jxp__Kind *kind)
{
	for (size_t i = 0; i < PAIR_KINDS; i++) {
		size_t size = strlen(pair_kinds[i].title);

		if (begins(l, pair_kinds[i].title) && l->size > size && l->text[size] == ' ') {
			*kind = pair_kinds[i].kind;
			return size;
		}
	}
	return 0;
}

/* "1. Main.sum loads ...". */
static bool is_numbered(const struct text_line *l)
{
	size_t digits = 0;

	while (digits < l->size && isdigit((unsigned char)l->text[digits]))
		digits++;
	return digits > 0 && l->size > digits + 1 && memcmp(l->text + digits, ". ", 2) == 0;
}

static void write_styled(FILE *out, enum terminal_style style, const char *text, size_t size)
{
	const char *sequence = terminal_sequence(style);

	(void)fprintf(out, "%s%.*s%s", sequence, (int)size, text,
		      sequence[0] ? TERMINAL_PLAIN : "");
}

/* first: the line before it is empty, or there is none. *kind: whose pairs these are. */
static void paint_line(FILE *out, const struct text_line *l, bool first, Jxp__Kind *kind)
{
	Jxp__Kind named = JXP__KIND__KIND_NONE;
	size_t name = names(l, &named);
	enum terminal_style style = STYLE_PLAIN;

	if (heads(l) != JXP__KIND__KIND_NONE)
		*kind = heads(l);
	if (name > 0) {
		write_styled(out, terminal_style_of_kind(named), l->text, name);
	} else if (heads(l) != JXP__KIND__KIND_NONE || begins(l, "****")) {
		style = terminal_style_of_kind(*kind);
	} else if (begins(l, "----") || begins(l, "... (")) {
		style = STYLE_QUIET;
	} else if (is_numbered(l) || (first && l->size > 0 && isupper((unsigned char)l->text[0]))) {
		style = STYLE_HEADING;
	}
	write_styled(out, style, l->text + name, l->size - name);
}

void paint_report(FILE *out, const char *text, size_t size)
{
	const char *end = text + size;
	Jxp__Kind kind = JXP__KIND__KIND_NONE;
	bool first = true;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct text_line line = {text, (size_t)((newline ? newline : end) - text)};

		paint_line(out, &line, first, &kind);
		if (newline)
			(void)fputc('\n', out);
		first = line.size == 0;
		text = newline ? newline + 1 : end;
	}
}
