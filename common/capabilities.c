#include "common/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBERS 64

static struct __user_cap_header_struct header_of_self(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

bool capabilities_have(int number)
{
	struct __user_cap_header_struct header = header_of_self();
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[number / 32].effective & (1u << (number % 32));
}

uint64_t capabilities_permitted(void)
{
	struct __user_cap_header_struct header = header_of_self();
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return data[0].permitted | (uint64_t)data[1].permitted << 32;
}

const char *capabilities_text(uint64_t mask, char text[CAPABILITIES_TEXT_BYTES])
{
	/* By number, linux/capability.h. */
	static const char *const names[] = {"CHOWN",
					    "DAC_OVERRIDE",
					    "DAC_READ_SEARCH",
					    "FOWNER",
					    "FSETID",
					    "KILL",
					    "SETGID",
					    "SETUID",
					    "SETPCAP",
					    "LINUX_IMMUTABLE",
					    "NET_BIND_SERVICE",
					    "NET_BROADCAST",
					    "NET_ADMIN",
					    "NET_RAW",
					    "IPC_LOCK",
					    "IPC_OWNER",
					    "SYS_MODULE",
					    "SYS_RAWIO",
					    "SYS_CHROOT",
					    "SYS_PTRACE",
					    "SYS_PACCT",
					    "SYS_ADMIN",
					    "SYS_BOOT",
					    "SYS_NICE",
					    "SYS_RESOURCE",
					    "SYS_TIME",
					    "SYS_TTY_CONFIG",
					    "MKNOD",
					    "LEASE",
					    "AUDIT_WRITE",
					    "AUDIT_CONTROL",
					    "SETFCAP",
					    "MAC_OVERRIDE",
					    "MAC_ADMIN",
					    "SYSLOG",
					    "WAKE_ALARM",
					    "BLOCK_SUSPEND",
					    "AUDIT_READ",
					    "PERFMON",
					    "BPF",
					    "CHECKPOINT_RESTORE"};
	size_t known = sizeof(names) / sizeof(names[0]), used = 0;

	text[0] = '\0';
	for (unsigned cap = 0; cap < NUMBERS; cap++) {
		uint64_t later = cap + 1 < NUMBERS ? mask >> (cap + 1) : 0;

		if (!(mask & CAPABILITY(cap)))
			continue;
		if (used)
			used += (size_t)snprintf(text + used, CAPABILITIES_TEXT_BYTES - used, "%s",
						 later ? ", " : " and ");
		used += (size_t)(cap < known ? snprintf(text + used, CAPABILITIES_TEXT_BYTES - used,
							"CAP_%s", names[cap])
					     : snprintf(text + used, CAPABILITIES_TEXT_BYTES - used,
							"capability %u", cap));
	}
	return text;
}

/* Changing the inheritable set has lowered the ambient one to it. */
static int raise_ambient(const struct __user_cap_data_struct *data, struct err *err)
{
	for (int cap = 0; cap < NUMBERS; cap++)
		if ((data[cap / 32].inheritable & (1u << (cap % 32))) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return err_set_errno(err, errno, "cannot pass capability %d on", cap);
	return 0;
}

int capabilities_limit(uint64_t mask, bool inherit, struct err *err)
{
	struct __user_cap_header_struct header = header_of_self();
	struct __user_cap_data_struct before[_LINUX_CAPABILITY_U32S_3] = {0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, before) < 0)
		return err_set_errno(err, errno, "cannot read capabilities");
	memcpy(data, before, sizeof(data));
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(mask >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = inherit ? data[i].permitted : 0;
	}
	/* A service that never had any may not even ask (SystemCallFilter=). */
	if (memcmp(data, before, sizeof(data)) != 0 && syscall(SYS_capset, &header, data) < 0)
		return err_set_errno(err, errno, "cannot give up capabilities");
	return raise_ambient(data, err);
}

int capabilities_limit_bounding(uint64_t mask, struct err *err)
{
	for (int cap = 0; cap < NUMBERS; cap++) {
		int present = prctl(PR_CAPBSET_READ, cap);

		if (present < 0)
			return 0; /* Past the last one that this kernel knows. */
		if (!present || (mask & CAPABILITY(cap)))
			continue;
		if (prctl(PR_CAPBSET_DROP, cap) < 0)
			return err_set_errno(
			    err, errno,
			    "cannot take capability %d out of the bounding set: start jxperfd with "
			    "CAP_SETPCAP (CapabilityBoundingSet= of its unit), or without that one",
			    cap);
	}
	return 0;
}
