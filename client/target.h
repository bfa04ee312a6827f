/*
 * Which JVM a user means: a pid, or a name that is looked up in the daemon's list.
 */
#ifndef JXPERF_CLIENT_TARGET_H
#define JXPERF_CLIENT_TARGET_H

#include <stdint.h>

#include "client/client.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* The pid that text stands for, asking the daemon when it is not a number. 0; -EINVAL when nothing
 * or more than one JVM matches; or as exchange_once. */
int target_find(struct client *c, const char *text, uint32_t *pid, struct err *err);

/* The one JVM of the list whose name (main class, jar or module) is, or else contains, text. An
 * ambiguous text is an error that lists the candidates. 0 or -EINVAL. */
int target_match(const Jxp__JvmList *list, const char *text, uint32_t *pid, struct err *err);

#endif
