#include "attach/agent/epoch/perf_number.h"

#include <stdlib.h>

#include "attach/agent/code/safe_read.h"
#include "attach/process/hsperfdata.h"

/* Where the number lies in a copy, as what it is looked for in belongs to somebody else. */
static bool find(uint64_t start, size_t bytes, const char *name, size_t *offset)
{
	void *copy = malloc(bytes);
	bool found =
	    copy && safe_read(start, copy, bytes) && hsperfdata_number(copy, bytes, name, offset);

	free(copy);
	return found;
}

const _Atomic uint64_t *perf_number_find(uint64_t start, uint64_t size_bytes, const char *name)
{
	size_t bytes = size_bytes < HSPERFDATA_MAX_BYTES ? size_bytes : HSPERFDATA_MAX_BYTES;
	size_t offset;

	if (start == 0 || bytes == 0 || !find(start, bytes, name, &offset) ||
	    (start + offset) % sizeof(uint64_t) != 0)
		return NULL;
	return (const _Atomic uint64_t *)(uintptr_t)(start + offset);
}
