/*
 * One file of the configuration while it is read: says what is wrong with a value, with the file,
 * the line and column and the key, and takes values that several keys have. Internal to
 * fleet/config.
 *
 * A path is as in places.h; a key is of a member of it, "" for what the path names itself.
 */
#ifndef JXPERF_FLEET_CONFIG_READING_H
#define JXPERF_FLEET_CONFIG_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "fleet/config/places.h"

struct config_reading {
	const char *name; /* the file's, in messages */
	struct places places;
	struct err *err;
	/* Here is what libcyaml said of the first thing that is wrong, and where: from the
	 * innermost out. */
	char complaint[ERR_MESSAGE_MAX];
	char path[PLACE_PATH_BYTES];
	bool traced; /* its list of places has begun */
};

/* Writes a path, cut where it is too long, and returns it. */
const char *reading_path(char path[PLACE_PATH_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Names the place, and says why. Returns -EINVAL. */
int reading_wrong(struct config_reading *r, const char *path, const char *key, const char *format,
		  ...) __attribute__((format(printf, 4, 5)));

/* Each leaves the default where text is NULL. 0 or -EINVAL. */
int reading_duration(struct config_reading *r, const char *path, const char *key, const char *text,
		     uint64_t *ns);

/* least: whole KiB, and whole MiB from 1 MiB on. */
int reading_size(struct config_reading *r, const char *path, const char *key, const char *text,
		 uint64_t least, uint64_t *bytes);

/* From 1 to most. */
int reading_count(struct config_reading *r, const char *path, const char *key, const char *text,
		  uint32_t most, uint32_t *count);

#endif
