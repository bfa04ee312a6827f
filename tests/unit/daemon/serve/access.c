#include "tests/unit/support/test.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "daemon/serve/access.h"

#define OWN    998
#define ADMINS 4242
#define OTHER  1000

static const struct access_rules no_admins;
static const struct access_rules admins = {.has_admins = true, .admins = ADMINS};

static uid_t what_sees(const struct access_rules *rules, uid_t uid, gid_t gid, gid_t supplementary)
{
	const struct ucred peer = {.pid = 4711, .uid = uid, .gid = gid};
	struct window_asker asker = access_decide(rules, OWN, &peer, &supplementary, 1);

	assert_int_equal(asker.uid, uid);
	assert_int_equal(asker.pid, 4711);
	return asker.sees;
}

TEST(root_and_the_daemons_own_user_see_everything)
{
	assert_int_equal(what_sees(&no_admins, 0, 0, 0), PROC_ANY_UID);
	assert_int_equal(what_sees(&no_admins, OWN, 1, 1), PROC_ANY_UID);
}

TEST(anybody_else_sees_what_is_theirs)
{
	assert_int_equal(what_sees(&no_admins, OTHER, 1, 1), OTHER);
	assert_int_equal(what_sees(&admins, OTHER, 1, 1), OTHER);
	/* Root's group is not root, nor are all members of no group. */
	assert_int_equal(what_sees(&no_admins, OTHER, 0, 0), OTHER);
}

TEST(members_of_the_admin_group_see_everything)
{
	assert_int_equal(what_sees(&admins, OTHER, ADMINS, 1), PROC_ANY_UID);
	assert_int_equal(what_sees(&admins, OTHER, 1, ADMINS), PROC_ANY_UID);
	assert_int_equal(what_sees(&no_admins, OTHER, ADMINS, ADMINS), OTHER);
}

TEST(a_group_that_is_none_changes_nothing)
{
	struct access_rules rules = admins;
	struct err err;

	assert_int_equal(access_rules_set(&rules, "jxperf-no-such-group", &err), -ENOENT);
	assert_string_equal(err.message, "there is no group 'jxperf-no-such-group': create it, or "
					 "name another admin-group");
	assert_int_equal(rules.admins, ADMINS);
	assert_int_equal(access_rules_set(&rules, "root", &err), 0);
	assert_true(rules.has_admins);
	assert_int_equal(rules.admins, 0);
	assert_int_equal(access_rules_set(&rules, "", &err), 0);
	assert_false(rules.has_admins);
	assert_int_equal(access_rules_set(&rules, NULL, &err), 0);
	assert_false(rules.has_admins);
}

/* What is at the other end of a pair that a process of this user and these groups makes. */
static struct window_asker peer_of(uid_t uid, size_t group_count, const gid_t *groups)
{
	struct window_asker asker = {0}, owner;
	int pair[2];

	assert_int_equal(setgroups(group_count, groups), 0);
	assert_int_equal(seteuid(uid), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(access_of_peer(&admins, pair[0], &asker, NULL), 0);
	assert_int_equal(access_of_owner(pair[0], &owner, NULL), 0);
	assert_int_equal(owner.uid, uid);
	assert_int_equal(owner.sees, PROC_ANY_UID);
	(void)close(pair[0]);
	(void)close(pair[1]);
	return asker;
}

TEST(the_kernel_says_who_connects_and_in_which_groups)
{
	static const gid_t many[] = {7, 8, ADMINS, 9};
	struct window_asker asker;

	if (geteuid() != 0) {
		print_message("# SKIP needs root\n");
		skip();
	}
	asker = peer_of(OTHER, 0, NULL);
	assert_int_equal(asker.uid, OTHER);
	assert_int_equal(asker.pid, getpid());
	assert_int_equal(asker.sees, OTHER);
	assert_int_equal(peer_of(OTHER, 2, many).sees, OTHER);
	assert_int_equal(peer_of(OTHER, 4, many).sees, PROC_ANY_UID);
	assert_int_equal(peer_of(0, 0, NULL).sees, PROC_ANY_UID);
}

TEST(who_cannot_be_told_is_turned_away)
{
	struct window_asker asker;
	struct err err;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(access_of_peer(&admins, fds[0], &asker, &err), -ENOTSOCK);
	assert_non_null(strstr(err.message, "cannot tell who connects"));
	(void)close(fds[0]);
	(void)close(fds[1]);
}
