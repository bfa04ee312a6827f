/*
 * Where the HTTP server listens: "ADDR:PORT", ADDR numeric ("127.0.0.1", "[::1]") or "localhost",
 * PORT 0 for any free one. Keeps no state.
 */
#ifndef JXPERF_DAEMON_HTTP_HTTP_ADDRESS_H
#define JXPERF_DAEMON_HTTP_HTTP_ADDRESS_H

#include "common/err.h"

/* Room for "[IPv6]:PORT". */
#define HTTP_ADDRESS_BYTES 64

/* Checks the form of an address without using it. 0 or -EINVAL. */
int http_address_check(const char *address, struct err *err);

/* A listening socket that does not block, owned by the caller, or -errno. */
int http_address_listen(const char *address, struct err *err);

/* Where a listening socket does: with the port that is really used. */
void http_address_of(int fd, char text[HTTP_ADDRESS_BYTES]);

#endif
