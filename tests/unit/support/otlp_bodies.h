/*
 * Windows of the unit tests as OTLP profiles: each can be encoded, in both numberings of the
 * protocol, and tests/e2e/otlp.py holds what they come to against the rules. With
 * JXPERF_OTLP_BODIES the bodies are kept in that directory, as NUMBER.MINOR.pb; programs that run
 * at the same time need directories of their own.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_OTLP_BODIES_H
#define JXPERF_TESTS_UNIT_SUPPORT_OTLP_BODIES_H

#include "tests/unit/support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "export/otlp/otlp.h"
#include "export/profiles/window_profiles.h"

static const struct export_origin otlp_origin = {
    .host = "host-1", .group = "test", .store = "5f1c0d3e"};

/* Those of the requests of a batch. */
static inline void otlp_keep_bodies(const struct export_batch *batch, unsigned minor)
{
	const char *directory = getenv("JXPERF_OTLP_BODIES");
	static unsigned number;

	for (size_t i = 0; directory && i < batch->count; i++) {
		char path[512];
		FILE *file;

		(void)snprintf(path, sizeof(path), "%s/%u.%u.pb", directory, number++, minor);
		file = fopen(path, "we");
		assert_non_null(file);
		assert_int_equal(
		    fwrite(batch->requests[i].body, 1, batch->requests[i].body_bytes, file),
		    batch->requests[i].body_bytes);
		assert_int_equal(fclose(file), 0);
	}
}

static inline void otlp_keep_window(const struct window_result *w)
{
	static const unsigned minors[] = {9, 11};
	struct window_profiles profiles = {0};
	bool has_profiles;

	assert_int_equal(window_profiles_list(&profiles, &w, 1, 0, 0, &(struct export_batch){0}),
			 0);
	has_profiles = profiles.count > 0;
	window_profiles_release(&profiles);
	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		struct export_settings settings = {.otlp_minor = minors[i]};
		struct export_batch batch = {0};
		struct err err = {""};

		if (export_otlp.encode(NULL, &settings, &otlp_origin, &w, 1, 0, &batch, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(batch.count, has_profiles ? 1 : 0);
		otlp_keep_bodies(&batch, minors[i]);
		export_batch_release(&batch);
	}
}

#endif
