/*
 * When something that failed is tried again.
 *
 * Pure functions of their arguments; any thread.
 */
#ifndef JXPERF_DAEMON_EXPORT_RETRY_H
#define JXPERF_DAEMON_EXPORT_RETRY_H

#include <stdint.h>
#include <time.h>

#define RETRY_FIRST_MS  1000
#define RETRY_LAST_MS   (300 * 1000)
#define RETRY_SERVER_MS (3600 * 1000) /* a server's own wish is kept up to here */

/* How long to wait after so many failures in a row, in ms: a second, and twice as long after each,
 * up to five minutes; of that between a half and all, so that hosts do not come at a time. random:
 * any number. wished_ms: what the server asks for; 0: nothing. */
uint64_t retry_delay_ms(unsigned failures, uint32_t random, uint64_t wished_ms);

/* What a Retry-After says (RFC 9110, 10.2.3), seconds or a date, in ms from now on, at most
 * RETRY_SERVER_MS; 0 for what is neither, or has passed. */
uint64_t retry_after_ms(const char *value, time_t now);

#endif
