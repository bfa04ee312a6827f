/*
 * Text from outside (class names, command lines, thread names) made fit to show: valid UTF-8 on one
 * line. HotSpot's names are modified UTF-8, where surrogate halves and a two-byte NUL occur; JSON
 * and terminals accept neither.
 */
#ifndef JXPERF_COMMON_UTF8_H
#define JXPERF_COMMON_UTF8_H

#include <stddef.h>

/* Bytes that one byte may become. */
#define UTF8_SHOWN_MAX 6u

/* Copies from, up to its NUL, into to (size bytes, at least 1), always terminated. Control
 * characters become '?' and so does every byte that is not part of a valid UTF-8 sequence; what
 * does not fit is cut at a character's start. Returns the length. */
size_t utf8_sanitize(char *to, size_t size, const char *from);

#endif
