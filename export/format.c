#include "export/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *export_label_next(const char *labels, char name[EXPORT_LABEL_BYTES],
			      char text[EXPORT_LABEL_BYTES])
{
	size_t name_bytes, text_bytes;

	if (!labels || !labels[0])
		return NULL;
	name_bytes = strcspn(labels, "=\n");
	text_bytes = strcspn(labels + name_bytes, "\n");
	/* Both fit. */
	(void)snprintf(name, EXPORT_LABEL_BYTES, "%.*s", (int)name_bytes, labels);
	(void)snprintf(text, EXPORT_LABEL_BYTES, "%.*s", text_bytes > 0 ? (int)text_bytes - 1 : 0,
		       labels + name_bytes + 1);
	labels += name_bytes + text_bytes;
	return labels + (*labels == '\n');
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
