#include "daemon/store/state_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"

#define DATABASE "windows.db"
#define NEXT     "next-window"
#define NEXT_NEW NEXT ".new"

/* What SQLite puts beside a database. */
static const char *const endings[] = {"", "-wal", "-shm"};

static int open_directory(struct state_dir *d, const char *path, struct err *err)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set_errno(err, errno, "cannot make the state directory '%s'", path);
	d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0)
		return err_set_errno(err, errno, "cannot open the state directory '%s'", path);
	return 0;
}

static int lock(struct state_dir *d, struct err *err)
{
	d->lock = openat(d->fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (d->lock < 0)
		return err_set_errno(err, errno, "cannot write to the state directory '%s'",
				     d->path);
	if (flock(d->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK
			   ? err_set(err, EBUSY,
				     "another jxperfd uses the state directory '%s': stop it, or "
				     "give this one its own with --state-dir",
				     d->path)
			   : err_set_errno(err, errno, "cannot lock the state directory '%s'",
					   d->path);
	return 0;
}

/* What reports say is their owners' business: SQLite gives its other files the mode of this one. */
static int make_database(const struct state_dir *d, struct err *err)
{
	_cleanup_close_ int fd = open(d->database, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? err_set_errno(err, errno, "cannot open '%s'", d->database) : 0;
}

int state_dir_open(struct state_dir *d, const char *path, struct err *err)
{
	int r;

	*d = (struct state_dir){.fd = -1, .lock = -1};
	if ((size_t)snprintf(d->path, sizeof(d->path), "%s", path) >= sizeof(d->path))
		return err_set(err, ENAMETOOLONG, "the path of the state directory is too long");
	(void)snprintf(d->database, sizeof(d->database), "%s/" DATABASE, path); /* It fits. */
	r = open_directory(d, path, err);
	if (r == 0)
		r = lock(d, err);
	if (r == 0)
		r = make_database(d, err);
	if (r < 0)
		state_dir_close(d);
	return r;
}

void state_dir_close(struct state_dir *d)
{
	cleanup_close(&d->lock);
	cleanup_close(&d->fd);
	d->lock = d->fd = -1;
}

unsigned state_dir_next(const struct state_dir *d)
{
	_cleanup_close_ int fd = openat(d->fd, NEXT, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[16] = "", *end;
	unsigned long next;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 1;
	next = strtoul(text, &end, 10);
	return *end != '\n' || next == 0 || next > UINT_MAX ? 1 : (unsigned)next;
}

static int write_next(const struct state_dir *d, unsigned next)
{
	_cleanup_close_ int fd =
	    openat(d->fd, NEXT_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	char text[16];
	int size = snprintf(text, sizeof(text), "%u\n", next);
	ssize_t written;

	if (fd < 0)
		return -errno;
	written = write(fd, text, (size_t)size);
	if (written != size)
		return written < 0 ? -errno : -ENOSPC;
	if (fsync(fd) < 0 || renameat(d->fd, NEXT_NEW, d->fd, NEXT) < 0 || fsync(d->fd) < 0)
		return -errno;
	return 0;
}

int state_dir_take_numbers(const struct state_dir *d, unsigned next, struct err *err)
{
	int r = write_next(d, next);

	return r < 0 ? err_set_errno(err, -r, "cannot keep the numbers of windows in '%s'", d->path)
		     : 0;
}

bool state_dir_is_low(const struct state_dir *d, double part, struct err *err)
{
	struct statvfs fs;
	double left;

	if (fstatvfs(d->fd, &fs) < 0 || fs.f_blocks == 0)
		return false; /* Nobody knows: a write says so where there is none. */
	left = (double)fs.f_bavail / (double)fs.f_blocks;
	if (left >= part)
		return false;
	(void)err_set(err, ENOSPC,
		      "%.1f%% of the file system of '%s' is free, and %.1f%% is left to others "
		      "(store.free-disk)",
		      100 * left, d->path, 100 * part);
	return true;
}

bool state_dir_has_room(const struct state_dir *d, struct err *err)
{
	_cleanup_close_ int fd =
	    openat(d->fd, NEXT_NEW, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)unlinkat(d->fd, NEXT_NEW, 0); /* Whoever wants it makes it anew. */
	if (fd >= 0 || (errno != ENOSPC && errno != EDQUOT))
		return true;
	(void)err_set_errno(err, errno, "cannot make a file in '%s'", d->path);
	return false;
}

int state_dir_set_aside(const struct state_dir *d, const char *why, char to[STATE_DIR_PATH_BYTES],
			struct err *err)
{
	char aside[64];

	(void)snprintf(aside, sizeof(aside), DATABASE ".%s-%lld", why, (long long)time(NULL));
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		char from[32], name[96];

		(void)snprintf(from, sizeof(from), DATABASE "%s", endings[i]);
		(void)snprintf(name, sizeof(name), "%s%s", aside, endings[i]);
		if (renameat(d->fd, from, d->fd, name) < 0 && errno != ENOENT)
			return err_set_errno(err, errno, "cannot rename '%s' in '%s'", from,
					     d->path);
	}
	(void)snprintf(to, STATE_DIR_PATH_BYTES, "%s/%s", d->path, aside); /* It fits. */
	return make_database(d, err);
}

/* When a file was set aside, of a database or its log; false for other files. */
static bool aside_time(const char *name, time_t *when)
{
	static const char *const words[] = {DATABASE ".damaged-", DATABASE ".earlier-"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(name, words[i], strlen(words[i])) != 0)
			continue;
		*when = (time_t)strtoll(name + strlen(words[i]), NULL, 10);
		return true;
	}
	return false;
}

struct state_dir_aside state_dir_tidy(const struct state_dir *d, time_t before)
{
	_cleanup_closedir_ DIR *directory = opendir(d->path);
	struct state_dir_aside left = {0};
	const struct dirent *entry;
	struct stat info;
	time_t when;

	while (directory &&
	       (entry = readdir(directory))) { /* NOLINT(concurrency-mt-unsafe): its own */
		if (!aside_time(entry->d_name, &when) ||
		    fstatat(d->fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (when < before && unlinkat(d->fd, entry->d_name, 0) == 0)
			continue;
		left.count += strrchr(entry->d_name, '-') == strchr(entry->d_name, '-');
		left.bytes += (uint64_t)info.st_size;
	}
	return left;
}

uint64_t state_dir_log_bytes(const struct state_dir *d)
{
	struct stat info;

	return fstatat(d->fd, DATABASE "-wal", &info, AT_SYMLINK_NOFOLLOW) < 0
		   ? 0
		   : (uint64_t)info.st_size;
}
