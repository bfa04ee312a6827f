/*
 * Some lines at the end of what is on a terminal, which are drawn anew in their place and erased
 * before anything else is printed. They go to stderr: what was asked for goes to stdout.
 */
#ifndef JXPERF_CLIENT_TERMINAL_LIVE_BLOCK_H
#define JXPERF_CLIENT_TERMINAL_LIVE_BLOCK_H

#include <stdbool.h>

#include "client/terminal/lines.h"

struct live_block {
	bool terminal; /* else nothing is ever written */
	bool colour;
	size_t shown; /* lines that are on the terminal now; the cursor is in the last one */
};

/* json: no colour. */
struct live_block live_block_on_stderr(bool json);

/* Shows these lines in place of those that are there. What there is no height for is left out. A
 * failing terminal is not told of. */
void live_block_show(struct live_block *b, const struct lines *l);

/* Takes them away. Safe where there are none. */
void live_block_erase(struct live_block *b);

#endif
