/* The line on a terminal that says how far a window is. Nothing when stderr is no terminal. */
#ifndef JXPERF_CLIENT_DAEMON_PROGRESS_H
#define JXPERF_CLIENT_DAEMON_PROGRESS_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"

struct progress {
	bool terminal;
	bool shown;
};

void progress_init(struct progress *p);
void progress_show(struct progress *p, const Jxp__Progress *state);

/* Takes the line away; before anything else is printed. */
void progress_clear(struct progress *p);

#endif
