/*
 * The command line of a program or of a command: a table says which options there are and where
 * their values go.
 *
 * Long options, some with a short letter, in any order with the operands; "--name value",
 * "--name=value", "-o value", and "--" before operands that begin with a dash. Names are not
 * abbreviated, so that a new option cannot change the meaning of an old script.
 *
 * The table also says each option's words for people: help and completion are made of it.
 */
#ifndef JXPERF_COMMON_ARGUMENTS_H
#define JXPERF_COMMON_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

/* Operands of one command. */
#define ARGUMENT_OPERANDS_MAX 2u

/* These say what an option's value is, and what its field in the settings holds. */
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
	/* The words that it takes: CHOICE, and PARSED where they are all of them. An array that
	 * NULL ends, or a function that returns NULL behind the last. */
	const char *const *names;
	const char *(*name_at)(size_t i);
	/* PARSED: 0; or -EINVAL with what is wrong with the text, and *field unchanged. */
	int (*parse)(const char *text, void *field, struct err *err);

	/* For people: what its value is called, "FILE"; what it does, behind the names; and what
	 * holds without it. NULL: nothing to say; a switch has no value. */
	const char *value, *help, *unset;

	/* Instead of all these: options that several tables have. Their fields are in the part of
	 * the settings that field is. */
	const struct argument_option *group;
};

/* Is this row behind the last? */
static inline bool argument_end(const struct argument_option *option)
{
	return !option->name && !option->group;
}

/* The option that the length bytes at text name, with their dashes, in the table or its groups.
 * Adds to *at where in the settings those of its group begin. NULL, and nothing is added, when
 * there is none. */
const struct argument_option *argument_find(const struct argument_option *options, const char *text,
					    size_t length, size_t *at);

/* The i-th word that an option takes; NULL behind the last. */
const char *argument_name(const struct argument_option *option, size_t i);

/* "a, b or c": those words, cut where they do not fit. Returns text. */
const char *argument_names(const struct argument_option *option, char *text, size_t size);

/* The options, ended by an empty row, and the operands that are wanted. */
struct argument_spec {
	const char *program;                   /* whose --help is pointed to */
	const struct argument_option *options; /* may be NULL */
	const char *operands;                  /* "PID", "" for none, "[PID]" for an optional one */
	unsigned operand_count;                /* 0: one at most; else so many are wanted */
	bool stop_at_operand;                  /* what follows is somebody else's */
	/* What every command of the program takes beside its own options, and where it goes; NULL:
	 * nothing. */
	const struct argument_option *common;
	void *common_settings;
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
