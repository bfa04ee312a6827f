/*
 * Where in a YAML text its keys and values stand, for messages that name line and column.
 *
 * A path is written as people would: "socket", "schedules[0].every", "schedules[0].kinds[1]".
 */
#ifndef JXPERF_FLEET_CONFIG_PLACES_H
#define JXPERF_FLEET_CONFIG_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define PLACE_PATH_BYTES 160

struct config_place {
	char path[PLACE_PATH_BYTES];
	unsigned line; /* both from 1 */
	unsigned column;
	uint64_t value; /* a hash of its text; 0 of what has others in it */
};

/* In the order of the text. */
struct places {
	struct config_place *places;
	size_t count;
	size_t capacity;
};

/* 0; -EINVAL for a text that is not YAML, with "LINE:COLUMN: what is wrong" in err; -ENOMEM.
 * Released with places_release in either case. */
int places_find(struct places *p, const char *text, size_t size, struct err *err);

/* The place of path, or else of the nearest thing that it is in; line and column 1 without any. */
const struct config_place *places_of(const struct places *p, const char *path);

void places_release(struct places *p);

#endif
