#include "client/output/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "common/cleanup.h"

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

struct directory_walk {
	const char *path; /* as it was given, for messages */
	int directory;
	bool shared;         /* others may make entries in directory */
	bool guarded;        /* nobody but root and us may change those that are there */
	char rest[PATH_MAX]; /* the way from there */
	char name[NAME_MAX + 1];
	bool last;         /* name is the end of the path ... */
	bool is_directory; /* ... and was written with a slash behind it */
	unsigned links;
};

static int fail(const struct directory_walk *w, int error, struct err *err)
{
	return err_set_errno(err, error, "cannot write '%s'", w->path);
}

static bool ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Goes into a directory, which is taken. above: what is known of those on the way to it. */
static int enter(struct directory_walk *w, int fd, bool above, struct err *err)
{
	_cleanup_close_ int directory = fd;
	struct stat st;

	if (fstat(directory, &st) < 0)
		return fail(w, errno, err);
	w->shared = st.st_mode & (S_IWGRP | S_IWOTH);
	w->guarded = above && ours(&st) && (!w->shared || (st.st_mode & S_ISVTX));
	cleanup_close(&w->directory);
	w->directory = TAKE_FD(directory);
	return 0;
}

/* The beginning of a way, which nobody else chose. */
static int start(struct directory_walk *w, const char *way, struct err *err)
{
	int fd = open(way[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? fail(w, errno, err) : enter(w, fd, true, err);
}

/* Takes the next name off the rest. */
static int next_name(struct directory_walk *w, struct err *err)
{
	const char *from = w->rest + strspn(w->rest, "/");
	size_t length = strcspn(from, "/");
	const char *behind = from + length + strspn(from + length, "/");

	if (length >= sizeof(w->name))
		return fail(w, ENAMETOOLONG, err);
	memcpy(w->name, from, length);
	w->name[length] = '\0';
	w->last = *behind == '\0';
	w->is_directory = length == 0 || from[length] == '/';
	memmove(w->rest, behind, strlen(behind) + 1);
	return 0;
}

/* ---------------------------------------------------------------- links */

/* Others can bring any link into a directory of theirs, also one of root's that they found
 * elsewhere; into a sticky one they can bring a second name of such a link. */
static bool may_follow(const struct directory_walk *w, const struct stat *link)
{
	return w->guarded && (!w->shared || (ours(link) && link->st_nlink == 1));
}

static int follow(struct directory_walk *w, int link, struct err *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target));
	size_t rest = strlen(w->rest);

	if (n < 0)
		return fail(w, errno, err);
	if (++w->links > LINKS_MAX)
		return fail(w, ELOOP, err);
	if ((size_t)n + 1 + rest >= sizeof(w->rest))
		return fail(w, ENAMETOOLONG, err);
	/* A slash after the link stays behind it. */
	memmove(w->rest + n + 1, w->rest, rest + 1);
	memcpy(w->rest, target, (size_t)n);
	if (w->last && !w->is_directory)
		w->rest[n] = '\0';
	else
		w->rest[n] = '/';
	return target[0] == '/' ? start(w, target, err) : 0;
}

/* Is the walk in the directory of our own descriptors? */
static bool among_descriptors(const struct directory_walk *w)
{
	_cleanup_close_ int own = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat here, there;

	return own >= 0 && fstat(own, &here) == 0 && fstat(w->directory, &there) == 0 &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* A link whose text is not where it leads: the kernel follows it. In *to what is there. */
static int follow_magic(const struct directory_walk *w, struct output_place *p, int *to,
			struct err *err)
{
	if (w->last && among_descriptors(w)) {
		p->object = fcntl((int)strtol(w->name, NULL, 10), F_DUPFD_CLOEXEC, 0);
		if (p->object < 0)
			return fail(w, errno, err);
		p->kind = PLACE_DESCRIPTOR;
		return 0;
	}
	*to = openat(w->directory, w->name, O_PATH | O_CLOEXEC);
	return *to < 0 ? fail(w, errno, err) : 0;
}

static bool is_on_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* ---------------------------------------------------------------- the end of the way */

/* What is there may have been put there by somebody who wants it to be taken for ours. */
static int refuse_foreign(const char *path, struct err *err)
{
	return err_set(err, EPERM,
		       "'%s' belongs to another user, in a directory that others can write to: "
		       "remove it or name another file",
		       path);
}

static bool file_is_foreign(bool shared, const struct stat *st)
{
	return shared && st->st_uid != geteuid();
}

static int arrive(struct directory_walk *w, const struct stat *st, int *object,
		  struct output_place *p, struct err *err)
{
	bool regular = S_ISREG(st->st_mode);

	if (regular ? file_is_foreign(w->shared, st) : (w->shared || !w->guarded) && !ours(st))
		return refuse_foreign(w->path, err);
	p->kind = regular ? PLACE_FILE : PLACE_OBJECT;
	p->shared = w->shared;
	p->directory = TAKE_FD(w->directory);
	p->object = TAKE_FD(*object);
	strcpy(p->name, w->name);
	return 1;
}

static int arrive_at_nothing(struct directory_walk *w, struct output_place *p, struct err *err)
{
	if (!w->last)
		return fail(w, ENOENT, err);
	if (w->is_directory)
		return err_set(err, EISDIR, "'%s' names a directory: name a file in it", w->path);
	p->kind = PLACE_FREE;
	p->shared = w->shared;
	p->directory = TAKE_FD(w->directory);
	strcpy(p->name, w->name);
	return 1;
}

/* Leaves the link behind: the walk goes on from where it leads. *fd and *st become what is there
 * where only the kernel knows it, else *fd is -1. 1: arrived. */
static int cross_link(struct directory_walk *w, struct output_place *p, int *fd, struct stat *st,
		      struct err *err)
{
	_cleanup_close_ int link = TAKE_FD(*fd);
	int r;

	if (!may_follow(w, st))
		return err_set(err, EPERM,
			       "'%s' leads through a link, '%s', in a directory that others can "
			       "write to: name the file without it",
			       w->path, w->name);
	if (!is_on_proc(link))
		return follow(w, link, err);
	r = follow_magic(w, p, fd, err);
	if (r < 0 || p->kind == PLACE_DESCRIPTOR)
		return r < 0 ? r : 1;
	if (fstat(*fd, st) < 0)
		return fail(w, errno, err);
	/* It has no name by which it could be replaced. */
	if (S_ISREG(st->st_mode))
		return err_set(err, EINVAL, "'%s' is a process's open file: name the file itself",
			       w->path);
	return 0;
}

/* One name further. 1: arrived, 0: there is more to go. */
static int step(struct directory_walk *w, struct output_place *p, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r = next_name(w, err);

	if (r < 0)
		return r;
	fd = openat(w->directory, w->name[0] ? w->name : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return arrive_at_nothing(w, p, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(w, errno, err);
	if (S_ISLNK(st.st_mode) && ((r = cross_link(w, p, &fd, &st, err)) != 0 || fd < 0))
		return r;
	if (S_ISDIR(st.st_mode) && w->last)
		return err_set(err, EISDIR, "'%s' is a directory: name a file in it", w->path);
	if (S_ISDIR(st.st_mode))
		return enter(w, TAKE_FD(fd), w->guarded, err);
	if (!w->last || w->is_directory)
		return fail(w, ENOTDIR, err);
	return arrive(w, &st, &fd, p, err);
}

int place_find(struct output_place *p, const char *path, struct err *err)
{
	struct directory_walk w = {.path = path, .directory = -1};
	struct output_place found = PLACE_NONE;
	int r;

	if (path[0] == '\0' || strlen(path) >= sizeof(w.rest))
		return fail(&w, path[0] ? ENAMETOOLONG : ENOENT, err);
	strcpy(w.rest, path);
	r = start(&w, path, err);
	while (r == 0)
		r = step(&w, &found, err);
	cleanup_close(&w.directory);
	if (r < 0)
		return r;
	*p = found;
	return 0;
}

int place_check_file(const struct output_place *p, const char *path, struct err *err)
{
	struct stat st;

	if (fstatat(p->directory, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot look at '%s'", path);
	return file_is_foreign(p->shared, &st) ? refuse_foreign(path, err) : 0;
}

void place_release(struct output_place *p)
{
	cleanup_close(&p->directory);
	cleanup_close(&p->object);
	p->directory = p->object = -1;
}
