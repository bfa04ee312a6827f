/*
 * The windows that there are for a client: those that run and the last ones, which are in memory,
 * and those that the store keeps.
 */
#ifndef JXPERF_DAEMON_SERVE_WINDOW_LIST_H
#define JXPERF_DAEMON_SERVE_WINDOW_LIST_H

#include "daemon/serve/connection.h"

/* At a time, and when nobody says how many. */
#define WINDOW_LIST_MAX      10000
#define WINDOW_LIST_DEFAULT  200
#define WINDOW_LIST_APPS_MAX 1000u

/* Answers `windows` when the store has been asked. */
void window_list_answer(struct connection *c, const Jxp__WindowsRequest *request);

/* What there is to say of a window; strings are its own. */
void window_list_describe(Jxp__WindowInfo *info, const struct window_result *w);

#endif
