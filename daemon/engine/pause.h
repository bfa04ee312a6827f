/*
 * Whether somebody has forbidden windows on this host: an administrator, for a time or until he
 * says otherwise, or a file whose being there forbids them. What an administrator said outlives the
 * daemon, in its state directory where it has one.
 *
 *   pause    when it ends (ns since 1970, or 0), who said it, and why; a line
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_ENGINE_PAUSE_H
#define JXPERF_DAEMON_ENGINE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

#define PAUSE_REASON_BYTES 200
#define PAUSE_PATH_BYTES   4096

/* All zero: nobody has. */
struct pause {
	char path[PAUSE_PATH_BYTES]; /* where it is kept, or "" */
	const char *file;            /* whose being there forbids windows; borrowed, NULL: none */
	bool on;                     /* an administrator has said so */
	uint64_t until_unix_ns;      /* 0: until he says otherwise */
	uid_t who;
	char reason[PAUSE_REASON_BYTES]; /* may be "" */
};

/* What an earlier daemon kept in the directory, "" for none, holds. A file that is none of ours is
 * an error, with nothing changed but the path. */
int pause_load(struct pause *p, const char *directory, struct err *err);

/* From now on, for so long (0: without an end). 0, or -EINVAL with nothing changed; -EIO: it holds
 * until the daemon ends, since it cannot be kept. */
int pause_begin(struct pause *p, uid_t who, uint64_t for_ns, const char *reason, struct err *err);

/* No more. 0; -EEXIST: the file still forbids windows; or -errno: what was kept is still there, and
 * holds again after a restart. */
int pause_end(struct pause *p, struct err *err);

/* Are windows forbidden now? Then why says who did and what to do; NULL: nobody wants to know. */
bool pause_forbids(const struct pause *p, struct err *why);

#endif
