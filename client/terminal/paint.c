#include "client/terminal/paint.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "client/terminal/terminal.h"
#include "common/utf8.h"
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

/* What is left of a line that is folded begins so much farther to the right than the line. */
#define FOLDED_INDENT 4u

struct painter {
	FILE *out;
	size_t width;
	bool colour;
	Jxp__Kind kind; /* whose pairs these are */
	size_t indent;  /* of what is left of this line */
	size_t column;  /* in it */
};

/* Writes the words, each with the blanks before it, which a fold replaces. */
static void write_words(struct painter *p, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *word = text, *behind;
		size_t columns;

		while (word < end && *word == ' ')
			word++;
		behind = word;
		while (behind < end && *behind != ' ')
			behind++;
		columns = utf8_columns(word, (size_t)(behind - word));
		if (word > text && p->column > p->indent &&
		    p->column + (size_t)(word - text) + columns > p->width) {
			(void)fprintf(p->out, "\n%*s", (int)p->indent, "");
			p->column = p->indent;
			text = word;
		}
		(void)fprintf(p->out, "%.*s", (int)(behind - text), text);
		p->column += (size_t)(word - text) + columns;
		text = behind;
	}
}

static void write_styled(struct painter *p, enum terminal_style style, const char *text,
			 size_t size)
{
	const char *sequence = p->colour ? terminal_sequence(style) : "";

	(void)fputs(sequence, p->out);
	write_words(p, text, size);
	(void)fputs(sequence[0] ? TERMINAL_PLAIN : "", p->out);
}

/* A deep line has to leave room for words. */
static size_t indent_of(const struct painter *p, const struct text_line *l)
{
	size_t blanks = 0;

	while (blanks < l->size && l->text[blanks] == ' ')
		blanks++;
	return (blanks < p->width / 2 ? blanks : p->width / 2) + FOLDED_INDENT;
}

/* first: the line before it is empty, or there is none. */
static void paint_line(struct painter *p, const struct text_line *l, bool first)
{
	Jxp__Kind named = JXP__KIND__KIND_NONE;
	size_t name = names(l, &named);
	enum terminal_style style = STYLE_PLAIN;

	if (heads(l) != JXP__KIND__KIND_NONE)
		p->kind = heads(l);
	p->column = 0;
	p->indent = indent_of(p, l);
	if (name > 0) {
		write_styled(p, terminal_style_of_kind(named), l->text, name);
	} else if (heads(l) != JXP__KIND__KIND_NONE || begins(l, "****")) {
		style = terminal_style_of_kind(p->kind);
	} else if (begins(l, "----") || begins(l, "... (")) {
		style = STYLE_QUIET;
	} else if (is_numbered(l) || (first && l->size > 0 && isupper((unsigned char)l->text[0]))) {
		style = STYLE_HEADING;
	}
	write_styled(p, style, l->text + name, l->size - name);
}

void paint_report(FILE *out, const char *text, size_t size, size_t width, bool colour)
{
	struct painter p = {.out = out, .width = width, .colour = colour};
	const char *end = text + size;
	bool first = true;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		struct text_line line = {text, (size_t)((newline ? newline : end) - text)};

		paint_line(&p, &line, first);
		if (newline)
			(void)fputc('\n', out);
		first = line.size == 0;
		text = newline ? newline + 1 : end;
	}
}
