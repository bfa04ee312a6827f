/*
 * Tables as bytes and back: the number of the table, how many rows, how many columns, and of each
 * column how many values a row has and then all of them. Whole numbers take as many bytes as they
 * need (LEB128, signed ones zigzag), doubles are as they are in memory.
 *
 * What is read comes from a file and is trusted in nothing: a number has to be in the range of its
 * column, a reference to be of a row that there is, a key to come once. A table may have fewer
 * columns than its layout, and columns fewer values: what was not kept then is 0. So columns, and
 * values of one, are added at the end, and anything else is a new format.
 *
 * Pure functions of their arguments; any thread.
 */
#ifndef JXPERF_PROFILE_CONTAINER_TABLE_CODEC_H
#define JXPERF_PROFILE_CONTAINER_TABLE_CODEC_H

#include "common/buffer.h"
#include "profile/container/strings.h"
#include "profile/container/row_table.h"

/* Appends count rows, those that the layout keeps. 0; -ENOBUFS or -ENOMEM. */
int table_pack(struct buffer *out, unsigned number, const struct table_layout *l, const void *rows,
	       size_t count);

/* Appends the texts. 0; -ENOBUFS or -ENOMEM. */
int table_pack_strings(struct buffer *out, const struct strings *s);

struct table_reader {
	const uint8_t *at, *end;
	const struct strings *strings; /* what names are of; NULL: there are none */
	const size_t *counts;          /* rows of each table, by its number, as far as read */
};

/* The next table, into an empty one. 0; -EBADMSG for what cannot be; -ENOMEM. What is in the table
 * then can be released. */
int table_unpack(struct table_reader *r, unsigned number, const struct table_layout *l,
		 struct row_table *t);

/* The same into rows that are all 0 and that there is room for: their number, or as above. */
int table_unpack_rows(struct table_reader *r, unsigned number, const struct table_layout *l,
		      void *rows, size_t room);

/* The texts, into an empty one; likewise. */
int table_unpack_strings(struct table_reader *r, struct strings *s);

#endif
