/*
 * One command of this very program, run as a child: what somebody at a terminal would have typed,
 * with the same rights and the same errors.
 */
#ifndef JXPERF_CLIENT_UI_CHILD_H
#define JXPERF_CLIENT_UI_CHILD_H

#include <stdatomic.h>

#include "common/buffer.h"

/* Most bytes of what a command prints; more is an error. */
#define CHILD_OUTPUT_MAX ((size_t)128 << 20)
#define CHILD_ERROR_MAX  4096

struct child_result {
	struct buffer output;
	struct buffer error; /* stderr; the last line is the reason where status is not 0 */
	int status;          /* as in struct command; -1: killed */
};

/* Runs argv (argv[0] is the program's name), and waits for its end. Killed when *stop is set, and
 * when it prints too much. 0 or -errno; released in either case. Any thread. */
int child_run(char *const argv[], const atomic_bool *stop, struct child_result *result);
void child_result_release(struct child_result *result);

/* Starts another program, as $PATH has it, which nobody waits for: it is init's once we have ended.
 * 0 or -errno. */
int child_start(char *const argv[]);

#endif
