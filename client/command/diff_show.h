/*
 * What `diff` and `fleet-diff` do alike: two sides are loaded, compared and shown, and a gate may
 * fail.
 */
#ifndef JXPERF_CLIENT_COMMAND_DIFF_SHOW_H
#define JXPERF_CLIENT_COMMAND_DIFF_SHOW_H

#include <stdint.h>

#include "client/command/command.h"
#include "compare/side.h"

enum diff_format { DIFF_UNASKED, DIFF_TEXT, DIFF_JSON, DIFF_HTML };

/* As options say. */
struct diff_shown {
	enum diff_format format;
	uint32_t rows;
	const char *output;
	double fail_above;    /* 0: not given */
	double operations[2]; /* a second, in each; 0: not given */
};

/* Fields of a struct diff_shown. */
extern const struct argument_option diff_show_arguments[];

/* Where the sides come from: load fills in the i-th. 0 or -errno. */
struct diff_loader {
	int (*load)(void *context, int i, struct compare_side *out, struct err *err);
	void *context;
};

/* 0 with the exit status in call, or -errno. */
int diff_show(struct diff_shown *o, struct client *c, struct command_call *call,
	      const struct diff_loader *loader, struct err *err);

#endif
