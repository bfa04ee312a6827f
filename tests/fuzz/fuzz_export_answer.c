/*
 * Fuzzes what servers of profiles answer: the first two bytes are the status, the rest is the body.
 * libFuzzer entry point.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp/otlp.h"
#include "export/pyroscope/pyroscope.h"

/* A line for the log is one line, and what was sent is sent, whatever else is said. */
static void judge(const struct export_format *format, int status, const uint8_t *body, size_t size)
{
	struct err line = {""};
	uint64_t lost = 0;
	enum export_outcome outcome = format->judge(status, body, size, &line, &lost);

	for (const char *at = line.message; *at; at++)
		if ((unsigned char)*at < ' ')
			abort();
	if ((outcome == EXPORT_SENT) != (status >= 200 && status < 300))
		abort();
	if (outcome != EXPORT_SENT && lost > 0)
		abort();
	if (outcome == EXPORT_SENT && (lost > 0) != (line.message[0] != '\0'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int status;
	uint8_t *body;

	if (size < 2)
		return 0;
	status = (data[0] | data[1] << 8) % 600;
	body = malloc(size); /* Of the body's own size, so that reading behind it is seen. */
	if (!body)
		abort(); /* The machine, not the input. */
	memcpy(body, data + 2, size - 2);
	body = realloc(body, size > 2 ? size - 2 : 1);
	if (!body)
		abort();
	judge(&export_otlp, status, body, size - 2);
	judge(&export_pyroscope, status, body, size - 2);
	free(body);
	return 0;
}
