/*
 * Fuzzes what a file may say of a window: the record, with its checksum right, so that what is
 * inside is reached, and every report of what it is taken for. libFuzzer entry point.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "report/report.h"
#include "daemon/store/record.h"
#include "tests/unit/support/whole_report.h"

/* Enough to render what an input of libFuzzer's size can hold. */
#define REPORT_MAX (16u << 20)

static void render(const struct window_result *w)
{
	for (int format = JXP__FORMAT__FORMAT_TEXT; format <= JXP__FORMAT__FORMAT_SPEEDSCOPE;
	     format++) {
		char *text;
		size_t size;

		if (report_new(w, (Jxp__Format)format, 0, REPORT_MAX, &text, &size, NULL) == 0)
			free(text);
	}
}

/* What was taken for a window is one: it can be kept and read again. */
static void keep_again(const struct window_result *w)
{
	struct window_result *again = NULL;
	uint8_t *bytes = NULL;
	size_t size = 0;

	if (record_encode(w, &bytes, &size) < 0 ||
	    record_decode(bytes, size, w->number, &again, NULL) < 0)
		abort();
	window_result_free(again);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size), used;
	uint8_t *bytes = malloc(room);
	struct window_result *w = NULL;

	if (!bytes)
		abort(); /* The machine, not the input. */
	used = ZSTD_compress(bytes, room, data, size, 1);
	if (record_decode(bytes, used, 1, &w, NULL) == 0) {
		render(w);
		keep_again(w);
	}
	window_result_free(w);
	free(bytes);
	return 0;
}
