/*
 * The subcommands of jxperfctl: each in a file of its own name here, all in client/main.c's table.
 *
 * The exit status is 0 ok, 1 failed, 2 wrong usage; attach and wait also 3 when the window ended
 * early, and 4 when it did because its target had ended; there is a report of what had arrived
 * then; diff 5 when CPU time rose by more than was allowed. A command prints its result to stdout
 * and, on failure, one line to stderr through command_fail.
 */
#ifndef JXPERF_CLIENT_COMMAND_COMMAND_H
#define JXPERF_CLIENT_COMMAND_COMMAND_H

#include <stdlib.h> /* EXIT_SUCCESS, EXIT_FAILURE */

#include "client/daemon/client.h"
#include "common/arguments.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

#define EXIT_USAGE        2
#define EXIT_EARLY        3
#define EXIT_TARGET_ENDED 4
#define EXIT_ROSE         5

struct command_call {
	const char *operands[ARGUMENT_OPERANDS_MAX]; /* NULL: it is not there */
	int exit_status;                             /* for success: EXIT_SUCCESS at first */
};

/* Completion offers these for the operands; they are a set. */
enum command_completes {
	COMPLETES_NOTHING = 0,
	COMPLETES_JVMS = 1,
	COMPLETES_RUNNING = 2, /* JVMs that have a window now */
	COMPLETES_WINDOWS = 4,
	COMPLETES_FILES = 8,
};

struct command {
	const char *name;
	const char *arguments; /* as --help has them */
	const char *help;
	const char *operands; /* as in struct argument_spec */
	unsigned completes;   /* of enum command_completes */
	int (*run)(struct client *c, struct command_call *call, struct err *err); /* 0 or -errno */
	const struct argument_option *options; /* NULL: none of its own */
	void *settings;                        /* what they set, with defaults */
	unsigned operand_count;
	/* Before the options are read: defaults that are not constant. NULL: there are none. */
	void (*prepare)(void);
};

/* What all commands take, before or behind their names: of a struct client. */
extern const struct argument_option command_globals[];

extern const struct command cmd_apps, cmd_attach, cmd_check, cmd_detach, cmd_diff, cmd_fleet_plan,
    cmd_fleet_diff, cmd_fleet_report, cmd_fleet_top, cmd_fleet_schema, cmd_list, cmd_pause,
    cmd_reload, cmd_resume, cmd_report, cmd_status, cmd_subsume, cmd_threads, cmd_top, cmd_ui,
    cmd_wait, cmd_windows;

/* That of a table that NULL ends; NULL where there is none of this name. */
const struct command *command_find(const struct command *const *commands, const char *name);

/* Runs a command with its own arguments, argv[0] being its name. Returns the exit status. */
int command_run(const struct command *command, struct client *c, int argc, char **argv);

/* Prints err as "jxperfctl: ..." and returns the exit status for the failure r: throughout client/,
 * -EINVAL means that the user asked for something wrong (2), any other code that it failed (1). */
int command_fail(int r, const struct err *err);

/* Tells how a window that ran ended, on stderr, unless it ended as planned; interrupted: by a
 * signal of the user's. Returns the exit status of `attach` and `wait`. */
int command_tell_end(const Jxp__Document *document, bool interrupted);

#endif
