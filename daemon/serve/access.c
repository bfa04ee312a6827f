#include "daemon/serve/access.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cleanup.h"

int access_rules_set(struct access_rules *rules, const char *admin_group, struct err *err)
{
	const struct group *group;

	if (!admin_group || !admin_group[0]) {
		*rules = (struct access_rules){0};
		return 0;
	}
	group = getgrnam(admin_group);
	if (!group)
		return err_set(err, ENOENT,
			       "there is no group '%s': create it, or name another admin-group",
			       admin_group);
	*rules = (struct access_rules){.has_admins = true, .admins = group->gr_gid};
	return 0;
}

static bool is_member(gid_t group, const struct ucred *peer, const gid_t *groups, size_t count)
{
	if (peer->gid == group)
		return true;
	for (size_t i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return false;
}

struct window_asker access_decide(const struct access_rules *rules, uid_t own,
				  const struct ucred *peer, const gid_t *groups, size_t group_count)
{
	bool everything =
	    peer->uid == 0 || peer->uid == own ||
	    (rules->has_admins && is_member(rules->admins, peer, groups, group_count));

	return (struct window_asker){
	    .uid = peer->uid, .pid = peer->pid, .sees = everything ? PROC_ANY_UID : peer->uid};
}

/* A uid that is none would see what belongs to nobody known. */
static int read_credentials(int fd, struct ucred *peer, struct err *err)
{
	socklen_t size = sizeof(*peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &size) < 0)
		return err_set_errno(err, errno, "cannot tell who connects");
	if (peer->uid == PROC_ANY_UID)
		return err_set(err, EPERM, "cannot tell who connects");
	return 0;
}

/* The peer's supplementary groups, to be freed. 0 or -errno. */
static int read_groups(int fd, gid_t **out, size_t *count, struct err *err)
{
	_cleanup_free_ gid_t *groups = NULL;
	socklen_t size = 0;

	/* They do not change any more, so the second time there is room for them. */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) < 0 && errno != ERANGE)
		return err_set_errno(err, errno, "cannot tell the groups of who connects");
	groups = malloc(size + sizeof(gid_t));
	if (!groups)
		return err_set(err, ENOMEM, "out of memory");
	if (size > 0 && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return err_set_errno(err, errno, "cannot tell the groups of who connects");
	*count = size / sizeof(gid_t);
	*out = TAKE_PTR(groups);
	return 0;
}

int access_of_peer(const struct access_rules *rules, int fd, struct window_asker *out,
		   struct err *err)
{
	_cleanup_free_ gid_t *groups = NULL;
	struct ucred peer;
	size_t count = 0;
	int r = read_credentials(fd, &peer, err);

	if (r == 0 && rules->has_admins)
		r = read_groups(fd, &groups, &count, err);
	if (r < 0)
		return r;
	*out = access_decide(rules, geteuid(), &peer, groups, count);
	return 0;
}

int access_of_owner(int fd, struct window_asker *out, struct err *err)
{
	struct ucred peer;
	int r = read_credentials(fd, &peer, err);

	if (r < 0)
		return r;
	*out = (struct window_asker){.uid = peer.uid, .pid = peer.pid, .sees = PROC_ANY_UID};
	return 0;
}
