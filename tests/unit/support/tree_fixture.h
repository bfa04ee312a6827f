/*
 * For tests that need files: a throw-away directory.
 */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_TREE_FIXTURE_H
#define JXPERF_TESTS_UNIT_SUPPORT_TREE_FIXTURE_H

#include <stddef.h>

/* Makes a new, empty directory and returns its path, which lives until tree_remove. */
const char *tree_make(void);

/* The path of name in it, in one of a few static buffers in turn. */
const char *tree_path(const char *name);

/* Makes a directory (0755), or a file with text, in it. */
void tree_add_directory(const char *name);
void tree_add_file(const char *name, const char *text);

/* How many names there are in a directory, whichever it is, besides "." and "..". */
size_t tree_count(const char *path);

/* Removes it with everything below. */
void tree_remove(void);

#endif
