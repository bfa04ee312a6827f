#include "export/profiles/profile_answer.h"

#include <errno.h>
#include <string.h>

#include "common/utf8.h"

enum export_outcome profile_answer_outcome(int status)
{
	if (status == 429 || status == 502 || status == 503 || status == 504 ||
	    export_status_is_of_address(status))
		return EXPORT_RETRY;
	return status == 413 ? EXPORT_SMALLER : EXPORT_REFUSED;
}

void profile_answer_line(char line[ANSWER_LINE_BYTES], const void *bytes, size_t size)
{
	char text[ANSWER_LINE_BYTES];
	size_t length = size < sizeof(text) - 1 ? size : sizeof(text) - 1;

	if (length > 0)
		memcpy(text, bytes, length);
	text[length] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	(void)utf8_sanitize(line, ANSWER_LINE_BYTES, text); /* Its length. */
}

void profile_answer_refusal(struct err *line, int status, const char *message)
{
	(void)err_set(line, EREMOTEIO, "HTTP status %d%s%s", status, message[0] ? ": " : "",
		      message);
}
