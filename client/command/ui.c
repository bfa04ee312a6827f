/* jxperfctl ui: the live page, until a signal comes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/ui/child.h"
#include "client/ui/server.h"
#include "common/arguments.h"
#include "common/cleanup.h"
#include "common/fd.h"

#define PORT_MAX 65535

struct ui_options {
	int port;
	bool open;
};

#define FIELD(member) .field = offsetof(struct ui_options, member)

static const struct argument_option arguments[] = {
    {.name = "port",
     .type = ARGUMENT_NUMBER,
     FIELD(port),
     .least = 0,
     .most = PORT_MAX,
     .value = "N",
     .help = "the port of loopback that serves it",
     .unset = "any"},
    {.name = "open", FIELD(open), .help = "open it in the browser"},
    {0},
};

static struct ui_options asked;

static void cleanup_server(struct ui_server **s)
{
	ui_server_free(*s);
}

/* A file of our own that leads to the address: others see the arguments of a program, and the
 * address opens the page for whoever is first. */
static int write_redirect(char path[PATH_MAX], const char *address)
{
	const char *directory = getenv("XDG_RUNTIME_DIR");
	char text[512];
	int fd, r;

	(void)snprintf(path, PATH_MAX, "%s/jxperf-ui-XXXXXX.html",
		       directory && *directory ? directory : "/tmp"); /* Else it is not found. */
	fd = mkostemps(path, (int)strlen(".html"), O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)snprintf(text, sizeof(text),
		       "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
		       address); /* Fits. */
	r = fd_write_all(fd, text, strlen(text));
	(void)close(fd);
	return r;
}

/* Until a signal comes, as whoever started it is used to. */
static int wait_for_signal(struct client *c, struct err *err)
{
	struct pollfd fd = {.fd = c->interrupt.fd, .events = POLLIN};

	while (interrupt_take(&c->interrupt) == 0)
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return err_set_errno(err, errno, "cannot wait for a signal");
	return 0;
}

static int ui(struct client *c, struct command_call *call, struct err *err)
{
	Jxp__StatusRequest status = JXP__STATUS_REQUEST__INIT;
	_cleanup_(cleanup_server) struct ui_server *server = NULL;
	_cleanup_reply_ Jxp__ControlReply *reply = NULL;
	char redirect[PATH_MAX] = "";
	int r;

	(void)call; /* There are no operands. */
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_STATUS, &status, &reply, err);
	if (r < 0)
		return r;
	r = ui_server_new(&server, (uint16_t)asked.port, client_socket(c), err);
	if (r < 0)
		return r;
	if (puts(ui_server_address(server)) < 0 || fflush(stdout) < 0)
		return err_set_errno(err, errno, "cannot write standard output");
	(void)fputs("Open this address, which works once. ^C ends the page; windows go on.\n",
		    stderr);
	if (asked.open && (write_redirect(redirect, ui_server_address(server)) < 0 ||
			   child_start((char *[]){(char *)"xdg-open", redirect, NULL}) < 0))
		(void)fputs("jxperfctl: xdg-open cannot be run: open the address yourself\n",
			    stderr);
	r = wait_for_signal(c, err);
	if (redirect[0])
		(void)unlink(redirect); /* Else it is only untidy: its token is used. */
	return r;
}

const struct command cmd_ui = {"ui",
			       "[option...]",
			       "a page in the browser: JVMs, windows, reports as they come",
			       "",
			       .run = ui,
			       .options = arguments,
			       .settings = &asked};
