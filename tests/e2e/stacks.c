/*
 * stacks FILE [TYPE]: the whole tree that a profile is read as, as collapsed stacks, for tests to
 * hold against what others read. The first line: samples, truncated samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "subsume/import/import.h"

/* The caller's to free. */
static uint8_t *whole_file(const char *path, size_t *size)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint8_t *bytes;
	long length;

	if (!file || fseek(file, 0, SEEK_END) < 0 || (length = ftell(file)) < 0)
		return NULL;
	rewind(file);
	bytes = malloc((size_t)length + 1);
	*size = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
	return bytes;
}

static void print_stacks(const struct subsume_tree *t)
{
	static uint32_t path[SUBSUME_DEPTH_MAX + 1];

	(void)printf("%" PRIu64 " %" PRIu64 "\n", t->samples, t->truncated_samples);
	for (size_t n = 0; n < t->node_count; n++) {
		path[t->depth[n]] = t->method[n];
		for (unsigned d = 1; d <= t->depth[n] && t->cost[n] > 0; d++)
			(void)printf("%s%s", t->methods[path[d]].label,
				     d < t->depth[n] ? ";" : " ");
		if (t->cost[n] > 0)
			(void)printf("%.17g\n",
				     (double)t->cost[n] / (double)(t->scale ? t->scale : 1));
	}
}

int main(int argc, char **argv)
{
	_cleanup_(subsume_tree_release) struct subsume_tree tree = {0};
	struct import_options options = {.sample_type = argc > 2 ? argv[2] : NULL};
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;
	struct import_notes notes;
	struct err err;

	bytes = argc > 1 ? whole_file(argv[1], &size) : NULL;
	if (!bytes)
		return EXIT_FAILURE;
	if (import_profile(bytes, size, &options, &tree, &notes, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.message);
		return EXIT_FAILURE;
	}
	print_stacks(&tree);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
