/*
 * Frames that say how code came to be called rather than what it does: threads and their executors,
 * reflection, lambda forms. Where paths are shown to people, runs of them become one line;
 * docs/architecture.md lists them as this table does. The leaf of a path is never folded.
 *
 * Constant data and functions of it: any thread.
 */
#ifndef JXPERF_REPORT_CONTENT_SCAFFOLDING_H
#define JXPERF_REPORT_CONTENT_SCAFFOLDING_H

#include <stddef.h>

struct scaffolding {
	const char *group;      /* what people call it: "java.util.concurrent" */
	const char *class_name; /* of the frame's class the beginning, or, after "*", any part */
	const char *method;     /* of its method the beginning; NULL: every one */
};

/* SCAFFOLDING_ROWS rows. */
extern const struct scaffolding scaffolding_table[];
#define SCAFFOLDING_ROWS 25

/* The row that a frame is of; NULL: it is none. */
const struct scaffolding *scaffolding_find(const char *class_name, const char *method);

#endif
