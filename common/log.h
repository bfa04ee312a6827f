/*
 * Logging to stderr. errno is preserved by every call, lines are never torn, and under systemd
 * (JOURNAL_STREAM set) each line carries its priority as "<N>".
 *
 * Who logs: main functions and event loop callbacks, once. Modules return errors instead.
 */
#ifndef JXPERF_COMMON_LOG_H
#define JXPERF_COMMON_LOG_H

#include <stdbool.h>

/* name must outlive the process's logging; verbose turns log_debug on. */
void log_init(const char *name, bool verbose);

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
