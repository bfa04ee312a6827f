"""Looks like a JVM from outside, and hangs whoever looks closer.

    python3 hostile_jvm.py LIBJVM NAME UID [COMMAND LINE...] [--lock FILE|--perfdata FILE|--copies N]

Maps LIBJVM, calls itself NAME and becomes user UID. Its command line is then the one given, as far as
the real one has room. With --lock, FILE of support/fuse.py, it holds the lock of its own address space
for ever: whoever reads its mappings, command line or environment waits for it. With --perfdata it has mapped FILE.
With --copies there are N of it, which end with the first.
"""
import ctypes
import mmap
import os
import signal
import sys
import threading

PAGE = 4096
PROT_READ, PROT_EXEC = 1, 4
MAP_PRIVATE = 2
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
ARG_START, ARG_END = 47, 48  # fields of /proc/PID/stat, from 0

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def map_private(file, protection):
    assert libc.mmap(None, PAGE, protection, MAP_PRIVATE, file.fileno(), 0) != 2**64 - 1


def set_command_line(words):
    with open("/proc/self/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    start, end = int(fields[ARG_START - 2]), int(fields[ARG_END - 2])
    text = b"".join(w.encode() + b"\0" for w in words)
    assert len(text) <= end - start, "the command line has too little room"
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))


def lock(path):
    """A page that is dirty in the cache, and a mapping without: the kernel writes the page first, with the
    lock held, and the server does not answer."""
    with open(path, "r+b") as cached, open(path, "rb") as direct:
        dirty = mmap.mmap(cached.fileno(), PAGE)
        dirty[0] = 1
        threading.Thread(target=map_private, args=(direct, PROT_READ), daemon=True).start()
        signal.pause()


def copy(count):
    """So many children, each as this process is."""
    for _ in range(count):
        if os.fork() == 0:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            return


def main(libjvm, name, uid, *words):
    words = list(words)
    how, file = (words.pop(-2), words.pop()) if len(words) > 1 and words[-2].startswith("--") else (None, None)
    with open(libjvm, "rb") as f:
        map_private(f, PROT_READ | PROT_EXEC)
    signal.signal(signal.SIGQUIT, lambda *_: None)
    libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
    os.setgroups([])
    os.setgid(int(uid))
    os.setuid(int(uid))
    if how == "--perfdata":
        with open(file, "rb") as f:
            map_private(f, PROT_READ)
    if words:
        set_command_line(words)
    if how == "--copies":
        copy(int(file) - 1)
    os.write(1, b"hostile\n")
    if how == "--lock":
        lock(file)
    while True:
        signal.pause()


main(*sys.argv[1:])
