/*
 * Which JVM a user means: a pid, or a name that is looked up in the daemon's list.
 */
#ifndef JXPERF_CLIENT_COMMAND_WHICH_JVM_H
#define JXPERF_CLIENT_COMMAND_WHICH_JVM_H

#include <stdint.h>

#include "client/daemon/client.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

/* Its pid, and when it started (Jvm.start_ticks), so that no other is meant that gets its pid; 0
 * where the user has given the pid. */
struct which_jvm {
	uint32_t pid;
	uint64_t start_ticks;
};

/* The JVMs that the daemon knows. Free *reply with exchange_free_reply. Errors as exchange_once. */
int which_jvm_list(struct client *c, Jxp__ControlReply **reply, struct err *err);

/* The JVM that text stands for, asking the daemon when it is not a number. 0; -ESRCH
 * when none matches, -ENOTUNIQ when several do; -EINVAL for a number that is no pid; or as
 * exchange_once. */
int which_jvm_find(struct client *c, const char *text, struct which_jvm *out, struct err *err);

/* The one JVM of the list whose name (main class, jar or module) is, or else contains, text. An
 * ambiguous text is an error that lists the candidates. 0, -ESRCH or -ENOTUNIQ. */
int which_jvm_match(const Jxp__JvmList *list, const char *text, struct which_jvm *out,
		    struct err *err);

#endif
