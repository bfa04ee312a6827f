#include "daemon/inspector/jar_version.h"

#include "attach/process/jvm_step.h"
#include "attach/process/target_fs.h"
#include "common/cleanup.h"
#include "daemon/inspector/zip_entry.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANIFEST "META-INF/MANIFEST.MF"

static void close_stream(DIR **stream)
{
	if (*stream)
		(void)closedir(*stream); /* Only read. */
}

/* A relative path may lead above the working directory, so it is followed from the root. */
static int absolute_path(const struct jvm_info *info, const struct target_dir *root,
			 char path[PATH_MAX])
{
	_cleanup_(target_fs_close_dir) struct target_dir cwd = TARGET_DIR_NONE;
	char directory[PATH_MAX] = "";
	int r = 0;

	if (info->jar[0] != '/')
		r = target_fs_open_dir(&cwd, info->pid, "cwd", info->euid, info->egid);
	if (r == 0 && cwd.fd >= 0)
		r = target_fs_path(root, cwd.fd, directory, sizeof(directory));
	if (r < 0)
		return r;
	r = snprintf(path, PATH_MAX, "%s%s%s", directory, directory[0] ? "/" : "", info->jar);
	return r < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int open_jar(const struct jvm_info *info)
{
	_cleanup_(target_fs_close_dir) struct target_dir root = TARGET_DIR_NONE;
	char path[PATH_MAX];
	int r = target_fs_open_dir(&root, info->pid, "root", info->euid, info->egid);

	if (r == 0)
		r = absolute_path(info, &root, path);
	return r < 0 ? r : target_fs_open_file(&root, path, 0);
}

/* Is a descriptor of the JVM's the same file, by the name that the kernel has for both? None of its
 * others, which may be anybody's, is asked about more than its name. */
static bool has_open(pid_t pid, const struct stat *jar, int fd)
{
	_cleanup_(close_stream) DIR *stream = NULL;
	char path[TARGET_FS_PROC_PATH_BYTES], ours[PATH_MAX], theirs[PATH_MAX];
	const struct dirent *entry;
	ssize_t length;

	target_fs_self_path(path, fd, NULL);
	length = readlink(path, ours, sizeof(ours));
	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid); /* Fits. */
	stream = opendir(path);
	for (int i = 0; stream && i < JAR_DESCRIPTORS_MAX; i++) {
		struct stat st;

		entry = readdir(stream); /* NOLINT(concurrency-mt-unsafe): its own stream */
		if (!entry)
			break;
		if (length > 0 &&
		    readlinkat(dirfd(stream), entry->d_name, theirs, sizeof(theirs)) == length &&
		    memcmp(ours, theirs, (size_t)length) == 0 &&
		    fstatat(dirfd(stream), entry->d_name, &st, 0) == 0 &&
		    st.st_dev == jar->st_dev && st.st_ino == jar->st_ino)
			return true;
	}
	return false;
}

static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size == before->st_size &&
	       memcmp(&st.st_mtim, &before->st_mtim, sizeof(st.st_mtim)) == 0;
}

enum jar_result jar_version_read(const struct jvm_info *info, char *step,
				 char version[JAR_VERSION_BYTES])
{
	static char text[JAR_MANIFEST_MAX];
	_cleanup_close_ int fd = -1;
	char found[JAR_VERSION_BYTES];
	struct stat st;
	bool whole;
	ssize_t n;

	if (!info->jar[0])
		return JAR_NONE;
	jvm_step(step, "its file '%s'", info->jar);
	fd = open_jar(info);
	if (fd < 0 || fstat(fd, &st) < 0)
		return JAR_UNREADABLE;
	if (!has_open(info->pid, &st, fd))
		return JAR_NOT_IN_USE;
	n = zip_entry_read(fd, MANIFEST, text, sizeof(text), &whole);
	if (!is_unchanged(fd, &st))
		return JAR_NOT_IN_USE;
	if (n < 0)
		return JAR_NO_MANIFEST;
	if (jar_manifest_version(text, (size_t)n, whole, found) < 0)
		return JAR_NO_VERSION;
	strcpy(version, found); /* Same size. */
	return JAR_FOUND;
}
