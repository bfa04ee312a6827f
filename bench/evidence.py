"""How much evidence a window brings for what it costs, beside the build of an older commit.

Evidence is completed pairs, of all kinds, and accesses that were sampled for objects. Each program runs in two JVMs at
once, since a JVM keeps the agent that it loaded first: one is profiled by this build, its twin by the baseline. Windows
of the default budget and kinds alternate between the two; every other round begins with the other one.

What a window costs is what its report says of it: handlers, the kernel's part of their signals, the agent's own thread
and the JVM's events for it, but not the attach. As a check, the same is looked at from outside: operations for each
second of CPU time in the windows of a JVM, against those of the same JVM while its twin is profiled. One window says
little there: throughput varies by as much as the budget. Tomcat is not looked at from outside, and its twins take
turns: one sleeps while the other is profiled, since server and load use all of a small machine. Where others take the
processors a window is longer by what a busy thread of the program has less of them, up to three times.

One row a figure: name, value (median or total over the windows), unit, and the range over windows or rounds. `ratio` is
this build's figure by the baseline's. Then, of builds that say so: where the cost of a sample goes.

  EVIDENCE_ROUNDS     windows of each build per program (default 3)
  EVIDENCE_WINDOW_S   seconds of each, on an idle machine (default 10)
  EVIDENCE_WARM_UP_S  before the first (default 15; twice that for Tomcat)
  EVIDENCE_ONLY       comma-separated programs
  EVIDENCE_OUTSIDE    0: nothing is looked at from outside, and all twins take turns
  EVIDENCE_OPTIONS    more options of attach, for both builds
  EVIDENCE_BASELINE   build directory of the baseline, which need not be that older build
  EVIDENCE_JSON       a file for all of it, each window's quality included
"""
import dataclasses
import json
import math
import os
import platform
import shlex
import signal
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests/e2e"), os.path.join(ROOT, "bench")]
from lib import BUILD, HANG_S, Process, jdks, make_directory  # noqa: E402
from overhead import FIXED_HEAP  # noqa: E402
from slots import Program, Workload, row  # noqa: E402
from support.profile import duration_for  # noqa: E402
from support.tomcat import Tomcat  # noqa: E402

ROUNDS = int(os.environ.get("EVIDENCE_ROUNDS", "3"))
WINDOW_S = float(os.environ.get("EVIDENCE_WINDOW_S", "10"))
WARM_UP_S = float(os.environ.get("EVIDENCE_WARM_UP_S", "15"))
ONLY = [n for n in os.environ.get("EVIDENCE_ONLY", "").split(",") if n]
OPTIONS = shlex.split(os.environ.get("EVIDENCE_OPTIONS", ""))
BASELINE = os.environ.get("EVIDENCE_BASELINE", os.path.join(BUILD, "baseline/build"))
JSON = os.environ.get("EVIDENCE_JSON")
OUTSIDE = os.environ.get("EVIDENCE_OUTSIDE", "1") != "0"
LEAST_SHARE = 1 / 3

WORKLOADS = ["H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract", "BagRetain"]
# The kernel's part is no handler's; what no part names is the rest.
PARTS = {"contexts": "contexts_ns", "system_calls": "controls_ns", "code": "code_ns", "naming": "placing_ns"}
ROLES = ["ticks", "stops", "looks", "searches", "sampled", "second", "late"]
COSTS = {"handlers": "handler_ns", "kernel": "kernel_ns", "own_thread": "session_ns", "events": "events_ns",
         "registers": "registers_ns", "switches": "switches_ns"}

# ---------------------------------------------------------------- what runs


class Build:
    """A build, its daemon running."""

    def __init__(self, name, directory):
        self.name, self.binaries = name, os.path.join(directory, "bin")
        mine = make_directory()
        self.socket = os.path.join(mine, "control.sock")
        self.daemon = Process([os.path.join(self.binaries, "jxperfd"), "--socket", self.socket, "--http", "none",
                               "--state-dir", os.path.join(mine, "state")])
        self.daemon.wait_for("ready")

    def window(self, pid):
        """Its report."""
        command = [os.path.join(self.binaries, "jxperfctl"), "--socket", self.socket, "attach", str(pid), "--duration",
                   duration_for(pid, WINDOW_S, LEAST_SHARE), "--format", "json", *OPTIONS]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * WINDOW_S + HANG_S, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return json.loads(done.stdout)


class Library(Workload):
    """A workload beside its twin."""

    def pause(self):
        if not OUTSIDE:
            os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)


def start(name):
    if name == "Tomcat":
        return Tomcat(jdks()[0], 2 * WARM_UP_S + 2 * ROUNDS * (3 * WINDOW_S + 60) + 600)
    return Library(Program(name, *FIXED_HEAP))


@dataclasses.dataclass
class Window:
    """What one brought."""
    quality: dict
    met: int     # sampled accesses that met a tracked object
    start: float # seconds of the monotonic clock
    end: float
    lost: float = math.nan # of the throughput, as seen from outside

    @property
    def overhead_s(self):
        return self.quality["overhead_cpu_s"]

    @property
    def pairs(self):
        return self.quality["traps"] + self.quality.get("foretold", 0)

    @property
    def accesses(self):
        return self.quality["accesses"]


def look(build, program):
    begun = time.monotonic()
    report = build.window(program.pid)
    met = report["objects_summary"]["attributed"]["samples"] if report.get("objects_summary") else 0
    return Window(report["quality"], met, begun, time.monotonic())


def look_from_outside(program, windows, others):
    """Against how it fared in the window of its twin that was nearest in time."""
    for w in windows:
        beside = min(others, key=lambda o: abs(o.start - w.start))
        w.lost = 1 - program.rates(w.start, w.end).cpu / program.rates(beside.start, beside.end).cpu


def windows_of(name, builds):
    """By the name of the build."""
    twins, found = {}, {build.name: [] for build in builds}
    try:
        for build in builds:
            twins[build.name] = start(name)
        time.sleep(WARM_UP_S * (1 + (name == "Tomcat")))
        for program in twins.values():
            program.pause()
        for number in range(ROUNDS):
            for build in builds[::-1] if number % 2 else builds:
                twins[build.name].resume()
                found[build.name].append(look(build, twins[build.name]))
                twins[build.name].pause()
        if OUTSIDE and name != "Tomcat":
            first, second = (b.name for b in builds)
            look_from_outside(twins[first], found[first], found[second])
            look_from_outside(twins[second], found[second], found[first])
    finally:
        for program in twins.values():
            program.resume()
            program.stop()
    return found


# ---------------------------------------------------------------- what is said of it


def per_second(windows, figure):
    """Of overhead; of all windows together."""
    return sum(getattr(w, figure) for w in windows) / max(sum(w.overhead_s for w in windows), 1e-9)


def total(name, value, unit, values=()):
    """A row whose value is that of all windows together; values are those of each."""
    spread = f"({min(values):.4g} to {max(values):.4g}, {len(values)} values)" if values else ""
    print(f"{name:44} {value:.4g} {unit}  {spread}".rstrip(), flush=True)


def describe(name, windows):
    for figure in ("pairs", "accesses", "met"):
        row(f"{name}.{figure}_per_window", [getattr(w, figure) for w in windows], figure)
        total(f"{name}.{figure}_per_second", per_second(windows, figure), "1/s of overhead",
              [per_second([w], figure) for w in windows])
    row(f"{name}.cpu_time", [w.quality["target_cpu_s"] for w in windows], "s")
    row(f"{name}.overhead_reported", [w.overhead_s / w.quality["target_cpu_s"] for w in windows], "fraction")
    if not math.isnan(windows[0].lost):
        row(f"{name}.overhead_outside", [w.lost for w in windows], "fraction")
    row(f"{name}.samples_per_window", [w.quality["samples"] for w in windows], "samples")
    handled, signals = (sum(w.quality[k] for w in windows) for k in ("handler_ns", "signals"))
    total(f"{name}.handler_per_signal", handled / max(signals, 1) / 1000, "us",
          [w.quality["handler_ns"] / max(w.quality["signals"], 1) / 1000 for w in windows])


def account(name, windows):
    """Where the cost of a sample goes. What it gives is for the summary."""
    sums = {key: sum(w.quality[key] for w in windows) for key in windows[0].quality
            if isinstance(windows[0].quality[key], int)}
    samples, signals = max(sums["samples"], 1), max(sums["signals"], 1)
    ns = {part: sums[key] for part, key in PARTS.items()}
    ns["rest"] = sums["handler_ns"] - sum(ns.values())
    total(f"{name}.overhead_per_sample", sums["overhead_ns"] / samples / 1000, "us")
    for cost, key in COSTS.items():
        total(f"{name}.overhead.{cost}", sums.get(key, 0) / max(sums["overhead_ns"], 1), "fraction")
    total(f"{name}.signals_per_sample", signals / samples, "signals")
    for role in ROLES:
        total(f"{name}.signals_per_sample.{role}", sums.get(f"signals_{role}", 0) / samples, "signals")
    total(f"{name}.per_signal.kernel", sums["kernel_ns"] / signals / 1000, "us")
    for part, part_ns in ns.items():
        total(f"{name}.per_signal.{part}", part_ns / signals / 1000, "us")


def compare(name, this, baseline):
    """The ratios of one program, and their range over rounds."""
    ratios = {}
    for figure in ("pairs", "accesses"):
        per_round = [per_second([w], figure) / max(per_second([b], figure), 1e-9) for w, b in zip(this, baseline)]
        ratios[figure] = per_second(this, figure) / max(per_second(baseline, figure), 1e-9)
        total(f"{name}.ratio.{figure}_per_second", ratios[figure], "ratio", per_round)
    ratios["pairs_per_window"] = sum(w.pairs for w in this) / max(sum(w.pairs for w in baseline), 1)
    total(f"{name}.ratio.pairs_per_window", ratios["pairs_per_window"], "ratio")
    return ratios


def summarise(ratios, found):
    for figure in ("pairs", "accesses"):
        values = [max(r[figure], 1e-9) for r in ratios.values()]
        total(f"all.ratio.{figure}_per_second", statistics.geometric_mean(values), "geometric mean", values)
    for build in next(iter(found.values())):
        row(f"all.{build}.handler_per_signal",
            [sum(w.quality["handler_ns"] for w in windows[build]) /
             max(sum(w.quality["signals"] for w in windows[build]), 1) / 1000 for windows in found.values()], "us")


def keep(ratios, found):
    windows = {name: {build: [{"met": w.met, "lost_outside": None if math.isnan(w.lost) else w.lost, **w.quality}
                              for w in list_] for build, list_ in builds.items()} for name, builds in found.items()}
    with open(JSON, "w", encoding="utf-8") as f:
        json.dump({"window_s": WINDOW_S, "rounds": ROUNDS, "options": OPTIONS, "ratios": ratios, "windows": windows}, f,
                  indent=1)


def main():
    builds = [Build("baseline", BASELINE), Build("this", BUILD)]
    found, ratios = {}, {}
    for name in ONLY or [*WORKLOADS, "Tomcat"]:
        found[name] = windows_of(name, builds)
        for build, windows in found[name].items():
            describe(f"{name}.{build}", windows)
            if "kernel_ns" in windows[0].quality:
                account(f"{name}.{build}", windows)
        ratios[name] = compare(name, found[name]["this"], found[name]["baseline"])
    summarise(ratios, found)
    print(f"machine: {os.cpu_count()} CPUs, Linux {platform.release()}, {jdks()[0]}, {ROUNDS} windows of {WINDOW_S:g} "
          f"s of each build{', ' + ' '.join(OPTIONS) if OPTIONS else ''}")
    if JSON:
        keep(ratios, found)


main()
