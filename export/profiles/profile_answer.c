#include "export/profiles/profile_answer.h"

#include <string.h>

enum export_outcome profile_answer_outcome(int status)
{
	if (status == 429 || export_status_is_of_address(status))
		return EXPORT_RETRY;
	if (status == 502 || status == 503 || status == 504)
		return EXPORT_FAILED;
	return status == 413 ? EXPORT_SMALLER : EXPORT_REFUSED;
}

void profile_answer_line(char line[ANSWER_LINE_BYTES], const void *bytes, size_t size)
{
	size_t length = size < ANSWER_LINE_BYTES - 1 ? size : ANSWER_LINE_BYTES - 1;

	if (length > 0)
		memcpy(line, bytes, length);
	line[length] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
}
