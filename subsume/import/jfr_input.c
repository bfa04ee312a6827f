/* Numbers and texts of a flight recording; jdk.jfr.internal.consumer.RecordingInput and
 * StringParser are the JDK's own readers. */
#include "subsume/import/jfr_input.h"

#include <string.h>

enum encoding {
	TEXT_NULL = 0,
	TEXT_EMPTY = 1,
	TEXT_POOLED = 2,
	TEXT_UTF8 = 3,
	TEXT_CHARS = 4, /* numbers, UTF-16 */
	TEXT_LATIN1 = 5,
};

void jfr_wrong(struct jfr_cursor *c, const char *wrong)
{
	if (c->wrong)
		return;
	c->wrong = wrong;
	c->where = c->at;
	c->at = c->end;
}

uint8_t jfr_byte(struct jfr_cursor *c)
{
	if (c->at < c->end)
		return *c->at++;
	jfr_wrong(c, "it is cut off");
	return 0;
}

uint64_t jfr_varint_slow(struct jfr_cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (; shift < 56; shift += 7) {
		uint8_t byte = jfr_byte(c);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return value | (uint64_t)jfr_byte(c) << shift;
}

void jfr_skip_bytes(struct jfr_cursor *c, uint64_t bytes)
{
	if (bytes > (uint64_t)(c->end - c->at))
		jfr_wrong(c, "it is longer than what it is in");
	else
		c->at += bytes;
}

uint64_t jfr_count(struct jfr_cursor *c, uint64_t least)
{
	uint64_t count = jfr_varint(c);

	if (count > (uint64_t)(c->end - c->at) / least) {
		jfr_wrong(c, "more elements than there is room for");
		return 0;
	}
	return count;
}

/* Writes a character as UTF-8. Halves of surrogates are characters here, as in modified UTF-8: who
 * shows the text replaces them. Returns the bytes it takes, written only if there is room. */
static size_t put(char *to, size_t room, uint32_t character)
{
	if (character < 0x80) {
		if (room >= 1)
			to[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		if (room >= 2) {
			to[0] = (char)(0xc0 | character >> 6);
			to[1] = (char)(0x80 | (character & 0x3f));
		}
		return 2;
	}
	if (room >= 3) {
		to[0] = (char)(0xe0 | (character >> 12 & 0x0f));
		to[1] = (char)(0x80 | (character >> 6 & 0x3f));
		to[2] = (char)(0x80 | (character & 0x3f));
	}
	return 3;
}

static size_t copy(struct jfr_cursor *c, char *to, size_t size, uint64_t length)
{
	if (length > size) {
		jfr_wrong(c, "too long a name");
		return 0;
	}
	memcpy(to, c->at, length);
	c->at += length;
	return length;
}

size_t jfr_text(struct jfr_cursor *c, char *to, size_t size, uint64_t *id)
{
	enum encoding encoding = (enum encoding)jfr_byte(c);
	size_t used = 0;
	uint64_t length;

	if (encoding == TEXT_NULL || encoding == TEXT_EMPTY)
		return 0;
	if (encoding == TEXT_POOLED) {
		*id = jfr_varint(c);
		return JFR_TEXT_POOLED;
	}
	if (encoding > TEXT_LATIN1) {
		jfr_wrong(c, "a text of an unknown encoding");
		return 0;
	}
	length = jfr_count(c, 1);
	if (encoding == TEXT_UTF8)
		return copy(c, to, size, length);
	while (length-- > 0 && !c->wrong) {
		uint64_t character = encoding == TEXT_CHARS ? jfr_varint(c) : jfr_byte(c);

		used += put(to + used, size - used, (uint32_t)character & 0xffff);
		if (used > size) {
			jfr_wrong(c, "too long a name");
			return 0;
		}
	}
	return used;
}

void jfr_skip_text(struct jfr_cursor *c)
{
	enum encoding encoding = (enum encoding)jfr_byte(c);
	uint64_t length;

	if (encoding == TEXT_NULL || encoding == TEXT_EMPTY)
		return;
	if (encoding > TEXT_LATIN1) {
		jfr_wrong(c, "a text of an unknown encoding");
		return;
	}
	length = jfr_varint(c);
	if (encoding == TEXT_POOLED) /* length is its id */
		return;
	if (encoding != TEXT_CHARS)
		jfr_skip_bytes(c, length);
	else
		while (length-- > 0 && !c->wrong)
			(void)jfr_varint(c);
}
