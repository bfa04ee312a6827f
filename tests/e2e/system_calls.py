"""No system call of the target ends early because of us, whatever a window does meanwhile.

  JXPERF_SYSTEM_CALLS_S (default 10)   seconds of windows, on each JDK
"""
# Takes two places: its threads and its windows keep both processors busy.
import functools
import os
import re
import subprocess
import time

from lib import HANG_S, compile_jni, jdks, note, run, test, test_on_jdks
from support.profile import Daemon, Workload

SECONDS = float(os.environ.get("JXPERF_SYSTEM_CALLS_S", "10"))
WINDOW_S = 2
# Ticks as often as they come.
OFTEN = ("--period", "1ms", "--budget", "20%")
KINDS = ("dead-store,silent-store,silent-load,objects,cpu,loops", "cpu", "silent-load,cpu", "loops")

COUNTS = re.compile(r"^call (\S+) calls (\d+) interrupted (\d+) early (\d+)$", re.MULTILINE)
# By their specification these may.
MAY_BE_EARLY = {"parkNanos"}

# Of each thread, in 10 s; the writes of a mebibyte are the slowest.
LEAST_CALLS = 100
LEAST_TICKS = 300
LEAST_IN_KERNEL = 50


@functools.lru_cache(maxsize=None)
def library():
    return compile_jni("system_calls.c")


class SystemCalls(Workload):
    def __init__(self, jdk, *arguments):
        super().__init__(jdk, "SystemCalls", arguments=[library(), *arguments], stdin=subprocess.PIPE)

    def finish(self):
        """{name: (calls, interrupted, early)}"""
        self.child.stdin.close()
        self.child.wait(HANG_S)
        output = self.output()
        assert self.child.returncode == 0 and output.endswith("done\n"), output[-2000:]
        return {name: tuple(map(int, counts)) for name, *counts in COUNTS.findall(output)}


class Ticks:
    """Of all windows: how many there were, and how many of those that went to kind cpu fell into the kernel."""

    def __init__(self):
        self.windows = self.all = self.in_kernel = self.handler_ns = 0

    def add(self, report):
        assert not report["window"]["ended_early"], report["window"]
        cpu = report.get("cpu") or {}
        self.windows += 1
        self.all += report["quality"]["ticks"]
        self.handler_ns += report["quality"]["handler_ns"]
        self.in_kernel += cpu.get("samples", 0) * cpu.get("kernel_fraction", 0.0)


@test_on_jdks
def no_system_call_ends_early(jdk):
    daemon, target, ticks = Daemon(), SystemCalls(jdk), Ticks()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end or ticks.windows < len(KINDS):
        kinds = KINDS[ticks.windows % len(KINDS)]
        ticks.add(daemon.attach(target.pid, "--kinds", kinds, *OFTEN, duration=f"{WINDOW_S}s"))
        assert target.alive(), target.output()[-2000:]
    counts = target.finish()
    for name, (calls, interrupted, early) in counts.items():
        note(f"{name:<20}{calls:>9} calls, {interrupted} interrupted, {early} early")
    note(f"{ticks.windows} windows: {ticks.all} ticks, {ticks.in_kernel:.0f} of kind cpu in the kernel, "
         f"{ticks.handler_ns / 1e6:.0f} ms in handlers")
    cut_short = {name: c for name, c in counts.items() if c[1] or (c[2] and name not in MAY_BE_EARLY)}
    assert not cut_short, f"(calls, interrupted, early): {cut_short}"
    assert len(counts) == 20 and min(c[0] for c in counts.values()) >= LEAST_CALLS, counts
    assert ticks.all >= LEAST_TICKS, ticks.all
    assert ticks.in_kernel >= LEAST_IN_KERNEL, f"{ticks.in_kernel:.0f} ticks in the kernel"


@test
def the_check_sees_calls_that_signals_end():
    """Handled with SA_RESTART, which makes only some of them start again."""
    counts = SystemCalls(jdks()[0], "disturbed").finish()
    for name in ("poll", "epoll_wait", "nanosleep", "recv", "futex", "semtimedop"):
        assert counts[name][1] > 0, (name, counts[name])
    for name in ("pipe_write", "send", "recv_all"):
        assert counts[name][2] > 0, (name, counts[name])


run()
