/*
 * A directory of our own inside the target's file system, for the listening socket and, where the
 * target cannot see our bundle, for a copy of it. Mode 0700, owned by the target's user, named
 * .jxperf-XXXXXX. Used by the helper after it has become that user.
 *
 * Candidates, in order: /tmp, /var/tmp, /dev/shm, /run/user/UID, the working directory, $HOME.
 * Usable are those that the user may write to, with room, whose socket path fits sockaddr_un, and,
 * for a copy of the bundle, that are not mounted noexec. None where another user could put
 * something else in the directory's place: the JVM would load that.
 */
#ifndef JXPERF_ATTACH_PRIVATE_DIR_H
#define JXPERF_ATTACH_PRIVATE_DIR_H

#include <stdint.h>

#include "attach/target.h"

#define PRIVATE_DIR_CANDIDATES 6
#define PRIVATE_DIR_NAME_BYTES sizeof(".jxperf-XXXXXX")
#define PRIVATE_DIR_SOCKET     "agent.sock"
#define PRIVATE_DIR_PATH_BYTES 108 /* sun_path, which has to hold the socket's */

struct private_dir {
	int parent_fd;
	int fd; /* -1 when there is none */
	char name[PRIVATE_DIR_NAME_BYTES];
	char path[PRIVATE_DIR_PATH_BYTES]; /* as the target sees it, canonical */
};

/* Could candidate number i (below PRIVATE_DIR_CANDIDATES) be used, for a copy of so many bytes (0:
 * for the socket alone)? Changes nothing. On success parent receives an O_PATH descriptor that the
 * caller owns, and path its canonical path. -ENOENT: there is no such directory; otherwise err says
 * why not. */
int private_dir_probe(const struct target *t, unsigned i, uint64_t copy_bytes, int *parent,
		      char path[PRIVATE_DIR_PATH_BYTES], struct err *err);

/* Makes the directory in candidate number i. 0, or -errno as above; nothing is left on failure. */
int private_dir_create(struct private_dir *d, const struct target *t, unsigned i,
		       uint64_t copy_bytes, struct err *err);

/* Removes it with everything in it, and closes the descriptors. Does nothing when fd is -1. */
void private_dir_remove(struct private_dir *d);

#endif
