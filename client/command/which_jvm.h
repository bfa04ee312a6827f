/*
 * Which JVM a user means: a pid, or a name that is looked up in the daemon's list.
 */
#ifndef JXPERF_CLIENT_COMMAND_WHICH_JVM_H
#define JXPERF_CLIENT_COMMAND_WHICH_JVM_H

#include <stdint.h>

#include "client/daemon/client.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* The pid that text stands for, asking the daemon when it is not a number. 0; -ESRCH
 * when none matches, -ENOTUNIQ when several do; -EINVAL for a number that is no pid; or as
 * exchange_once. */
int which_jvm_find(struct client *c, const char *text, uint32_t *pid, struct err *err);

/* The one JVM of the list whose name (main class, jar or module) is, or else contains, text. An
 * ambiguous text is an error that lists the candidates. 0, -ESRCH or -ENOTUNIQ. */
int which_jvm_match(const Jxp__JvmList *list, const char *text, uint32_t *pid, struct err *err);

#endif
