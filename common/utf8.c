#include "common/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A character, or a byte that is part of none, is shown with so many bytes at most: "\U000e0001".
 */
#define SHOWN_BYTES 11u

/* First and last of the characters that nobody sees: Unicode 15, general category Cf, and U+2028
 * and U+2029. */
static const uint32_t invisible[][2] = {
    {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},
    {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
    {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe0001},
    {0xe0020, 0xe007f},
};

static bool is_invisible(uint32_t c)
{
	for (size_t i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++)
		if (c >= invisible[i][0] && c <= invisible[i][1])
			return true;
	return false;
}

/* How long a sequence is that begins with this byte; 0: none does. */
static size_t bytes_that_begin(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc0)
		return 0;
	if (first < 0xe0)
		return 2;
	return first < 0xf0 ? 3 : 4;
}

/* The bytes that begin like a sequence of UTF-8, and what they say. 0 when they are none. The
 * terminating NUL is not a continuation byte, so nothing behind it is read. */
static size_t decode(const uint8_t *p, uint32_t *c)
{
	size_t length = bytes_that_begin(p[0]);

	if (length == 0 || p[0] > 0xf4)
		return 0;
	*c = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3fu);
	}
	return length;
}

static bool is_half(uint32_t c, uint32_t first)
{
	return c >= first && c < first + 0x400;
}

/* A character as UTF-8, or as two halves of three bytes each, which become one: its length, or 0.
 * What is well-formed is in Unicode 15, table 3-7: the shortest form, no surrogates, at most
 * U+10FFFF. *half is a lone one, or modified UTF-8's U+0000, of which that many bytes are. */
static size_t character(const uint8_t *p, uint32_t *c, size_t *half)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = decode(p, c), more;
	uint32_t low = 0;

	*half = 0;
	if (length == 3 && *c >= 0xd800 && *c <= 0xdfff) {
		more = is_half(*c, 0xd800) ? decode(p + length, &low) : 0;
		if (more == 3 && is_half(low, 0xdc00)) {
			*c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
			return length + more;
		}
		*half = length;
		return 0;
	}
	if (length == 2 && *c == 0)
		*half = length;
	return length > 0 && *c >= least[length] && *c <= 0x10ffff ? length : 0;
}

/* How long a character's sequence is. */
static size_t bytes_of(uint32_t c)
{
	if (c < 0x80)
		return 1;
	if (c < 0x800)
		return 2;
	return c < 0x10000 ? 3 : 4;
}

static size_t encode(char *to, uint32_t c)
{
	size_t length = bytes_of(c);

	if (length == 1) {
		to[0] = (char)c;
		return 1;
	}
	for (size_t i = length - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)((0xf00u >> length & 0xf0) | c);
	return length;
}

static size_t write_code(char to[SHOWN_BYTES], uint32_t c)
{
	return (size_t)snprintf(to, SHOWN_BYTES, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
}

/* Writes what is shown of what begins at p, of which *taken bytes are. */
static size_t show(char to[SHOWN_BYTES], const uint8_t *p, bool as_name, size_t *taken)
{
	uint32_t c = 0;
	size_t half;

	*taken = character(p, &c, &half);
	/* U+0080 to U+009F are controls too: a terminal takes U+009B for ESC [. */
	if (*taken > 0 && c >= ' ' && (c < 0x7f || c > 0x9f))
		return is_invisible(c) ? write_code(to, c) : encode(to, c);
	if (!as_name) {
		*taken = 1;
		to[0] = '?';
		return 1;
	}
	if (half > 0 || *taken > 1) {
		*taken = half > 0 ? half : *taken;
		return write_code(to, c);
	}
	*taken = 1;
	return (size_t)snprintf(to, SHOWN_BYTES, "\\x%02x", p[0]);
}

static size_t show_all(char *to, size_t size, const char *from, bool as_name)
{
	const uint8_t *p = (const uint8_t *)from;
	size_t used = 0, taken = 0;

	for (; *p; p += taken) {
		char shown[SHOWN_BYTES];
		size_t length = 1;

		taken = 1;
		if (*p >= ' ' && *p < 0x7f) /* as nearly all are */
			shown[0] = (char)*p;
		else
			length = show(shown, p, as_name, &taken);
		if (used + length >= size)
			break;
		memcpy(to + used, shown, length);
		used += length;
	}
	to[used] = '\0';
	return used;
}

size_t utf8_sanitize(char *to, size_t size, const char *from)
{
	return show_all(to, size, from, false);
}

size_t utf8_name(char *to, size_t size, const char *from)
{
	return show_all(to, size, from, true);
}

size_t utf8_join_pairs(char *text, size_t length)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t kept = 0;

	if (!memchr(text, 0xed, length))
		return length;
	for (size_t i = 0; i < length;) {
		uint32_t high, low;

		if (i + 6 <= length && p[i] == 0xed && decode(p + i, &high) == 3 &&
		    decode(p + i + 3, &low) == 3 && is_half(high, 0xd800) && is_half(low, 0xdc00)) {
			kept +=
			    encode(text + kept, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
			i += 6;
		} else {
			text[kept++] = text[i++];
		}
	}
	return kept;
}

size_t utf8_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}
