"""Runs a command as systemd would run a unit's ExecStart=: for machines without systemd, and for tests of the unit.

    unit.py UNIT USER COMMAND [ARGUMENT...]

Reads the [Service] section of UNIT itself, so that tests and unit cannot drift apart; a directive that it does not
know is an error. USER stands in for the account that the package makes. What systemd expresses with libseccomp is
put into BPF here; x86-64 only.
"""
import ctypes
import os
import pwd
import re
import resource
import struct
import subprocess
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_READ, PR_CAPBSET_DROP = 38, 22, 23, 24
SECCOMP_MODE_FILTER = 2
PR_SET_KEEPCAPS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 8, 47, 2
PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1

# linux/capability.h, by number.
CAPABILITIES = """chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable
net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct
sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control setfcap
mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore""".split()


def capability_mask(names):
    return sum(1 << CAPABILITIES.index(name) for name in names)


# ---------------------------------------------------------------- seccomp

ARCH_X86_64 = 0xC000003E
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
LOAD, JUMP_EQ, JUMP_GE, JUMP_ANY, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
X32 = 0x40000000


def install(code):
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(program)
    filter_ = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buffer))
    check(LIBC.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter_, 0, 0), "seccomp")


def test_argument(index, operator, value):
    """Instructions that go on if an argument's low half is so, else jump (None) to the end of the rule."""
    load = [(LOAD, 0, 0, 16 + 8 * index)]
    if operator == "any":
        return load + [(JUMP_ANY, 0, None, value)]
    if operator == "all":
        return load + [(AND, 0, 0, value), (JUMP_EQ, 0, None, value)]
    assert operator == "not", operator
    return load + [(JUMP_EQ, None, 0, value)]


def refuse(rules):
    """A filter that answers system calls with an errno; rules: (number, errno, tests of arguments...)."""
    code = [(LOAD, 0, 0, 4), (JUMP_EQ, 1, 0, ARCH_X86_64), (RETURN, 0, 0, ALLOW)]
    for number, errno, *tests in rules:
        rule = [(LOAD, 0, 0, 0), (JUMP_EQ, 0, None, number)]
        for one in tests:
            rule += test_argument(*one)
        rule.append((RETURN, 0, 0, ERRNO | errno))
        for i, (op, yes, no, value) in enumerate(rule):
            end = len(rule) - i - 1
            code.append((op, end if yes is None else yes, end if no is None else no, value))
    install(code + [(RETURN, 0, 0, ALLOW)])


def lock_personality():
    refuse([(135, EPERM, (0, "not", 0))])


def deny_write_execute():
    """systemd does the first where the kernel can, and the second elsewhere."""
    LIBC.prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)  # Before Linux 6.3 it fails.
    write_execute, execute, shm_exec = 2 | 4, 4, 0o100000
    refuse([
        (9, EPERM, (2, "all", write_execute)),  # mmap
        (10, EPERM, (2, "any", execute)),  # mprotect
        (329, EPERM, (2, "any", execute)),  # pkey_mprotect
        (30, EPERM, (2, "any", shm_exec)),  # shmat
    ])


def restrict_address_families(names):
    numbers = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
    refuse([(41, EAFNOSUPPORT, *((0, "not", numbers[name]) for name in names.split()))])


def restrict_namespaces():
    any_namespace = 0x7E020000
    refuse([
        (272, EPERM, (0, "any", any_namespace | 0x80)),  # unshare
        (56, EPERM, (0, "any", any_namespace)),  # clone
        (435, ENOSYS),  # clone3
        (308, EPERM),  # setns
    ])


def restrict_realtime():
    # sched_setscheduler but for SCHED_OTHER, SCHED_BATCH, SCHED_IDLE; sched_setattr
    refuse([(144, EPERM, (1, "not", 0), (1, "not", 3), (1, "not", 5)), (314, EPERM)])


def restrict_suid_sgid():
    creates = 0o100
    rules = [(437, ENOSYS)]  # openat2
    for bit in (0o4000, 0o2000):
        # chmod, fchmod, fchmodat, fchmodat2, creat, mkdir, mkdirat, mknod, mknodat
        for number, mode in ((90, 1), (91, 1), (268, 2), (452, 2), (85, 1), (83, 1), (258, 2), (133, 1), (259, 2)):
            rules.append((number, EPERM, (mode, "any", bit)))
        rules.append((2, EPERM, (1, "any", creates), (2, "any", bit)))  # open
        rules.append((257, EPERM, (2, "any", creates), (3, "any", bit)))  # openat
    refuse(rules)


def system_calls(names):
    """The numbers of the calls, in systemd's groups (@name), too; those that this machine's headers know."""
    with open("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", encoding="ascii") as f:
        numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", f.read()))
    found, wanted = set(), list(names)
    while wanted:
        name = wanted.pop()
        if name.startswith("@"):
            said = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
            wanted += [line.strip() for line in said.stdout.splitlines()[1:] if line.strip() and line.strip()[0] != "#"]
        elif name in numbers:
            found.add(int(numbers[name]))
    return found


def filter_system_calls(values):
    allowed = set()
    for value in values:
        if value.startswith("~"):
            allowed -= system_calls(value[1:].split())
        else:
            # systemd adds what starting a program takes.
            allowed |= system_calls([*value.split(), "@default"])
    code = [(LOAD, 0, 0, 0)]
    for number in sorted(allowed):
        code += [(JUMP_EQ, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    install(code + [(RETURN, 0, 0, ERRNO | EPERM)])


def native_architecture():
    install([
        *[(LOAD, 0, 0, 4), (JUMP_EQ, 1, 0, ARCH_X86_64), (RETURN, 0, 0, KILL)],
        *[(LOAD, 0, 0, 0), (JUMP_GE, 0, 1, X32), (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW)],
    ])


# ---------------------------------------------------------------- directives


def check(result, what):
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def limit_bounding_set(text):
    keep = [name.lower().removeprefix("cap_") for name in text.split()]
    assert all(name in CAPABILITIES for name in keep), keep
    for number in range(64):
        if LIBC.prctl(PR_CAPBSET_READ, number, 0, 0, 0) != 1:
            continue
        if number >= len(CAPABILITIES) or CAPABILITIES[number] not in keep:
            check(LIBC.prctl(PR_CAPBSET_DROP, number, 0, 0, 0), "bounding set")


class Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def become(user, ambient):
    """The account, with these capabilities kept for all that it runs."""
    account, mask = pwd.getpwnam(user), capability_mask(name.lower().removeprefix("cap_") for name in ambient.split())
    check(LIBC.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "keep capabilities")
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    halves = [half for shift in (0, 32) for half in [(mask >> shift) & 0xFFFFFFFF] * 3]
    check(LIBC.capset(ctypes.byref(Header(0x20080522, 0)), (ctypes.c_uint32 * 6)(*halves)), "capset")
    for number in range(len(CAPABILITIES)):
        if mask & 1 << number:
            check(LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0), "ambient set")


def limit_descriptors(text):
    wanted = int(text)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)  # A container's root may not raise it.
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))


def yes(function):
    def apply(value):
        assert value == "yes", value
        function()

    return apply


# What is done before the account is taken, and after it; in the order in which systemd applies them.
BEFORE = {
    "LimitNOFILE": limit_descriptors,
    "CapabilityBoundingSet": limit_bounding_set,
}
AFTER = {
    "NoNewPrivileges": yes(lambda: check(LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")),
    "RestrictAddressFamilies": restrict_address_families,
    "MemoryDenyWriteExecute": yes(deny_write_execute),
    "RestrictRealtime": yes(restrict_realtime),
    "RestrictSUIDSGID": yes(restrict_suid_sgid),
    "RestrictNamespaces": yes(restrict_namespaces),
    "SystemCallFilter": filter_system_calls,
    "LockPersonality": yes(lock_personality),
    "SystemCallArchitectures": lambda _value: native_architecture(),
}
# For systemd itself, or what takes namespaces: no privilege of the process changes. What takes them is tested under a
# real systemd (tests/production).
OTHERS = """Type NotifyAccess Restart RestartSec RestartPreventExitStatus KillMode TimeoutStopSec WatchdogSec ExecStart ExecReload User Group
AmbientCapabilities RuntimeDirectory RuntimeDirectoryMode StateDirectory StateDirectoryMode MemoryMax
CPUQuota CPUWeight IOWeight Nice OOMScoreAdjust TasksMax LogRateLimitIntervalSec LogRateLimitBurst ProtectSystem ProtectHome ProtectProc ProcSubset PrivateTmp PrivateDevices PrivateIPC PrivateMounts
PrivateNetwork ProtectClock ProtectControlGroups ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables
DevicePolicy IPAddressDeny KeyringMode RemoveIPC UMask SystemCallErrorNumber""".split()
SEVERAL = ["SystemCallFilter"]


def service(path):
    """The [Service] section as a dictionary."""
    found, section = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line and line[0] not in "#;":
                name, value = line.split("=", 1)
                assert name in [*BEFORE, *AFTER, *OTHERS], f"{path}: this runner does not know {name}="
                assert name not in found or name in SEVERAL, f"{path}: {name}= twice"
                if name in SEVERAL:
                    found.setdefault(name, []).append(value)
                else:
                    found[name] = value
    return found


def main():
    path, user, *command = sys.argv[1:]
    directives = service(path)
    if "LISTEN_FDS" in os.environ:
        os.environ["LISTEN_PID"] = str(os.getpid())
    os.setgroups([])
    for name, apply in BEFORE.items():
        if name in directives:
            apply(directives[name])
    if directives["User"] != "root":
        become(user, directives.get("AmbientCapabilities", ""))
    for name, apply in AFTER.items():
        if name in directives:
            apply(directives[name])
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
