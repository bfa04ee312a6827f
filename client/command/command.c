#include "client/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

/* "jxperfctl fleet-plan" */
#define PROGRAM_BYTES 32

const struct argument_option command_globals[] = {
    {.name = "socket",
     .type = ARGUMENT_TEXT,
     .field = offsetof(struct client, socket),
     .noun = "a path",
     .value = "PATH",
     .help = "the daemon's control socket",
     .unset = "$JXPERF_SOCKET, or " CLIENT_SOCKET_DEFAULT},
    {.name = "private",
     .field = offsetof(struct client, own_daemon),
     .help = "use a daemon of your own, for this command only: attach, check and list"},
    {.name = "json", .field = offsetof(struct client, json), .help = "print JSON"},
    {.name = "help",
     .letter = 'h',
     .field = offsetof(struct client, help),
     .help = "print this, or what COMMAND takes"},
    {.name = "version",
     .letter = 'V',
     .field = offsetof(struct client, version),
     .help = "print the version"},
    {0},
};

int command_fail(int r, const struct err *err)
{
	char clean[2 * ERR_MESSAGE_MAX];

	/* Names of files are what others chose, too. */
	(void)utf8_sanitize(clean, sizeof(clean), err->message); /* May be cut. */
	(void)fprintf(stderr, "jxperfctl: %s\n", clean);         /* Nowhere to tell. */
	return r == -EINVAL ? EXIT_USAGE : EXIT_FAILURE;
}

const struct command *command_find(const struct command *const *commands, const char *name)
{
	for (; *commands; commands++)
		if (strcmp((*commands)->name, name) == 0)
			return *commands;
	return NULL;
}

int command_run(const struct command *command, struct client *c, int argc, char **argv)
{
	char program[PROGRAM_BYTES];
	const struct argument_spec spec = {.program = program,
					   .common = command_globals,
					   .common_settings = c,
					   .options = command->options,
					   .operands = command->operands,
					   .operand_count = command->operand_count};
	struct command_call call = {.exit_status = EXIT_SUCCESS};
	struct err err;
	int r;

	(void)snprintf(program, sizeof(program), "jxperfctl %s", command->name); /* Fits. */
	if (command->prepare)
		command->prepare();
	r = arguments_parse(&spec, argc, argv, command->settings, call.operands, NULL, &err);
	if (r == 0)
		r = command->run(c, &call, &err);
	return r < 0 ? command_fail(r, &err) : call.exit_status;
}

int command_tell_end(const Jxp__Document *document, bool interrupted)
{
	bool target = document->end == JXP__DOCUMENT__END__TARGET_ENDED;

	if (document->end == JXP__DOCUMENT__END__AS_PLANNED)
		return EXIT_SUCCESS;
	(void)fprintf(stderr, "jxperfctl: window %s ended %s: %s\n", document->window,
		      target ? "with its target" : "early",
		      interrupted && !target ? "interrupted" : document->reason);
	return target ? EXIT_TARGET_ENDED : EXIT_EARLY;
}
