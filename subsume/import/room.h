/* Arrays that grow as what they are for arrives, up to a limit. */
#ifndef JXPERF_SUBSUME_IMPORT_ROOM_H
#define JXPERF_SUBSUME_IMPORT_ROOM_H

#include <stddef.h>

/* Makes room for wanted elements of so many bytes in *array, which free takes back. 0; -ENOSPC
 * above limit, -ENOMEM, and nothing is changed. */
int room_for(void **array, size_t *room, size_t wanted, size_t limit, size_t bytes);

#endif
