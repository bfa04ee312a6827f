"""Kind cpu says of user code, the kernel and each thread what the kernel's own account of the process says.

A share p of n ticks has a standard error of the square root of p (1 - p) / n, and three of these are allowed beyond a
point: with two, one of the many rows was wrong now and then. The point is for what the handlers cost meanwhile, for the
window's beginning and end, which are not exactly those of the account, and for the account's units. utime and stime are
told apart by the scheduler's ticks, and so have an error of that sort of their own; the CPU clocks have none.
"""
# Takes two places: its programs use both processors.
# Estimates: shares of CPU time.
import math
import os

from lib import add_test, jdks, make_directory, note, run
from support.cpu_time import TICK_NS, Spent, tick_phase_ns, two_processors, window_with_account
from support.profile import Daemon, Workload

PROGRAM = "CpuShares"
WINDOW_S = 4
BUDGET = "5%"
POINT = 0.01
# Of what is in step with the scheduler's tick.
IN_STEP = 0.02
# Of what is told by ticks and known by clocks, for each part of a processor that others took from the thread: it is
# preempted at ticks, and not in all that it does alike. By the kernel's own ticks user and kernel are as far off then
# (seen: 0.08, in both, of threads that had 45 and 72% of a processor).
TAKEN = 0.2
# Threads below are neither shown nor compared one by one: they are within a point, whatever is said of them. Of the others
# those that are small and right are only counted.
COMPARED, SHOWN = 0.01, 0.05
LEAST_TICKS = 200
# What the report says that it does not know may be anybody's, up to this: on a busy machine it is some percent.
UNTOLD_MOST = 0.1
# Of the account's beginning and end, and how often that is tried on a machine where others delay it.
NEAR_S, TRIES = 0.5, 4
# The process's CPU time is read by several, not at once.
SAME_CPU_TIME = 0.02
PARTS = ("java", "native", "kernel", "no_java", "unwalkable", "gc", "jit", "other")

# Half of a quarter of the period before the tick; and long after one, and before the next.
ON_THE_TICK, BESIDE_THE_TICK = -TICK_NS // 8, TICK_NS * 3 // 8


def three_errors(share, *counts):
    """Three times the standard error of a share, or of the difference of two, each of so many ticks."""
    share = min(max(share, 0.0), 1.0)
    return 3 * math.sqrt(share * (1 - share) * sum(1 / max(n, 1) for n in counts))


class Comparison:
    """A window, and what the process used meanwhile."""

    def __init__(self, spent, report):
        self.spent = spent
        self.report = report
        self.cpu = report["cpu"]
        self.ticks = self.cpu["samples"]
        self.looks = spent.cpu_s * 1e9 / TICK_NS
        self.wrong = []
        self.small = 0
        self.told = {row["tid"]: row for row in self.cpu.get("threads", [])}

    def part(self, name):
        """0 where nothing was told of it; null is for what could not be told."""
        return self.cpu.get(f"{name}_fraction") or 0.0

    def inclusive(self, method):
        rows = self.cpu["by_inclusive"]
        return sum(row["inclusive"] for row in rows if (row["class"], row["method"]) == (PROGRAM, method))

    def row(self, what, truth, found, allowed, untold=None):
        """untold is what may be missing from what was found, since the report says that it is."""
        untold = min(self.part("other"), UNTOLD_MOST) if untold is None else untold
        good = found - allowed <= truth <= found + untold + allowed
        if good and max(truth, found) < SHOWN:
            self.small += 1
            return
        note(f"  {what:<34}{truth:>7.3f} true{found:>7.3f} found{found - truth:>+8.3f} of {allowed:.3f}"
             + (f", {untold:.3f} not told" if untold else "") + ("" if good else "  WRONG"))
        if not good:
            self.wrong.append(f"{what} {truth:.3f} true {found:.3f} found")

    def user_and_kernel(self):
        kernel = self.spent.kernel
        allowed = POINT + three_errors(kernel, self.ticks, self.looks)
        self.row("kernel", kernel, self.part("kernel"), allowed)
        self.row("user", 1 - kernel, sum(self.part(p) for p in PARTS if p not in ("kernel", "other")), allowed)

    def threads(self):
        """By their clocks."""
        for tid, (name, share, _) in sorted(self.spent.threads.items()):
            found = self.told[tid]["fraction"] if tid in self.told else 0.0
            if max(share, found) >= COMPARED:
                self.row(f"thread {name}", share, found, POINT + three_errors(share, self.ticks))

    def threads_kernel(self):
        whole = self.cpu.get("cpu_s") or 1.0
        for tid, (name, share, kernel) in sorted(self.spent.threads.items()):
            found = self.told[tid]["kernel_s"] / whole if tid in self.told else 0.0
            if share >= COMPARED:
                self.row(f"thread {name}, in the kernel", kernel, found,
                         POINT + three_errors(kernel, self.ticks, self.looks))

    def threads_called(self, beginning):
        """All of them together, which is told better than each."""
        truth = self.spent.of_threads(beginning)
        found = sum(row["fraction"] for row in self.told.values() if row["name"].startswith(beginning))
        self.row(f"threads {beginning}*", truth, found, POINT + three_errors(truth, self.ticks))

    def method(self, method, truth, least=POINT, untold=None):
        self.row(f"in {method}", truth, self.inclusive(method), least + three_errors(truth, self.ticks), untold)

    def parts_of(self, thread, **parts):
        """Methods that have these parts of a thread that never waits."""
        own = self.spent.of_threads(thread)
        taken = max(1 - own * self.spent.cpu_s / self.spent.seconds, 0)
        for method, part in parts.items():
            self.method(method, part * own, POINT + TAKEN * taken)

    def finish(self):
        cpu, quality, window = self.cpu, self.report["quality"], self.report["window"]
        missing = [f"{p}_fraction" for p in PARTS if f"{p}_fraction" not in cpu] + ["threads"] * ("threads" not in cpu)
        note(f"  {self.small} more are small and right")
        assert not missing, f"the report lacks {', '.join(missing)}; wrong: {', '.join(self.wrong)}"
        assert abs(sum(self.part(p) for p in PARTS) - 1) < 1e-6, cpu
        assert sum(row["fraction"] for row in self.told.values()) <= 1 + 1e-6, cpu["threads"]
        own_s = quality["target_cpu_s"] - quality["overhead_cpu_s"]
        assert abs(cpu["cpu_s"] / own_s - 1) < SAME_CPU_TIME, (cpu["cpu_s"], own_s)
        assert not window["ended_early"] and quality["dropped"] == 0, (window, quality)
        assert self.ticks >= LEAST_TICKS, quality
        assert not self.wrong, f"wrong: {', '.join(self.wrong)}"


# ---------------------------------------------------------------- the programs


def all_of_it(compared):
    compared.user_and_kernel()
    compared.threads()
    compared.threads_kernel()


def reads(compared):
    all_of_it(compared)
    assert compared.spent.kernel > 0.5, compared.spent.kernel
    compared.parts_of("reads", reads=0.7, loops=0.3)


def ring(compared):
    all_of_it(compared)
    handed = compared.spent.of_threads("ring-")
    assert 0.1 < handed < 0.9, compared.spent.threads
    compared.threads_called("ring-")
    compared.method("handsOn", handed)
    compared.method("computes", compared.spent.of_threads("computes"))


def faults(compared):
    all_of_it(compared)
    assert compared.spent.kernel > 0.5, compared.spent.kernel
    compared.parts_of("faults", touches=0.7, loops=0.3)


def sockets(compared):
    all_of_it(compared)
    assert compared.spent.kernel > 0.5, compared.spent.kernel
    for method in ("writes", "receives"):
        compared.method(method, compared.spent.of_threads(method))


def computes(compared):
    all_of_it(compared)
    compared.method("computes", compared.spent.of_threads("computes"))


def in_step(compared):
    """What never runs at a scheduler's tick, or only then. utime and stime are no truth here; the clocks are. Where no
    tick can fall into a thread, its time has to be among the rest that is not told."""
    truth = compared.spent.of_threads("in-step")
    assert 0.05 < truth < 0.6, compared.spent.threads
    compared.method("inStep", truth, IN_STEP, compared.part("other"))
    compared.method("computes", compared.spent.of_threads("computes"), IN_STEP, compared.part("other"))


def file_below(parent):
    return lambda: [os.path.join(make_directory(parent), "file")]


def step(offset_ns):
    return lambda: [str(TICK_NS), str((tick_phase_ns() + offset_ns) % TICK_NS)]


CASES = (
    ("reads of a cached file", "reads", file_below("/var/tmp"), reads),
    ("threads that work for 50 microseconds", "ring", list, ring),
    ("page faults", "faults", file_below("/dev/shm"), faults),
    ("sockets", "sockets", list, sockets),
    ("computing", "computes", list, computes),
    ("in step with the tick, on it", "in-step", step(ON_THE_TICK), in_step),
    ("in step with the tick, beside it", "in-step", step(BESIDE_THE_TICK), in_step),
)
ON_NEWER_JDK = ("reads", "ring", "faults")


def window(daemon, pid, seconds):
    report, before, after = window_with_account(daemon, pid, seconds, BUDGET)
    return Comparison(Spent(before, after), report)


def measure(daemon, pid):
    daemon.attach(pid, "--kinds", "cpu", duration="500ms")  # The first of all costs what others do not.
    for i in range(TRIES):
        # Longer where others take the processors.
        compared = window(daemon, pid, WINDOW_S * (1 + i))
        if (abs(compared.spent.seconds - compared.report["window"]["duration_s"]) < NEAR_S
                and compared.ticks >= LEAST_TICKS):
            break
    return compared


def shares_are_the_kernels(daemon, jdk, program, arguments, judge):
    jvm = Workload(jdk, PROGRAM, arguments=[program, *arguments()], prefix=two_processors())
    try:
        compared = measure(daemon, jvm.pid)
        quality = compared.report["quality"]
        note(f"{compared.spent.cpu_s:.2f} s of CPU time in {compared.spent.seconds:.2f} s; {compared.ticks} ticks, "
             f"overhead {quality['overhead_fraction']:.4f}, not told {compared.part('other'):.3f}")
        judge(compared)
        compared.finish()
    finally:
        jvm.stop()


def main():
    daemon, found = Daemon(), jdks()
    baseline = next((j for j in found if j.release == 17), found[0])
    for jdk in {baseline.release: baseline, found[-1].release: found[-1]}.values():
        for name, program, arguments, judge in CASES:
            if jdk is baseline or program in ON_NEWER_JDK:
                case = (daemon, jdk, program, arguments, judge)
                add_test(f"{name} ({jdk})", lambda case=case: shares_are_the_kernels(*case))
    run()


main()
