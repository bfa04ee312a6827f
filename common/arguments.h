/*
 * The command line of a program or of a command: a table says which options there are and where
 * their values go.
 *
 * Long options, some with a short letter, in any order with the operands; "--name value",
 * "--name=value", "-o value", and "--" before operands that begin with a dash. Names are not
 * abbreviated, so that a new option cannot change the meaning of an old script.
 */
#ifndef JXPERF_COMMON_ARGUMENTS_H
#define JXPERF_COMMON_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

/* Operands of one command. */
#define ARGUMENT_OPERANDS_MAX 2u

/* What an option's value is, and what its field in the settings holds. */
enum argument_type {
	ARGUMENT_SWITCH, /* none; a bool, which becomes true */
	ARGUMENT_TEXT,   /* any text; a const char *, which points into argv */
	ARGUMENT_COPY,   /* any text; a char[size] */
	ARGUMENT_NUMBER, /* least to most; an int */
	ARGUMENT_CHOICE, /* one of names; an int or an enum, from least on */
	/* A time or a part as common/units.h has them: */
	ARGUMENT_DURATION, /* a uint64_t, nanoseconds */
	ARGUMENT_FRACTION, /* a double */
	ARGUMENT_PARSED,   /* what parse takes; whatever that writes */
};

struct argument_option {
	const char *name; /* without its dashes */
	char letter;      /* 0 without one */
	enum argument_type type;
	size_t field;    /* where it is in the settings, in bytes: offsetof */
	size_t size;     /* COPY */
	int least, most; /* NUMBER; CHOICE: least is the first name's value */
	/* TEXT, COPY: "a path", which an empty value is not; NULL: it may be. CHOICE: "a format".
	 */
	const char *noun;
	const char *const *names; /* CHOICE: ended by NULL */
	/* PARSED: 0; or -EINVAL with what is wrong with the text, and *field unchanged. */
	int (*parse)(const char *text, void *field, struct err *err);
};

/* The options, ended by one without a name, and the operands that are wanted. */
struct argument_spec {
	const char *program;                   /* whose --help is pointed to */
	const struct argument_option *options; /* may be NULL */
	const char *operands;                  /* "PID", "" for none, "[PID]" for an optional one */
	unsigned operand_count;                /* 0: one at most; else so many are wanted */
	bool stop_at_operand;                  /* what follows is somebody else's */
};

/* Parses argv[1..argc) into settings. 0 with the operand in *operand (NULL when an optional one is
 * not there; of several, an array) and the last one's index in *index (argc without one); or
 * -EINVAL. operand, for who wants none, and index may be NULL. */
int arguments_parse(const struct argument_spec *spec, int argc, char **argv, void *settings,
		    const char **operand, int *index, struct err *err);

/* Sets the field of one option; a switch takes value NULL. 0, or -EINVAL with what is wrong with
 * the value and the field unchanged. */
int arguments_set(const struct argument_option *option, void *settings, const char *value,
		  struct err *err);

#endif
