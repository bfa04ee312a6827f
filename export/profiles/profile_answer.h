/*
 * What servers that take profiles answer, where OTLP over HTTP and Pyroscope agree.
 */
#ifndef JXPERF_EXPORT_PROFILES_PROFILE_ANSWER_H
#define JXPERF_EXPORT_PROFILES_PROFILE_ANSWER_H

#include "export/format.h"

#define ANSWER_LINE_BYTES 256

/* Of a status that is not 2xx: 429 is to be tried again, and what is of the address, which no
 * client can mend by giving windows up; with 502, 503 and 504 the request has failed, and they are
 * tried again, too ("Retryable Response Codes" in opentelemetry-proto's specification); 413 is too
 * large; no others are tried again. */
enum export_outcome profile_answer_outcome(int status);

/* The first line of so many bytes, or as much of it as there is room for. */
void profile_answer_line(char line[ANSWER_LINE_BYTES], const void *bytes, size_t size);

#endif
