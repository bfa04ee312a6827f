/*
 * The texts of some members of a JSON object, found without parsing what else it has: a report of
 * many megabytes takes gigabytes as values of jansson, and of an object that nobody has checked
 * nobody knows how many there are. Pure functions.
 */
#ifndef JXPERF_COMPARE_MEMBERS_H
#define JXPERF_COMPARE_MEMBERS_H

#include <stddef.h>

#include "common/err.h"

struct member {
	const char *name;
	const char *text; /* within the object's; NULL: it has none */
	size_t size;
	size_t values; /* at most so many, also within each other */
};

/* Fills in those that are named; of two of one name the last. 0, or -EBADMSG with the reason where
 * the text is neither an object nor an array, or ends before that does. An array has no members.
 * What the text has inside is not checked beyond that. */
int members_find(const char *text, size_t size, struct member *members, size_t count,
		 struct err *err);

#endif
