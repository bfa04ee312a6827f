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
    &cmd_check,
    &cmd_list,
    &cmd_attach,
    &cmd_wait,
    &cmd_detach,
    &cmd_status,
    &cmd_threads,
    &cmd_apps,
    &cmd_windows,
    &cmd_report,
    &cmd_diff,
    &cmd_pause,
    &cmd_resume,
    &cmd_reload,
    &cmd_fleet_plan,
    &cmd_fleet_schema,
    &cmd_fleet_report,
    &cmd_fleet_diff,
    &cmd_fleet_top,
    &cmd_subsume,
    &cmd_top,
    &cmd_ui,
    NULL,
};

#define COMMAND_HELP "help"

#define COMMAND_NAME_BYTES 32

/* Not in the help: the installed completion asks it. */
#define COMMAND_COMPLETE "complete"

/* Is help asked for, anywhere? Then nothing else on the line has to be right. */
static bool wants_help(int count, char **words)
{
	for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
		if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0)
			return true;
	return false;
}

/* "fleet report" is "fleet-report": commands about a fleet may be written as two words. Takes the
 * second one off argv, if it makes such a name, in joined. */
static const char *join_words(const char *name, int *argc, char ***argv,
			      char joined[COMMAND_NAME_BYTES])
{
	if (!name || strcmp(name, "fleet") != 0 || *argc < 2 || (*argv)[1][0] == '-' ||
	    snprintf(joined, COMMAND_NAME_BYTES, "fleet-%s", (*argv)[1]) >= COMMAND_NAME_BYTES)
		return name;
	++*argv;
	--*argc;
	return joined;
}

/* Runs the command of this name, whose words argv are behind it, or prints its help. */
static int run_command(struct client *c, const char *name, bool help, int argc, char **argv)
{
	const struct command *command = command_find(commands, name);
	struct err err;

	if (!command)
		return command_fail(
		    err_set(&err, EINVAL, "unknown command '%s': see 'jxperfctl --help'", name),
		    &err);
	if (!help && !wants_help(argc, argv))
		return command_run(command, c, argc, argv);
	usage_print_command(command);
	return EXIT_SUCCESS;
}

static int run(struct client *c, int argc, char **argv)
{
	static const struct argument_spec spec = {.program = "jxperfctl",
						  .options = command_globals,
						  .operands = "[COMMAND]",
						  .stop_at_operand = true};
	const char *name;
	char joined[COMMAND_NAME_BYTES];
	struct err err;
	int first;
	int r = arguments_parse(&spec, argc, argv, c, &name, &first, &err);

	if (r < 0)
		return command_fail(r, &err);
	argc -= first;
	argv += first;
	if (c->version || (name && strcmp(name, "version") == 0))
		return puts("jxperfctl " JXPERF_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	if (name && strcmp(name, COMMAND_HELP) == 0 && argc > 1) {
		argc--;
		argv++;
		name = join_words(argv[0], &argc, &argv, joined);
		return run_command(c, name, true, argc, argv);
	}
	name = join_words(name, &argc, &argv, joined);
	if (name && strcmp(name, COMMAND_COMPLETE) == 0) {
		usage_complete(commands, argc - 1, argv + 1);
		return EXIT_SUCCESS;
	}
	if (name && strcmp(name, COMMAND_HELP) != 0)
		return run_command(c, name, c->help, argc, argv);
	if (!name && !c->help)
		return command_fail(err_set(&err, EINVAL, "no command: see 'jxperfctl --help'"),
				    &err);
	usage_print(commands);
	return EXIT_SUCCESS;
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
