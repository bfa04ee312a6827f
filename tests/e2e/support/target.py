"""What can be seen of a target from outside."""
import collections
import ctypes
import os
import re
import signal

PIDFD_GETFD = 438
AGENT_THREAD = "jxperf agent"
AGENT = "libjxperf-agent.so"

# A JVM starts and ends these as it sees fit, and Attach Listener at the first attach.
OWN_THREADS = re.compile(r"Attach Listener|C[12] CompilerThre.*|GC Thread#\d+|G1 .*|Z[A-Z].*|Shenandoah .*|RuntimeWorker.*")

# The Attach Listener's: the one descriptor that an attach may leave behind.
LISTENERS = 1


def descriptors(pid):
    """What the descriptors refer to; sockets and pipes without their numbers."""
    found = collections.Counter()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[re.sub(r":\[\d+\]$", "", os.readlink(f"/proc/{pid}/fd/{fd}"))] += 1
        except FileNotFoundError:
            pass  # Closed meanwhile.
    return found


def perf_descriptors(pid):
    return sum(n for name, n in descriptors(pid).items() if "perf_event" in name)


def copies_of_perf_descriptors(pid):
    """This process's own descriptors of another's perf events, to be closed."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    copies = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "perf_event" in os.readlink(f"/proc/{pid}/fd/{fd}"):
                copies.append(libc.syscall(PIDFD_GETFD, process, int(fd), 0))
        except FileNotFoundError:
            pass  # Closed meanwhile.
    os.close(process)
    return [fd for fd in copies if fd >= 0]


def threads(pid):
    """The threads' names, without those that a JVM starts and ends as it sees fit."""
    found = collections.Counter()
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm", encoding="utf-8", errors="replace") as f:
                name = f.read().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if not OWN_THREADS.fullmatch(name):
            found[name] += 1
    return found


def asleep(pid):
    """No thread works, not even on its own start, in which it gets its name."""
    states = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8", errors="replace") as f:
                states.append(f.read().rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return "R" not in states


def at_rest(pid):
    """No window is in it: neither events nor the agent's thread, which ends after them."""
    return perf_descriptors(pid) == 0 and AGENT_THREAD not in threads(pid)


def catches(pid, number):
    """Does the process have a handler for the signal?"""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        line = next(l for l in f if l.startswith("SigCgt:"))
    return bool(int(line.split()[1], 16) & 1 << (number - 1))


def timers(pid):
    with open(f"/proc/{pid}/timers", encoding="ascii") as f:
        return f.read()


def mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as f:
        return f.read().splitlines()


def agent_mappings(pid):
    """(offset, permissions, path) of every part of the agent's library."""
    parts = (line.split(None, 5) for line in mappings(pid) if AGENT in line)
    return [(offset, permissions, path) for _, permissions, offset, _, _, path in parts]


class Snapshot:
    """Everything that a session must put back."""

    def __init__(self, pid):
        self.descriptors = descriptors(pid)
        self.threads = threads(pid)
        self.catches_sigtrap = catches(pid, signal.SIGTRAP)
        self.timers = timers(pid)
        self.files = sorted(os.listdir(f"/proc/{pid}/cwd"))

    def differences(self, later):
        """What a later snapshot has that this one has not, as text for a person; [] for nothing."""
        found = []
        extra = later.descriptors - self.descriptors
        if extra["socket"] <= LISTENERS:
            del extra["socket"]
        if extra:
            found.append(f"descriptors {dict(extra)}")
        if later.threads != self.threads:
            found.append(f"threads {dict(later.threads - self.threads)}")
        if later.catches_sigtrap and not self.catches_sigtrap:
            found.append("a handler for SIGTRAP")
        if later.timers != self.timers:
            found.append(f"timers {later.timers}")
        if later.files != self.files:
            found.append(f"files {later.files}")
        return found
