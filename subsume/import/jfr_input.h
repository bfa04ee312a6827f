/*
 * Values as a flight recording has them: numbers of up to nine bytes, seven bits each, least
 * first, the ninth with eight; texts in one of five encodings. Recordings whose numbers are not
 * compressed so are not read: no JDK writes them.
 *
 * A cursor that met something that cannot be says so from then on (wrong), at the byte where it
 * was, and has no bytes any more, so that every loop over it ends.
 */
#ifndef JXPERF_SUBSUME_IMPORT_JFR_INPUT_H
#define JXPERF_SUBSUME_IMPORT_JFR_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jfr_cursor {
	const uint8_t *at, *end;
	const char *wrong;    /* NULL: nothing */
	const uint8_t *where; /* it was */
};

/* Notes what is wrong, unless something was. */
void jfr_wrong(struct jfr_cursor *c, const char *wrong);

uint8_t jfr_byte(struct jfr_cursor *c);
uint64_t jfr_varint_slow(struct jfr_cursor *c);
void jfr_skip_bytes(struct jfr_cursor *c, uint64_t bytes);

static inline uint64_t jfr_varint(struct jfr_cursor *c)
{
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return jfr_varint_slow(c);
}

/* The number of elements that follow, each of least bytes or more (at least 1): no more than there
 * is room for. */
uint64_t jfr_count(struct jfr_cursor *c, uint64_t least);

/* A text whose bytes are elsewhere, in the pool of strings. */
#define JFR_TEXT_POOLED SIZE_MAX

/* A text as UTF-8, which may be NULL in the recording: length 0 then. Returns its length; more
 * than size bytes are wrong. When it is in the pool of strings: JFR_TEXT_POOLED, with its id in
 * *id. */
size_t jfr_text(struct jfr_cursor *c, char *to, size_t size, uint64_t *id);

void jfr_skip_text(struct jfr_cursor *c);

/* Big-endian, of a chunk's header. */
static inline uint64_t jfr_fixed(const uint8_t *at, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

#endif
