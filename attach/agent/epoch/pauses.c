#include "attach/agent/epoch/pauses.h"

#include <stdlib.h>

#include "attach/agent/code/safe_read.h"
#include "attach/process/hsperfdata.h"

#define COUNTER "sun.rt.safepointSyncTime"

/* Where the counter lies in a copy, as what it is looked for in belongs to somebody else. */
static bool find(uint64_t start, size_t bytes, size_t *offset)
{
	void *copy = malloc(bytes);
	bool found = copy && safe_read(start, copy, bytes) &&
		     hsperfdata_number(copy, bytes, COUNTER, offset);

	free(copy);
	return found;
}

bool pauses_find(struct pauses *pauses, uint64_t start, uint64_t size_bytes)
{
	size_t bytes = size_bytes < HSPERFDATA_MAX_BYTES ? size_bytes : HSPERFDATA_MAX_BYTES;
	size_t offset;

	pauses->stopping_ns = NULL;
	if (start == 0 || bytes == 0 || !find(start, bytes, &offset) ||
	    (start + offset) % sizeof(uint64_t) != 0)
		return false;
	pauses->stopping_ns = (const _Atomic uint64_t *)(uintptr_t)(start + offset);
	return true;
}
