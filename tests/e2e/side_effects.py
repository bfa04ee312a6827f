"""What a window does to its JVM is seen from outside, and objects are switched off when the JVM suffers.

Who made a JVM collect more cannot be told from outside. So the programs here do it themselves, when they are
told to.
"""
# Estimates: costs, from outside.
import os
import signal
import subprocess

from lib import jdks, note, run, test, wait_until
from support.profile import EARLY, Daemon, Workload, report_of, succeeded

FIGURES = ("gc_per_s", "gc_time_fraction", "gc_threads_cpu_fraction", "page_faults_per_s", "heap_after_gc_bytes")
ALL_KINDS = ("--kinds", "objects,silent-load")

HEAP = "-Xmx768m"


class Growth(Workload):
    """Reallocates arrays; keeps half the heap of them, and replaces those, when it is told to."""

    def __init__(self, jdk, *options):
        super().__init__(jdk, "GrowthArrays", HEAP, *options, stdin=subprocess.PIPE)

    def keep(self):
        self.child.stdin.write(b"keep\n")
        self.child.stdin.flush()
        self.wait_for("keeping")

    def stop(self):
        self.child.stdin.close()
        super().stop()


def watchers(daemon):
    """Pids of the daemon's watchers: children of the broker."""
    broker = daemon.broker()
    with open(f"/proc/{broker}/task/{broker}/children", encoding="ascii") as f:
        children = map(int, f.read().split())
    return [pid for pid in children if b"--watch-fd" in command_line(pid)]


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read()
    except OSError:
        return b""


def privileges(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return {line.split(":")[0]: line.split()[1] for line in f if line.startswith("Cap")}


def finish(client, status=0):
    return report_of(client.finish(timeout=120), status)


def shown(report):
    effects = report["quality"]["side_effects"]
    return {name: effects[name] for name in (*FIGURES, "rose", "objects_switched_off_after_s", "reason")}


def objects_have_begun(daemon):
    """An allocation can only be sampled when they have."""
    return any(w["elapsed_s"] > 6 for w in daemon.running())


# They are no longer young when their turn comes: of a JVM that has just begun more is expected. With large
# regions no array is humongous, so that nothing but what they are told makes them collect more.
GROWING = [Growth(j, "-XX:G1HeapRegionSize=16m") for j in jdks() if j.release in (17, 25)]

# ---------------------------------------------------------------- tests


@test
def a_program_that_goes_on_as_before_keeps_its_objects_and_all_figures_are_known():
    daemon = Daemon()
    program = Workload(jdks()[-1], "MemoryBloat", "-Xmx96m")
    client = daemon.start_attach(program.pid, *ALL_KINDS, duration="12s")
    (watcher,) = watchers(daemon)
    caps = privileges(watcher)
    report = finish(client)
    effects = report["quality"]["side_effects"]
    note(shown(report))
    assert {caps[c] for c in ("CapEff", "CapPrm", "CapInh", "CapAmb")} == {"0" * 16}, caps
    assert report["quality"]["objects_switched_off"] == 0, shown(report)
    assert effects["available"] and effects["baseline"] == "before", effects
    assert effects["baseline_s"] >= 1 and effects["observed_s"] > 5, effects
    for name in FIGURES[:-1]:
        assert None not in effects[name], (name, effects)
    assert effects["gc_per_s"][1] > 0 and effects["heap_after_gc_bytes"][1] > 0, effects
    assert 9 < report["objects_summary"]["tracked_s"] < 12, report["objects_summary"]
    assert report["quality"]["objects_sampled"] > 0, report["quality"]
    assert "rose" not in succeeded(daemon.ctl("report", "w1"))
    wait_until(lambda: not watchers(daemon), "the watcher's end")
    program.stop()


@test
def a_jvm_without_performance_data_is_watched_by_the_rest():
    daemon = Daemon()
    program = Workload(jdks()[0], "MemoryBloat", "-Xmx96m", "-XX:-UsePerfData")
    report = daemon.attach(program.pid, "--kinds", "silent-load", duration="3s")
    effects = report["quality"]["side_effects"]
    note(shown(report))
    assert effects["available"] and "-XX:-UsePerfData" in effects["reason"], effects
    assert effects["gc_per_s"] == [None, None] and effects["heap_after_gc_bytes"] == [None, None], effects
    assert effects["page_faults_per_s"][1] is not None, effects
    assert effects["gc_threads_cpu_fraction"][1] is not None, effects
    program.stop()


@test
def a_watcher_that_is_killed_or_hangs_holds_up_nothing():
    daemon = Daemon()
    program = Workload(jdks()[-1], "MemoryBloat", "-Xmx96m")
    for sign, reason in ((signal.SIGKILL, "watching the JVM from outside failed"), (signal.SIGSTOP, "")):
        client = daemon.start_attach(program.pid, *ALL_KINDS, duration="6s")
        (watcher,) = watchers(daemon)
        os.kill(watcher, sign)
        report = finish(client)
        assert report["window"]["state"] == "done", report["window"]
        assert report["quality"]["side_effects"]["reason"].startswith(reason), shown(report)
        assert report["quality"]["objects_sampled"] > 0, report["quality"]
        wait_until(lambda: not watchers(daemon), "the watcher's end")
    program.stop()


@test
def objects_are_switched_off_when_the_jvm_keeps_and_collects_more():
    daemon = Daemon(http="127.0.0.1:9779")
    clients = [daemon.start_attach(p.pid, *ALL_KINDS, duration="120s") for p in GROWING]
    wait_until(lambda: objects_have_begun(daemon), "a part of the window", 60)
    for program in GROWING:
        program.keep()
    wait_until(lambda: daemon.output().count("switched off") == len(GROWING), "the end of objects", 90)
    for number, (program, client) in enumerate(zip(GROWING, clients), 1):
        succeeded(daemon.ctl("detach", str(program.pid)))
        report = finish(client, EARLY)
        quality, summary = report["quality"], report["objects_summary"]
        note(f"JDK {report['window']['jdk']}: {shown(report)}, {summary['refused']}")
        assert quality["objects_switched_off"] == 1, shown(report)
        assert quality["side_effects"]["rose"], shown(report)
        assert "objects were switched off after" in summary["refused"], summary
        assert 0 < summary["tracked_s"] < report["window"]["duration_s"] - 3, summary
        # The window went on with pairs until it was told not to.
        assert "detach" in report["window"]["reason"], report["window"]
        assert quality["armed"] > 0, quality
        text = succeeded(daemon.ctl("report", f"w{number}"))
        assert "while objects were tracked" in text and "switched off after" in text, text
    line = f'jxperf_objects_switched_off_total{{app="GrowthArrays"}} {len(GROWING)}'
    wait_until(lambda: line in daemon.get("/metrics").splitlines(), line)


run()
