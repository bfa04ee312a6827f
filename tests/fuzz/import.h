/*
 * What fuzzers of the readers of profiles share: a file, which anybody may have written, is refused
 * with a line that says why, or becomes a tree with a cost.
 */
#ifndef JXPERF_TESTS_FUZZ_IMPORT_H
#define JXPERF_TESTS_FUZZ_IMPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "subsume/import/import.h"

/* Decompressed, too: many times what libFuzzer makes of its own. */
#define BYTES_MAX (UINT64_C(1) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_import(enum import_format format, const uint8_t *data, size_t size)
{
	struct import_options options = {.format = format, .bytes_max = BYTES_MAX};
	struct subsume_tree tree = {0};
	struct import_notes notes;
	struct err err = {.message = ""};
	uint64_t total = 0;

	if (import_profile(data, size, &options, &tree, &notes, &err) < 0) {
		if (!err.message[0] || tree.node_count)
			abort();
		return 0;
	}
	for (size_t i = 0; i < tree.node_count; i++)
		total += tree.cost[i];
	if (total + tree.truncated == 0 || total > SUBSUME_COST_MAX)
		abort();
	subsume_tree_release(&tree);
	return 0;
}

#endif
