/*
 * Writes a profile for pprof (proto/profile.proto) piece by piece, compressed as it grows: a
 * message's repeated parts may come in any order, so a sample is written when it is known, after
 * what it names that was not named before. What is held is a table of names and 5 bytes for each
 * node of the window's tree, however many samples there are.
 *
 * A line of a method is a location, a method a function, both told once. Their ids are those of the
 * tree: of the oldest node at the line, and of the method. Frames that no node has come behind.
 *
 * Errors are kept, and pprof_writer_finish returns the first; until then what is written does not
 * matter. One thread.
 */
#ifndef JXPERF_REPORT_PPROF_PPROF_WRITER_H
#define JXPERF_REPORT_PPROF_PPROF_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "profile/container/strings.h"
#include "profile/cct.h"
#include "report/content/sample_series.h"
#include "proto/profile.pb-c.h"

/* All locations are of one mapping, which the caller tells. */
#define PPROF_MAPPING_ID 1

#define PPROF_VALUES_MAX 16

struct pprof_writer {
	ProtobufCBuffer base; /* what protobuf-c appends to: pending, then the stream */
	FILE *out;
	z_stream stream;
	bool open; /* the stream is */
	int error; /* 0 or the first */
	uint8_t pending[16384];
	size_t pending_bytes;
	const struct strings *strings; /* of the profile, */
	const struct cct *cct;
	uint32_t *lines;    /* and cct_lines of it */
	uint8_t *told;      /* of each node, whether its location was; */
	uint8_t *functions; /* of each method; method 0 is a frame without a name */
	uint32_t made;      /* frames that no node has */
	/* The table of texts, those after "": their places in names, which only grow. */
	struct strings names;
	uint32_t *places;
	size_t place_count;
	size_t place_capacity;
	int64_t left_out;    /* what stands for those that it has no room for, */
	bool names_left_out; /* and whether there are any */
};

/* One sample, as it is put together. */
struct pprof_sample {
	uint64_t frames[SAMPLE_FRAMES_MAX]; /* location ids, the leaf first */
	size_t frame_count;
	int64_t values[PPROF_VALUES_MAX];
	Perftools__Profiles__Label labels[SAMPLE_LABELS_MAX];
	size_t label_count;
};

/* Both are borrowed until the end. 0 or -ENOMEM; released in either case. */
int pprof_writer_init(struct pprof_writer *w, FILE *out, const struct strings *strings,
		      const struct cct *cct);
void pprof_writer_release(struct pprof_writer *w);

/* Has it failed, or has what it writes to become too long? */
bool pprof_writer_failed(const struct pprof_writer *w);

/* The text's position in the table: 0 of "". Texts are cut as those of profiles are. */
int64_t pprof_writer_text(struct pprof_writer *w, const char *text);

/* Writes a part of the profile. */
void pprof_writer_put(struct pprof_writer *w, const Perftools__Profiles__Profile *part);

/* One more type of values, or one more comment. */
void pprof_writer_type(struct pprof_writer *w, const char *type, const char *unit);
void pprof_writer_comment(struct pprof_writer *w, const char *text);

/* The location of a frame that the tree does not have, new with each call; 0 after an error. */
uint64_t pprof_writer_frame(struct pprof_writer *w, const char *name);

/* Appends a context to the frames of a sample that has room for it, its leaf first; a frame
 * without a name where it is empty. */
void pprof_writer_path(struct pprof_writer *w, uint32_t leaf, struct pprof_sample *sample);

/* Appends a label, unless the text is "". */
void pprof_writer_label(struct pprof_writer *w, struct pprof_sample *sample, const char *key,
			const char *text);

/* Writes the sample with the first so many of its values. */
void pprof_writer_sample(struct pprof_writer *w, struct pprof_sample *sample, size_t values);

/* Writes what is left. 0 or -ENOMEM; the stream's errors are the caller's. */
int pprof_writer_finish(struct pprof_writer *w);

#endif
