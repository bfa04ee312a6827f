/*
 * The sums of metrics as bytes and back: what a later daemon goes on with.
 *
 * The bytes are tables (profile/container/table_codec.h), packed (daemon/store/packed.h). They come
 * from a file, so reading them trusts nothing. Exemplars are not kept.
 *
 * Pure functions of their arguments; any thread.
 */
#ifndef JXPERF_DAEMON_HTTP_METRICS_RECORD_H
#define JXPERF_DAEMON_HTTP_METRICS_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "daemon/http/metrics.h"

/* To be freed. 0 or -ENOMEM. */
int metrics_encode(const struct metrics *m, uint8_t **bytes, size_t *size);

/* 0; -EBADMSG with the reason for bytes that are no metrics; -ENOMEM. */
int metrics_decode(const uint8_t *bytes, size_t size, struct metrics **out, struct err *err);

#endif
