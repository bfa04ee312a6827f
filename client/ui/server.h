/*
 * The live page: a web server on loopback that lives as long as its command.
 *
 * Its address has a token that opens it once, and gives the browser a cookie; after that the token
 * is worth nothing. Whoever has no cookie gets 403: other users of the machine, and other sites'
 * pages, which have none of ours (SameSite) and are told apart by Origin and Host, too. What it is
 * asked for it asks the daemon for, with the rights of whoever runs it (client/ui/routes.h).
 */
#ifndef JXPERF_CLIENT_UI_SERVER_H
#define JXPERF_CLIENT_UI_SERVER_H

#include <stdint.h>

#include "common/err.h"

struct ui_server;

/* Listens on a port of loopback (0: any), for a daemon's socket (borrowed). 0; -ENOENT where there
 * is no page, -EADDRINUSE, or another -errno. */
int ui_server_new(struct ui_server **out, uint16_t port, const char *socket, struct err *err);

/* Where it is opened, once; as long as the server. */
const char *ui_server_address(const struct ui_server *s);

/* Ends what it has been asked for. free(NULL) is safe. */
void ui_server_free(struct ui_server *s);

#endif
