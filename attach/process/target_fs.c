#include "attach/process/target_fs.h"

#include "common/cleanup.h"
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int target_fs_open_proc(pid_t pid, const char *entry)
{
	char path[TARGET_FS_PROC_PATH_BYTES];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, entry);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int target_fs_open(int root_fd, const char *path, int flags)
{
	struct open_how how = {
	    .flags = (uint64_t)(flags | O_CLOEXEC),
	    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (!(flags & O_PATH)) /* openat2 refuses flags that O_PATH would ignore. */
		how.flags |= O_NOCTTY | O_NONBLOCK;
	do {
		fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
}

/* Takes the two capabilities that pass every permission of files out of the effective set of this
 * thread; with restore, puts back what was there. */
static int without_dac(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3], bool restore)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct less[_LINUX_CAPABILITY_U32S_3];

	if (restore)
		return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	memcpy(less, data, sizeof(less));
	less[0].effective &= ~(CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_DAC_READ_SEARCH));
	return syscall(SYS_capset, &header, less) < 0 ? -errno : 0;
}

int target_fs_open_as(int root_fd, const char *path, int flags, uid_t uid, gid_t gid)
{
	struct __user_cap_data_struct own[_LINUX_CAPABILITY_U32S_3];
	int group, user, fd, r = without_dac(own, false);

	if (r < 0)
		return r;
	/* Both do nothing where this process may not become another user: then it has no more
	 * rights than its own. */
	group = setfsgid(gid);
	user = setfsuid(uid);
	fd = target_fs_open(root_fd, path, flags);
	(void)setfsuid((uid_t)user);
	(void)setfsgid((gid_t)group);
	r = without_dac(own, true);
	if (r < 0) {
		cleanup_close(&fd);
		return r;
	}
	return fd;
}

/* Opens the object itself, if it is a regular file, to be read. */
static int reopen_file(int object)
{
	char self[TARGET_FS_PROC_PATH_BYTES];
	struct stat st;
	int fd;

	if (fstat(object, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	target_fs_self_path(self, object, NULL);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int target_fs_open_file(int dir_fd, const char *path, int flags)
{
	_cleanup_close_ int object = target_fs_open(dir_fd, path, O_PATH | (flags & O_NOFOLLOW));

	return object < 0 ? object : reopen_file(object);
}

ssize_t target_fs_read_opened(int object, char *buffer, size_t size)
{
	_cleanup_close_ int fd = reopen_file(object);

	return fd < 0 ? fd : fd_read_text(fd, buffer, size);
}

ssize_t target_fs_read(int dir_fd, const char *path, char *buffer, size_t size)
{
	_cleanup_close_ int object = target_fs_open(dir_fd, path, O_PATH);

	return object < 0 ? object : target_fs_read_opened(object, buffer, size);
}

static ssize_t descriptor_path(int fd, char *path, size_t size)
{
	char link[TARGET_FS_PROC_PATH_BYTES];
	ssize_t n;

	target_fs_self_path(link, fd, NULL);
	n = readlink(link, path, size - 1);
	if (n < 0)
		return -errno;
	if ((size_t)n >= size - 1)
		return -ENAMETOOLONG;
	path[n] = '\0';
	return n;
}

int target_fs_inside_root(int root_fd, const char *path, char *inside, size_t size)
{
	char prefix[PATH_MAX];
	ssize_t n = descriptor_path(root_fd, prefix, sizeof(prefix));

	if (n > 1 && strncmp(path, prefix, (size_t)n) == 0 && (path[n] == '/' || path[n] == '\0'))
		path = path[n] ? path + n : "/";
	if (strlen(path) >= size)
		return -ENAMETOOLONG;
	strcpy(inside, path);
	return 0;
}

int target_fs_path(int root_fd, int fd, char *path, size_t size)
{
	_cleanup_close_ int again = -1;
	char full[PATH_MAX], inside[PATH_MAX];

	if (descriptor_path(fd, full, sizeof(full)) < 0 ||
	    target_fs_inside_root(root_fd, full, inside, sizeof(inside)) < 0)
		return -ENOENT;
	again = target_fs_open(root_fd, inside, O_PATH);
	if (again < 0 || !target_fs_same(fd, again))
		return -ENOENT;
	if (strlen(inside) >= size)
		return -ENAMETOOLONG;
	strcpy(path, inside);
	return 0;
}

void target_fs_self_path(char *path, int fd, const char *name)
{
	(void)snprintf(path, TARGET_FS_PROC_PATH_BYTES, "/proc/self/fd/%d%s%s", fd, name ? "/" : "",
		       name ? name : "");
}

bool target_fs_same(int fd, int other_fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstat(other_fd, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}
