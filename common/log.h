/*
 * Logging to stderr, or to the journal where stderr leads there (JOURNAL_STREAM, systemd.exec(5)):
 * then each line is an entry with fields, sent as
 * https://systemd.io/JOURNAL_NATIVE_PROTOCOL describes. errno is preserved by every call, and lines
 * are never torn. What cannot be sent goes to stderr, with its priority as "<N>" under systemd.
 *
 * Who logs: main functions and event loop callbacks, once. Modules return errors instead.
 */
#ifndef JXPERF_COMMON_LOG_H
#define JXPERF_COMMON_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOG_JOURNAL_SOCKET "/run/systemd/journal/socket"

/* A text that others chose, for a line of the log: in quotes, with '"' and '\' escaped by '\', so
 * that where it ends cannot be forged. to has size bytes, at least 3; what does not fit is cut
 * where a character begins, before the last quote. text is valid UTF-8 on one line (common/utf8.h).
 * Returns the length. */
size_t log_quote(char *to, size_t size, const char *text);
/* A place for what fits a line of the log. */
#define LOG_QUOTED_BYTES 700

/* name must outlive the process's logging; verbose turns log_debug on. */
void log_init(const char *name, bool verbose);

/* From now on to the journal that listens at the path; NULL: to stderr alone. log_init decides. */
void log_to_journal(const char *path);

/* What a line is about, for who asks the journal for JXPERF_WINDOW=, JXPERF_SCHEDULE=, JXPERF_APP=
 * or JXPERF_PID=. NULL, "" and 0: it has no such field. */
struct log_subject {
	const char *window, *schedule, *app;
	pid_t pid;
};

/* priority: one of syslog(3); LOG_DEBUG is heard where verbose is on. */
void log_about(const struct log_subject *subject, int priority, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void log_about_v(const struct log_subject *subject, int priority, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
