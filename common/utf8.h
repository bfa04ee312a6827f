/*
 * Text from outside (class names, command lines, thread names) made fit to show: valid UTF-8 on one
 * line, in which what a reader sees is what is there. HotSpot's names are modified UTF-8:
 * characters beyond U+FFFF are two surrogates of three bytes each there, which become the
 * character. Characters that are invisible or turn the direction of others around (general category
 * Cf, U+2028 and U+2029) become their code, \u202e.
 */
#ifndef JXPERF_COMMON_UTF8_H
#define JXPERF_COMMON_UTF8_H

#include <stddef.h>

/* Bytes that one byte may become, and some for the last character. */
#define UTF8_SHOWN_MAX 4u

/* How many columns of a terminal so many bytes of UTF-8 take, near enough: its characters. */
size_t utf8_columns(const char *text, size_t length);

/* Copies from, up to its NUL, into to (size bytes, at least 1), always terminated. Control
 * characters become '?' and so does every byte that is not part of a character; what does not fit
 * is cut at a character's start. Returns the length. */
size_t utf8_sanitize(char *to, size_t size, const char *from);

/* The same for a name that others are told from: what would become '?' becomes its code, too,
 * "\x1b" for a byte and "\ud83d" for half of a pair. */
size_t utf8_name(char *to, size_t size, const char *from);

/* Makes characters of pairs of surrogates in text of so many bytes, which need be valid in no way,
 * so that a name is the same in both forms. Returns the length, which is not larger. */
size_t utf8_join_pairs(char *text, size_t length);

#endif
