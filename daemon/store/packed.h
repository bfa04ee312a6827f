/*
 * Bytes as the store keeps them: compressed by zstd, with a checksum, so that what was damaged is
 * not taken for something else.
 *
 * Pure functions of their arguments; any thread.
 */
#ifndef JXPERF_DAEMON_STORE_PACKED_H
#define JXPERF_DAEMON_STORE_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* To be freed. 0 or -ENOMEM. */
int packed_new(const uint8_t *plain, size_t plain_size, uint8_t **bytes, size_t *size);

/* Back again, to be freed. 0; -EBADMSG with the reason for bytes that are damaged, or of more than
 * max; -ENOMEM. */
int packed_open(const uint8_t *bytes, size_t size, size_t max, uint8_t **plain, size_t *plain_size,
		struct err *err);

#endif
