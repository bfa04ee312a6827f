#include "attach/bundle.h"

#include "attach/process/target_fs.h"
#include "common/cleanup.h"
#include "common/proc.h"
#include "proto/helper.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Beside them there are programs, ours alone. */
#define PROGRAM_PREFIX "jxperf-"
#define COPY_MODE      0755
#define COPY_CHUNK     (1u << 20)
#define BLOCK_BYTES    4096u /* what file systems give space by, most of them */

static bool has_file(const struct bundle *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->files[i].name, name) == 0)
			return true;
	return false;
}

/* Adds one directory entry when it is a regular file. */
static int add_file(struct bundle *b, int dir_fd, const char *name, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (strncmp(name, PROGRAM_PREFIX, sizeof(PROGRAM_PREFIX) - 1) == 0 ||
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (b->count == BUNDLE_FILES_MAX)
		return err_set(err, E2BIG,
			       "more than %d files in '%s': that is not an agent bundle; reinstall "
			       "jxperf",
			       BUNDLE_FILES_MAX, b->path);
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot open '%s/%s'", b->path, name);
	strcpy(b->files[b->count].name, name);
	b->files[b->count].fd = TAKE_FD(fd);
	b->count++;
	return 0;
}

int bundle_open(struct bundle *b, const char *dir, struct err *err)
{
	_cleanup_closedir_ DIR *stream = NULL;
	struct dirent *entry;
	int r;

	memset(b, 0, sizeof(*b));
	if (!realpath(dir, b->path))
		return err_set_errno(err, errno, "cannot find the agent bundle '%s'", dir);
	stream = opendir(b->path);
	if (!stream)
		return err_set_errno(err, errno, "cannot open the agent bundle '%s'", b->path);
	while ((entry = readdir(stream))) {
		r = add_file(b, dirfd(stream), entry->d_name, err);
		if (r < 0)
			return r;
	}
	if (!has_file(b, AGENT_LIBRARY))
		return err_set(err, ENOENT, "no '%s' in '%s': reinstall jxperf or name its bundle",
			       AGENT_LIBRARY, b->path);
	return 0;
}

void bundle_identify(const char *dir, struct agent_identity *out)
{
	char path[PATH_MAX], head[AGENT_HEAD_BYTES + 1];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, AGENT_LIBRARY); /* One cut is none. */
	n = proc_read(path, head, sizeof(head));
	agent_identity_parse(out, (const uint8_t *)head, n > 0 ? (size_t)n : 0);
}

void bundle_close(struct bundle *b)
{
	for (size_t i = 0; i < b->count; i++)
		cleanup_close(&b->files[i].fd);
	b->count = 0;
}

static bool file_visible(const struct bundle *b, const struct bundle_file *f,
			 const struct target_dir *root)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX + NAME_MAX + 2];
	struct statvfs fs;

	(void)snprintf(path, sizeof(path), "%s/%s", b->path, f->name);
	fd = target_fs_open(root, path, O_RDONLY);
	return fd >= 0 && target_fs_same(fd, f->fd) && fstatvfs(fd, &fs) == 0 &&
	       !(fs.f_flag & ST_NOEXEC);
}

bool bundle_visible(const struct bundle *b, const struct target_dir *root)
{
	for (size_t i = 0; i < b->count; i++)
		if (!file_visible(b, &b->files[i], root))
			return false;
	return true;
}

uint64_t bundle_copy_bytes(const struct bundle *b)
{
	uint64_t sum = 0;
	struct stat st;

	for (size_t i = 0; i < b->count; i++)
		if (fstat(b->files[i].fd, &st) == 0)
			sum += ((uint64_t)st.st_size / BLOCK_BYTES + 1) * BLOCK_BYTES;
	return sum;
}

static int copy_content(int from, int to)
{
	off_t at = 0;

	for (;;) {
		ssize_t n = sendfile(to, from, &at, COPY_CHUNK);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
	}
}

int bundle_copy(const struct bundle *b, int dir_fd, struct err *err)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct bundle_file *f = &b->files[i];
		_cleanup_close_ int to = -1;
		int r;

		to = openat(dir_fd, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    COPY_MODE);
		if (to < 0)
			return err_set_errno(err, errno, "cannot create '%s'", f->name);
		r = copy_content(f->fd, to);
		/* The umask of whoever started us must not decide. */
		if (r == 0 && fchmod(to, COPY_MODE) < 0)
			r = -errno;
		if (r < 0)
			return err_set_errno(err, -r, "cannot copy '%s'", f->name);
	}
	return 0;
}
