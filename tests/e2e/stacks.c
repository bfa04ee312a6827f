/*
 * stacks FILE [TYPE]: the whole tree that a profile is read as, as collapsed stacks, for tests to
 * hold against what others read. The first line: samples, truncated samples.
 *
 * stacks --each FILE..: the same of many, each behind a line "file: " and what was left out of it,
 * or "refused: " and why.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* 0, or the error. */
static int load(const char *path, const struct import_options *options, struct subsume_tree *tree,
		struct import_notes *notes, struct err *err)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size = 0;

	bytes = whole_file(path, &size);
	if (!bytes)
		return err_set(err, EIO, "cannot read '%s'", path);
	return import_profile(bytes, size, options, tree, notes, err);
}

static void print_each(const char *path)
{
	_cleanup_(subsume_tree_release) struct subsume_tree tree = {0};
	static const struct import_options options = {.format = IMPORT_AUTO};
	struct import_notes notes;
	char line[4096];
	struct err err;

	if (load(path, &options, &tree, &notes, &err) < 0) {
		(void)printf("refused: %s\n", err.message);
		return;
	}
	import_notes_line(&notes, &tree, line, sizeof(line));
	(void)printf("file: %s\n", line);
	print_stacks(&tree);
}

int main(int argc, char **argv)
{
	_cleanup_(subsume_tree_release) struct subsume_tree tree = {0};
	struct import_options options = {.sample_type = argc > 2 ? argv[2] : NULL};
	struct import_notes notes;
	struct err err;

	if (argc > 1 && strcmp(argv[1], "--each") == 0) {
		for (int i = 2; i < argc; i++)
			print_each(argv[i]);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	if (argc < 2 || load(argv[1], &options, &tree, &notes, &err) < 0) {
		(void)fprintf(stderr, "%s\n", argc < 2 ? "stacks FILE [TYPE]" : err.message);
		return EXIT_FAILURE;
	}
	print_stacks(&tree);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
