"""The CPU time of a process and of its threads, as the kernel accounts for it."""
import os
import time

from lib import HANG_S, wait_until
from .profile import attach_options, report_of

CLOCK_MONOTONIC_COARSE = 6
# The scheduler's tick, at which the kernel looks whether a thread is in user code; utime and stime are of such looks.
TICK_NS = round(time.clock_getres(CLOCK_MONOTONIC_COARSE) * 1e9)
UNIT_S = 1 / os.sysconf("SC_CLK_TCK")
TICKS_OBSERVED = 50


def _process_clock(pid):
    """As clock_getcpuclockid(3) makes it."""
    return (~pid << 3) | 2


def _user_and_kernel(path):
    with open(path, encoding="ascii", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return int(fields[11]) * UNIT_S, int(fields[12]) * UNIT_S


class ThreadTime:
    """cpu_s is exact; user_s and kernel_s come from the scheduler's ticks, and in hundredths of a second."""

    def __init__(self, task):
        with open(f"{task}/comm", encoding="utf-8", errors="replace") as f:
            self.name = f.read().rstrip("\n")
        with open(f"{task}/schedstat", encoding="ascii") as f:
            self.cpu_s = int(f.read().split()[0]) / 1e9
        self.user_s, self.kernel_s = _user_and_kernel(f"{task}/stat")


class ProcessTime:
    """So far. threads has those that live, by tid."""

    def __init__(self, pid):
        self.at = time.monotonic()
        self.cpu_s = time.clock_gettime(_process_clock(pid))
        self.user_s, self.kernel_s = _user_and_kernel(f"/proc/{pid}/stat")
        self.threads = {}
        for tid in map(int, os.listdir(f"/proc/{pid}/task")):
            try:
                self.threads[tid] = ThreadTime(f"/proc/{pid}/task/{tid}")
            except (FileNotFoundError, ProcessLookupError):
                pass  # It ended meanwhile.


class Spent:
    """Shares of a process's CPU time between two looks."""

    def __init__(self, before, after):
        self.seconds = after.at - before.at
        self.cpu_s = after.cpu_s - before.cpu_s
        looked_at = (after.user_s - before.user_s) + (after.kernel_s - before.kernel_s)
        self.kernel = (after.kernel_s - before.kernel_s) / looked_at
        self.threads = {}  # tid: (name, share, share that is the thread's in the kernel)
        for tid, thread in after.threads.items():
            start = before.threads.get(tid)
            cpu_s = thread.cpu_s - (start.cpu_s if start else 0.0)
            kernel_s = thread.kernel_s - (start.kernel_s if start else 0.0)
            self.threads[tid] = thread.name, cpu_s / self.cpu_s, kernel_s / self.cpu_s

    def of_threads(self, name):
        """The share of those whose names begin with it."""
        return sum(share for thread, share, _ in self.threads.values() if thread.startswith(name))


def tick_phase_ns():
    """When the scheduler's ticks come, by the monotonic clock modulo TICK_NS. The coarse clock changes with them."""
    seen = []
    last = time.clock_gettime_ns(CLOCK_MONOTONIC_COARSE)
    while len(seen) < TICKS_OBSERVED:
        now = time.clock_gettime_ns(CLOCK_MONOTONIC_COARSE)
        if now != last:
            seen.append(time.monotonic_ns() % TICK_NS)
            last = now
    around = sorted((s - seen[0] + TICK_NS // 2) % TICK_NS - TICK_NS // 2 for s in seen)
    return (seen[0] + around[len(around) // 2]) % TICK_NS


def two_processors():
    """What runs a program on two processors, wherever there are more."""
    return ["taskset", "--cpu-list", ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))]


def window_with_account(daemon, pid, seconds, budget):
    """The report of a window of kind cpu, and what the kernel accounted for at its beginning and at its end."""
    client = daemon.start_ctl("attach", str(pid), *attach_options(f"{seconds}s", ("--kinds", "cpu", "--budget", budget)))
    wait_until(lambda: daemon.running() or client.child.poll() is not None, "the window's beginning")
    before = ProcessTime(pid)
    time.sleep(seconds - 0.2)
    wait_until(lambda: not daemon.running(), "the window's end", HANG_S)
    after = ProcessTime(pid)
    return report_of(client.finish()), before, after
