/*
 * The process being attached to, as the helper holds it: descriptors of its root and working
 * directory, and its owner, whom the helper becomes for everything that touches its files.
 *
 * Opened with the helper's own privileges; after target_become_owner the process has none but those
 * of the target's user, for good.
 */
#ifndef JXPERF_ATTACH_TARGET_H
#define JXPERF_ATTACH_TARGET_H

#include <limits.h>
#include <sys/types.h>

#include "attach/process/jvm.h"
#include "attach/process/target_fs.h"
#include "common/err.h"

struct target {
	struct jvm_info jvm;
	struct target_dir root;
	struct target_dir cwd; /* TARGET_DIR_NONE when it is gone */
	char home[PATH_MAX];   /* $HOME of the target, "" when unknown */
};

/* Inspects pid, for owner as jvm_inspect does, and refuses what cannot be attached to. 0 or -errno;
 * released with target_close in either case. */
int target_open(struct target *t, pid_t pid, uid_t owner, struct err *err);
void target_close(struct target *t);

/* Gives up all groups and changes real, effective and saved ids to the target's effective ones. */
int target_become_owner(const struct target *t, struct err *err);

#endif
