/*
 * Who has logged in to the process at the other end of a connection: /proc/PID/loginuid, which
 * stays what it was through sudo(8) and su(1). It is for the audit and decides nothing. The engine
 * need not see other users' processes (ProtectProc=), so the broker reads it.
 *
 * A pid may be another process's by the time it is read. So a pidfd of the peer, which the kernel
 * keeps for the socket (SO_PEERPIDFD, since Linux 6.5), has to say afterwards that the process has
 * not ended. Older kernels give one for the pid, and then it is the peer's if it is of its user.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_LOGIN_H
#define JXPERF_DAEMON_SERVE_LOGIN_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/broker/client.h"
#include "profile/window/asker.h"

/* known: uid is who has logged in there. */
typedef void (*login_done_fn)(void *arg, bool known, uid_t uid);

/* All zero: nobody asks. */
struct login {
	struct broker_client *broker; /* borrowed */
	int request;                  /* to the broker; 0: none */
	int process_fd;
	login_done_fn done;
	void *arg;
};

/* Asks of who is at the other end of socket. True: done runs once, from the loop. False: it is not
 * known and done will not run. */
bool login_ask(struct login *l, struct broker_client *broker, int socket,
	       const struct window_asker *who, login_done_fn done, void *arg);

/* done will not run any more. */
void login_forget(struct login *l);

#endif
