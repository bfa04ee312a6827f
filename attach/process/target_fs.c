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
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int target_fs_open_dir(struct target_dir *out, pid_t pid, const char *entry, uid_t uid, gid_t gid)
{
	char path[TARGET_FS_PROC_PATH_BYTES];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, entry);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*out = (struct target_dir){.fd = fd, .uid = uid, .gid = gid};
	return 0;
}

void target_fs_close_dir(struct target_dir *dir)
{
	cleanup_close(&dir->fd);
	dir->fd = -1;
}

/* ---------------------------------------------------------------- whose rights */

/* Keeps what this thread had before it took somebody's rights to files. */
struct own_rights {
	struct __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3];
	uid_t user;
	gid_t group;
	gid_t *groups; /* supplementary ones that were given up, to be freed; NULL: none were */
	int group_count;
};

static int set_capabilities(const struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

static int get_capabilities(struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, data) < 0 ? -errno : 0;
}

/* Takes the two capabilities that pass every permission of files out of the effective set of this
 * thread. Last, since the change to user 0 may bring them back. */
static int drop_dac(const struct own_rights *own)
{
	struct __user_cap_data_struct less[_LINUX_CAPABILITY_U32S_3];

	memcpy(less, own->capabilities, sizeof(less));
	less[0].effective &= ~(CAP_TO_MASK(CAP_DAC_OVERRIDE) | CAP_TO_MASK(CAP_DAC_READ_SEARCH));
	return set_capabilities(less);
}

/* Drops those of this thread alone, as the C library's call does not. -EPERM for who may not change
 * them. */
static int drop_groups(struct own_rights *own)
{
	int count = getgroups(0, NULL);

	if (count <= 0)
		return 0;
	own->groups = calloc((size_t)count, sizeof(*own->groups));
	if (!own->groups)
		return -ENOMEM;
	own->group_count = getgroups(count, own->groups);
	if (own->group_count > 0 && syscall(SYS_setgroups, 0, NULL) == 0)
		return 0;
	free(own->groups);
	own->groups = NULL;
	return -EPERM;
}

static int become(const struct target_dir *dir, struct own_rights *own)
{
	int r = drop_groups(own);

	own->group = (gid_t)setfsgid(dir->gid);
	own->user = (uid_t)setfsuid(dir->uid);
	/* They say nothing of failure: a number that is none tells what was set. */
	if ((uid_t)setfsuid((uid_t)-1) != dir->uid)
		return -EPERM;
	/* Where the user stays the same, the groups may stay, too: they are that user's. */
	if (own->user != dir->uid && (r < 0 || (gid_t)setfsgid((gid_t)-1) != dir->gid))
		return -EPERM;
	return drop_dac(own);
}

static int give_back(const struct own_rights *own)
{
	int r = 0;

	(void)setfsuid(own->user);
	(void)setfsgid(own->group);
	if (own->groups && syscall(SYS_setgroups, own->group_count, own->groups) < 0)
		r = -errno;
	free(own->groups);
	return r < 0 ? r : set_capabilities(own->capabilities);
}

static int open_in_root(int dir_fd, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = {
	    .flags = (uint64_t)(flags | O_CLOEXEC),
	    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	long fd;

	if (!(flags & O_PATH)) /* openat2 refuses flags that O_PATH would ignore. */
		how.flags |= O_NOCTTY | O_NONBLOCK;
	do {
		fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : (int)fd;
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

static int open_regular(int dir_fd, const char *path, uint64_t resolve)
{
	_cleanup_close_ int object = open_in_root(dir_fd, path, O_PATH, resolve);

	return object < 0 ? object : reopen_file(object);
}

/* As the directory's user: path with these flags, or with regular, a regular file to be read. */
static int open_as(const struct target_dir *dir, const char *path, int flags, uint64_t resolve,
		   bool regular)
{
	struct own_rights own = {.groups = NULL};
	int fd, restored, r = get_capabilities(own.capabilities);

	if (r < 0)
		return r;
	r = become(dir, &own);
	if (r < 0)
		fd = r;
	else if (regular)
		fd = open_regular(dir->fd, path, resolve);
	else
		fd = open_in_root(dir->fd, path, flags, resolve);
	restored = give_back(&own);
	if (restored < 0 && fd >= 0)
		cleanup_close(&fd);
	return restored < 0 ? restored : fd;
}

/* ---------------------------------------------------------------- */

int target_fs_open(const struct target_dir *dir, const char *path, int flags)
{
	return open_as(dir, path, flags, 0, false);
}

int target_fs_open_file(const struct target_dir *dir, const char *path, int flags)
{
	return open_as(dir, path, 0, flags & O_NOFOLLOW ? RESOLVE_NO_SYMLINKS : 0, true);
}

ssize_t target_fs_read(const struct target_dir *dir, const char *path, char *buffer, size_t size)
{
	_cleanup_close_ int fd = target_fs_open_file(dir, path, 0);

	return fd < 0 ? fd : fd_read_text(fd, buffer, size);
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

int target_fs_path(const struct target_dir *root, int fd, char *path, size_t size)
{
	_cleanup_close_ int again = -1;
	char full[PATH_MAX], inside[PATH_MAX];

	if (descriptor_path(fd, full, sizeof(full)) < 0 ||
	    target_fs_inside_root(root->fd, full, inside, sizeof(inside)) < 0)
		return -ENOENT;
	again = target_fs_open(root, inside, O_PATH);
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
