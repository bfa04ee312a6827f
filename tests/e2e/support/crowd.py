"""Many JVMs under one schedule: every window of every one accounted for, the limits, and what the daemon costs.

Epochs are cut by the clock, and without fractions each has one window of each JVM. So of every JVM that was known and
warm throughout an epoch, that epoch has one window, or the daemon has counted one as missed.
"""
import collections
import json
import os
import re
import signal
import time

from lib import Process, compile_java, jdks, make_directory, note, wait_until
from support import footprint
from support.profile import Daemon, succeeded

SERVICE = """
package org.crowd;
public class Service {
    static volatile int sink;
    public static void main(String[] args) throws Exception {
        int[] a = new int[1 << 14];
        long pause_ms = Long.parseLong(args[0]);
        System.out.println("up");
        while (true) {
            int s = 0;
            for (int round = 0; round < 100; round++)
                for (int i = 0; i < a.length; i++) s += a[i];
            sink = s;
            Thread.sleep(pause_ms);
        }
    }
}
"""
OPTIONS = ["-Xmx32m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=16m"]
# One in so many works much more than the others, and one in so many runs on the newest JDK.
BUSY, OTHER_JDK = 8, 12
BUSY_PAUSE_MS, PAUSE_MS = 20, 500
ROUND_S = 10  # SCHEDULER_ROUND_MS
# After the boundary of an epoch the daemon has counted what was missed before, and missed nothing since.
SETTLED_S = 1
POLL_S = 5

# Short windows in JVMs that work little cost more than their budget, several in a row now and then.
CONFIG = """
host-budget: {host_budget}%
windows-at-once: {at_once}
environment: [CROWD]
guards: {{cpu-pressure: off, memory-pressure: off, io-pressure: off, load: off, collector: off}}
schedules:
  - name: crowd
    match: {{environment: ["CROWD={crowd}"]}}
    every: {every_s}s
    window: {window_s}s
    warm-up: {warm_up_s}s
    failures: 100
"""

Settings = collections.namedtuple("Settings", "jvms late every_s window_s at_once warm_up_s epochs host_budget")
Window = collections.namedtuple("Window", "id pid epoch")
Cost = collections.namedtuple("Cost", "cpu_share mean_pss most_pss most_rss")


class Crowd:
    def __init__(self, settings):
        self.settings = settings
        self.name = f"crowd{os.getpid()}"
        self.classes = compile_java({"Service.java": SERVICE})
        self.jvms = self._start(settings.jvms)
        self.late = []
        self.killed = None
        self.listed = {}  # what `windows` said last of each
        config = os.path.join(make_directory(), "jxperfd.yaml")
        with open(config, "w", encoding="ascii") as f:
            f.write(CONFIG.format(crowd=self.name, **settings._asdict()))
        self.daemon = Daemon(http="127.0.0.1:0", options=["--verbose", "--config", config])

    def _start(self, count):
        found = jdks()
        usual = next((j for j in found if j.release == 17), found[0])
        jvms = []
        for i in range(count):
            jdk = found[-1] if i % OTHER_JDK == 1 else usual
            pause = BUSY_PAUSE_MS if i % BUSY == 0 else PAUSE_MS
            jvms.append(Process([jdk.java, *OPTIONS, "-cp", self.classes, "org.crowd.Service", str(pause)],
                                env={**os.environ, "CROWD": self.name}))
        for jvm in jvms:
            jvm.wait_for("up", 120)
        return jvms

    # ------------------------------------------------------------ what the daemon says

    def poll(self):
        for w in json.loads(succeeded(self.daemon.ctl("--json", "windows"))):
            self.listed[w["id"]] = w

    def begun(self):
        """By the log, which has them all."""
        line = r"schedule 'crowd': window (w\d+) in pid (\d+) \(.*\), epoch (\d+)$"
        return [Window(i, int(pid), int(epoch)) for i, pid, epoch in re.findall(line, self.daemon.output(), re.MULTILINE)]

    def counted(self, family, label):
        """{label: count} of the schedule."""
        text = self.daemon.get("/metrics")
        found = re.findall(rf'^jxperf_schedule_{family}_total{{schedule="crowd",{label}="(\w+)"}} (\d+)$', text, re.MULTILINE)
        return {name: int(n) for name, n in found}

    # ------------------------------------------------------------ the course of it

    def next_boundary(self):
        every = self.settings.every_s
        return (int(time.time()) // every + 1) * every

    def wait_until_warm(self):
        """Until a boundary before which all were known and warm."""
        warm = time.time() + max(self.settings.warm_up_s, 2 * ROUND_S)
        boundary = self.next_boundary()
        while boundary < warm:
            boundary += self.settings.every_s
        self.wait_for(boundary + SETTLED_S)

    def wait_for(self, unix_s):
        while time.time() < unix_s:
            self.poll()
            time.sleep(max(0, min(POLL_S, unix_s - time.time())))

    def run(self):
        """From one boundary to another; returns what it cost."""
        s = self.settings
        self.wait_until_warm()
        self.first = int(time.time()) // s.every_s
        before, cpu_before, start = self.counted("missed", "reason"), footprint.cpu_s(self.daemon.pid), time.monotonic()
        watch = footprint.MemoryWatch(self.daemon.pid)
        for epoch in range(self.first + 1, self.first + s.epochs + 1):
            if epoch == self.first + s.epochs // 2 + 1:
                self.disturb()
            self.wait_for(epoch * s.every_s + SETTLED_S)
        cpu = footprint.cpu_s(self.daemon.pid) - cpu_before
        took = time.monotonic() - start
        watch.stop()
        self.missed = collections.Counter(self.counted("missed", "reason"))
        self.missed.subtract(before)
        return Cost(cpu / took, watch.mean_pss(), watch.most_pss, watch.most_rss)

    def disturb(self):
        """Some start now, and one is killed."""
        self.late_since = time.time()
        self.late = self._start(self.settings.late)
        self.killed = self.jvms[-1].pid
        os.kill(self.killed, signal.SIGKILL)
        self.jvms[-1].child.wait()

    # ------------------------------------------------------------ what must be so

    def account(self):
        """Windows, and those that are missing, of the epochs that were watched."""
        epochs = range(self.first, self.first + self.settings.epochs)
        cells = collections.Counter((w.pid, w.epoch) for w in self.begun() if w.epoch in epochs)
        twice = {cell: n for cell, n in cells.items() if n > 1}
        assert not twice, twice
        steady = [jvm.pid for jvm in self.jvms if jvm.pid != self.killed]
        absent = sum((pid, epoch) not in cells for pid in steady for epoch in epochs)
        # The others have no whole epoch, so what of theirs was missed is not known: at most one each.
        unsure = (1 + len(self.late)) * len(epochs)
        missed = sum(self.missed.values())
        note(f"{len(steady)} JVMs, {len(epochs)} epochs of {self.settings.every_s} s: {sum(cells.values())} windows, "
             f"{absent} missing of {len(steady) * len(epochs)}, counted as missed: { {k: n for k, n in self.missed.items() if n} }")
        assert absent <= missed <= absent + unsure, (absent, missed)
        return sum(cells.values())

    def assert_all_ended_well(self):
        before = len(self.begun())
        outcomes = self.counted("windows", "outcome")
        self.poll()
        begun = self.begun()
        unknown = [w for w in begun if w.id not in self.listed]
        assert len(unknown) <= len(begun) - before, unknown
        bad = [w for w in self.listed.values() if w["state"] not in ("done", "running", "attaching") and w["pid"] != self.killed]
        assert not bad, bad
        note(f"{len(begun)} windows in all, of which ended: {outcomes}")
        assert outcomes["failed"] == 0, outcomes
        # Others run, and one may have ended with its JVM.
        assert before - self.settings.at_once - 1 <= sum(outcomes.values()) <= len(begun), (before, outcomes, len(begun))

    def assert_budget_was_kept(self):
        """By what the windows that the daemon still has say that they cost."""
        kept = [w for w in json.loads(succeeded(self.daemon.ctl("--json", "windows"))) if w["state"] == "done"]
        reports = [json.loads(succeeded(self.daemon.ctl("report", w["id"], "--format", "json"))) for w in kept]
        cost_s = sum(r["quality"]["overhead_cpu_s"] + r["quality"]["setup_cpu_s"] for r in reports)
        took_s = max(w["started_unix_s"] + w["elapsed_s"] for w in kept) - min(w["started_unix_s"] for w in kept)
        share = cost_s / took_s / os.cpu_count()
        note(f"the last {len(kept)} windows cost {1000 * cost_s / len(kept):.1f} ms each, {100 * share:.3f}% of the host")
        assert share < self.settings.host_budget / 100, share

    def assert_limits_were_kept(self):
        spans = [(w["started_unix_s"], w["started_unix_s"] + w["elapsed_s"]) for w in self.listed.values()]
        most = max(sum(a <= start < b for a, b in spans) for start, _ in spans)
        warm = self.late_since + self.settings.warm_up_s
        early = [w for w in self.late_windows() if w["started_unix_s"] < warm]
        note(f"{most} windows at a time; {len(self.late_windows())} of those that started later")
        assert most <= self.settings.at_once, most
        assert not early, (warm, early)

    def late_windows(self):
        late = {jvm.pid for jvm in self.late}
        return [w for w in self.listed.values() if w["pid"] in late]
