/* jxperfctl: global options, and the table of commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "client/command/command.h"
#include "client/usage.h"
#include "proto/limits.h"

static const struct command *const commands[] = {
    &cmd_check,   &cmd_list,       &cmd_attach,  &cmd_wait, &cmd_detach, &cmd_status,
    &cmd_threads, &cmd_windows,    &cmd_report,  &cmd_diff, &cmd_pause,  &cmd_resume,
    &cmd_reload,  &cmd_fleet_plan, &cmd_subsume, &cmd_top,  &cmd_ui,     NULL,
};

/* Not in the help: the installed completion asks it. */
#define COMMAND_COMPLETE "complete"

struct global_options {
	const char *socket;
	bool json;
	bool help;
	bool version;
};

static const struct argument_option global_arguments[] = {
    {.name = "socket",
     .type = ARGUMENT_TEXT,
     .field = offsetof(struct global_options, socket),
     .noun = "a path",
     .value = "PATH",
     .help = "the daemon's control socket",
     .unset = "$JXPERF_SOCKET, or " CLIENT_SOCKET_DEFAULT},
    {.name = "json", .field = offsetof(struct global_options, json), .help = "print JSON"},
    {.name = "help",
     .letter = 'h',
     .field = offsetof(struct global_options, help),
     .help = "print this"},
    {.name = "version",
     .field = offsetof(struct global_options, version),
     .help = "print the version"},
    {0},
};

static int run(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.program = "jxperfctl",
						  .options = global_arguments,
						  .operands = "[COMMAND]",
						  .stop_at_operand = true};
	struct global_options o = {.socket = c->socket};
	const struct command *command;
	const char *name;
	struct err err;
	int first;
	int r = arguments_parse(&spec, argc, argv, &o, &name, &first, &err);

	if (r < 0)
		return command_fail(r, &err);
	c->socket = o.socket;
	c->json = o.json;
	if (o.version)
		return puts("jxperfctl " JXPERF_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (o.help || (name && strcmp(name, "help") == 0)) {
		usage_print(commands, global_arguments);
		return EXIT_SUCCESS;
	}
	if (!name)
		return command_fail(err_set(&err, EINVAL, "no command: see 'jxperfctl --help'"),
				    &err);
	if (strcmp(name, COMMAND_COMPLETE) == 0) {
		usage_complete(commands, global_arguments, argc - first - 1, argv + first + 1);
		return EXIT_SUCCESS;
	}
	command = command_find(commands, name);
	if (!command)
		return command_fail(
		    err_set(&err, EINVAL, "unknown command '%s': see 'jxperfctl --help'", name),
		    &err);
	return command_run(command, c, argc - first, argv + first);
}

int main(int argc, char **argv)
{
	struct client client;
	struct err err;
	int status, r = client_init(&client, &err);

	if (r < 0)
		return command_fail(r, &err);
	status = run(&client, argc, argv);
	client_release(&client);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		(void)err_set_errno(&err, errno, "cannot write standard output");
		return command_fail(-EIO, &err);
	}
	return status;
}
