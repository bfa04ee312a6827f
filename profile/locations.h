/*
 * Says what accessed memory is called: fields, static fields, elements of arrays, parts of a
 * header, places on a stack. Interned, so that pairs and accesses name one by a small integer; 0 is
 * a place that could not be told.
 */
#ifndef JXPERF_PROFILE_LOCATIONS_H
#define JXPERF_PROFILE_LOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/container/row_table.h"
#include "proto/jxperf.pb-c.h"

/* Of one place two layouts were told: by JVMs of a merge, or of classes of one name. */
#define LOCATION_VARIES UINT32_MAX

/* Texts are strings of the profile, 0 where there is none. The layout says no more of which place
 * it is: it is of the first that tells one. */
struct location {
	uint32_t kind;       /* Jxp__Location__Kind */
	uint32_t class_name; /* of the object, or the class that a static field belongs to */
	uint32_t field;
	uint32_t declared_in;
	uint32_t type;
	uint32_t offset; /* of a field, or of a part of the header, in its object; bytes */
	uint32_t bytes;  /* how long it is; 0: not told, as by agents and records of 0.2; or
			    LOCATION_VARIES */
	uint32_t object_bytes;
};

/* All zero is an empty table. */
struct locations {
	TABLE_OF(struct location, list, count, table); /* id N is list[N - 1] */
};

extern const struct table_layout location_layout;

void locations_release(struct locations *l);

/* Does it lie within its object, if that is told? */
bool location_fits(const struct location *location);

/* Is it known where it lies? */
bool location_has_layout(const struct location *location);

/* The id, new or known; its layout is added. 0, -ENOSPC above LIMIT_LOCATIONS, or -ENOMEM. */
int locations_add(struct locations *l, const struct location *location, uint32_t *id);

/* Id 0 is a place of kind UNKNOWN, of no class. */
struct location locations_get(const struct locations *l, uint32_t id);

/* Which locations are the same place in the source: a field is that of the class that declares it,
 * whatever the object is. For each id the oldest such one, and 0 for 0, in an array to be freed. 0
 * or -ENOMEM. */
int locations_fields(const struct locations *l, uint32_t **fields);

#endif
