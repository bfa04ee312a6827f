/*
 * Lines of the log that are about a window, with the journal's fields for it (common/log.h). What
 * is only worth knowing (LOG_INFO) of a window that a schedule wants is heard where verbose is on:
 * such windows are many, and the audit has a line of each at its end.
 */
#ifndef JXPERF_DAEMON_ENGINE_WINDOW_LOG_H
#define JXPERF_DAEMON_ENGINE_WINDOW_LOG_H

#include "common/log.h"

struct window_result;

struct log_subject window_log_subject(const struct window_result *w);

void window_log(const struct window_result *w, int priority, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
