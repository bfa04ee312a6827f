#include "attach/image.h"

#include "attach/process/target_fs.h"
#include "attach/trust.h"
#include "common/cleanup.h"
#include "proto/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK_BYTES  (64u << 10)
#define SHOWN_DIGITS 6 /* bytes of a hash in messages: sha256sum(1) shows the same first */

struct digest {
	uint8_t bytes[SHA256_DIGEST_SIZE];
};

/* The digest of the first size bytes, which have to be there. 0 or -errno. */
static int digest_of(int fd, off_t size, struct digest *out)
{
	static uint8_t chunk[CHUNK_BYTES]; /* The helper has one thread. */
	struct sha256_ctx context;

	sha256_init(&context);
	for (off_t at = 0; at < size;) {
		size_t wanted = size - at < (off_t)CHUNK_BYTES ? (size_t)(size - at) : CHUNK_BYTES;
		ssize_t n = pread(fd, chunk, wanted, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		sha256_update(&context, (size_t)n, chunk);
		at += n;
	}
	sha256_digest(&context, sizeof(out->bytes), out->bytes);
	return 0;
}

static const char *shown(const struct digest *d, char text[2 * SHOWN_DIGITS + 1])
{
	for (size_t i = 0; i < SHOWN_DIGITS; i++)
		(void)snprintf(text + 2 * i, 3, "%02" PRIx8, d->bytes[i]); /* Fits. */
	return text;
}

/* Has the opened file, which the target calls path, the content of ours? */
static int compare(int theirs, const struct bundle_file *ours, const char *path, struct err *err)
{
	char their_text[2 * SHOWN_DIGITS + 1], our_text[2 * SHOWN_DIGITS + 1];
	struct digest their_digest = {{0}}, our_digest = {{0}};
	struct stat st, our_st;
	int r;

	if (fstat(theirs, &st) < 0 || fstat(ours->fd, &our_st) < 0)
		return err_set_errno(err, errno, "'%s'", path);
	if (st.st_size != our_st.st_size)
		return err_set(err, ESTALE,
			       "'%s' is of another version of jxperf (%jd bytes, not %jd)", path,
			       (intmax_t)st.st_size, (intmax_t)our_st.st_size);
	r = digest_of(theirs, our_st.st_size, &their_digest);
	if (r == 0)
		r = digest_of(ours->fd, our_st.st_size, &our_digest);
	if (r < 0)
		return err_set_errno(err, -r, "cannot read '%s'", path);
	if (memcmp(&their_digest, &our_digest, sizeof(our_digest)) != 0)
		return err_set(
		    err, ESTALE, "'%s' is of another version of jxperf (SHA-256 %s..., not %s...)",
		    path, shown(&their_digest, their_text), shown(&our_digest, our_text));
	return 0;
}

/* One file, by its canonical path in the target. */
static int check_file(const struct target *t, const char *path, const struct bundle_file *ours,
		      struct err *err)
{
	_cleanup_close_ int fd = target_fs_open_file(&t->root, path, O_NOFOLLOW);
	struct statvfs fs;
	int r;

	if (fd < 0)
		return err_set_errno(err, -fd, "'%s'", path);
	if (fstatvfs(fd, &fs) < 0 || (fs.f_flag & ST_NOEXEC))
		return err_set(err, EACCES, "'%s' is on a noexec file system", path);
	r = trust_file(t, path, err);
	return r < 0 ? r : compare(fd, ours, path, err);
}

/* Where path leads to in the target. */
static int canonical_path(const struct target *t, const char *path, char canonical[PATH_MAX],
			  struct err *err)
{
	_cleanup_close_ int fd = target_fs_open(&t->root, path, O_PATH);

	if (fd < 0)
		return err_set_errno(err, -fd, "'%s'", path);
	if (target_fs_path(&t->root, fd, canonical, PATH_MAX) < 0)
		return err_set(err, ELOOP, "'%s' leads to no file in its root", path);
	return 0;
}

/* The library's own libraries are looked for beside it ($ORIGIN), by the path that it is loaded by.
 */
static int check_beside(const struct target *t, const char *library, const struct bundle_file *ours,
			struct err *err)
{
	int directory = (int)(strrchr(library, '/') - library);
	char path[PATH_MAX + NAME_MAX + 2], canonical[PATH_MAX];
	int r;

	(void)snprintf(path, sizeof(path), "%.*s/%s", directory, library, ours->name); /* Fits. */
	r = canonical_path(t, path, canonical, err);
	return r < 0 ? r : check_file(t, canonical, ours, err);
}

int image_library(const struct target *t, const struct bundle *b, const char *path,
		  char library[PATH_MAX], struct err *err)
{
	char canonical[PATH_MAX];
	int r = canonical_path(t, path, canonical, err);

	if (r < 0)
		return r;
	/* A JVM that has it loaded is known by this name. */
	if (strcmp(strrchr(canonical, '/') + 1, AGENT_LIBRARY) != 0)
		return err_set(err, EINVAL,
			       "'%s' leads to '%s', which is not called " AGENT_LIBRARY, path,
			       canonical);
	for (size_t i = 0; i < b->count && r == 0; i++)
		r = check_beside(t, canonical, &b->files[i], err);
	if (r == 0)
		strcpy(library, canonical);
	return r;
}
