"""One program of the loops' suite, measured: its window, and how what the report says compares with what is true."""
import dataclasses
import glob
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from lib import BUILD, Process, jdks, make_directory  # noqa: E402  pylint: disable=wrong-import-position
from programs import HARMLESS, INSTANCES, ITERATIONS, SOURCES, WAITING  # noqa: E402  pylint: disable=wrong-import-position
from support.profile import BENCH_CLASS_PATH, OPTION_OF  # noqa: E402  pylint: disable=wrong-import-position
from support.tree import command_of  # noqa: E402  pylint: disable=wrong-import-position

CLASSES = os.path.join(BUILD, "loops")
JGRAPHT = "/usr/share/java/jgrapht0.8.jar"
CLASS_PATH = ":".join([CLASSES, BENCH_CLASS_PATH, JGRAPHT])
HEAP = "-Xmx256m"

# Of the CPU time: what a loop that the program is not about may have without being looked at.
MINOR = 0.05
# By which a share of what is done again may be off.
SHARE_OFF = 0.1


# ---------------------------------------------------------------- programs


def compile_programs(libraries=True):
    """The constructed ones, and those of libraries, whose packages are needed."""
    tests = os.path.dirname(HERE)
    sources = [os.path.join(tests, "workloads/Workload.java"), *glob.glob(os.path.join(SOURCES, "*.java"))]
    if libraries:
        sources += [os.path.join(tests, "workloads/StridedFft.java"), *glob.glob(os.path.join(HERE, "libraries/*.java"))]
        for name in ("H2Queries", "JythonScript", "BatikPaint", "FopRender"):
            sources.append(os.path.join(os.path.dirname(tests), f"bench/workloads/{name}.java"))
    stamp = os.path.join(CLASSES, ".libraries" if libraries else ".built")
    if os.path.exists(stamp) and os.path.getmtime(stamp) >= max(map(os.path.getmtime, sources)):
        return
    os.makedirs(CLASSES, exist_ok=True)
    javac = next(j.javac for j in jdks() if os.access(j.javac, os.X_OK))
    options = ["--release", "11", "-Xlint:-options", "-cp", CLASS_PATH, "-d", CLASSES]
    subprocess.run([javac, *options, *sources], check=True)
    with open(stamp, "w", encoding="ascii"):
        pass


def collector_options(jdk, collector):
    # ZGC was an experiment before JDK 15.
    return [*(["-XX:+UnlockExperimentalVMOptions"] if jdk.release < 15 else []), OPTION_OF[collector]]


def javap_of(jdk):
    """The command. A runtime environment has none, but what another one needs to read its classes."""
    own = os.path.join(jdk.home, "bin/javap")
    others = (os.path.join(j.home, "bin/javap") for j in reversed(jdks()))
    return [own] if os.access(own, os.X_OK) else [next(filter(os.path.exists, others)), "--system", jdk.home]


class Running(Process):
    """A program of the suite that runs compiled code by now."""

    def __init__(self, jdk, program, *options):
        command = command_of(jdk, CLASS_PATH, [HEAP, *options, *program.options, program.main, *program.arguments])
        # Some leave files where they run.
        super().__init__(command, env={k: v for k, v in os.environ.items() if "JAVA" not in k}, cwd=make_directory())
        self.wait_for("up\n", 60)


# ---------------------------------------------------------------- windows


def measure(daemon, jdk, program, seconds, options=(), jvm_options=()):
    """The report of a window."""
    running = Running(jdk, program, *jvm_options)
    try:
        return daemon.attach(running.pid, "--kinds", "loops", *options, duration=f"{seconds}s")
    finally:
        running.stop()


def rows_of(report):
    return report.get("loops") or []


def is_meant(row, place):
    of, methods, line = place
    return (row["mapped"] and row["class"] == of and (methods is None or row["method"] in methods)
            and line in (None, row.get("line")))


def row_of(program, report):
    """Of the loop that the program is about: the one with most of the time, should there be several. Or None."""
    place = program.place()
    found = [row for row in rows_of(report) if place and is_meant(row, place)]
    return max(found, key=lambda row: row["time_fraction"], default=None)


# ---------------------------------------------------------------- judgements


@dataclasses.dataclass
class Interval:
    """Of a number that the report estimates."""

    found: float
    low: float
    high: float
    truth: float

    def holds(self, factor=1.0):
        """factor: by which each bound may be off."""
        return self.low / factor <= self.truth <= self.high * factor

    def __str__(self):
        return f"{'' if self.found is None else f'{self.found:.4g}'} ({self.low:.4g} to {self.high:.4g}) {'' if self.holds() else '!'}"


@dataclasses.dataclass
class Share:
    """Of what is done again, that the report estimates."""

    found: float
    truth: float

    def holds(self):
        return abs(self.found - self.truth) <= SHARE_OFF

    def __str__(self):
        return f"{self.found:.3f} ({self.truth:.2g}) {'' if self.holds() else '!'}"


@dataclasses.dataclass
class Finding:
    """What a window says of a program. None where it says nothing, or nothing is known."""

    program: object
    row: dict
    rate: Interval
    turns: Interval
    instances: Share
    iterations: Share
    wrong: list  # loops with a verdict that they may not have, as text

    @property
    def type_right(self):
        return self.row.get("type") in self.program.types if self.row and self.program.types else None

    @property
    def verdict_right(self):
        return self.row.get("verdict") in self.program.verdicts if self.row else None

    @property
    def strategies(self):
        return [a["strategy"] for a in self.row.get("advice", [])] if self.row else []

    @property
    def advice_right(self):
        """Of the true verdict."""
        if not self.row or not self.program.advice or self.row.get("verdict") != self.program.verdicts[0]:
            return None
        return self.program.advice in self.strategies


def interval(row, key, truth):
    """None where nothing is known. A bound that is not known is null."""
    ci95 = row and row.get(key + "_ci95")
    if not ci95 or truth is None:
        return None
    low, high = (math.inf if bound is None else bound for bound in ci95)
    return Interval(row.get(key), low, high, truth) if low < math.inf else None


def share(row, of, truth):
    """redundancy.instances or redundancy.iterations. None where nothing is known."""
    found = ((row or {}).get("redundancy") or {}).get(of) or {}
    return None if truth is None or found.get("rate") is None else Share(found["rate"], truth)


def wrong_verdicts(program, report):
    """Of loops that are as they should be: those of controls, and of other programs what they are not about."""
    harmless = (*HARMLESS, WAITING, None)
    again = not set(program.verdicts).isdisjoint((INSTANCES, ITERATIONS))
    place = program.place()
    found = []
    for row in rows_of(report):
        verdict = row.get("verdict")
        if place and is_meant(row, place) or verdict in harmless or verdict in (INSTANCES, ITERATIONS) and again:
            continue
        if program.control or row["time_fraction"] >= MINOR:
            found.append(f"{row.get('class')}.{row.get('method')}:{row.get('line')} {row.get('type')} {verdict}, "
                         f"{row['time_fraction']:.0%} of the time, rate {row.get('result_rate')}")
    return found


def judge(program, report):
    row = row_of(program, report)
    return Finding(program, row, interval(row, "result_rate", program.rate),
                   interval(row, "iterations_per_instance", program.turns), share(row, "instances", program.instances),
                   share(row, "iterations", program.iterations), wrong_verdicts(program, report))
