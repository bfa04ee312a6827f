/*
 * The answer to the control command `list`: every JVM of the machine, as attach/process/jvm.h sees
 * it.
 *
 * Looks at all processes in a child (daemon/child/look.h), and so waits for none: one that does not
 * answer is an entry whose state says so and what hangs. Milliseconds, or a few seconds where some
 * hang. For a process that has one thread and is there for this.
 */
#ifndef JXPERF_DAEMON_INSPECTOR_JVM_LIST_H
#define JXPERF_DAEMON_INSPECTOR_JVM_LIST_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "daemon/inspector/startup.h"
#include "proto/jxperf.pb-c.h"

/* Between pids. */
#define JVM_LIST_SEPARATOR ','

/* JVMs in one answer, which has to fit a frame; how many there was no room for, those of users who
 * have most, is its left_out. */
#define JVM_LIST_MAX 4096

/* Only processes of owner (PROC_ANY_UID: of all users) are looked at, and of these only those with
 * the pids "1,2", or all (""). jars: also at their jars' manifests
 * (daemon/inspector/jar_version.h). On success *out is owned by the caller:
 * jxp__jvm_list__free_unpacked(*out, NULL). 0 or -errno. */
int jvm_list_new(Jxp__JvmList **out, uid_t owner, const char *only, bool jars,
		 const struct startup *startup, struct err *err);

#endif
