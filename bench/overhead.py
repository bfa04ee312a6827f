"""What a window costs the JVM it runs in. Prints one row a figure: name value unit (median, range).

Throughput is compared inside one JVM: JIT differences between two runs of a program are larger than what is
looked for. After a warm-up, slots in which something is done alternate with slots in which nothing is; each
ratio is that of a slot to the mean of the two idle ones beside it, so that a steady drift cancels. In the
mode 'noop' nothing is done either: its ratios show how far from 1 the others are for no reason. A slot with
a window contains all of it: attach, window, detach.

  BENCH_ROUNDS   slots of each mode per workload (default 5)    BENCH_SLOT_S   seconds per slot (default 5)
  BENCH_ONLY     comma-separated workload names                 BENCH_MODES    comma-separated modes
  ASPROF         path of async-profiler's asprof: slots under its cpu mode, for comparison
"""
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import BUILD, jdks  # noqa: E402
from support.profile import BENCH_CLASS_PATH  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SLOT_S = float(os.environ.get("BENCH_SLOT_S", "5"))
WARM_UP_S = float(os.environ.get("BENCH_WARM_UP_S", "12"))
ASPROF = os.environ.get("ASPROF")
WORKLOADS = ["H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract", "BagRetain"]
# Options of attach; None: no window.
MODES = {
    "noop": None,
    "default": [],
    "budget_5": ["--budget", "5%"],
    "objects": ["--kinds", "objects"],
}
JXPERFCTL = os.path.join(BUILD, "bin/jxperfctl")


class Workload:
    """A JVM that prints its operation count; rates come from the times its lines arrive."""

    def __init__(self, name, java):
        self.errors = tempfile.TemporaryFile("w+")
        self.child = subprocess.Popen(
            [java, "-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-Dprogress=true", "-Djava.awt.headless=true", "-cp", BENCH_CLASS_PATH, name],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.pid = self.child.pid
        self.counts = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            if line.startswith("operations "):
                self.counts.append((time.monotonic(), int(line.split()[1])))

    def rate(self, start, end):
        """Operations a second between the lines that arrived first and last in [start, end]."""
        inside = [c for c in self.counts if start <= c[0] <= end]
        if len(inside) < 2:
            status = self.child.poll()
            self.errors.seek(0)
            raise RuntimeError(f"the workload {self.pid} printed {len(inside)} lines in the slot: "
                               f"{'it runs' if status is None else f'it ended with status {status}'}, "
                               f"{self.errors.read()[-2000:]}")
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    def resident_mib(self, most=False):
        """What it has in memory, now or at most so far. Its heap is resident from the start."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(rf"{'VmHWM' if most else 'VmRSS'}:\s+(\d+)", f.read()).group(1)) / 1024

    def stop(self):
        self.child.kill()
        self.child.wait()


class Daemon:
    def __init__(self):
        self.socket = f"/tmp/jxperf-bench-{os.getpid()}.sock"
        self.child = subprocess.Popen([os.path.join(BUILD, "bin/jxperfd"), "--socket", self.socket],
                                      stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not os.path.exists(self.socket):
            if time.monotonic() > end:
                raise RuntimeError("jxperfd does not start")
            time.sleep(0.01)

    def stop(self):
        self.child.terminate()
        self.child.wait()


def idle(workload):
    start = time.monotonic()
    time.sleep(SLOT_S)
    return workload.rate(start, time.monotonic())


def window(workload, daemon, options, reports):
    start = time.monotonic()
    done = subprocess.run(
        [JXPERFCTL, "--socket", daemon.socket, "attach", str(workload.pid), "--duration", f"{SLOT_S}s",
         "--format", "json", *options], capture_output=True, text=True, check=True)
    reports.append(json.loads(done.stdout))
    return workload.rate(start, time.monotonic())


def async_profiler(workload):
    start = time.monotonic()
    subprocess.run([ASPROF, "-d", str(int(SLOT_S)), "-e", "cpu", "-f", "/dev/null", str(workload.pid)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return workload.rate(start, time.monotonic())


def row(name, values, unit="ratio"):
    print(f"{name:44} {statistics.median(values):.4f} {unit}  ({min(values):.4f} to {max(values):.4f}, "
          f"{len(values)} values)", flush=True)


def slot(workload, daemon, mode, reports):
    if mode == "async_profiler_cpu":
        return async_profiler(workload)
    if MODES[mode] is None:
        return idle(workload)
    return window(workload, daemon, MODES[mode], reports)


def describe(name, reports):
    quality = [r["quality"] for r in reports]
    row(f"{name}.overhead_reported", [q["overhead_fraction"] for q in quality], "fraction")
    row(f"{name}.samples_per_window", [q["samples"] for q in quality], "samples")
    row(f"{name}.handler_per_signal", [q["handler_ns"] / max(1, q["signals"]) / 1000 for q in quality], "us")


def measure(name, java, daemon, modes):
    """The median ratio of each mode."""
    workload = Workload(name, java)
    ratios = {mode: [] for mode in modes}
    reports = {mode: [] for mode in modes}
    try:
        time.sleep(WARM_UP_S)
        before = idle(workload)
        resident = workload.resident_mib()
        for _ in range(ROUNDS):
            for mode in modes:
                rate = slot(workload, daemon, mode, reports[mode])
                after = idle(workload)
                ratios[mode].append(rate / ((before + after) / 2))
                before = after
        for mode in modes:
            row(f"{name}.{mode}.throughput", ratios[mode])
            if reports[mode]:
                describe(f"{name}.{mode}", reports[mode])
        row(f"{name}.memory_growth", [workload.resident_mib() - resident], "MiB")
        row(f"{name}.memory_growth_at_most", [workload.resident_mib(most=True) - resident], "MiB")
    finally:
        workload.stop()
    return {mode: statistics.median(values) for mode, values in ratios.items()}


def main():
    java = jdks()[0].java
    only = os.environ.get("BENCH_ONLY")
    names = only.split(",") if only else WORKLOADS
    modes = os.environ.get("BENCH_MODES", ",".join(MODES)).split(",")
    if ASPROF:
        modes.append("async_profiler_cpu")
    daemon = Daemon()
    try:
        medians = [measure(name, java, daemon, modes) for name in names]
        for mode in modes:
            row(f"all.{mode}.throughput", [m[mode] for m in medians])
    finally:
        daemon.stop()
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    version = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    print(f"machine: {os.cpu_count()} x {model.group(1) if model else '?'}, Linux {platform.release()}, "
          f"{version.splitlines()[0]}, {ROUNDS} rounds of {SLOT_S:g} s slots"
          f"{'' if ASPROF else '; async-profiler not compared (ASPROF not set)'}")


main()
