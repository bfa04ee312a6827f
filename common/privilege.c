#include "common/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/capabilities.h"

static int become(const struct passwd *user, struct err *err)
{
	if (setgroups(1, &user->pw_gid) < 0 ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
		return err_set_errno(err, errno, "cannot become user '%s'", user->pw_name);
	return 0;
}

/* 0 with the account, NULL for "". */
static int find_account(const char *user, const struct passwd **account, struct err *err)
{
	*account = NULL;
	if (!user[0])
		return 0;
	*account = getpwnam(user);
	if (!*account)
		return err_set(err, EINVAL,
			       "no user '%s': create it (systemd-sysusers does, with the "
			       "file that jxperf installs) or use another --user",
			       user);
	return 0;
}

int privilege_check(const char *user, struct err *err)
{
	const struct passwd *account;

	return find_account(user, &account, err);
}

int privilege_drop(const char *user, struct err *err)
{
	const struct passwd *account;
	int r = find_account(user, &account, err);

	if (r < 0)
		return r;
	if (account && geteuid() != 0 && account->pw_uid != geteuid())
		return err_set(err, EINVAL, "only root can become user '%s': leave out --user",
			       user);
	/* With it, the bounding set needs no care: a program that is run gains nothing. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set_errno(err, errno, "cannot set no_new_privs");
	r = account && geteuid() == 0 ? become(account, err) : 0;
	return r < 0 ? r : capabilities_limit(0, false, err);
}
