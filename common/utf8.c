#include "common/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The length of the well-formed sequence at p (Unicode 15, table 3-7), or 0. The terminating NUL is
 * not a continuation byte, so nothing behind it is read. */
static size_t sequence_length(const uint8_t *p)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t length;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	length = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] == 0xe0)
		low = 0xa0; /* overlong */
	else if (p[0] == 0xed)
		high = 0x9f; /* surrogates */
	else if (p[0] == 0xf0)
		low = 0x90; /* overlong */
	else if (p[0] == 0xf4)
		high = 0x8f; /* above U+10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

size_t utf8_sanitize(char *to, size_t size, const char *from)
{
	const uint8_t *p = (const uint8_t *)from;
	size_t used = 0;

	while (*p) {
		size_t length = sequence_length(p);
		/* U+0080 to U+009F are controls too: a terminal takes U+009B for ESC [. */
		bool printable = length == 1 ? *p >= ' ' && *p != 0x7f
					     : length > 1 && !(p[0] == 0xc2 && p[1] < 0xa0);

		if (!printable)
			length = 1;
		if (used + length >= size)
			break;
		if (printable)
			memcpy(to + used, p, length);
		else
			to[used] = '?';
		used += length;
		p += length;
	}
	to[used] = '\0';
	return used;
}
