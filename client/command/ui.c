/* jxperfctl ui: the live page, until a signal comes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>

#include "client/command/command.h"
#include "client/daemon/exchange.h"
#include "client/ui/server.h"
#include "common/arguments.h"
#include "common/cleanup.h"

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

/* The user's browser, which is nobody's child to wait for: init's, once we have ended. */
static void open_browser(const char *address)
{
	extern char **environ;
	char *argv[] = {(char *)"xdg-open", (char *)address, NULL};
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;
	int r = posix_spawnattr_init(&attributes);

	(void)sigemptyset(&none);
	if (r == 0) {
		if ((r = posix_spawnattr_setsigmask(&attributes, &none)) == 0 &&
		    (r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK)) == 0)
			r = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
		(void)posix_spawnattr_destroy(&attributes);
	}
	if (r != 0)
		(void)fputs("jxperfctl: xdg-open cannot be run: open the address yourself\n",
			    stderr);
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
	int r;

	(void)call; /* There are no operands. */
	r = exchange_once(c, JXP__CONTROL_REQUEST__BODY_STATUS, &status, &reply, err);
	if (r < 0)
		return r;
	r = ui_server_new(&server, (uint16_t)asked.port, c->socket, err);
	if (r < 0)
		return r;
	if (puts(ui_server_address(server)) < 0 || fflush(stdout) < 0)
		return err_set_errno(err, errno, "cannot write standard output");
	(void)fputs("Open this address, which works once. ^C ends the page; windows go on.\n",
		    stderr);
	if (asked.open)
		open_browser(ui_server_address(server));
	return wait_for_signal(c, err);
}

const struct command cmd_ui = {"ui",
			       "[option...]",
			       "a page in the browser: JVMs, windows, reports as they come",
			       "",
			       .run = ui,
			       .options = arguments,
			       .settings = &asked};
