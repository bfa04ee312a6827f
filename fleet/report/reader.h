/*
 * Reads RowBinary that a server sent, which may be anything: what would go beyond the end, or is no
 * number, fails the reader, which then gives zeros and stays failed.
 */
#ifndef JXPERF_FLEET_REPORT_READER_H
#define JXPERF_FLEET_REPORT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"

struct house_column;

struct fleet_reader {
	const uint8_t *at, *end;
	bool failed;
};

/* Longer texts are cut. */
#define FLEET_TEXT_BYTES 4096u

/* An answer's; borrowed. */
static inline struct fleet_reader reader_of(const struct buffer *answer)
{
	const uint8_t *at = answer->data ? answer->data + answer->start : NULL;

	return (struct fleet_reader){.at = at, .end = at ? answer->data + answer->end : NULL};
}

static inline bool reader_more(const struct fleet_reader *r)
{
	return !r->failed && r->at < r->end;
}

void reader_bytes(struct fleet_reader *r, void *out, size_t size);
uint8_t reader_u8(struct fleet_reader *r);
uint32_t reader_u32(struct fleet_reader *r);
uint64_t reader_u64(struct fleet_reader *r);
double reader_f64(struct fleet_reader *r);
uint64_t reader_length(struct fleet_reader *r);
void reader_text(struct fleet_reader *r, char out[FLEET_TEXT_BYTES]);

/* A value of a house_type as it is stored, of so many bytes; 0 for texts. */
size_t reader_type_size(unsigned type);

/* Passes over a value of the type, or an array of such. */
void reader_skip(struct fleet_reader *r, unsigned type, bool array);

#endif
