/*
 * Profiles that other programs wrote, as a tree for the analysis: collapsed stacks, pprof's
 * profile.proto (gzipped or not) and recordings of the JDK Flight Recorder.
 *
 * The files are outside data: what they claim is believed only as far as their bytes bear it out.
 * No memory is taken for a length or a count that is only claimed, every table has a named limit,
 * and no walk goes on without using up bytes. A file that cannot be one ends in one line, which
 * begins with where: "at byte 1234: ...", of the uncompressed bytes where it is compressed.
 *
 * Any thread; pure but for memory.
 */
#ifndef JXPERF_SUBSUME_IMPORT_IMPORT_H
#define JXPERF_SUBSUME_IMPORT_IMPORT_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "subsume/import/notes.h"
#include "subsume/tree.h"

/* Bytes of a file; what gzip makes of one has a smaller limit (subsume/import/input.h). */
#define IMPORT_BYTES_MAX (UINT64_C(4) << 30)

enum import_format {
	IMPORT_AUTO, /* by the first bytes */
	IMPORT_COLLAPSED,
	IMPORT_PPROF,
	IMPORT_JFR,
};

/* All zero is what most want. */
struct import_options {
	enum import_format format;
	/* Says what is counted. collapsed: what the numbers are, "samples" by default; pprof: one
	 * of the file's sample types, by default the one it says, or its last; JFR: the type of
	 * event, by default "jdk.ExecutionSample", each event one. */
	const char *sample_type;
	uint64_t bytes_max; /* 0: IMPORT_BYTES_MAX */
	/* Which of two numbers at the end of collapsed stacks is the count, as IMPORT_COLUMN_..;
	 * by default they are refused where all do. */
	unsigned column;
};

#define IMPORT_COLUMN_FIRST  1u
#define IMPORT_COLUMN_SECOND 2u
#define IMPORT_COLUMN_LAST   3u /* and the first is part of a name */

/* The format of a file by its first bytes; IMPORT_AUTO when it can be none. */
enum import_format import_detect(const uint8_t *bytes, size_t size);

/* Reads the profile in bytes, which stay the caller's and are not needed afterwards. Stacks that
 * are cut off, or that are deeper than SUBSUME_DEPTH_MAX, are counted as truncated; what cannot be
 * read of an otherwise good file is in *notes. Labels are valid UTF-8 without control characters.
 *
 * 0 with the tree in *out, the caller's, and *notes set; -EBADMSG for a file that is not what it
 * should be, -EFBIG for one beyond a limit, -EINVAL for a sample type that it does not have,
 * -ENODATA when there is no cost in it, -ENOMEM. */
int import_profile(const uint8_t *bytes, size_t size, const struct import_options *options,
		   struct subsume_tree *out, struct import_notes *notes, struct err *err);

#endif
