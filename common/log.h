/*
 * Logging to stderr. errno is preserved by every call, lines are never torn, and under systemd
 * (JOURNAL_STREAM set) each line carries its priority as "<N>".
 *
 * Who logs: main functions and event loop callbacks, once. Modules return errors instead.
 */
#ifndef JXPERF_COMMON_LOG_H
#define JXPERF_COMMON_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* A text that others chose, for a line of the log: in quotes, with '"' and '\' escaped by '\', so
 * that where it ends cannot be forged. to has size bytes, at least 3; what does not fit is cut
 * where a character begins, before the last quote. text is valid UTF-8 on one line (common/utf8.h).
 * Returns the length. */
size_t log_quote(char *to, size_t size, const char *text);
/* A place for what fits a line of the log. */
#define LOG_QUOTED_BYTES 700

/* name must outlive the process's logging; verbose turns log_debug on. */
void log_init(const char *name, bool verbose);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
