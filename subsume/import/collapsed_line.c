/* Lines of collapsed files. */
#include "subsume/import/collapsed_line.h"

#include <math.h>
#include <string.h>

/* Exponents beyond are as good as these. */
#define EXPONENT_MAX 400

/* All counts of a file may add up to so much, scaled; it is less than can be counted. */
#define SUM_MAX 4e18

/* Digits behind the point that a double can tell. */
#define DIGITS_MAX 18u

#define MARK        "\xef\xbb\xbf" /* U+FEFF, the byte order mark */
#define MARK_LENGTH 3u

/* Bytes in which a name is looked for elsewhere in the file. */
#define SEARCHED_MAX ((size_t)1 << 20)

/* Names that are looked for: as many that are found say enough of the others. */
#define SEARCHES_MAX 64u

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

/* ---------------------------------------------------------------- counts */

/* Digits, with those behind a point, from *at on. Returns how many there are. */
static size_t read_digits(const uint8_t *text, size_t length, size_t *at,
			  struct collapsed_count *out)
{
	bool behind = false;
	size_t seen = 0;

	for (; *at < length; ++*at) {
		uint64_t next;

		if (text[*at] == '.' && !behind) {
			behind = true;
			continue;
		}
		if (!is_digit(text[*at]))
			break;
		seen++;
		/* Where a number has no room its size is kept. */
		if (__builtin_mul_overflow(out->digits, UINT64_C(10), &next) ||
		    __builtin_add_overflow(next, (uint64_t)(text[*at] - '0'), &next)) {
			out->exponent += !behind;
			continue;
		}
		out->digits = next;
		out->exponent -= behind;
	}
	return seen;
}

/* "12", "12.5", "7.", ".5", "1e3". */
static bool read_count(const uint8_t *text, size_t length, struct collapsed_count *out)
{
	struct collapsed_count c = {0};
	size_t at = 0;

	if (read_digits(text, length, &at, &c) == 0)
		return false;
	if (at < length && (text[at] == 'e' || text[at] == 'E')) {
		bool minus = at + 1 < length && text[at + 1] == '-';
		int exponent = 0;

		at += 1 + (minus || (at + 1 < length && text[at + 1] == '+'));
		if (at == length)
			return false;
		for (; at < length && is_digit(text[at]); at++)
			if (exponent < EXPONENT_MAX)
				exponent = exponent * 10 + (text[at] - '0');
		c.exponent += minus ? -exponent : exponent;
	}
	while (c.exponent < 0 && c.digits % 10 == 0 && c.digits > 0) {
		c.digits /= 10;
		c.exponent++;
	}
	if (c.digits == 0)
		c.exponent = 0;
	*out = c;
	return at == length;
}

bool collapsed_count_scaled(const struct collapsed_count *count, unsigned digits, uint64_t *out)
{
	int exponent = count->exponent + (int)digits;
	uint64_t value = count->digits;

	for (; exponent > 0 && value > 0; exponent--)
		if (__builtin_mul_overflow(value, UINT64_C(10), &value))
			return false;
	for (; exponent < -1 && value > 0; exponent++)
		value /= 10;
	if (exponent == -1)
		value = value / 10 + (value % 10 >= 5);
	*out = value;
	return value <= INT64_MAX;
}

static double value_of(const struct collapsed_count *count)
{
	return count->exponent ? (double)count->digits * pow(10, count->exponent)
			       : (double)count->digits;
}

/* ---------------------------------------------------------------- one line */

/* The length without the word at the end of so many bytes, and the blanks in front of it; the word
 * is behind *word. */
static size_t without_word(const uint8_t *line, size_t length, size_t *word)
{
	const uint8_t *space = memrchr(line, ' ', length), *tab = memrchr(line, '\t', length);
	const uint8_t *last = !tab || (space && space > tab) ? space : tab;
	size_t at = last ? (size_t)(last - line) + 1 : 0;

	*word = at;
	while (at > 0 && is_blank(line[at - 1]))
		at--;
	return at;
}

/* Text of a program that was run beside the profiler, and ends in a number: a job's "[1] 4711", or
 * "total: 12". Methods and threads are not called so. */
static bool is_message(const uint8_t *stack, size_t length)
{
	if (memchr(stack, ';', length))
		return false;
	if (memmem(stack, length, ": ", 2) || stack[length - 1] == ':' || stack[length - 1] == '=')
		return true;
	if (stack[0] != '[' || stack[length - 1] != ']' || length < 3)
		return false;
	for (size_t i = 1; i < length - 1; i++)
		if (!is_digit(stack[i]))
			return false;
	return true;
}

static bool has_frame(const uint8_t *stack, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (stack[i] != ';' && !is_blank(stack[i]))
			return true;
	return false;
}

static bool is_control(uint8_t c)
{
	return c < ' ' && c != '\t';
}

/* Eight at once: of lines with a byte below ' ' there are few. */
static bool has_controls(const uint8_t *line, size_t length)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t i = 0;

	for (; i + sizeof(uint64_t) <= length; i += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, line + i, sizeof(word));
		if ((word - ones * ' ') & ~word & (ones << 7))
			break;
	}
	for (; i < length; i++)
		if (is_control(line[i]))
			return true;
	return false;
}

/* Whether what a file ends in was cut inside a name: a bracket is open. */
static bool is_cut(const uint8_t *stack, size_t length)
{
	int open = 0;

	for (size_t i = 0; i < length && open >= 0; i++)
		open += (stack[i] == '[' || stack[i] == '(') - (stack[i] == ']' || stack[i] == ')');
	return open > 0;
}

void collapsed_line_read(const uint8_t *line, size_t length, bool ended, struct collapsed_line *out)
{
	size_t word, stack;

	*out = (struct collapsed_line){.kind = COLLAPSED_BLANK};
	if (length >= MARK_LENGTH && memcmp(line, MARK, MARK_LENGTH) == 0) {
		line += MARK_LENGTH;
		length -= MARK_LENGTH;
	}
	while (length > 0 && (line[length - 1] == '\r' || is_blank(line[length - 1])))
		length--;
	if (length == 0)
		return;
	out->kind = line[0] == '#' ? COLLAPSED_COMMENT : COLLAPSED_NONE;
	if (out->kind == COLLAPSED_COMMENT || has_controls(line, length))
		return;
	stack = without_word(line, length, &word);
	if (word == 0 || !has_frame(line, stack))
		return;
	if (line[word] == '-' && read_count(line + word + 1, length - word - 1, &out->count)) {
		out->kind = out->count.digits > 0 ? COLLAPSED_NEGATIVE : COLLAPSED_NONE;
		return;
	}
	if (!read_count(line + word, length - word, &out->count) || is_message(line, stack) ||
	    (!ended && is_cut(line, stack)))
		return;
	out->kind = COLLAPSED_STACK;
	out->stack = line;
	out->length = stack;
	out->base_length = without_word(line, stack, &word);
	out->two = word > 0 && has_frame(line, out->base_length) &&
		   line[out->base_length - 1] != ';' &&
		   read_count(line + word, stack - word, &out->first);
}

/* ---------------------------------------------------------------- all lines */

bool collapsed_next_line(const uint8_t **at, const uint8_t *file_end, uint8_t end,
			 const uint8_t **line, size_t *length, bool *ended)
{
	const uint8_t *found;

	if (*at >= file_end)
		return false;
	found = memchr(*at, end, (size_t)(file_end - *at));
	*ended = found != NULL;
	*line = *at;
	*length = (size_t)((found ? found : file_end) - *at);
	*at = found ? found + 1 : file_end;
	return true;
}

/* The frame in front of the number is below one that ends in a number in brackets, as of threads:
 * "[tid 4711];worker 12". */
static bool is_below_id(const struct collapsed_line *l)
{
	const uint8_t *semicolon = memrchr(l->stack, ';', l->base_length);

	return semicolon && semicolon - l->stack >= 3 && semicolon[-1] == ']' &&
	       is_digit(semicolon[-2]);
}

/* The same but for the numbers in it. */
static bool is_alike(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length)
{
	size_t i = 0, k = 0;

	while (i < a_length && k < b_length) {
		if (is_digit(a[i]) && is_digit(b[k])) {
			while (i < a_length && is_digit(a[i]))
				i++;
			while (k < b_length && is_digit(b[k]))
				k++;
		} else if (a[i++] != b[k++]) {
			return false;
		}
	}
	return i == a_length && k == b_length;
}

/* The name in front of the two numbers is that of a frame further out in some stack. */
static bool is_frame_elsewhere(const struct collapsed_line *l, const uint8_t *bytes, size_t size)
{
	const uint8_t *semicolon = memrchr(l->stack, ';', l->base_length);
	const uint8_t *name = semicolon ? semicolon + 1 : l->stack, *end;
	size_t length = l->base_length - (size_t)(name - l->stack);

	end = bytes + (size < SEARCHED_MAX ? size : SEARCHED_MAX);
	for (const uint8_t *at = bytes; at < end;) {
		at = memmem(at, (size_t)(end - at), name, length);
		if (!at)
			return false;
		if (at + length < end && at[length] == ';' &&
		    (at == bytes || at[-1] == ';' || at[-1] == '\n'))
			return true;
		at++;
	}
	return false;
}

/* This is gathered while the lines are gone through. */
struct line_survey {
	const uint8_t *bytes;
	size_t size;
	struct collapsed_line before; /* the stack before with two numbers */
	bool before_is_named;
	uint64_t named; /* stacks whose first number is shown to be part of a name */
	double sum;
	bool last_has_one; /* number, and the file ends in it */
	unsigned digits;
	unsigned searches, found; /* for names elsewhere */
};

static bool is_elsewhere(struct line_survey *s, const struct collapsed_line *l)
{
	bool found;

	if (s->searches == SEARCHES_MAX)
		return 2 * s->found > s->searches;
	found = is_frame_elsewhere(l, s->bytes, s->size);
	s->searches++;
	s->found += found;
	return found;
}

/* Threads of a pool, one line behind the other: a differential file has each stack once. */
static bool is_like_before(const struct line_survey *s, const struct collapsed_line *l)
{
	const struct collapsed_line *b = &s->before;

	return b->two &&
	       (b->first.digits != l->first.digits || b->first.exponent != l->first.exponent) &&
	       is_alike(b->stack, b->base_length, l->stack, l->base_length);
}

static void survey_two(struct line_survey *s, const struct collapsed_line *l)
{
	bool like = is_like_before(s, l);
	bool named = (like || is_below_id(l)) && !is_elsewhere(s, l);

	s->named += named;
	if (named && like && !s->before_is_named)
		s->named++;
	s->before = *l;
	s->before_is_named = named;
}

static void survey_count(struct line_survey *s, const struct collapsed_count *count)
{
	s->sum += value_of(count);
	if (count->exponent < 0 && (unsigned)-count->exponent > s->digits)
		s->digits = (unsigned)-count->exponent;
}

static void survey_stack(struct line_survey *s, const struct collapsed_line *l, bool ended,
			 uint64_t number, struct collapsed_shape *out)
{
	out->stacks++;
	survey_count(s, &l->count);
	s->last_has_one = !ended && !l->two;
	if (!l->two)
		return;
	survey_count(s, &l->first);
	survey_two(s, l);
	if (out->two++ == 0)
		out->first_two = number;
}

void collapsed_shape_find(const uint8_t *bytes, size_t size, struct collapsed_shape *out)
{
	struct line_survey s = {.bytes = bytes, .size = size};
	const uint8_t *at = bytes, *line;
	uint64_t number = 0;
	size_t length;
	bool ended;

	*out = (struct collapsed_shape){.end = '\n'};
	if (!memchr(bytes, '\n', size))
		out->end = '\r';
	while (collapsed_next_line(&at, bytes + size, out->end, &line, &length, &ended)) {
		struct collapsed_line l;

		number++;
		collapsed_line_read(line, length, ended, &l);
		if (l.kind == COLLAPSED_STACK)
			survey_stack(&s, &l, ended, number, out);
		else if (l.kind == COLLAPSED_NEGATIVE)
			out->negative++;
		else if (l.kind == COLLAPSED_NONE && out->none++ == 0)
			out->first_none = number;
	}
	out->last_is_cut = s.last_has_one && out->two > 0 && out->two == out->stacks - 1;
	out->differential =
	    out->two > 0 && out->two + out->last_is_cut == out->stacks && 2 * s.named < out->two;
	out->are_integers = s.digits == 0;
	out->digits = s.digits < DIGITS_MAX ? s.digits : DIGITS_MAX;
	while (out->digits > 0 && s.sum * pow(10, out->digits) > SUM_MAX)
		out->digits--;
}
