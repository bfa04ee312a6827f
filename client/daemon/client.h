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
	/* The global options: */
	const char *socket; /* that the user named, borrowed; or NULL */
	bool own_daemon;    /* a private one is to be started, whoever else answers */
	bool json;
	bool help;
	bool version;
	struct interrupt interrupt;
	struct private_daemon *own; /* started by us, or NULL */
};

/* Readies c, with the socket of $JXPERF_SOCKET, if that names one. 0 or -errno. */
int client_init(struct client *c, struct err *err);

/* Where the daemon is asked. */
const char *client_socket(const struct client *c);

/* Stops a private daemon. Nothing can be asked any more; signals have their usual effect again, so
 * that printing can be interrupted. Safe to call twice. */
void client_release(struct client *c);

/* Starts a private daemon, with a word on stderr, where the user wants one, or where none answers
 * and the user named no socket. Called before the first exchange by the commands that make sense
 * without a running daemon. 0, -EINTR or -errno. */
int client_allow_private(struct client *c, struct err *err);

/* No option has asked for a format. */
#define FORMAT_UNASKED ((Jxp__Format)-1)

/* Gives a report that no option asks for its format. */
void client_settle_format(const struct client *c, Jxp__Format *format);

/* A socket connected to the daemon, which the caller owns, or -errno: -ENOENT and -ECONNREFUSED say
 * that there is no daemon. */
int client_connect(const struct client *c, struct err *err);

#endif
