"""What windows leave behind, and what they cost while they run: JVMs that had some, beside twins that never had any.

Two JVMs of a program run by turns, a slot each; the other one is stopped meanwhile. One of them has windows of the
default kinds, and is looked at when all are over (`after`), then with a window in each of its slots (`during`). A figure
is operations for each second of the process's CPU time, by that of the twin, and this by what it was before the first
window, since twins differ by what the JIT compiler makes of them: `twins` says how much. Each pair of JVMs gives one.

One row a figure: name, median over the pairs, unit, and their range.

  BENCH_PAIRS  pairs of each program (default 6)     BENCH_JDKS    releases (default: all of 17, 21, 25, 28 there are)
  BENCH_ONLY, BENCH_SLOT_S, BENCH_WARM_UP_S: see bench/slots.py
"""
import os
import platform
import signal
import statistics
import sys
import time

from slots import (BENCH_CLASS_PATH, ONLY, SAYS_PROGRESS, Daemon, Program, Workload, action, nothing, row)
from lib import Jdk, jdks
from support.tree import contained, homes

PAIRS = int(os.environ.get("BENCH_PAIRS", "6"))
RELEASES = [int(r) for r in os.environ.get("BENCH_JDKS", "17,21,25,28").split(",")]
HEAP = ("-Xms256m", "-Xmx256m")
WINDOWS = 3
SLOTS = 3
VIRTUAL = 21


class Residue(Program):
    """A program, in a JDK that may lie in a file system of its own."""

    def __init__(self, jdk, is_contained, name, *options, label=None, oldest=0):
        super().__init__(name, *HEAP, *options, label=f"{label or name}Jdk{jdk.release}", oldest=oldest)
        self.found, self.is_contained = jdk, is_contained

    def jdk(self):
        return self.found

    def command(self, log):
        if not self.is_contained:
            return super().command(log)
        return contained(self.found.home, BENCH_CLASS_PATH.split(":"), [*self.options, *SAYS_PROGRESS, self.name])


def programs():
    here = {jdk.release: (jdk, False) for jdk in jdks()}
    there = {release: (Jdk(home), True) for release, home in homes().items() if release not in here}
    found = {**here, **there}
    for release in RELEASES:
        if release not in found:
            print(f"JDK {release}: left out, it is not there", flush=True)
            continue
        jdk, is_contained = found[release]
        if release >= VIRTUAL:
            yield Residue(jdk, is_contained, "VirtualTurns", label="VirtualYields")
            yield Residue(jdk, is_contained, "VirtualTurns", "-Dqueues=true", label="VirtualQueues")
            yield Residue(jdk, is_contained, "VirtualHttp", "-Dsun.net.httpserver.nodelay=true")
        for name in ("H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract"):
            yield Residue(jdk, is_contained, name)


def stop(workload):
    os.kill(workload.pid, signal.SIGSTOP)


def alone(workload, act):
    """Rate of one while the other one is stopped."""
    os.kill(workload.pid, signal.SIGCONT)
    _, rates = workload.during(act)
    stop(workload)
    return rates.cpu


def compare(one, other, act):
    """The rate of one, which does act() meanwhile, by that of the other."""
    ratios = []
    for i in range(SLOTS):
        turns = [lambda: alone(one, act), lambda: alone(other, nothing)]
        if i % 2:
            other_rate, one_rate = turns[1](), turns[0]()
        else:
            one_rate, other_rate = turns[0](), turns[1]()
        ratios.append(one_rate / other_rate)
    return statistics.median(ratios)


def windows(workload, daemon):
    os.kill(workload.pid, signal.SIGCONT)
    for _ in range(WINDOWS):
        action(workload, daemon, "default")()
    stop(workload)


def pair(program, daemon):
    """By what was done to one of the two."""
    both = [Workload(program) for _ in range(2)]
    try:
        for workload in both:
            workload.warm_up()
            stop(workload)
        twins = compare(*both, nothing)
        windows(both[0], daemon)
        after = compare(*both, nothing)
        during = compare(*both, action(both[0], daemon, "default"))
        return {"twins": twins, "after": after / twins, "during": during / twins}
    finally:
        for workload in both:
            workload.stop()


def main():
    daemon, failed = Daemon(), False
    try:
        for program in programs():
            if ONLY and program.label not in ONLY and program.name not in ONLY:
                continue
            try:
                pairs = [pair(program, daemon) for _ in range(PAIRS)]
            except RuntimeError as reason:
                print(f"{program.label}: failed, {reason}", flush=True)
                failed = True
                continue
            for what in pairs[0]:
                row(f"{program.label}.{what}", [p[what] for p in pairs])
    finally:
        daemon.stop()
    print(f"machine: {os.cpu_count()} processors, Linux {platform.release()}, {PAIRS} pairs, {time.strftime('%Y-%m-%d')}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
