/*
 * The agent and the libraries beside it, as files: what a target has to be able to open.
 *
 * Opened with the helper's own privileges, before it becomes the target's user, who may not be able
 * to read them.
 */
#ifndef JXPERF_ATTACH_BUNDLE_H
#define JXPERF_ATTACH_BUNDLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/process/agent_note.h"
#include "common/err.h"

#define BUNDLE_FILES_MAX 16

struct target_dir;

struct bundle {
	char path[PATH_MAX]; /* canonical */
	size_t count;
	struct bundle_file {
		char name[NAME_MAX + 1];
		int fd;
	} files[BUNDLE_FILES_MAX];
};

/* Opens every regular file of the directory but the helper itself. 0 or -errno (-ENOENT: no agent
 * in it); released with bundle_close in either case. */
int bundle_open(struct bundle *b, const char *dir, struct err *err);
void bundle_close(struct bundle *b);

/* Which agent is in the directory; empty where that cannot be told. */
void bundle_identify(const char *dir, struct agent_identity *out);

/* Would a process with that root directory and our effective ids load these very files by our path?
 * Compares each file's identity, so it does not matter why not: another mount namespace, a
 * directory on the way that is closed to the user, noexec. */
bool bundle_visible(const struct bundle *b, const struct target_dir *root);

/* Tells what a copy of it takes, in bytes. */
uint64_t bundle_copy_bytes(const struct bundle *b);

/* Copies all files into the directory: mode 0755, owned by our effective ids. 0 or -errno; what was
 * copied before a failure stays for the caller to remove. */
int bundle_copy(const struct bundle *b, int dir_fd, struct err *err);

#endif
