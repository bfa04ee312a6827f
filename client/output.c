#include "client/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/fd.h"

static int open_in_place(struct output *o, struct err *err)
{
	o->fd = open(o->path, O_WRONLY | O_CLOEXEC);
	return o->fd < 0 ? err_set_errno(err, errno, "cannot open '%s'", o->path) : 0;
}

/* The mode that open(2) would have given a new file. */
static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask); /* Always succeeds. */
	return 0666 & ~mask;
}

static int open_temporary(struct output *o, mode_t mode, struct err *err)
{
	const char *slash = strrchr(o->path, '/');
	int directory = slash ? (int)(slash - o->path) + 1 : 0;
	int saved;

	if (snprintf(o->temporary, sizeof(o->temporary), "%.*s.jxperf-XXXXXX", directory,
		     o->path) >= (int)sizeof(o->temporary)) {
		o->temporary[0] = '\0';
		return err_set(err, ENAMETOOLONG, "the path '%s' is too long", o->path);
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0) {
		saved = errno;
		o->temporary[0] = '\0';
		return err_set_errno(err, saved, "cannot create a file beside '%s'", o->path);
	}
	if (fchmod(o->fd, mode) < 0)
		return err_set_errno(err, errno, "cannot set the mode of '%s'", o->temporary);
	return 0;
}

int output_open(struct output *o, const char *path, struct err *err)
{
	_cleanup_free_ char *resolved = NULL;
	struct stat st;

	*o = (struct output){.fd = -1};
	if (!path)
		return 0;
	resolved = realpath(path, NULL);
	if (!resolved && errno != ENOENT)
		return err_set_errno(err, errno, "cannot write '%s'", path);
	if (snprintf(o->path, sizeof(o->path), "%s", resolved ? resolved : path) >=
	    (int)sizeof(o->path))
		return err_set(err, ENAMETOOLONG, "the path '%s' is too long", path);
	if (!resolved)
		return open_temporary(o, new_file_mode(), err);
	if (stat(resolved, &st) < 0)
		return err_set_errno(err, errno, "cannot look at '%s'", path);
	if (S_ISDIR(st.st_mode))
		return err_set(err, EISDIR, "'%s' is a directory: name a file in it", path);
	return S_ISREG(st.st_mode) ? open_temporary(o, st.st_mode & 07777, err)
				   : open_in_place(o, err);
}

int output_commit(struct output *o, const void *bytes, size_t size, struct err *err)
{
	const char *name = o->fd < 0 ? "standard output" : o->path;
	int r = fd_write_all(o->fd < 0 ? STDOUT_FILENO : o->fd, bytes, size);

	if (r < 0)
		return err_set_errno(err, -r, "cannot write '%s'", name);
	if (o->fd < 0)
		return 0;
	/* Some file systems report a full disk only now. */
	if (close(TAKE_FD(o->fd)) < 0)
		return err_set_errno(err, errno, "cannot write '%s'", name);
	if (o->temporary[0] && rename(o->temporary, o->path) < 0)
		return err_set_errno(err, errno, "cannot put '%s' in place", name);
	o->temporary[0] = '\0';
	return 0;
}

void output_release(struct output *o)
{
	cleanup_close(&o->fd);
	o->fd = -1;
	if (o->temporary[0])
		(void)unlink(o->temporary); /* A file that is left over is only untidy. */
	o->temporary[0] = '\0';
}
