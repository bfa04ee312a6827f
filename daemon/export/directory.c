#include "daemon/export/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/label.h"
#include "daemon/export/settings.h"
#include "daemon/export/source.h"
#include "report/report.h"

#define ENDING     ".pb.gz"
#define UNFINISHED ".jxperf-unfinished"
/* Beyond that a profile has fewer rows. */
#define PROFILE_BYTES_MAX ((size_t)64 << 20)
/* The largest list of files that is looked through. */
#define FILES_SEEN_MAX 1000000

/* "shop-20261128T140000Z-w7.pb.gz" */
static void name_file(char name[NAME_MAX + 1], const struct window_result *w, unsigned number)
{
	char app[WINDOW_LABEL_BYTES], when[32];
	time_t start = (time_t)(w->start_unix_ns / NS_PER_S);
	struct tm tm;

	(void)snprintf(app, sizeof(app), "%s", w->app[0] ? w->app : "unknown"); /* Fits. */
	for (char *c = app; *c; c++)
		if (!label_may_have(*c))
			*c = '_';
	if (app[0] == '.')
		app[0] = '_';
	if (!gmtime_r(&start, &tm) || strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm) == 0)
		strcpy(when, "unknown");
	(void)snprintf(name, NAME_MAX + 1, "%s-%s-w%u" ENDING, app, when, number); /* Fits. */
}

static int write_whole(int directory, const char *name, const char *bytes, size_t size)
{
	_cleanup_close_ int fd = openat(
	    directory, UNFINISHED, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
	int r = fd < 0 ? -errno : fd_write_all(fd, bytes, size);

	if (r == 0 && (fsync(fd) < 0 || renameat(directory, UNFINISHED, directory, name) < 0))
		r = -errno;
	if (r < 0 && fd >= 0)
		(void)unlinkat(directory, UNFINISHED, 0); /* Else the next one replaces it. */
	return r;
}

static int write_window(int directory, const struct sender_settings *to,
			const struct window_result *w, unsigned number, uint64_t *bytes,
			struct err *err)
{
	_cleanup_free_ char *profile = NULL;
	char name[NAME_MAX + 1];
	size_t size = 0;
	int r =
	    report_new_unless(NULL, w, &(struct report_wanted){.format = JXP__FORMAT__FORMAT_PPROF},
			      PROFILE_BYTES_MAX, &profile, &size, err);

	if (r < 0)
		return r;
	name_file(name, w, number);
	r = write_whole(directory, name, profile, size);
	if (r < 0)
		return err_set_errno(err, -r, "cannot write '%s/%s'", to->address, name);
	*bytes += size;
	return 0;
}

/* ---------------------------------------------------------------- its limits */

struct file {
	char *name;
	struct timespec when;
	uint64_t bytes;
};

struct files {
	struct file *files;
	size_t count, capacity;
	uint64_t bytes;
};

static void release_files(struct files *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->files[i].name);
	free(f->files);
}

static int add_file(struct files *f, const char *name, const struct stat *info)
{
	struct file file = {.when = info->st_mtim, .bytes = (uint64_t)info->st_size};

	if (array_reserve(&f->files, &f->capacity, f->count + 1, sizeof(f->files[0])) < 0 ||
	    !(file.name = strdup(name)))
		return -ENOMEM;
	f->bytes += file.bytes;
	f->files[f->count++] = file;
	return 0;
}

static bool is_ours(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > sizeof(ENDING) &&
	       strcmp(name + length - (sizeof(ENDING) - 1), ENDING) == 0;
}

static int list_files(DIR *directory, struct files *f)
{
	const struct dirent *entry;
	struct stat info;
	int r = 0;

	while (r == 0 && f->count < FILES_SEEN_MAX &&
	       (entry = readdir(directory))) { /* NOLINT(concurrency-mt-unsafe): its own */
		if (is_ours(entry->d_name) &&
		    fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(info.st_mode))
			r = add_file(f, entry->d_name, &info);
	}
	return r;
}

static int older_first(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	return ORDER(ASCENDING(x->when.tv_sec, y->when.tv_sec),
		     ASCENDING(x->when.tv_nsec, y->when.tv_nsec), strcmp(x->name, y->name));
}

static bool is_within(const struct sender_settings *to, size_t count, uint64_t bytes)
{
	return (to->files_max == 0 || count <= to->files_max) &&
	       (to->files_bytes_max == 0 || bytes <= to->files_bytes_max);
}

static void delete_oldest(int directory, const struct sender_settings *to, struct files *f)
{
	uint64_t bytes = f->bytes;

	if (is_within(to, f->count, bytes))
		return;
	qsort(f->files, f->count, sizeof(f->files[0]), older_first);
	for (size_t i = 0; i < f->count && !is_within(to, f->count - i, bytes); i++) {
		(void)unlinkat(directory, f->files[i].name, 0); /* Somebody else may have. */
		bytes -= f->files[i].bytes;
	}
}

static int keep_limits(int directory, const struct sender_settings *to)
{
	_cleanup_closedir_ DIR *listed = opendir(to->address);
	_cleanup_(release_files) struct files files = {0};
	int r = listed ? list_files(listed, &files) : -errno;

	if (r == 0)
		delete_oldest(directory, to, &files);
	return r;
}

int directory_write(const struct sender_settings *to, const struct source_windows *from,
		    uint64_t *bytes, struct err *err)
{
	_cleanup_close_ int directory = open(to->address, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = 0;

	if (directory < 0)
		return err_set_errno(err, errno, "cannot open the directory '%s'", to->address);
	/* Two share the file that is unfinished: a sender that a reload has replaced may be at its
	 * last batch. Waiting would be for as long as whoever can read the directory likes. */
	if (flock(directory, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return err_set(err, EAGAIN, "another writer is at work in '%s'", to->address);
	for (size_t i = 0; i < from->count && r == 0; i++)
		r = write_window(directory, to, from->windows[i], from->numbers[i], bytes, err);
	/* What is full has room again once what is too much has gone. */
	if (keep_limits(directory, to) < 0 && r == 0)
		r = err_set(err, EIO, "cannot look through the directory '%s'", to->address);
	/* A name that is not on the disk is written again, at worst. */
	if (r == 0 && fsync(directory) < 0)
		r = err_set_errno(err, errno, "cannot write to '%s'", to->address);
	return r;
}
