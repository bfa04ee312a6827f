/*
 * From a file's bytes to a profile's: what is compressed by gzip is decompressed, and UTF-16
 * becomes UTF-8. What is compressed by others, or is another file that people take for a profile,
 * is known by its first bytes and refused with what to do.
 *
 * Any thread; pure but for memory.
 */
#ifndef JXPERF_SUBSUME_IMPORT_INPUT_H
#define JXPERF_SUBSUME_IMPORT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "subsume/import/notes.h"

/* gzip may make so much of a file: a larger one has to be decompressed by who gives it. Data that
 * shrink to less than one in so many are no profile's, once they are many. */
#define INPUT_UNPACKED_MAX (UINT64_C(1) << 30)
#define INPUT_RATIO_MAX    64u
#define INPUT_RATIO_FROM   (UINT64_C(64) << 20)

struct import_input {
	const uint8_t *bytes;
	size_t size;
	uint8_t *own; /* what had to be made, or NULL */
	bool cut;     /* the compressed data end too early: these are what is in front of that */
};

/* Opens the bytes, which stay the caller's and have to outlive it. What is compressed becomes at
 * most unpacked_max bytes. 0; -EBADMSG, -EFBIG, -ENODATA or -ENOMEM with the error set. */
int import_input_open(struct import_input *in, const uint8_t *bytes, size_t size,
		      uint64_t unpacked_max, struct import_notes *notes, struct err *err);

void import_input_release(struct import_input *in);

#endif
