/* Growing arrays. */
#include "subsume/import/room.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST 64u

int room_for(void **array, size_t *room, size_t wanted, size_t limit, size_t bytes)
{
	size_t next = *room ? *room : FIRST;
	void *moved;

	if (wanted <= *room)
		return 0;
	if (wanted > limit)
		return -ENOSPC;
	while (next < wanted)
		next *= 2;
	if (next > limit)
		next = limit;
	moved = realloc(*array, next * bytes);
	if (!moved)
		return -ENOMEM;
	*array = moved;
	*room = next;
	return 0;
}
