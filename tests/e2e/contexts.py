"""Calling contexts that the agent walks are those that the JVM walks.

Every one is walked by the JVM as well, at the same signal, in an agent for tests (witness.c); with CONTEXTS_ALL=1 (make
soak-contexts) also in those of the bench, and with every collector. CONTEXTS_PROGRAMS: comma-separated names, instead of all.
"""
# Takes two places: its windows keep both processors busy.
import os

from lib import BUILD, Process, add_test, jdks, note, run, skip
from support import profile
from support.profile import BENCH_CLASS_PATH, OPTION_OF, Windows, Workload
from support.tree import Contained, bring_workloads, homes

profile.DAEMON = os.path.join(BUILD, "tests/witness/bin/jxperfd")

BUDGET = "10%"
CPU_S = 2

# Lines of witness.c in a JVM's output: both stacks where they differ.
WITNESS_SAYS = ("witness:", "walked ", "JVM ")

# How many have to be compared for the test to say anything.
LEAST = 30

BENCH_PROGRAMS = ("H2Queries", "JythonScript", "BatikPaint")
VIRTUAL = "VirtualTasks"
PROGRAMS = {"KnownPlaces": (), "ManyMethods": ("1000",)}
ALL = os.environ.get("CONTEXTS_ALL") == "1"
COLLECTORS = list(OPTION_OF) if ALL else ["G1", "ZGC"]
ONLY = [name for name in os.environ.get("CONTEXTS_PROGRAMS", "").split(",") if name]


def _start(jdk, collector, program):
    option = OPTION_OF[collector]
    if program in PROGRAMS:
        return Workload(jdk, program, option, arguments=PROGRAMS[program])
    jvm = Process([jdk.java, "-Xmx512m", option, "-cp", BENCH_CLASS_PATH, program],
                  env={k: v for k, v in os.environ.items() if "JAVA" not in k})
    jvm.wait_for("up\n", 60)
    return jvm


def _measure(daemon, jdk, collector, program):
    """The report's account, or None when this JDK lacks the collector."""
    return _account(daemon, _start(jdk, collector, program)) if jdk.runs_with(OPTION_OF[collector]) else None


def _measure_contained(daemon, home, option, program):
    return _account(daemon, Contained(home, program, option))


def _account(daemon, jvm):
    try:
        quality = daemon.attach(jvm.pid, "--budget", BUDGET, cpu_s=CPU_S)["quality"]
        return {**quality, "said": [line for line in jvm.output().splitlines() if line.startswith(WITNESS_SAYS)]}
    finally:
        jvm.stop()


def _judge(jdk, collector, quality):
    if quality is None:
        skip(f"{jdk} has no {collector}")
    cut = {name: count for name, count in quality.items() if name.startswith("cut_") and count}
    note(f"{quality['contexts_recognised']} told, {quality['contexts_walked']} of them by the JVM as well, "
         f"{quality['contexts_differ']} differ; not told: {cut}")
    assert quality["contexts_differ"] == 0, "\n".join(quality["said"])
    assert quality["contexts_walked"] >= LEAST, quality


def _programs(jdk, collector):
    yield "KnownPlaces"
    if ALL or collector == "G1":
        yield "ManyMethods"
    if ALL and os.path.exists(os.path.join(BUILD, "workloads/H2Queries.class")):
        yield from BENCH_PROGRAMS
        if jdk.release >= 21:
            yield VIRTUAL


def _ask_contained():
    """In JDKs of the tree, which may have no other collectors than these."""
    windows = Windows(_measure_contained)
    bring_workloads()
    for release, home in sorted(homes().items()):
        for collector in ("G1", "Parallel") if ALL else ("G1",):
            for program in ("KnownPlaces", VIRTUAL) if release >= 21 else ("KnownPlaces",):
                if ONLY and program not in ONLY:
                    continue
                quality = windows.ask(home, OPTION_OF[collector], program)
                add_test(f"{program} (JDK {release} of the tree, {collector})",
                         lambda q=quality: _judge(None, None, q.result()))
    return windows


def main():
    contained = _ask_contained() if homes() else None  # Held up to the end of run().
    windows = Windows(_measure)
    for jdk in jdks():
        for collector in COLLECTORS:
            for program in _programs(jdk, collector):
                if ONLY and program not in ONLY:
                    continue
                quality = windows.ask(jdk, collector, program)
                add_test(f"{program} ({jdk}, {collector})",
                         lambda j=jdk, c=collector, q=quality: _judge(j, c, q.result()))
    run()
    del contained


main()
