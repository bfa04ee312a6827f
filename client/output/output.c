#include "client/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/output/page.h"
#include "client/terminal/paint.h"
#include "client/terminal/terminal.h"
#include "common/cleanup.h"
#include "common/fd.h"

#define NAME_TRIES 16
#define SELF_BYTES sizeof("/proc/self/fd/2147483647")

/* The object behind a descriptor, for calls that only take paths. */
static const char *self_path(char path[SELF_BYTES], int fd)
{
	(void)snprintf(path, SELF_BYTES, "/proc/self/fd/%d", fd); /* Fits. */
	return path;
}

/* The very object that was looked at. Not to wait for a pipe's reader, which may never come. */
static int open_in_place(struct output *o, struct err *err)
{
	char self[SELF_BYTES];

	o->in_place = true;
	if (o->place.kind == PLACE_DESCRIPTOR) {
		o->fd = TAKE_FD(o->place.object);
		return 0;
	}
	o->fd =
	    open(self_path(self, o->place.object), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (o->fd < 0 && errno == ENXIO)
		return err_set(err, ENXIO, "nobody reads '%s': start its reader first", o->path);
	if (o->fd < 0)
		return err_set_errno(err, errno, "cannot open '%s'", o->path);
	(void)fd_set_nonblocking(o->fd, false); /* Fails only for a bad descriptor. */
	return 0;
}

static int random_name(char name[OUTPUT_TEMPORARY_BYTES])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	(void)snprintf(name, OUTPUT_TEMPORARY_BYTES, ".jxperf-%016" PRIx64, number); /* Fits. */
	return 0;
}

static int create_temporary(struct output *o)
{
	char name[OUTPUT_TEMPORARY_BYTES];

	for (int i = 0; i < NAME_TRIES; i++) {
		int r = random_name(name);

		if (r < 0)
			return r;
		o->fd = openat(o->place.directory, name,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (o->fd >= 0) {
			strcpy(o->temporary, name);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* The mode that open(2) would have given a new file; before Linux 5.19 O_TMPFILE does not
 * everywhere ask the umask. */
static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask); /* Always succeeds. */
	return 0666 & ~mask;
}

/* Without a name, so that nothing is left of it should we be killed. */
static int open_file(struct output *o, struct err *err)
{
	int r = 0;

	o->fd = openat(o->place.directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (o->fd < 0) /* EOPNOTSUPP, or whatever a file system says that does not know it. */
		r = create_temporary(o);
	if (r == 0 && fchmod(o->fd, new_file_mode()) < 0)
		r = -errno;
	return r < 0 ? err_set_errno(err, -r, "cannot create a file beside '%s'", o->path) : 0;
}

int output_open(struct output *o, const char *path, struct err *err)
{
	int r;

	*o = (struct output)OUTPUT_NONE;
	if (!path || strcmp(path, "-") == 0)
		return 0;
	o->path = path;
	r = place_find(&o->place, path, err);
	if (r < 0)
		return r;
	return o->place.kind == PLACE_OBJECT || o->place.kind == PLACE_DESCRIPTOR
		   ? open_in_place(o, err)
		   : open_file(o, err);
}

static int descriptor(const struct output *o)
{
	return o->fd < 0 ? STDOUT_FILENO : o->fd;
}

int output_open_report(struct output *o, const char *path, Jxp__Format format, struct err *err)
{
	int r = output_open(o, path, err);

	if (r == 0 && format == JXP__FORMAT__FORMAT_HTML)
		r = page_read(&o->page, err);
	if (r == 0 && format == JXP__FORMAT__FORMAT_PPROF && isatty(descriptor(o)))
		return err_set(err, EINVAL,
			       "this format is binary, and the output is a terminal: write it to a "
			       "file with -o FILE");
	if (r == 0 && format == JXP__FORMAT__FORMAT_TEXT && isatty(descriptor(o)))
		o->columns = terminal_width(descriptor(o));
	return r;
}

/* Gives our file another name that nobody has. */
static int link_as(const struct output *o, const char *name)
{
	char self[SELF_BYTES];
	int r = o->temporary[0]
		    ? linkat(o->place.directory, o->temporary, o->place.directory, name, 0)
		    : linkat(AT_FDCWD, self_path(self, o->fd), o->place.directory, name,
			     AT_SYMLINK_FOLLOW);

	return r < 0 ? -errno : 0;
}

/* Gives our file a name of its own, by which it can be renamed. */
static int name_temporary(struct output *o)
{
	char name[OUTPUT_TEMPORARY_BYTES];
	int r = -EEXIST;

	if (o->temporary[0])
		return 0;
	for (int i = 0; r == -EEXIST && i < NAME_TRIES; i++)
		if ((r = random_name(name)) == 0)
			r = link_as(o, name);
	if (r == 0)
		strcpy(o->temporary, name);
	return r;
}

/* A name that is free is taken, which fails if somebody was faster; one that is not gets another
 * file, at once and without a look at the old one's content. */
static int put_in_place(struct output *o, struct err *err)
{
	int r = link_as(o, o->place.name);

	if (r == 0)
		return 0; /* A temporary name goes with output_release. */
	/* Some file systems have no links (EPERM). */
	if (r == -EEXIST || o->temporary[0])
		r = place_check_file(&o->place, o->path, err);
	else
		return err_set_errno(err, -r, "cannot put '%s' in place", o->path);
	if (r < 0)
		return r;
	r = name_temporary(o);
	if (r == 0 &&
	    renameat(o->place.directory, o->temporary, o->place.directory, o->place.name) < 0)
		r = -errno;
	if (r < 0)
		return err_set_errno(err, -r, "cannot put '%s' in place", o->path);
	o->temporary[0] = '\0';
	return 0;
}

static int commit(struct output *o, const void *bytes, size_t size, struct err *err)
{
	const char *name = o->fd < 0 ? "standard output" : o->path;
	int r = fd_write_all(descriptor(o), bytes, size);

	/* Some file systems report a full disk only then. */
	if (r == 0 && o->fd >= 0 && !o->in_place && fsync(o->fd) < 0)
		r = -errno;
	if (r < 0)
		return err_set_errno(err, -r, "cannot write '%s'", name);
	return o->fd < 0 || o->in_place ? 0 : put_in_place(o, err);
}

static int commit_painted(struct output *o, const void *bytes, size_t size, struct err *err)
{
	_cleanup_free_ char *painted = NULL;
	size_t painted_size;
	FILE *out = open_memstream(&painted, &painted_size);

	if (!out)
		return err_set(err, ENOMEM, "out of memory");
	paint_report(out, bytes, size, o->columns, terminal_may_colour(descriptor(o), false));
	if (fclose(out) != 0)
		return err_set(err, ENOMEM, "out of memory");
	return commit(o, painted, painted_size, err);
}

int output_commit(struct output *o, const void *bytes, size_t size, struct err *err)
{
	_cleanup_free_ char *page = NULL;
	int r;

	if (o->columns > 0)
		return commit_painted(o, bytes, size, err);
	if (!o->page)
		return commit(o, bytes, size, err);
	r = page_fill(o->page, bytes, size, &page, &size, err);
	return r < 0 ? r : commit(o, page, size, err);
}

void output_release(struct output *o)
{
	cleanup_free(&o->page);
	if (o->temporary[0])
		(void)unlinkat(o->place.directory, o->temporary, 0); /* Else it is only untidy. */
	o->temporary[0] = '\0';
	cleanup_close(&o->fd);
	o->fd = -1;
	place_release(&o->place);
}
