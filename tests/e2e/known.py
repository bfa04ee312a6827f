"""Programs whose true fractions are known: each collector of JDK 17, and the newest JDK.

A window is of one kind, and some seconds of CPU time; the tests judge the reports as they come.
"""
# Takes two places: its windows keep both processors busy.
# Estimates: fractions, from samples.
from lib import add_test, jdks, note, run, skip
from support.profile import OPTION_OF, Windows, Workload, assert_quality, the_one_kind

WASTEFUL_LEAST = 0.90
CLEAN_MOST = 0.03
LEAST_TRAPS = 200
CPU_S = 1.5

# The fractions do not depend on them; more of both gives enough pairs in little CPU time, on a busy machine, too.
OFTEN = ("--budget", "10%", "--period", "2ms")

PROGRAMS = {
    "DeadStore": ("dead-store", True),
    "DeadStoreClean": ("dead-store", False),
    "SilentStore": ("silent-store", True),
    "SilentStoreClean": ("silent-store", False),
    "SilentLoad": ("silent-load", True),
    "SilentLoadClean": ("silent-load", False),
}
CLEAN = [program for program, (_, wasteful) in PROGRAMS.items() if not wasteful]
# Of interest for its instructions, which do not depend on the collector.
INSTRUCTION_PROGRAMS = {"SilentLoadIncrement": ("silent-load", False)}


def measure(daemon, jdk, collector, program, kind):
    """The report, or None when this JDK lacks the collector."""
    option = OPTION_OF[collector]
    if not jdk.runs_with(option):
        return None
    jvm = Workload(jdk, program, option, "-Dgarbage=true")
    try:
        return daemon.attach(jvm.pid, "--kinds", kind, *OFTEN, cpu_s=CPU_S)
    finally:
        jvm.stop()


def judge(jdk, collector, kind, wasteful, report):
    if report is None:
        skip(f"{jdk} has no {collector}")
    found = the_one_kind(report)
    low, high = found["fraction_ci95"]
    quality = report["quality"]
    note(
        f"fraction {found['fraction']:.4f} [{low:.4f}, {high:.4f}], {quality['traps']} pairs, "
        f"overhead {quality['overhead_fraction']:.4f}"
    )
    assert report["window"]["gc"] == collector, report["window"]
    assert found["kind"] == kind.replace("-", "_"), found["kind"]
    assert_quality(report, LEAST_TRAPS)
    if wasteful:
        assert found["fraction"] > WASTEFUL_LEAST, found["pairs"][:5]
    else:
        assert found["fraction"] < CLEAN_MOST, found["pairs"][:5]


def programs_for(number, collector):
    """All with the default collector; with the others one of those without waste, in turn: what waste barriers and moves
    would make up is in each."""
    clean = CLEAN if collector == "G1" else [CLEAN[number % len(CLEAN)]]
    return {p: row for p, row in PROGRAMS.items() if row[1] or p in clean}


def plan():
    """JDK, collector and programs of every group of windows."""
    found = jdks()
    baseline = next((j for j in found if j.release == 17), None)
    if baseline:
        for number, collector in enumerate(OPTION_OF):
            yield baseline, collector, programs_for(number, collector)
        yield baseline, "G1", INSTRUCTION_PROGRAMS
    else:
        add_test("known programs on JDK 17", lambda: skip("no JDK 17 found"))
    newest = found[-1]
    if newest is baseline:
        add_test("known programs on a newer JDK", lambda: skip("no JDK newer than 17 found"))
        return
    for number, collector in enumerate(("G1", "ZGC")):
        yield newest, collector, programs_for(number, collector)
    yield newest, "G1", INSTRUCTION_PROGRAMS


def main():
    windows = Windows(measure)
    for jdk, collector, programs in plan():
        for program, (kind, wasteful) in programs.items():
            report = windows.ask(jdk, collector, program, kind)
            add_test(
                f"{program} ({jdk}, {collector})",
                lambda j=jdk, c=collector, k=kind, w=wasteful, r=report: judge(j, c, k, w, r.result()),
            )
    run()


main()
