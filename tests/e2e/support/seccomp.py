"""Runs a command under a container's seccomp profile, as runtimes do:

    python3 seccomp.py PROFILE COMMAND [ARGUMENT...]

Knows of a profile what ours has; no_new_privs is set. Needs libseccomp, which is wherever systemd is.
"""
import ctypes
import json
import os
import sys

ERRNO, ALLOW = 0x00050000, 0x7FFF0000
COMPARE = {"SCMP_CMP_EQ": 4, "SCMP_CMP_MASKED_EQ": 7}


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("datum_a", ctypes.c_uint64), ("datum_b", ctypes.c_uint64)]


def action(rule, key="action", error="errnoRet"):
    return {"SCMP_ACT_ALLOW": ALLOW, "SCMP_ACT_ERRNO": ERRNO | rule.get(error, 1)}[rule[key]]


def load(profile):
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    library.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
    assert profile["architectures"] == ["SCMP_ARCH_X86_64"], profile["architectures"]
    context = library.seccomp_init(action(profile, "defaultAction", "defaultErrnoRet"))
    for rule in profile["syscalls"]:
        arguments = [Comparison(a["index"], COMPARE[a["op"]], a["value"], a.get("valueTwo", 0)) for a in rule.get("args", [])]
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # Kernels that know more than the library: nothing here calls them.
            if number < 0:
                continue
            added = library.seccomp_rule_add_array(context, action(rule), number, len(arguments),
                                                   (Comparison * len(arguments))(*arguments))
            assert added == 0, (name, added)
    loaded = library.seccomp_load(context)
    assert loaded == 0, loaded


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        load(json.load(f))
    os.execvp(sys.argv[2], sys.argv[2:])
