"""JDKs of other Debian releases, each in a file system and mount namespace of its own with another C
library: the releases between the oldest supported and the newest, and what a container looks like.

`make check` unpacks them (tests/jdks/fetch). Two programs with known fractions run on each, and one whose
allocations could hang it where there are virtual threads.
"""
# Takes two places: its windows keep both processors busy.
import os
import re

from lib import add_test, need_root, note, run, skip, wait_until
from support.profile import Daemon, Windows, assert_quality, the_one_kind
from support.tree import Contained, bring_workloads, homes

LEAST_TRAPS = 100
CPU_S = 2.5
LEAST_OBJECTS = 1000

# Release, options of the JVM, the collector that it reports.
JVMS = [
    (11, ["-XX:+UseG1GC"], "G1"),
    (11, ["-XX:+UseParallelGC"], "Parallel"),
    (21, ["-XX:+UseG1GC"], "G1"),
    (21, ["-XX:+UseZGC", "-XX:+ZGenerational"], "ZGC"),
]
# With virtual threads, and without the repair of JDK-8346727.
VIRTUAL_RELEASE = 21
# Program, kind, and whether what it does is wasteful.
PROGRAMS = [("SilentLoad", "silent-load", True), ("DeadStoreClean", "dead-store", False)]


def measure(daemon, home, options, program, kind):
    jvm = Contained(home, program, "-Dgarbage=true", *options)
    try:
        return daemon.attach(jvm.pid, "--kinds", kind, "--budget", "3%", cpu_s=CPU_S)
    finally:
        jvm.stop()


def judge(release, collector, wasteful, report):
    found = the_one_kind(report)
    note(f"fraction {found['fraction']:.4f}, {report['quality']['traps']} pairs, {report['window']['jdk']}")
    assert report["window"]["gc"] == collector, report["window"]
    assert f" {release}." in f" {report['window']['jdk'].split(' ')[-1]}", report["window"]
    assert_quality(report, LEAST_TRAPS)
    assert found["fraction"] > 0.9 if wasteful else found["fraction"] < 0.03, found["pairs"][:5]


def strings_made(jvm):
    """By each of the program's threads, as it last said."""
    found = re.findall(r"^strings (\d+) (\d+)\n", jvm.output(), re.MULTILINE)
    return [int(n) for n in found[-1]] if found else [0, 0]


def goes_on_under_lock(home):
    """A callback that waits for transitions of virtual threads would wait for ever (JDK-8346727)."""
    daemon = Daemon()
    jvm = Contained(home, "ThreadNames", "-Dgarbage=true")
    options = ["--kinds", "objects", "--object-min-size", "0", "--budget", "10%"]
    report = daemon.attach(jvm.pid, *options, duration="8s")
    quality = report["quality"]
    made = strings_made(jvm)
    note(f"strings made {made}, {quality['objects_sampled']} objects sampled, {report['window']['jdk']}")
    wait_until(lambda: all(b > a for a, b in zip(made, strings_made(jvm))), f"more strings than {made}", 5)
    assert not report["window"]["ended_early"], report["window"]
    assert quality["objects_sampled"] > LEAST_OBJECTS, quality
    assert report["objects"] and all(o["alloc_frames"] for o in report["objects"]), report["objects"][:5]


def main():
    found = homes() if os.geteuid() == 0 else {}
    windows = None
    for release, options, collector in JVMS:
        for program, kind, wasteful in PROGRAMS:
            name = f"{program} (JDK {release}, {collector}, in a tree of its own)"
            if release not in found:
                add_test(name, lambda: (need_root(), skip("tests/jdks/fetch could not unpack it")))
                continue
            if windows is None:
                bring_workloads()
                windows = Windows(measure)
            report = windows.ask(found[release], options, program, kind)
            add_test(name, lambda r=release, c=collector, w=wasteful, p=report: judge(r, c, w, p.result()))
    name = f"allocations under a virtual thread's lock (JDK {VIRTUAL_RELEASE}, in a tree of its own)"
    if VIRTUAL_RELEASE in found:
        add_test(name, lambda: goes_on_under_lock(found[VIRTUAL_RELEASE]))
    else:
        add_test(name, lambda: (need_root(), skip("tests/jdks/fetch could not unpack it")))
    run()


main()
