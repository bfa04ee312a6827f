/*
 * Files as another process sees them, reached through its /proc/PID/root.
 *
 * The target is not trusted: it may put symbolic links, FIFOs or sockets where a file is expected,
 * and change them at any time. Paths are resolved inside the target's root (openat2(2),
 * RESOLVE_IN_ROOT), so that no link leads out of it, and descriptors, not paths, are used from
 * there on.
 *
 * Everything is opened with the rights that the target's user has to files, whatever this process
 * may: what is at the end of a path that a user chose must be something that the user can read.
 * There is no other way to open it (tests/rights). Keeps no state; any thread may call.
 */
#ifndef JXPERF_ATTACH_PROCESS_TARGET_FS_H
#define JXPERF_ATTACH_PROCESS_TARGET_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TARGET_FS_PROC_PATH_BYTES 64

/* A directory of a process's, and the user and group whose rights are used below it. */
struct target_dir {
	int fd; /* O_PATH, -1: there is none */
	uid_t uid;
	gid_t gid;
};

#define TARGET_DIR_NONE ((struct target_dir){.fd = -1})

/* Opens /proc/PID/<entry> ("root" or "cwd"). 0, or -errno with out as it was: ENOENT when the
 * process or, for cwd, the directory is gone. */
int target_fs_open_dir(struct target_dir *out, pid_t pid, const char *entry, uid_t uid, gid_t gid);
void target_fs_close_dir(struct target_dir *dir);

/* Opens path below the directory as if that were "/". O_CLOEXEC, O_NOCTTY and O_NONBLOCK (a FIFO
 * must not stop us) are added to flags. The rights are those of the directory's user and group,
 * without any supplementary group, and -EPERM where this process cannot have just these. A
 * descriptor owned by the caller, or -errno. */
int target_fs_open(const struct target_dir *dir, const char *path, int flags);

/* Opens a regular file to read it; flags are 0, or O_NOFOLLOW: no part of the path may be a link.
 * Nothing else is opened, not even for a moment: opening a device can have effects (a watchdog
 * starts), and the target chose the path. A descriptor owned by the caller, or -errno (-EINVAL: not
 * a regular file). */
int target_fs_open_file(const struct target_dir *dir, const char *path, int flags);

/* Reads a regular file, at most size - 1 bytes, and terminates it. dir is used for relative paths
 * of the target, which cannot lead above it. Bytes read or -errno (-EINVAL: not a regular file). */
ssize_t target_fs_read(const struct target_dir *dir, const char *path, char *buffer, size_t size);

/* A path as our /proc names it (maps, links), as the process with that root names it: a chrooted
 * one does not see what is above. 0 or -ENAMETOOLONG. */
int target_fs_inside_root(int root_fd, const char *path, char *inside, size_t size);

/* The canonical path by which the target reaches the open file or directory fd; verified by
 * resolving it again, so a renamed, deleted or unreachable object gives -ENOENT. 0 or -errno. */
int target_fs_path(const struct target_dir *root, int fd, char *path, size_t size);

/* The path under which a descriptor of ours can be used in calls that take only paths (connect,
 * bind, inotify), without resolving its name again. path has TARGET_FS_PROC_PATH_BYTES bytes. */
void target_fs_self_path(char *path, int fd, const char *name);

/* Do both descriptors refer to the same object? */
bool target_fs_same(int fd, int other_fd);

#endif
