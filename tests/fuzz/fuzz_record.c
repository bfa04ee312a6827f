/*
 * Fuzzes what a file may say of a window: the record, with its checksum right, so that what is
 * inside is reached, every report of what it is taken for, and what others are sent of it.
 * libFuzzer entry point.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

#include "report/report.h"
#include "daemon/store/record.h"
#include "tests/unit/support/whole_report.h"
#include "export/otlp/otlp.h"
#include "export/profiles/window_profiles.h"
#include "export/pyroscope/pyroscope.h"

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

static bool has_profiles(const struct window_result *w)
{
	struct window_profiles profiles = {0};
	bool has;

	if (window_profiles_list(&profiles, &w, 1, 0, 0, &(struct export_batch){0}) < 0)
		abort(); /* The machine, not the input. */
	has = profiles.count > 0;
	window_profiles_release(&profiles);
	return has;
}

/* With limits that most inputs keep, and that the others have to be cut for. */
static void export(const struct window_result *w)
{
	static const struct export_format *const formats[] = {&export_otlp, &export_pyroscope};
	static const struct export_settings settings = {.otlp_minor = 11, .body_bytes_max = 2048};
	static const struct export_origin origin = {.host = "h", .group = "", .store = ""};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct export_batch batch = {0};

		if (formats[i]->encode(NULL, &settings, &origin, &w, 1, w->start_unix_ns, &batch,
				       NULL) == 0 &&
		    (batch.count > 0) != has_profiles(w))
			abort();
		for (size_t j = 0; j < batch.count; j++)
			if (batch.requests[j].body_bytes > settings.body_bytes_max)
				abort();
		export_batch_release(&batch);
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
		export(w);
		keep_again(w);
	}
	window_result_free(w);
	free(bytes);
	return 0;
}
