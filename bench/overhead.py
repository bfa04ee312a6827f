"""What a window costs the JVM it runs in. Prints one row a figure: name value unit (median, range).

Throughput is compared inside one JVM: JIT differences between two runs of a program are larger than what is
looked for. After a warm-up, slots with and without a window alternate; each pair gives one ratio (with /
without). Pairs without any window beside them show the noise floor: how far from 1 the ratio is for no
reason. A slot with a window contains all of it: attach, window, detach.

  BENCH_PAIRS    pairs per workload (default 6)       BENCH_SLOT_S   seconds per slot (default 4)
  BENCH_ONLY     comma-separated workload names       BENCH_BUDGET   default 1%
  ASPROF         path of async-profiler's asprof: the same slots under its cpu mode, for comparison
"""
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import BUILD, jdks  # noqa: E402

PAIRS = int(os.environ.get("BENCH_PAIRS", "6"))
SLOT_S = float(os.environ.get("BENCH_SLOT_S", "4"))
BUDGET = os.environ.get("BENCH_BUDGET", "1%")
WARM_UP_S = float(os.environ.get("BENCH_WARM_UP_S", "12"))
ASPROF = os.environ.get("ASPROF")
JARS = ["h2", "jython", "batik-all", "xml-apis-ext", "xmlgraphics-commons", "jfreechart", "jcommon",
        "commons-collections3", "commons-collections4", "commons-io", "commons-logging"]
WORKLOADS = ["H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract", "BagRetain"]
JXPERFCTL = os.path.join(BUILD, "bin/jxperfctl")


class Workload:
    """A JVM that prints its operation count; rates come from the times its lines arrive."""

    def __init__(self, name, java):
        jars = ":".join(f"/usr/share/java/{j}.jar" for j in JARS)
        classes = os.path.join(BUILD, "workloads")
        self.child = subprocess.Popen(
            [java, "-Xmx1g", "-Dprogress=true", "-Djava.awt.headless=true", "-cp", f"{classes}:{jars}", name],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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
            raise RuntimeError("the workload printed too little: is it stuck?")
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    def resident_kib(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

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
    return workload.rate(start, time.monotonic()), None


def window(workload, daemon):
    start = time.monotonic()
    done = subprocess.run(
        [JXPERFCTL, "--socket", daemon.socket, "attach", str(workload.pid), "--duration", f"{SLOT_S}s",
         "--budget", BUDGET, "--format", "json"], capture_output=True, text=True, check=True)
    return workload.rate(start, time.monotonic()), json.loads(done.stdout)


def async_profiler(workload):
    start = time.monotonic()
    subprocess.run([ASPROF, "-d", str(int(SLOT_S)), "-e", "cpu", "-f", "/dev/null", str(workload.pid)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return workload.rate(start, time.monotonic()), None


def ratios(workload, with_it, reports):
    """Alternates the order inside pairs, so that a drift of the machine's speed cancels."""
    result = []
    for pair in range(PAIRS):
        rates = {}
        for slot in ([with_it, idle] if pair % 2 else [idle, with_it]):
            rates[slot], report = slot(workload)
            if report:
                reports.append(report)
        result.append(rates[with_it] / rates[idle])
    return result


def row(name, values, unit="ratio"):
    print(f"{name:44} {statistics.median(values):.4f} {unit}  ({min(values):.4f} to {max(values):.4f}, "
          f"{len(values)} values)", flush=True)
    return statistics.median(values)


def noise(workload):
    return [idle(workload)[0] / idle(workload)[0] for _ in range(PAIRS)]


def measure(name, java, daemon):
    workload = Workload(name, java)
    try:
        time.sleep(WARM_UP_S)
        before = workload.resident_kib()
        reports = []
        control = noise(workload)
        found = ratios(workload, lambda w: window(w, daemon), reports)
        row(f"{name}.noise", control)
        median = row(f"{name}.throughput", found)
        row(f"{name}.overhead_reported", [r["quality"]["overhead_fraction"] for r in reports], "fraction")
        row(f"{name}.samples_per_window", [r["quality"]["samples"] for r in reports], "samples")
        row(f"{name}.handler_per_signal",
            [r["quality"]["handler_ns"] / max(1, r["quality"]["signals"]) / 1000 for r in reports], "us")
        row(f"{name}.memory_growth", [(workload.resident_kib() - before) / 1024], "MiB")
        if ASPROF:
            row(f"{name}.async_profiler_cpu", ratios(workload, async_profiler, []))
        return median
    finally:
        workload.stop()


def main():
    java = jdks()[0].java
    only = os.environ.get("BENCH_ONLY")
    names = only.split(",") if only else WORKLOADS
    daemon = Daemon()
    try:
        medians = [measure(name, java, daemon) for name in names]
        row("all.throughput", medians)
    finally:
        daemon.stop()
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    version = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    print(f"machine: {os.cpu_count()} x {model.group(1) if model else '?'}, Linux {platform.release()}, "
          f"{version.splitlines()[0]}, budget {BUDGET}, {PAIRS} pairs of {SLOT_S:g} s slots"
          f"{'' if ASPROF else '; async-profiler not compared (ASPROF not set)'}")


main()
