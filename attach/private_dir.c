#include "attach/private_dir.h"

#include "attach/process/target_fs.h"
#include "attach/room.h"
#include "attach/trust.h"
#include "common/cleanup.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>

_Static_assert(PRIVATE_DIR_PATH_BYTES == sizeof(((struct sockaddr_un *)NULL)->sun_path),
	       "the socket's path is handed to the agent, which connects by it");

#define NAME_PREFIX ".jxperf-"
#define NAME_RANDOM 6
#define NAME_TRIES  16
#define ENTRIES_MAX 64 /* Far above a bundle's size: whatever else is in it was not ours. */

/* The directory number i as the target names it; "" for the working directory, NULL for none. */
static const char *candidate(const struct target *t, unsigned i, char *text, size_t size)
{
	static const char *const fixed[] = {"/tmp", "/var/tmp", "/dev/shm"};

	switch (i) {
	case 3:
		(void)snprintf(text, size, "/run/user/%u", t->jvm.euid);
		return text;
	case 4:
		return t->cwd.fd >= 0 ? "" : NULL;
	case 5:
		return t->home[0] ? t->home : NULL;
	default:
		return i < 3 ? fixed[i] : NULL;
	}
}

static int check_usable(int fd, const char *path, uint64_t copy_bytes, struct err *err)
{
	char self[TARGET_FS_PROC_PATH_BYTES];
	struct statvfs fs;

	if (strlen(path) + 1 + PRIVATE_DIR_NAME_BYTES + sizeof(PRIVATE_DIR_SOCKET) >
	    PRIVATE_DIR_PATH_BYTES)
		return err_set(err, ENAMETOOLONG, "'%s' is too long for a socket", path);
	target_fs_self_path(self, fd, NULL);
	if (fstatvfs(fd, &fs) < 0)
		return err_set_errno(err, errno, "'%s'", path);
	if (fs.f_flag & ST_RDONLY)
		return err_set(err, EROFS, "'%s' is read-only", path);
	/* Effective ids: the helper has become the target's user. */
	if (faccessat(AT_FDCWD, self, W_OK | X_OK, AT_EACCESS) < 0)
		return err_set(err, errno, "'%s' is not writable", path);
	if (copy_bytes > 0 && (fs.f_flag & ST_NOEXEC))
		return err_set(err, EACCES, "'%s' is noexec", path);
	if (!room_for(&fs, 0))
		return err_set(err, ENOSPC, "'%s' has no room for another file", path);
	if (!room_for(&fs, copy_bytes))
		return err_set(err, ENOSPC, "'%s' has no room for %" PRIu64 " KiB", path,
			       copy_bytes / 1024);
	return 0;
}

int private_dir_probe(const struct target *t, unsigned i, uint64_t copy_bytes, int *parent,
		      char path[PRIVATE_DIR_PATH_BYTES], struct err *err)
{
	_cleanup_close_ int first = -1;
	_cleanup_close_ int fd = -1;
	char text[64], canonical[PATH_MAX];
	const char *name = candidate(t, i, text, sizeof(text));
	int r;

	if (!name)
		return -ENOENT;
	first = *name ? target_fs_open(&t->root, name, O_PATH | O_DIRECTORY)
		      : fcntl(t->cwd.fd, F_DUPFD_CLOEXEC, 0);
	if (first == -ENOENT || first == -ENOTDIR)
		return -ENOENT;
	if (first < 0)
		return err_set_errno(err, -first, "'%s'", name);
	if (target_fs_path(&t->root, first, canonical, sizeof(canonical)) < 0)
		return -ENOENT;
	/* By its path, since that is what the agent will be loaded by: a working directory may have
	 * been entered before another mount, with noexec perhaps, was put in its place. */
	fd = target_fs_open(&t->root, canonical, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return -ENOENT;
	r = check_usable(fd, canonical, copy_bytes, err);
	if (r == 0)
		r = trust_directory(t, canonical, err);
	if (r < 0)
		return r;
	strcpy(path, canonical);
	*parent = TAKE_FD(fd);
	return 0;
}

/* The alphabet has 64 letters, so every byte gives one without bias. */
static int random_name(char *name)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	unsigned char bytes[NAME_RANDOM];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	strcpy(name, NAME_PREFIX);
	for (int i = 0; i < NAME_RANDOM; i++)
		name[sizeof(NAME_PREFIX) - 1 + i] = letters[bytes[i] % (sizeof(letters) - 1)];
	name[sizeof(NAME_PREFIX) - 1 + NAME_RANDOM] = '\0';
	return 0;
}

static int make_directory(int parent, char *name)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		int r = random_name(name);

		if (r < 0)
			return r;
		if (mkdirat(parent, name, 0700) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int private_dir_create(struct private_dir *d, const struct target *t, unsigned i,
		       uint64_t copy_bytes, struct err *err)
{
	struct private_dir made = {.parent_fd = -1, .fd = -1};
	char parent_path[PRIVATE_DIR_PATH_BYTES] = "";
	int r;

	r = private_dir_probe(t, i, copy_bytes, &made.parent_fd, parent_path, err);
	if (r < 0)
		return r;
	r = make_directory(made.parent_fd, made.name);
	if (r < 0) {
		cleanup_close(&made.parent_fd);
		return err_set_errno(err, -r, "'%s'", parent_path);
	}
	made.fd =
	    openat(made.parent_fd, made.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made.fd < 0) {
		r = err_set_errno(err, errno, "'%s/%s'", parent_path, made.name);
		(void)unlinkat(made.parent_fd, made.name, AT_REMOVEDIR); /* r says enough. */
		cleanup_close(&made.parent_fd);
		return r;
	}
	r = snprintf(made.path, sizeof(made.path), "%s%s%s", parent_path, parent_path[1] ? "/" : "",
		     made.name);
	assert(r > 0 && (size_t)r < sizeof(made.path)); /* check_usable left room. */
	*d = made;
	return 0;
}

static void remove_entries(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;

	if (!dir) {
		cleanup_close(&copy);
		return;
	}
	rewinddir(dir);
	for (int i = 0; i < ENTRIES_MAX && (entry = readdir(dir)); i++)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			(void)unlinkat(fd, entry->d_name, 0); /* rmdir will tell. */
	(void)closedir(dir);
}

void private_dir_remove(struct private_dir *d)
{
	if (d->fd < 0)
		return;
	remove_entries(d->fd);
	/* It may be gone already, by the target's own hand; nothing else can be done about it. */
	(void)unlinkat(d->parent_fd, d->name, AT_REMOVEDIR);
	cleanup_close(&d->fd);
	cleanup_close(&d->parent_fd);
	d->fd = -1;
	d->parent_fd = -1;
}
