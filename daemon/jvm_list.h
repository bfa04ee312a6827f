/*
 * The answer to the control command `list`: every JVM of the machine, as attach/jvm.h sees it.
 *
 * Reads /proc for all processes (milliseconds, not microseconds): for requests, not for timers. Any
 * thread may call.
 */
#ifndef JXPERF_DAEMON_JVM_LIST_H
#define JXPERF_DAEMON_JVM_LIST_H

#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* On success *out is owned by the caller: jxp__jvm_list__free_unpacked(*out, NULL). 0 or -errno. */
int jvm_list_new(Jxp__JvmList **out, struct err *err);

#endif
