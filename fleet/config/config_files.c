/* Which files a configuration is in. */
#include "fleet/config/config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"

#define ENDING ".yaml"

static bool ends_in(const char *name, const char *ending)
{
	size_t length = strlen(name), wanted = strlen(ending);

	return length > wanted && strcmp(name + length - wanted, ending) == 0;
}

static int add_file(struct config *c, const char *path, struct err *err)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *text = malloc(CONFIG_BYTES_MAX + 1);
	size_t size;

	if (!file)
		return err_set_errno(err, errno, "cannot open '%s'", path);
	if (!text)
		return err_set(err, ENOMEM, "out of memory");
	size = fread(text, 1, CONFIG_BYTES_MAX + 1, file);
	if (ferror(file))
		return err_set(err, EIO, "cannot read '%s'", path);
	if (size > CONFIG_BYTES_MAX)
		return err_set(err, EFBIG, "'%s' is longer than %u bytes", path, CONFIG_BYTES_MAX);
	return config_add(c, path, text, size, err);
}

/* What editors and package managers leave beside a file ends in something else, or begins with a
 * dot. */
static int is_file_of_ours(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && ends_in(entry->d_name, ENDING);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_named(struct config *c, const char *directory, const char *name, struct err *err)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path))
		return err_set(err, ENAMETOOLONG, "the path of '%s' is too long", name);
	return add_file(c, path, err);
}

/* A directory that is not there has nothing to say. */
static int add_directory(struct config *c, const char *path, struct err *err)
{
	char directory[PATH_MAX];
	size_t length = strlen(path) - (ends_in(path, ENDING) ? strlen(ENDING) : 0);
	struct dirent **entries;
	int count, r = 0;

	if ((size_t)snprintf(directory, sizeof(directory), "%.*s" CONFIG_DIRECTORY_ENDING,
			     (int)length, path) >= sizeof(directory))
		return err_set(err, ENAMETOOLONG, "the path of '%s' is too long", path);
	count = scandir(directory, &entries, is_file_of_ours, by_name);
	if (count < 0)
		return errno == ENOENT || errno == ENOTDIR
			   ? 0
			   : err_set_errno(err, errno, "cannot read '%s'", directory);
	for (int i = 0; i < count; i++) {
		if (r == 0)
			r = add_named(c, directory, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int config_load(struct config *c, const char *path, struct err *err)
{
	struct config made;
	int r;

	config_defaults(&made);
	r = add_file(&made, path, err);
	if (r == 0)
		r = add_directory(&made, path, err);
	if (r < 0)
		config_release(&made);
	else
		*c = made;
	return r;
}
