"""Programs of which it is known what accesses to each allocation site's objects cost.

The tests judge the reports as they come.
"""
# Takes two places: its windows keep both processors busy.
# Estimates: shares, from samples.
import math
import re

from lib import add_test, jdks, note, run, skip
from support.profile import OPTION_OF, Windows, Workload, duration_for

CPU_S = 4
# Of ZGC with generations, which a fast machine has collect all the time: few of its large objects are tracked, and more
# than a third of the accesses to these are in epochs that are over before they are settled.
GENERATIONAL_CPU_S = 15
# Shares do not depend on it; more of it gives enough samples on a busy machine, too.
BUDGET = "10%"
PERIOD = "1ms"

# Older JVMs take samples for objects that do not fit into the rest of a thread's allocation buffer too
# often, and of others too rarely (docs/limits.md, "Objects").
EXACT_COUNTS_RELEASE = 25

GENERATIONAL_SINCE = 23

TOLERANCE = 0.05
# Three shares of each of ten windows are judged: 95% of the intervals hold, 99.7% when half as wide again.
WIDER = {False: 1.5, True: 2.5}  # by: is it ZGC with generations, where few objects have most of the weight
# The widest interval of a share; the other collectors', and that of ZGC with generations, which would keep
# every large array that is tracked.
WIDEST = {False: 0.15, True: 0.7}
LEAST_FOUND = 0.005
MOST_LOST = 0.005
LEAST_SAMPLES = 500

# The others do on the newest JDK what they did on 17.
CHANGED_SINCE = ("G1", "ZGC", "Shenandoah")

# More than a program has at a time, little enough for several collections in a window.
HEAP = "-Xmx96m"
# Otherwise Shenandoah may find enough regions without live objects, and move none.
COMPACT = "-XX:ShenandoahGCHeuristics=compact"
# Those where the arrays of ObjectShares, 1.2 MB each, survive collections and are moved by them.
SHARES_HEAP_OF = {
    "Serial": ["-Xmx256m", "-Xmn24m"],
    "Parallel": ["-Xmx256m", "-Xmn24m"],
    "G1": ["-Xmx256m", "-Xmn24m", "-XX:G1HeapRegionSize=4m"],
    "ZGC": ["-Xmx512m"],
    "Shenandoah": ["-Xmx256m", "-XX:+UnlockExperimentalVMOptions", "-XX:ShenandoahRegionSize=4m", COMPACT],
}


def is_generational(jdk, collector):
    return collector == "ZGC" and jdk.release >= GENERATIONAL_SINCE


class Outcome:
    """A window's report, and the lines that the program printed just before and after it."""

    def __init__(self, jdk, report, before, after):
        self.jdk = jdk
        self.report = report
        self.before = before
        self.after = after

    def is_generational_zgc(self):
        return is_generational(self.jdk, self.report["window"]["gc"])


def last_numbers(jvm):
    """The numbers of the last whole line that the program printed, [] for words only."""
    lines = jvm.output().split("\n")
    return [int(n) for n in re.findall(r"\d+", lines[-2])] if len(lines) > 1 else []


def measure(daemon, jdk, collector, program, *options):
    """The outcome, or None when this JDK lacks the collector."""
    option = OPTION_OF[collector]
    if not jdk.runs_with(option):
        return None
    heap = SHARES_HEAP_OF[collector] if program == "ObjectShares" else [HEAP]
    jvm = Workload(jdk, program, option, *heap)
    try:
        duration = duration_for(jvm.pid, GENERATIONAL_CPU_S if is_generational(jdk, collector) else CPU_S)
        before = last_numbers(jvm)
        report = daemon.attach(
            jvm.pid,
            *("--kinds", "objects", "--budget", BUDGET, "--period", PERIOD),
            *options,
            duration=duration,
        )
        return Outcome(jdk, report, before, last_numbers(jvm))
    finally:
        jvm.stop()


# ---------------------------------------------------------------- reports


def share_of(report, method, key="fraction"):
    """What all sites say whose objects are allocated by the method, whatever their path."""
    return sum(o[key] for o in report["objects"] if o["alloc_frames"] and o["alloc_frames"][0]["method"] == method)


def interval_of(report, method):
    """The lowest and highest that the method's sites together may be, as their intervals say."""
    sites = [o for o in report["objects"] if o["alloc_frames"] and o["alloc_frames"][0]["method"] == method]
    return (sum(o["fraction_ci95"][0] for o in sites), sum(o["fraction_ci95"][1] for o in sites))


def share_below(report, name):
    """Share of the sites that have the class or method anywhere in their allocation path."""
    return sum(
        o["fraction"] for o in report["objects"] if any(name in (f["class"], f["method"]) for f in o["alloc_frames"])
    )


def top(report):
    """What a failed assertion shows."""
    return [
        (o["class"], o["fraction"], o["fraction_ci95"], o["alloc_count"], [f["method"] for f in o["alloc_frames"][:2]])
        for o in report["objects"][:5]
    ]


def assert_measured(report):
    summary = report["objects_summary"]
    quality = report["quality"]
    note(
        f"{summary['sampled_accesses']} accesses, {summary['attributed']['samples']} attributed, "
        f"{summary['unsettled']['samples']} unsettled, {summary['passes']} passes, "
        f"{quality['objects_sampled']} objects sampled, {summary['objects_moved']} moves, "
        f"interval {summary['interval_bytes']}, overhead {quality['overhead_fraction']:.4f}"
    )
    assert not report["window"]["ended_early"], report["window"]
    assert summary["metric"] == "CPU time", summary
    assert summary["sampled_accesses"] >= LEAST_SAMPLES, summary
    # An allocation that found its thread's queue full, on a busy machine.
    assert quality["dropped"] == quality["objects_queue_full"] < quality["objects_sampled"] * MOST_LOST, quality
    assert quality["dropped_unknown_objects"] == 0, quality
    assert quality["dropped_overlaps"] == 0, quality["dropped_overlaps"]


# ---------------------------------------------------------------- judgements


def judge_shares(outcome):
    """Three sites, 60, 30 and 10 percent: what was executed is what the program measured of itself."""
    report = outcome.report
    spent = [b - a for a, b in zip(outcome.before or [0] * 3, outcome.after)]
    summary = report["objects_summary"]
    for i, method in enumerate(("allocateMost", "allocateSome", "allocateLittle")):
        truth = spent[i] / sum(spent)
        found = share_of(report, method)
        low, high = interval_of(report, method)
        note(f"{method}: {found:.3f} of {truth:.3f}, {low:.3f} to {high:.3f}")
        half = (high - low) / 2
        # Where few of the large objects can be tracked the interval says how much is not known. Its width goes with the
        # root of the share, and what is judged is whether the true one may show as this.
        if outcome.is_generational_zgc():
            half *= math.sqrt(max(1, truth / max(found, LEAST_FOUND)))
        off = max(TOLERANCE, WIDER[outcome.is_generational_zgc()] * half)
        assert abs(found - truth) < off, (method, found, truth, top(report))
        assert high - low < WIDEST[outcome.is_generational_zgc()], (method, low, high)
    assert summary["passes"] >= 3, summary
    if outcome.is_generational_zgc():
        return
    assert summary["objects_moved"] > 0, summary
    most = report["objects"][0]
    assert most["class"] == "int[]" and most["accesses"][0]["frames"][0]["method"] == "work", top(report)


def judge_bloat(outcome):
    """What is reallocated in a loop and used ranks first; what is allocated as often and not used, far below."""
    report = outcome.report
    first = report["objects"][0]
    assert first["alloc_frames"][0]["method"] == "makeRoom", top(report)
    assert first["class"] == "float[]", top(report)
    assert share_of(report, "makeRoom") > 0.7, top(report)
    collectors = share_below(report, "MemoryBloat$Collector")
    note(f"makeRoom {share_of(report, 'makeRoom'):.3f}, collectors {collectors:.4f}")
    assert collectors < 0.02, top(report)
    if outcome.jdk.release < EXACT_COUNTS_RELEASE:
        return
    # The program prints every 100 ms, so the truth is known to some percent. Objects begin a little later than
    # the window.
    tracked = report["objects_summary"]["tracked_s"] / report["window"]["duration_s"]
    grown, collected = ((b - a) * tracked for a, b in zip(outcome.before, outcome.after))
    for method, truth in (("makeRoom", grown), ("<init>", collected)):
        found = share_of(report, method, "alloc_count")
        note(f"{method}: {found} allocations of {truth}")
        assert 0.8 * truth < found < 1.2 * truth, (method, found, truth)


def judge_fft(outcome):
    report = outcome.report
    first = report["objects"][0]
    note(f"makeData {first['fraction']:.3f}")
    assert first["alloc_frames"][0]["method"] == "makeData", top(report)
    assert first["fraction"] > 0.75, top(report)
    assert any(a["frames"][0]["method"] == "transform" for a in first["accesses"][:3]), first["accesses"][:3]


def judge_map(outcome):
    name = "org.apache.commons.collections4.map.AbstractHashedMap"
    report = outcome.report
    first = report["objects"][0]
    note(f"{first['class']} {first['fraction']:.3f}")
    assert first["class"].endswith("AbstractHashedMap$HashEntry[]"), top(report)
    assert name in [f["class"] for f in first["alloc_frames"]], top(report)
    assert first["fraction"] > 0.5, top(report)


def judge(judgement, jdk, collector, future):
    outcome = future.result()
    if outcome is None:
        skip(f"{jdk} has no {collector}")
    assert outcome.report["window"]["gc"] == collector, outcome.report["window"]
    assert_measured(outcome.report)
    judgement(outcome)


# ---------------------------------------------------------------- plan

PROGRAMS = {
    "MemoryBloat": (judge_bloat, "--object-min-size", "0"),
    "StridedFft": (judge_fft,),
    "MapRebuild": (judge_map, "--object-min-size", "0"),
}


def plan():
    """JDK, collector, program, judgement and options of every window."""
    found = jdks()
    baseline = next((j for j in found if j.release == 17), None)
    if not baseline:
        add_test("objects on JDK 17", lambda: skip("no JDK 17 found"))
    if baseline:
        for collector in OPTION_OF:
            yield baseline, collector, "ObjectShares", judge_shares
    if found[-1] is not baseline:
        for collector in CHANGED_SINCE:
            yield found[-1], collector, "ObjectShares", judge_shares
    for program, (judgement, *options) in PROGRAMS.items():
        yield found[-1], "G1", program, judgement, *options
    if baseline:
        yield baseline, "G1", "MemoryBloat", judge_bloat, "--object-min-size", "0"


def main():
    windows = Windows(measure)
    for jdk, collector, program, judgement, *options in plan():
        future = windows.ask(jdk, collector, program, *options)
        add_test(
            f"{program} ({jdk}, {collector})",
            lambda j=jdk, c=collector, k=judgement, f=future: judge(k, j, c, f),
        )
    run()


main()
