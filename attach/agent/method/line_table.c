#include "attach/agent/method/line_table.h"

/* Begins a pair of compressed numbers. */
#define ESCAPE 0xffu

/* In one byte: the line's part, below that of the bytecode index. */
#define LINE_BITS 3u

/* UNSIGNED5: bytes from here on are followed by another one, but for the last. */
#define BYTE_CONTINUES 192u
#define NUMBER_BYTES   5u
#define BYTE_SHIFT     6u

bool line_scan_byte(struct line_scan *s, uint8_t byte)
{
	if (s->numbers == 0) {
		if (byte == ESCAPE)
			s->numbers = 2;
		return byte == 0;
	}
	s->bytes++;
	if (byte < BYTE_CONTINUES || s->bytes == NUMBER_BYTES) {
		s->bytes = 0;
		s->numbers--;
	}
	return false;
}

struct line_table line_table_of(const uint8_t *bytes, size_t size, uint8_t byte_base)
{
	return (struct line_table){.bytes = bytes, .size = size, .byte_base = byte_base};
}

static bool next_number(struct line_table *t, uint32_t *value)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < NUMBER_BYTES && t->position < t->size; i++) {
		uint8_t byte = t->bytes[t->position++];

		sum += (uint32_t)(byte - t->byte_base) << (i * BYTE_SHIFT);
		if (byte < BYTE_CONTINUES || i == NUMBER_BYTES - 1) {
			*value = sum;
			return true;
		}
	}
	return false;
}

/* The sign is the lowest bit. */
static int32_t add_signed(int32_t to, uint32_t number)
{
	return (int32_t)((uint32_t)to + ((number >> 1) ^ (0u - (number & 1))));
}

bool line_table_next(struct line_table *t)
{
	uint32_t bci, line;
	uint8_t byte;

	if (t->position >= t->size)
		return false;
	byte = t->bytes[t->position];
	if (byte == 0)
		return false;
	t->position++;
	if (byte != ESCAPE) {
		t->bci = (int32_t)((uint32_t)t->bci + (byte >> LINE_BITS));
		t->line = (int32_t)((uint32_t)t->line + (byte & ((1u << LINE_BITS) - 1)));
		return true;
	}
	if (!next_number(t, &bci) || !next_number(t, &line))
		return false;
	t->bci = add_signed(t->bci, bci);
	t->line = add_signed(t->line, line);
	return true;
}
