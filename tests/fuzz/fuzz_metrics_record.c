/*
 * Fuzzes what a file may say of metrics, with its checksum right, so that what is inside is
 * reached: what is taken for metrics can be told, kept, and read again. libFuzzer entry point.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/http/metrics_record.h"
#include "daemon/store/packed.h"

static void tell(const struct metrics *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort(); /* The machine, not the input. */
	metrics_write(out, m, 0, true);
	(void)fclose(out); /* Into memory. */
	free(text);
}

static void keep_again(const struct metrics *m)
{
	struct metrics *again = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;

	if (metrics_encode(m, &bytes, &size) < 0 || metrics_decode(bytes, size, &again, NULL) < 0)
		abort();
	metrics_free(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metrics *m = NULL;
	uint8_t *bytes = NULL;
	size_t packed = 0;

	if (packed_new(data, size, &bytes, &packed) < 0)
		abort(); /* The machine, not the input. */
	if (metrics_decode(bytes, packed, &m, NULL) == 0) {
		tell(m);
		keep_again(m);
	}
	metrics_free(m);
	free(bytes);
	return 0;
}
