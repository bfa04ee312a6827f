#include "attach/target.h"

#include "attach/process/jvm_text.h"
#include "common/capabilities.h"
#include "common/cleanup.h"
#include "common/proc.h"

#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#define ENVIRON_BYTES (256u << 10) /* HOME beyond this is not found: a fallback less. */

static void read_home(struct target *t)
{
	_cleanup_free_ char *text = malloc(ENVIRON_BYTES);
	const char *home = NULL;
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", t->jvm.pid);
	n = text ? proc_read(path, text, ENVIRON_BYTES) : -ENOMEM;
	if (n > 0)
		home = jvm_text_environ(text, (size_t)n, "HOME");
	if (home && *home == '/' && strlen(home) < sizeof(t->home))
		strcpy(t->home, home);
}

int target_open(struct target *t, pid_t pid, uid_t owner, struct err *err)
{
	int r;

	memset(t, 0, sizeof(*t));
	t->root = t->cwd = TARGET_DIR_NONE;
	r = jvm_inspect(pid, owner, &t->jvm, err);
	if (r < 0)
		return r;
	if (t->jvm.obstacle != JVM_ATTACHABLE)
		return err_set(err, jvm_obstacle_errno(t->jvm.obstacle), "%s", t->jvm.reason);
	r = target_fs_open_dir(&t->root, pid, "root", t->jvm.euid, t->jvm.egid);
	if (r < 0)
		return err_set_errno(err, -r, "cannot open '/proc/%d/root'", pid);
	(void)target_fs_open_dir(&t->cwd, pid, "cwd", t->jvm.euid, t->jvm.egid); /* Or none. */
	read_home(t);
	/* What was opened and read since must be the same user's. */
	return jvm_is_unchanged(&t->jvm) ? 0 : proc_absent(pid, err);
}

void target_close(struct target *t)
{
	target_fs_close_dir(&t->root);
	target_fs_close_dir(&t->cwd);
}

int target_become_owner(const struct target *t, struct err *err)
{
	uid_t uid = t->jvm.euid;
	gid_t gid = t->jvm.egid;

	bool privileged = capabilities_have(CAP_SETGID);
	int r;

	if (privileged && setgroups(0, NULL) < 0)
		return err_set_errno(err, errno, "cannot give up supplementary groups");
	if (privileged && setresgid(gid, gid, gid) < 0)
		return err_set_errno(err, errno, "cannot become group %u", gid);
	if (setresuid(uid, uid, uid) < 0)
		return err_set_errno(err, errno, "cannot become user %u", uid);
	/* The kernel takes them from who was root, and from nobody else. */
	if (uid != 0) {
		r = capabilities_limit(0, false, err);
		if (r < 0)
			return r;
	}
	/* Nobody of that user may trace us or open what we hold, the target least of all. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		return err_set_errno(err, errno, "cannot forbid being traced");
	return 0;
}
