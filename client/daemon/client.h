/*
 * Every command shares these: the global options, the way to the daemon, and the signals that end
 * every wait.
 *
 * Errors throughout client/: -EINVAL means that the user asked for something wrong; every other
 * code that it failed.
 */
#ifndef JXPERF_CLIENT_DAEMON_CLIENT_H
#define JXPERF_CLIENT_DAEMON_CLIENT_H

#include <stdbool.h>

#include "client/daemon/interrupt.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

#define CLIENT_SOCKET_DEFAULT "/run/jxperf/control.sock"

struct private_daemon;

struct client {
	const char *socket; /* borrowed */
	bool json;
	struct interrupt interrupt;
	struct private_daemon *own; /* started by us, or NULL */
};

/* Readies c, with the socket of $JXPERF_SOCKET or the default one. 0 or -errno. */
int client_init(struct client *c, struct err *err);

/* Stops a private daemon. Nothing can be asked any more; signals have their usual effect again, so
 * that printing can be interrupted. Safe to call twice. */
void client_release(struct client *c);

/* Starts a private daemon, with a word on stderr, when none answers. Called before the first
 * exchange by the commands that make sense without a running daemon. 0, -EINTR or -errno. */
int client_allow_private(struct client *c, struct err *err);

/* The format of a report that no option asks for. */
Jxp__Format client_format(const struct client *c);

/* A socket connected to the daemon, which the caller owns, or -errno: -ENOENT and -ECONNREFUSED say
 * that there is no daemon. */
int client_connect(const struct client *c, struct err *err);

#endif
