/*
 * The commands and their options as people see them: the help, and the words that a shell offers.
 *
 * Both are made of the table of commands and of the tables of their arguments, which say all that
 * is said here. What is printed goes to stdout, whose errors main checks once, at the end.
 */
#ifndef JXPERF_CLIENT_USAGE_H
#define JXPERF_CLIENT_USAGE_H

#include "client/command/command.h"
#include "common/arguments.h"

/* Prints which commands there are. The table is ended by NULL. */
void usage_print(const struct command *const *commands);

/* Prints what one of them takes. */
void usage_print_command(const struct command *command);

/* Prints what the last of the words behind the program's name may become, one on a line, whatever
 * it begins with so far. A line in brackets stands for what is not known here: "<windows>",
 * "<jvms>", "<running>" (JVMs that have a window now), "<files>". */
void usage_complete(const struct command *const *commands, int count, char **words);

#endif
