"""Whether objects may have moved is read from the JVM's own count of pauses (docs/agent.md, Collections).

The program drops arrays of one content that it has loaded from once. Collections come so fast that a register that
still watched after one would soon see the same value loaded again, from another array. A second thread runs on until
a collection that the first has asked for stops it: what is counted too early, or too late, is seen there. Windows
with objects hold the count against what the JVM tells of its collections. With EPOCHS_ALL=1 (make soak-epochs) every
collector of every JDK, for longer (EPOCHS_CPU_S).
"""
# Takes two places: its windows keep both processors busy.
import os

from lib import add_test, jdks, note, run
from support.profile import Windows, Workload
from support.tree import Contained, bring_workloads, homes

ALL = os.environ.get("EPOCHS_ALL") == "1"
CPU_S = float(os.environ.get("EPOCHS_CPU_S", "20")) if ALL else 0.8
OFTEN = ("--budget", "10%", "--period", "1ms")
# With epochs that never change, four in ten of what was watched to all of it end in such a pair.
SILENT_MOST = 0.03
LEAST_EXPIRED = LEAST_COMPARED = 5

UNLOCKED = "-XX:+UnlockExperimentalVMOptions"
SMALL_YOUNG = ("-Xmn8m", "-Xms32m")
SMALL = ("-Xmx48m",)
COLLECTORS = {
    "Serial": ("-XX:+UseSerialGC", *SMALL_YOUNG),
    "Parallel": ("-XX:+UseParallelGC", *SMALL_YOUNG),
    "G1": ("-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", "-Xmn8m", "-XX:InitiatingHeapOccupancyPercent=1"),
    "ZGC": (UNLOCKED, "-XX:+UseZGC", *SMALL),
    "ZGC, generational": (UNLOCKED, "-XX:+UseZGC", "-XX:+ZGenerational", *SMALL),
    "Shenandoah": (UNLOCKED, "-XX:+UseShenandoahGC", *SMALL),
    "Shenandoah, generational": (UNLOCKED, "-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational", *SMALL),
    # The count is in memory of the process, or there is none, so that the JVM must tell.
    "G1, no file": ("-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", "-Xmn8m", "-XX:+PerfDisableSharedMem"),
    "G1, no counters": ("-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", "-Xmn8m", "-XX:-UsePerfData"),
}
# For what takes no longer than a short test may.
FEW = {
    11: ("ZGC",),
    17: ("Serial", "Parallel", "G1", "Shenandoah", "G1, no counters"),
    21: ("ZGC", "ZGC, generational"),
    25: ("G1, no file", "ZGC", "Shenandoah, generational"),
}


# Collectors that not every release has; with JDK 24 ZGC has no other mode.
RELEASES = {"ZGC, generational": range(21, 24), "Shenandoah, generational": range(24, 99)}


def measure(daemon, start, jdk, name):
    """The reports of a window without objects and of one with."""
    jvm = start(jdk, "LoadedOnce", *COLLECTORS[name])
    try:
        return [daemon.attach(jvm.pid, "--kinds", kinds, *OFTEN, cpu_s=CPU_S)
                for kinds in ("silent-load", "silent-load,objects")]
    finally:
        jvm.stop()


def judge(name, reports):
    for report in reports:
        quality = report["quality"]
        loads = next(i for i in report["inefficiency"] if i["kind"] == "silent_load")
        silent = sum(p["wasteful_count"] for p in loads["pairs"] if p["region"] == "heap")
        note(f"{quality['armed']} armed, {silent} silent in the heap, {quality['expired_gc']} expired by collections, "
             f"{quality['epochs_compared']} epochs compared, {quality['epochs_missed']} missed")
        closed = ("traps", "replaced", "expired_gc", "expired_window", "abandoned")
        assert quality["armed"] == sum(quality[c] for c in closed), quality
        assert report["window"]["gc"] == name.split(",", maxsplit=1)[0], report["window"]
        assert quality["expired_gc"] >= LEAST_EXPIRED, quality
        assert quality["epochs_missed"] == 0, quality
        assert silent <= SILENT_MOST * quality["armed"], loads["pairs"][:5]
    told = [r["quality"]["epochs_compared"] for r in reports]
    assert told[0] == 0, told
    assert told[1] == 0 if name.endswith("no counters") else told[1] >= LEAST_COMPARED, told


def main():
    windows = Windows(measure)
    if homes():
        bring_workloads()
    ways = [(jdk.release, jdk, Workload) for jdk in jdks()]
    ways += [(release, home, Contained) for release, home in sorted(homes().items())]
    for release, jdk, start in ways:
        for name in COLLECTORS if ALL else FEW.get(release, ("G1",)):
            if release not in RELEASES.get(name, (release,)):
                continue
            reports = windows.ask(start, jdk, name)
            add_test(f"JDK {release}, {name}", lambda n=name, r=reports: judge(n, r.result()))
    run()


main()
