/*
 * The subcommands of jxperfctl: each in a file of its own name here, all in client/main.c's table.
 *
 * A command gets its own arguments, argv[0] being its name, and returns the exit status: 0 ok,
 * 1 failed, 2 wrong usage; attach and wait also 3 when the window ended early, and 4 when it did
 * because its target had ended; there is a report of what had arrived then; diff 5 when CPU time
 * rose by more than was allowed. It prints its result to
 * stdout and, on failure, one line to stderr through command_fail.
 */
#ifndef JXPERF_CLIENT_COMMAND_COMMAND_H
#define JXPERF_CLIENT_COMMAND_COMMAND_H

#include <stdlib.h> /* EXIT_SUCCESS, EXIT_FAILURE */

#include "client/daemon/client.h"
#include "common/err.h"
#include "proto/jxperf.pb-c.h"

#define EXIT_USAGE        2
#define EXIT_EARLY        3
#define EXIT_TARGET_ENDED 4
#define EXIT_ROSE         5

int cmd_attach(struct client *c, int argc, char **argv);
int cmd_check(struct client *c, int argc, char **argv);
int cmd_detach(struct client *c, int argc, char **argv);
int cmd_diff(struct client *c, int argc, char **argv);
int cmd_fleet_plan(struct client *c, int argc, char **argv);
int cmd_list(struct client *c, int argc, char **argv);
int cmd_reload(struct client *c, int argc, char **argv);
int cmd_report(struct client *c, int argc, char **argv);
int cmd_status(struct client *c, int argc, char **argv);
int cmd_subsume(struct client *c, int argc, char **argv);
int cmd_threads(struct client *c, int argc, char **argv);
int cmd_wait(struct client *c, int argc, char **argv);
int cmd_windows(struct client *c, int argc, char **argv);

/* Prints err as "jxperfctl: ..." and returns the exit status for the failure r: throughout client/,
 * -EINVAL means that the user asked for something wrong (2), any other code that it failed (1). */
int command_fail(int r, const struct err *err);

/* Runs a command without options of its own. operands as in struct argument_spec; operand is NULL
 * when there is none. Returns the exit status. */
typedef int (*command_plain_fn)(struct client *c, const char *operand, struct err *err);
int command_run_plain(struct client *c, int argc, char **argv, const char *operands,
		      command_plain_fn run);

/* Tells how a window that ran ended, on stderr, unless it ended as planned; interrupted: by a
 * signal of the user's. Returns the exit status of `attach` and `wait`. */
int command_tell_end(const Jxp__Document *document, bool interrupted);

#endif
