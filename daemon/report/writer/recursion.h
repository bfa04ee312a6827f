/*
 * Recursion in a calling context: frames that come again and again, one behind the other, by one
 * method that calls itself or by a few that call each other. Written out, a thousand of them say no
 * more than one turn and how many there are.
 *
 * Pure functions. Frames are the same if they would be written alike.
 */
#ifndef JXPERF_DAEMON_REPORT_WRITER_RECURSION_H
#define JXPERF_DAEMON_REPORT_WRITER_RECURSION_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/profile/cct.h"

/* The longest turn that is looked for, in frames. */
#define RECURSION_TURN_MAX CCT_TURN_MAX

struct recursion {
	size_t frames; /* of one turn, */
	size_t times;  /* and how many turns follow each other; 1: no recursion */
};

/* Of what begins with the last of these nodes, which are leaf first: so turns go on toward path[0].
 * count is at least 1. Only what makes the text shorter is recursion, which takes a line more. */
struct recursion recursion_find(const struct cct *tree, const uint32_t *path, size_t count);

#endif
