/*
 * Gives up what root has and a process does not need that reads what JVMs and clients send, which
 * is everything: the engine, and a watcher once its files are open. The broker keeps what it needs
 * (daemon/broker/privilege.h).
 */
#ifndef JXPERF_COMMON_PRIVILEGE_H
#define JXPERF_COMMON_PRIVILEGE_H

#include "common/err.h"

/* Is there such a user, if not ""? 0 or -EINVAL. */
int privilege_check(const char *user, struct err *err);

/* Called once, before the loop runs and while the process has one thread. For root: becomes user
 * (not when it is ""), keeps no group but that user's, and no capability; nothing that it runs
 * gains any. For others only no_new_privs. 0 or -errno; -EINVAL for a user that does not exist, or
 * when somebody else than root asks for another than they are. */
int privilege_drop(const char *user, struct err *err);

#endif
