#include "attach/trust.h"

#include "attach/process/target_fs.h"
#include "common/cleanup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static bool is_trusted(int fd, const struct target *t, bool directory)
{
	struct stat st, root;

	if (fd < 0 || fstat(fd, &st) < 0 || fstat(t->root.fd, &root) < 0)
		return false;
	if (st.st_uid != 0 && st.st_uid != t->jvm.euid && st.st_uid != root.st_uid)
		return false;
	return !(st.st_mode & (S_IWGRP | S_IWOTH)) || (directory && (st.st_mode & S_ISVTX));
}

/* The target opens it by its name, so every directory on the way counts. */
int trust_directory(const struct target *t, const char *path, struct err *err)
{
	char part[PATH_MAX] = "/";
	size_t length = 1;

	for (;;) {
		_cleanup_close_ int fd =
		    target_fs_open(&t->root, part, O_PATH | O_DIRECTORY | O_NOFOLLOW);

		if (!is_trusted(fd, t, true))
			return err_set(err, EPERM,
				       "other users can replace what is in '%s' (chmod +t)", part);
		if (!path[length])
			return 0;
		length += strcspn(path + length + 1, "/") + 1;
		memcpy(part, path, length);
		part[length] = '\0';
	}
}

int trust_file(const struct target *t, const char *path, struct err *err)
{
	_cleanup_close_ int fd = target_fs_open(&t->root, path, O_PATH | O_NOFOLLOW);
	char directory[PATH_MAX] = "/";
	const char *slash = strrchr(path, '/');

	if (!is_trusted(fd, t, false))
		return err_set(err, EPERM, "other users can change '%s' (chmod go-w)", path);
	if (slash > path) {
		memcpy(directory, path, (size_t)(slash - path));
		directory[slash - path] = '\0';
	}
	return trust_directory(t, directory, err);
}
