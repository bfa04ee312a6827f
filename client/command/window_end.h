/*
 * How a window ended, as `attach` and `wait` tell it.
 */
#ifndef JXPERF_CLIENT_COMMAND_WINDOW_END_H
#define JXPERF_CLIENT_COMMAND_WINDOW_END_H

#include <stdbool.h>

#include "proto/jxperf.pb-c.h"

/* The exit status for a window that ran; a line on stderr unless it ended as planned. interrupted:
 * by a signal of the user's. */
int window_end_tell(const Jxp__Document *document, bool interrupted);

#endif
