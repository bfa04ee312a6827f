/*
 * How many more objects may be tracked: by number, and by the bytes that their references may keep
 * from being reclaimed.
 *
 * A hard limit alone would leave out whatever is allocated last before a collection. So, as the
 * room is used up, fewer of the objects that are offered are taken, at random, and each one that is
 * taken stands for more: from half of the room on for two, from three quarters on for four, and so
 * on. The chance depends on what was there before alone, so that totals weighted by its inverse
 * stay unbiased (Horvitz and Thompson 1952).
 *
 * Any thread; a few atomic operations.
 */
#ifndef JXPERF_AGENT_OBJECTS_TRACK_ROOM_H
#define JXPERF_AGENT_OBJECTS_TRACK_ROOM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/random.h"

struct track_room {
	uint32_t refs_max;
	uint64_t words_max; /* of 8 bytes */
	uint64_t large_bytes;
	_Atomic uint32_t refs; /* in use, as are */
	_Atomic uint64_t words;
};

/* The limits from now on; what is in use stays so. Of objects above large_bytes, one in as many is
 * taken as they are larger, so that those taken have large_bytes on average. */
void track_room_limit(struct track_room *r, uint32_t refs_max, uint64_t bytes_max,
		      uint64_t large_bytes);

/* Is the next object, of so many bytes, to be taken? If so, *stands_for is how many it stands for,
 * 1 or more. */
bool track_room_draw(const struct track_room *r, struct random *random, uint64_t size_bytes,
		     uint32_t *stands_for);

/* Takes room for an object; false when there is none. */
bool track_room_take_ref(struct track_room *r);
bool track_room_take_words(struct track_room *r, uint32_t words);

/* Gives the room of an object back. */
void track_room_give(struct track_room *r, uint32_t words);

#endif
