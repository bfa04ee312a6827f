/*
 * Times as tables show them.
 */
#ifndef JXPERF_CLIENT_OUTPUT_LOCAL_TIME_H
#define JXPERF_CLIENT_OUTPUT_LOCAL_TIME_H

#include <stdint.h>

#define LOCAL_TIME_BYTES 32

/* CLOCK_REALTIME as local time to the second; "-" for what is no time. Returns text. */
const char *local_time(char text[LOCAL_TIME_BYTES], uint64_t unix_ns);

#endif
