#include "tests/unit/support/tree_fixture.h"

#include <dirent.h>
#include <assert.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATHS 4

static char root[64];

const char *tree_make(void)
{
	assert(!root[0]);
	strcpy(root, "/tmp/jxperf-tree-XXXXXX");
	assert(mkdtemp(root));
	assert(chmod(root, 0755) == 0);
	return root;
}

const char *tree_path(const char *name)
{
	static char paths[PATHS][PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % PATHS];

	(void)snprintf(path, PATH_MAX, "%s/%s", root, name);
	return path;
}

void tree_add_directory(const char *name)
{
	assert(mkdir(tree_path(name), 0755) == 0);
}

void tree_add_file(const char *name, const char *text)
{
	int fd = open(tree_path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert(fd >= 0);
	assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	assert(close(fd) == 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

size_t tree_count(const char *path)
{
	DIR *dir = opendir(path);
	size_t count = 0;

	assert(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count - 2;
}

void tree_remove(void)
{
	assert(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
	root[0] = '\0';
}
