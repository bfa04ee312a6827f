/*
 * The command line of a command: long options, some with a short letter, in any order with the
 * operands; "--name value", "--name=value", "-o value", and "--" before operands that begin with a
 * dash. Names are not abbreviated, so that a new option cannot change the meaning of an old script.
 */
#ifndef JXPERF_COMMON_ARGUMENTS_H
#define JXPERF_COMMON_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

/* One option. apply gets the value, NULL for a switch, and says what is wrong with it; its message
 * is prefixed with the option's name. */
struct argument_option {
	const char *name; /* without its dashes */
	char letter;      /* 0 without one */
	bool takes_value;
	int (*apply)(void *settings, const char *value, struct err *err);
};

/* A command's options, ended by one without a name, and the operands it wants. */
struct argument_spec {
	const struct argument_option *options; /* may be NULL */
	const char *operands;                  /* "PID", "" for none, "[PID]" for an optional one */
	bool stop_at_operand;                  /* what follows is somebody else's */
};

/* Parses argv[1..argc) into settings. 0 with the operand in *operand (NULL when an optional one is
 * not there) and its index in *index (argc without one; index may be NULL); or -EINVAL. */
int arguments_parse(const struct argument_spec *spec, int argc, char **argv, void *settings,
		    const char **operand, int *index, struct err *err);

#endif
