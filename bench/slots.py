"""Throughput of a program in slots, with windows in some of them: what overhead.py and switching.py share.

Throughput is compared inside one JVM: JIT differences between two runs of a program are larger than what is
looked for. After a warm-up, slots in which something is done alternate with slots in which nothing is; each
ratio is that of a slot to the mean of the two idle ones beside it, so that a steady drift cancels. In the
mode 'noop' nothing is done either: its ratios show how far from 1 the others are for no reason. A slot with
a window contains all of it: attach, window, detach.

  BENCH_ROUNDS   slots of each mode per workload (default 5)    BENCH_SLOT_S   seconds per slot (default 5)
  BENCH_ONLY     comma-separated workload names                 BENCH_MODES    comma-separated modes (MODES)
  BENCH_WARM_UP_S  seconds before the first slot (default 12; three times that for services)
  ASPROF         path of async-profiler's asprof: slots under its cpu mode, for comparison
"""
import dataclasses
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
from lib import BUILD, Skip, jdks, make_directory  # noqa: E402
from support.cgroup import Group  # noqa: E402
from support.gc_log import GcLog  # noqa: E402
from support.profile import BENCH_CLASS_PATH  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SLOT_S = float(os.environ.get("BENCH_SLOT_S", "5"))
WARM_UP_S = float(os.environ.get("BENCH_WARM_UP_S", "12"))
ONLY = [n for n in os.environ.get("BENCH_ONLY", "").split(",") if n]
ASPROF = os.environ.get("ASPROF")

# Options of attach; None: no window.
MODES = {
    "noop": None,
    "default": [],
    "budget_5": ["--budget", "5%"],
    **{kind: ["--kinds", kind] for kind in ("dead-store", "silent-store", "silent-load", "objects", "cpu", "loops")},
}
JXPERFCTL = os.path.join(BUILD, "bin/jxperfctl")
SAYS_PROGRESS = ("-Dprogress=true", "-Djava.awt.headless=true")


class Program:
    """A workload, the JVM options it is run with, the CPUs that its cgroup lets it have, how many processors it may
    run on (None: all), and the JDK for it."""

    def __init__(self, name, *options, label=None, oldest=0, newest_jdk=False, cpus=None, processors=None):
        self.name, self.options, self.cpus, self.processors = name, options, cpus, processors
        self.label = label or name
        self.oldest, self.newest_jdk = oldest, newest_jdk

    def jdk(self):
        """The JDK to run it with, or None."""
        found = [j for j in jdks() if j.release >= self.oldest]
        return found[-1 if self.newest_jdk else 0] if found else None

    def command(self, log):
        """That runs it, and has its collections written to the GcLog."""
        return [self.jdk().java, *self.options, log.option(), *SAYS_PROGRESS, "-cp", BENCH_CLASS_PATH, self.name]

    def start(self):
        """It, running; Skip where this machine cannot."""
        if not self.jdk():
            raise Skip(f"it needs JDK {self.oldest} or later")
        return Workload(self)


def pinned(processors):
    """What to put before a command that is to run on so many processors."""
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < processors:
        raise Skip(f"it needs {processors} processors")
    return ["taskset", "-c", ",".join(map(str, mine[:processors]))]


def process_cpu_s(pid):
    """CPU time of a whole process, threads that have ended included (CPUCLOCK_SCHED of the pid)."""
    return time.clock_gettime((~pid << 3) | 2)


def page_faults(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[7]) + int(fields[9])


@dataclasses.dataclass
class Rates:
    """Operations a second."""
    passed: float # of the seconds that passed
    cpu: float # of the process's CPU time
    p99_s: float = None # in which 99 of 100 were done, where that is known


class Workload:
    """A JVM that prints its operation count; what it used is read when a line arrives."""

    def __init__(self, program):
        self.errors = tempfile.TemporaryFile("w+")
        self.log = GcLog()
        self.group = Group(controller="cpu") if program.cpus else None
        if self.group:
            self.group.limit_cpus(program.cpus)
        self.child = subprocess.Popen(
            [*(self.group.enter() if self.group else ()), *(pinned(program.processors) if program.processors else ()),
             *program.command(self.log)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.pid = self.child.pid
        self.lines = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            if line.startswith("operations "):
                try:
                    self.lines.append((time.monotonic(), process_cpu_s(self.pid), int(line.split()[1])))
                except OSError:
                    return  # It has ended.

    def failure(self, what):
        status = self.child.poll()
        self.errors.seek(0)
        return RuntimeError(f"the workload {self.pid} {what}: "
                            f"{'it runs' if status is None else f'it ended with status {status}'}, "
                            f"{self.errors.read()[-2000:]}")

    def rates(self, start, end):
        """Between the first and the last line in [start, end]."""
        inside = [line for line in self.lines if start <= line[0] <= end]
        if len(inside) < 2:
            raise self.failure(f"printed {len(inside)} lines in the slot")
        passed_s, cpu_s, operations = (b - a for a, b in zip(inside[0], inside[-1]))
        return Rates(operations / passed_s, operations / cpu_s)

    def warm_up(self):
        time.sleep(WARM_UP_S)

    def during(self, act):
        """What act() gave, and the rates meanwhile."""
        start = time.monotonic()
        given = act()
        return given, self.rates(start, time.monotonic())

    def resident_mib(self, most=False):
        """What it has in memory, now or at most so far."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(rf"{'VmHWM' if most else 'VmRSS'}:\s+(\d+)", f.read()).group(1)) / 1024

    def stop(self):
        self.child.kill()
        self.child.wait()
        if self.group:
            self.group.stop()


class Slot:
    """What a JVM did while something was done to it, or nothing."""

    def __init__(self, workload, act):
        start, collections, faults = time.monotonic(), len(workload.log.left_mib()), page_faults(workload.pid)
        self.report, self.rates = workload.during(act)
        end = time.monotonic()
        left = workload.log.left_mib()[collections:]
        self.collections_per_s = len(left) / (end - start)
        self.left_mib = statistics.median(left) if left else None
        self.faults_per_s = (page_faults(workload.pid) - faults) / (end - start)


class Daemon:
    """One with a socket and windows of its own, beside those that the machine has."""

    def __init__(self):
        mine = make_directory()
        self.socket = os.path.join(mine, "control.sock")
        self.child = subprocess.Popen([os.path.join(BUILD, "bin/jxperfd"), "--socket", self.socket, "--http", "none",
                                       "--state-dir", os.path.join(mine, "state")], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while not os.path.exists(self.socket):
            if time.monotonic() > end:
                raise RuntimeError("jxperfd does not start")
            time.sleep(0.01)

    def stop(self):
        self.child.terminate()
        self.child.wait()


def nothing():
    time.sleep(SLOT_S)


def window(workload, daemon, options):
    done = subprocess.run(
        [JXPERFCTL, "--socket", daemon.socket, "attach", str(workload.pid), "--duration", f"{SLOT_S}s",
         "--format", "json", *options], capture_output=True, text=True, check=False)
    if done.returncode:
        raise workload.failure(f"had no window ({done.stderr.strip()})")
    return json.loads(done.stdout)


def async_profiler(workload):
    subprocess.run([ASPROF, "-d", str(int(SLOT_S)), "-e", "cpu", "-f", "/dev/null", str(workload.pid)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def action(workload, daemon, mode):
    if mode == "async_profiler_cpu":
        return lambda: async_profiler(workload)
    if MODES[mode] is None:
        return nothing
    return lambda: window(workload, daemon, MODES[mode])


def turns(workload, daemon, modes):
    """For each mode three lists of slots: those before, those in which it was done, those after. Nothing is done in the
    slots before and after, of which the next mode's are the same."""
    taken = {mode: ([], [], []) for mode in modes}
    before = Slot(workload, nothing)
    for _ in range(ROUNDS):
        for mode in modes:
            during = Slot(workload, action(workload, daemon, mode))
            after = Slot(workload, nothing)
            for slots, one in zip(taken[mode], (before, during, after)):
                slots.append(one)
            before = after
    return taken


def row(name, values, unit="ratio"):
    print(f"{name:44} {statistics.median(values):.4f} {unit}  ({min(values):.4f} to {max(values):.4f}, "
          f"{len(values)} values)", flush=True)


def ratios(befores, slots, afters, rate):
    """Of a field of Rates, by its mean in the slots beside."""
    rates = ([getattr(s.rates, rate) for s in those] for those in (befores, slots, afters))
    return [s / ((b + a) / 2) for b, s, a in zip(*rates)]


def account(report):
    """What the report says the window took of the JVM's CPU time, its beginning included."""
    q = report["quality"]
    return (q["overhead_cpu_s"] + q["setup_cpu_s"]) / (q["target_cpu_s"] + q["setup_cpu_s"])


def describe(name, slots, **lost):
    """lost: ratios of rates, by the name of the row that says what of their loss the reports do not."""
    quality = [s.report["quality"] for s in slots]
    row(f"{name}.overhead_reported", [q["overhead_fraction"] for q in quality], "fraction")
    accounts = [account(s.report) for s in slots]
    for which, rates in lost.items():
        print(f"{f'{name}.{which}':44} {1 - statistics.median(rates) - statistics.median(accounts):.4f} fraction",
              flush=True)
    row(f"{name}.samples_per_window", [q["samples"] for q in quality], "samples")
    row(f"{name}.handler_per_signal", [q["handler_ns"] / max(1, q["signals"]) / 1000 for q in quality], "us")


def _one(program, measure, daemon, modes):
    workload = program.start()
    try:
        workload.warm_up()
        return measure(workload, program.label, daemon, modes)
    finally:
        workload.stop()


def run(programs, modes, measure, summary):
    """measure(workload, label, daemon, modes) of each program that was asked for gives the median ratio of each mode;
    those of all programs follow as rows of the name `summary`. A program that fails is named, and the exit status says
    so."""
    programs = [p for p in programs if not ONLY or p.label in ONLY]
    if not programs:
        return
    modes = os.environ.get("BENCH_MODES", ",".join(modes)).split(",") + (["async_profiler_cpu"] if ASPROF else [])
    daemon = Daemon()
    medians, failed = [], False
    try:
        for program in programs:
            try:
                medians.append(_one(program, measure, daemon, modes))
            except Skip as reason:
                print(f"{program.label}: left out, {reason}", flush=True)
            except RuntimeError as reason:
                print(f"{program.label}: failed, {reason}", flush=True)
                failed = True
        for mode in modes if medians else ():
            row(f"{summary}.{mode}.throughput", [m[mode] for m in medians])
    finally:
        daemon.stop()
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    print(f"machine: {os.cpu_count()} x {model.group(1) if model else '?'}, Linux {platform.release()}, "
          f"JDKs {', '.join(str(j.release) for j in jdks())}, {ROUNDS} rounds of {SLOT_S:g} s slots"
          f"{'' if ASPROF else '; async-profiler not compared (ASPROF not set)'}")
    if failed:
        sys.exit(1)
