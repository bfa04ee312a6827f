#include "export/format.h"

#include <stdlib.h>

bool export_status_is_of_address(int status)
{
	return (status >= 300 && status < 400) || status == 401 ||
	       (status >= 403 && status <= 405) || status == 407;
}

enum export_outcome export_judge_status(int status)
{
	if (status >= 200 && status < 300)
		return EXPORT_SENT;
	if (status < 200 || status == 429 || export_status_is_of_address(status))
		return EXPORT_RETRY;
	if (status == 413)
		return EXPORT_SMALLER;
	if (status == 408 || (status >= 500 && status != 501 && status != 505))
		return EXPORT_FAILED;
	return EXPORT_REFUSED;
}

void export_batch_release(struct export_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		free(batch->requests[i].target);
		free(batch->requests[i].body);
	}
	free(batch->requests);
	free(batch->sent);
	*batch = (struct export_batch){0};
}
