/*
 * Where a path that a user gave leads, for a program that may have more rights than others who can
 * change what lies on the way.
 *
 * The way is gone step by step and held by descriptors, so what was looked at is what is used. A
 * directory in which others may add, rename or replace entries (it belongs to another user, or its
 * group or everybody may write to it) is passed, but:
 *
 * - no link in it is followed; where it is sticky, one of root's or our own that has no other name
 *   is (fs.protected_symlinks of the kernel, whatever it is set to);
 * - no file, pipe or device of another user in it is taken for the one that was meant.
 *
 * A path to one of our own descriptors (/dev/stdout, /proc/self/fd/1) is that descriptor.
 */
#ifndef JXPERF_CLIENT_OUTPUT_PLACE_H
#define JXPERF_CLIENT_OUTPUT_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "common/err.h"

enum place_kind {
	PLACE_FREE,   /* nothing is there */
	PLACE_FILE,   /* a regular file, which may be replaced */
	PLACE_OBJECT, /* something else, to be written in place: object is its O_PATH descriptor */
	PLACE_DESCRIPTOR, /* object is a copy of a descriptor of ours */
};

struct output_place {
	enum place_kind kind;
	int directory;           /* O_PATH; -1 for PLACE_DESCRIPTOR, and where an object has none */
	int object;              /* or -1 */
	bool shared;             /* others may write to the directory */
	char name[NAME_MAX + 1]; /* in directory */
};

#define PLACE_NONE                            \
	{                                     \
		.directory = -1, .object = -1 \
	}

/* Finds where path leads. 0, with descriptors that place_release closes; or -errno: -EISDIR for a
 * directory, -EPERM for what others could have put there. */
int place_find(struct output_place *p, const char *path, struct err *err);

/* The question that place_find asked of a file, asked again: may what is there now be replaced? 0
 * (also when nothing is there), or -errno. */
int place_check_file(const struct output_place *p, const char *path, struct err *err);

/* Safe on PLACE_NONE and twice. */
void place_release(struct output_place *p);

#endif
