/*
 * A window as bytes and back: what the store keeps of one, with all that a report says.
 *
 * The bytes are its texts and its tables (profile/window/tables.h,
 * profile/container/table_codec.h), compressed by zstd with a checksum. They come from a file, so
 * reading them trusts nothing: every reference, number and text is checked as if it came from a
 * peer. What comes back makes the report that the window made; single threads, what is of one
 * moment, and the machine's CPUs are not kept.
 *
 * Pure functions of their arguments; any thread.
 */
#ifndef JXPERF_DAEMON_STORE_RECORD_H
#define JXPERF_DAEMON_STORE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "profile/window/result.h"

/* The largest record before compression: what a hostile agent can make of one window is less. */
#define RECORD_MAX_BYTES ((size_t)192 << 20)

/* w as bytes, to be freed; nothing may change w meanwhile. 0, -ENOMEM, or -EMSGSIZE above
 * RECORD_MAX_BYTES. */
int record_encode(const struct window_result *w, uint8_t **bytes, size_t *size);

/* The window of such bytes, kept once and finished; number is its own. 0; -EBADMSG with the reason
 * for bytes that are no window's; -ENOMEM. */
int record_decode(const uint8_t *bytes, size_t size, unsigned number, struct window_result **w,
		  struct err *err);

#endif
