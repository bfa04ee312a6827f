/*
 * What a client of HTTP wants (RFC 9110, section 12.5.1): "text/plain;q=0.5, application/json".
 *
 * Any thread; pure.
 */
#ifndef JXPERF_DAEMON_HTTP_ACCEPT_H
#define JXPERF_DAEMON_HTTP_ACCEPT_H

/* How much it wants a type, in thousandths: 1000 at most, 0 not at all. Ranges ("text/" and a star)
 * are of no type: who is sent a form that only some understand has named it. accept is the header's
 * value, or NULL: none. */
unsigned accept_quality(const char *accept, const char *type);

#endif
