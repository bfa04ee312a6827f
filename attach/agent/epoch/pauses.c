#include "attach/agent/epoch/pauses.h"

#include "attach/agent/epoch/perf_number.h"

bool pauses_find(struct pauses *pauses, uint64_t start, uint64_t size_bytes)
{
	pauses->stopping_ns = perf_number_find(start, size_bytes, "sun.rt.safepointSyncTime");
	return pauses->stopping_ns != NULL;
}
