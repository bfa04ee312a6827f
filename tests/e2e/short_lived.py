"""A program that starts threads of tens of microseconds by the thousand: what they do has its share of the CPU time, and
so has a thread beside them that stays.

Of the short ones few have ticks, which stand for much: a tick of theirs weighs w, so the error of their share is that of
so many ticks as there were in it.
"""
# Takes two places: its program uses both processors.
# Estimates: shares of CPU time.
import math
import re
import time

from lib import add_test, jdks, note, run
from support.cpu_time import Spent, two_processors, window_with_account
from support.profile import Daemon, Workload

PROGRAM = "ShortLived"
WINDOW_S = 10
BUDGET = "5%"
ALLOWED = 0.03
LEAST_TICKS = 20
# Of windows that are right one in twenty is further off than two errors.
TRIES = 3


def served_ns(output, at_s):
    """What the threads had served by then, between two of the program's lines."""
    lines = [tuple(map(int, m)) for m in re.findall(r"at (\d+) served (\d+)\n", output)]
    later = next(i for i, (ns, _) in enumerate(lines) if ns > at_s * 1e9)
    (t0, s0), (t1, s1) = lines[later - 1], lines[later]
    return s0 + (s1 - s0) * (at_s * 1e9 - t0) / (t1 - t0)


def window(daemon, jvm):
    report, before, after = window_with_account(daemon, jvm.pid, WINDOW_S, BUDGET)
    time.sleep(0.2)  # Its lines of the end.
    served = served_ns(jvm.output(), after.at) - served_ns(jvm.output(), before.at)
    return report, Spent(before, after), served / 1e9


class Shares:
    def __init__(self, report, spent, served_s):
        cpu, quality = report["cpu"], report["quality"]
        serves = [r for r in cpu["by_inclusive"] if (r["class"], r["method"]) == (PROGRAM, "serves")]
        self.truth, self.found = served_s / spent.cpu_s, sum(r["inclusive"] for r in serves)
        self.ticks = sum(r["inclusive_samples"] for r in serves)
        self.allowed = ALLOWED + 2 * self.found / math.sqrt(max(self.ticks, 1))
        self.steady = spent.of_threads("computes")
        self.steady_found = sum(t["fraction"] for t in cpu["threads"] if t["name"] == "computes")
        note(f"serves: {self.truth:.3f} true, {self.found:.3f} found, {self.allowed:.3f} allowed, {self.ticks} ticks; "
             f"computes: {self.steady:.3f} true, {self.steady_found:.3f} found; {quality['guests']} guests, "
             f"{quality['guests_missed']} missed; overhead {quality['overhead_fraction']:.4f}, "
             f"not told {cpu['other_fraction']:.3f}")
        assert not report["window"]["ended_early"] and quality["dropped"] == 0, (report["window"], quality)

    def are_right(self):
        return (self.ticks >= LEAST_TICKS and abs(self.found - self.truth) < self.allowed
                and abs(self.steady_found - self.steady) < ALLOWED)


def shares_are_right(daemon, jdk, together):
    jvm = Workload(jdk, PROGRAM, arguments=[str(together)], prefix=two_processors())
    try:
        daemon.attach(jvm.pid, "--kinds", "cpu", duration="500ms")  # The first of all costs what others do not.
        assert any(Shares(*window(daemon, jvm)).are_right() for _ in range(TRIES)), "no window is right"
    finally:
        jvm.stop()


def main():
    daemon, found = Daemon(), jdks()
    baseline = next((j for j in found if j.release == 17), found[0])
    for jdk, together in ((baseline, 1), (baseline, 8), (found[-1], 1)):
        add_test(f"threads of tens of microseconds, {together} at a time ({jdk})",
                 lambda case=(daemon, jdk, together): shares_are_right(*case))
    run()


main()
