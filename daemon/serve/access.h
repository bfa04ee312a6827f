/*
 * Who may do what on the control socket, whose mode says who may connect at all.
 *
 * Root, the user that the daemon runs as and members of the admin group may do everything. For
 * anybody else there are only the JVMs of their own user and the windows of those. What
 * counts is what the kernel knew of the peer when it connected, so a process that was in the group
 * then is, whatever the group's list says now.
 *
 * Loop thread only.
 */
#ifndef JXPERF_DAEMON_SERVE_ACCESS_H
#define JXPERF_DAEMON_SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "common/err.h"
#include "profile/window/asker.h"

/* All zero: there is no admin group. */
struct access_rules {
	bool has_admins;
	gid_t admins;
};

/* Looks the group up, which may ask other hosts; "" or NULL: none. 0; -ENOENT when there is no such
 * group, and the rules are as they were. */
int access_rules_set(struct access_rules *rules, const char *admin_group, struct err *err);

/* What a peer sees, for a daemon that runs as own. */
struct window_asker access_decide(const struct access_rules *rules, uid_t own,
				  const struct ucred *peer, const gid_t *groups,
				  size_t group_count);

/* Who is at the other end of a connected socket, and what it sees. 0 or -errno: then it has to be
 * turned away. */
int access_of_peer(const struct access_rules *rules, int fd, struct window_asker *out,
		   struct err *err);

/* The same for one who started this daemon for itself: it sees everything. */
int access_of_owner(int fd, struct window_asker *out, struct err *err);

#endif
