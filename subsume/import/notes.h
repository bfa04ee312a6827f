/*
 * Keeps what people have to know of how a file was read: the parts of it that are in no stack, by
 * reason, and what was taken though there was a choice.
 *
 * One import, one thread.
 */
#ifndef JXPERF_SUBSUME_IMPORT_NOTES_H
#define JXPERF_SUBSUME_IMPORT_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "subsume/tree.h"

/* Why parts are left out: literals. "line", "is no stack", "are no stacks". */
struct import_reason {
	const char *part, *one, *all;
};

struct import_left_out {
	const struct import_reason *reason;
	uint64_t count;
	uint64_t first; /* the number of the first such part; they are counted from 1 */
	uint64_t cost;  /* of all of them; 0: none, or not known */
	char why[128];  /* of the first, or "" */
};

/* There are fewer reasons in a format. */
#define IMPORT_LEFT_OUT_MAX 12u

/* All zero is nothing. */
struct import_notes {
	struct import_left_out left_out[IMPORT_LEFT_OUT_MAX];
	unsigned count;
	char remark[384]; /* or "" */
};

/* So many parts more that are left out, the first of them the number. The reason has static
 * storage. */
void import_notes_leave_out(struct import_notes *notes, const struct import_reason *reason,
			    uint64_t number, uint64_t parts, uint64_t cost, const char *why);

/* So many parts are left out for that reason. */
uint64_t import_notes_count(const struct import_notes *notes, const struct import_reason *reason);

/* Tells what was wrong with the first of them, or "". */
const char *import_notes_why(const struct import_notes *notes, const struct import_reason *reason);

/* Adds to the remark, behind "; "; what has no room is cut. */
void import_notes_remark(struct import_notes *notes, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* All of it in one line, "1 line is no stack (line 4)"; "" for nothing. The tree is what was read
 * of the file. */
void import_notes_line(const struct import_notes *notes, const struct subsume_tree *tree,
		       char *line, size_t size);

#endif
