/*
 * Where the readers of all formats put what they find: names made fit to show, costs that add up
 * to no more than can be counted, and one form of error.
 *
 * One import, one thread.
 */
#ifndef JXPERF_SUBSUME_IMPORT_SINK_H
#define JXPERF_SUBSUME_IMPORT_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "subsume/import/notes.h"
#include "subsume/tree.h"

struct import_options; /* subsume/import/import.h */

struct import_sink {
	struct subsume_builder *builder;
	const struct import_options *options;
	uint64_t total; /* of costs, those of truncated stacks included; at most SUBSUME_COST_MAX */
	uint64_t samples; /* that are in the tree; 0 where it is not known */
	char unit[32];
	uint64_t scale; /* costs are so many to one of the unit */
	struct import_notes *notes;
	struct err *err;
};

/* "at byte OFFSET: " and the message. Returns -code. */
int import_fail(struct import_sink *s, int code, uint64_t offset, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The number of the method of that name, which is at offset of the input. 0; -EFBIG, -ENOMEM with
 * the error set. */
int import_method(struct import_sink *s, uint64_t offset, const char *name, size_t length,
		  uint32_t *method);

/* Adds a stack, outermost first, at most SUBSUME_DEPTH_MAX frames. As import_method; -EBADMSG
 * when the costs add up to more than can be counted. */
int import_stack(struct import_sink *s, uint64_t offset, const uint32_t *path, size_t count,
		 uint64_t cost);

/* Counts stacks that are cut off or missing. As import_stack. */
int import_truncated(struct import_sink *s, uint64_t offset, uint64_t cost, uint64_t samples);

/* Says what costs are counted in, as far as there is room. */
void import_unit(struct import_sink *s, const char *unit, size_t length);

/* The readers, one a format (collapsed.c, pprof.c, jfr.c). 0, or a negative code with the error
 * set. */
int import_collapsed(const uint8_t *bytes, size_t size, struct import_sink *s);
int import_pprof(const uint8_t *bytes, size_t size, struct import_sink *s);
int import_jfr(const uint8_t *bytes, size_t size, struct import_sink *s);

#endif
