#include "daemon/broker_privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/proc.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static const int kept[] = {
    CAP_SETUID, CAP_SETGID, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_PERFMON, CAP_KILL,
};

/* The strictest level at which CAP_PERFMON is enough. */
#define PARANOID_MAX_PERFMON 2

/* When the setting cannot be read there is nothing to be had for the bigger capability either. */
static bool events_take_sys_admin(void)
{
	char text[32];

	return proc_read("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0 &&
	       strtol(text, NULL, 10) > PARANOID_MAX_PERFMON;
}

static uint64_t kept_mask(void)
{
	uint64_t mask = events_take_sys_admin() ? UINT64_C(1) << CAP_SYS_ADMIN : 0;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		mask |= UINT64_C(1) << kept[i];
	return mask;
}

/* The bounding set decides what an exec'd helper of user root gets. */
static int shrink_bounding_set(uint64_t mask, struct err *err)
{
	for (int cap = 0; cap < 64; cap++) {
		int present = prctl(PR_CAPBSET_READ, cap);

		if (present < 0)
			return 0; /* Past the last one that this kernel knows. */
		if (!present || (mask & (UINT64_C(1) << cap)))
			continue;
		if (prctl(PR_CAPBSET_DROP, cap) < 0)
			return err_set_errno(err, errno, "cannot give up capability %d", cap);
	}
	return 0;
}

static int shrink_own_sets(uint64_t mask, struct err *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data) < 0)
		return err_set_errno(err, errno, "cannot read capabilities");
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(mask >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data) < 0)
		return err_set_errno(err, errno, "cannot give up capabilities");
	return 0;
}

int broker_privilege_reduce(struct err *err)
{
	uint64_t mask = kept_mask();
	int r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set_errno(err, errno, "cannot set no_new_privs");
	/* The bounding set is root's to change; what others were given (AmbientCapabilities=) they
	 * have without it. */
	r = geteuid() == 0 ? shrink_bounding_set(mask, err) : 0;
	return r < 0 ? r : shrink_own_sets(mask, err);
}
