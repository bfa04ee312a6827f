"""Windows of every sort, one after the other, in JVMs of every sort, for as long as is asked for.

Prints a row for each JVM, and exits with 1 when one died, did not do its own work right, or had a window that failed
for no reason, or when the daemon grew.

  SOAK_MINUTES (default 30)   SOAK_SEED (default 1)   SOAK_JDKS, comma-separated releases (default all)
  SOAK_BUNDLE     another bundle than the build's own    SOAK_PRELOAD   a library that the JVMs load first
`make soak-asan` sets the last two, for an agent with AddressSanitizer.
"""
import os
import random
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import BUILD, Process, jdks, make_directory  # noqa: E402
from support.profile import (  # noqa: E402
    BENCH_CLASS_PATH, EARLY, OPTION_OF, TARGET_ENDED, Daemon, attach_options, report_of,
)

MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
AT_ONCE = 2
JVM_S = (20, 60)
BUNDLE = os.environ.get("SOAK_BUNDLE")
PRELOAD = os.environ.get("SOAK_PRELOAD")
# HotSpot has handlers of its own for all of these; leaks are the JVM's.
ASAN_OPTIONS = "detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0:allow_user_segv_handler=1:" + ":".join(
    f"handle_{s}=0" for s in ("segv", "sigtrap", "sigbus", "sigfpe", "sigill"))
# The daemon keeps finished windows, up to a bound of its own.
DAEMON_MOST_MIB = 512

KINDS = ["dead-store", "silent-store", "silent-load", "objects", "cpu", "loops"]
# Libraries, and what is hard on a profiler: threads, classes and stacks that come and go, memory that is used again,
# objects that move, threads by the hundred.
PROGRAMS = ["H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "BagRetain", "MapRebuild", "Churn",
            "ReusedMemory", "TrackedObjects", "ParkedThreads", "CopyAndClear"]
# Words that a healthy program does not print.
BAD = ("Exception in", "fatal error", "changed ", "Sanitizer")


class Jvm:
    """A program, and what tells that it is well."""

    def __init__(self, rng, found):
        self.name = rng.choice(PROGRAMS)
        self.seconds = rng.uniform(*JVM_S)
        self.jdk = rng.choice(found)
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        if PRELOAD:
            environment.update(LD_PRELOAD=PRELOAD, ASAN_OPTIONS=ASAN_OPTIONS)
        self.collector = rng.choice([o for o in OPTION_OF.values() if self.jdk.runs_with(o, env=environment)])
        self.end = os.path.join(make_directory(), "end")
        arguments = {
            "Churn": [str(int(self.seconds))],
            "ReusedMemory": ["200", self.end],
            "ParkedThreads": ["300", "2"],
            "CopyAndClear": [rng.choice(["copy", "clear"])],
        }.get(self.name, [])
        self.process = Process([
            self.jdk.java, "-Xmx512m", self.collector, "-Djava.awt.headless=true", "-Dprogress=true",
            f"-XX:ErrorFile={BUILD}/soak-hs_err_%p.log", "-cp", BENCH_CLASS_PATH, self.name, *arguments], env=environment)
        self.process.wait_for("up", 60)

    def disturb(self, age):
        """Half-way, the threads of ReusedMemory end and their memory is given to others."""
        if age > self.seconds / 2 and not os.path.exists(self.end):
            with open(self.end, "w", encoding="ascii"):
                pass

    def complaint(self):
        """What is wrong with it, or None. It may only have ended if it was to."""
        output = self.process.output()
        for word in BAD:
            if word in output:
                return f"printed '{word}'"
        if self.name == "Churn":
            self.process.child.wait(60)
            return None if "done 6 of 6" in self.process.output() else "did not do its work"
        return None if self.process.alive() else f"ended with {self.process.child.returncode}"


class Soak:
    def __init__(self):
        self.rng = random.Random(SEED)
        self.daemon = Daemon(options=["--bundle", BUNDLE] if BUNDLE else [])
        self.until = time.monotonic() + 60 * MINUTES
        releases = [r for r in os.environ.get("SOAK_JDKS", "").split(",") if r]
        self.jdks = [j for j in jdks() if not releases or str(j.release) in releases]
        self.lock = threading.Lock()
        self.windows = self.jvms = 0
        self.failures = []

    def options(self, rng):
        options = []
        if rng.random() < 0.5:
            options += ["--kinds", ",".join(rng.sample(KINDS, rng.randint(1, len(KINDS))))]
        if rng.random() < 0.5:
            options += ["--budget", rng.choice(["0.5%", "5%", "30%", "100%"])]
        if rng.random() < 0.3:
            options += ["--period", rng.choice(["100us", "1ms", "20ms"])]
        return options

    def window(self, rng, jvm):
        """The report of a window, or None when the JVM ended meanwhile."""
        duration = rng.choice(["50ms", "200ms", "1s", "3s", "6s"])
        options = self.options(rng)
        done = self.daemon.ctl("attach", str(jvm.process.pid), *attach_options(duration, options), timeout=90)
        if done.returncode not in (0, EARLY, TARGET_ENDED):
            if jvm.process.alive():
                raise AssertionError(f"window of {duration} with {options}: {done.stderr.strip()}")
            return None
        return report_of(done, done.returncode)

    def one_jvm(self, rng):
        jvm = Jvm(rng, self.jdks)
        start, windows, samples, objects = time.monotonic(), 0, 0, 0
        problem = None
        try:
            while time.monotonic() - start < jvm.seconds and jvm.process.alive():
                report = self.window(rng, jvm)
                windows += 1
                if report:
                    samples += report["quality"]["samples"]
                    objects += report["quality"]["objects_sampled"]
                jvm.disturb(time.monotonic() - start)
                time.sleep(rng.choice([0, 0, 0.3, 2]))
            problem = jvm.complaint()
        except AssertionError as e:
            problem = jvm.complaint() or str(e)
        finally:
            jvm.process.stop()
        row = f"{jvm.name:<16}{str(jvm.jdk):<8}{jvm.collector:<23}{windows:>5} windows{samples:>8} samples{objects:>8} objects"
        with self.lock:
            self.windows += windows
            self.jvms += 1
            print(row + (f"  FAILED: {problem}" if problem else ""), flush=True)
            if problem:
                self.failures.append(row)
                print(jvm.process.output()[-4000:], flush=True)

    def lane(self, seed):
        rng = random.Random(seed)
        try:
            while time.monotonic() < self.until:
                self.one_jvm(rng)
        except Exception as e:  # One that no lane may hide.
            self.failures.append(str(e))
            raise

    def run(self):
        lanes = [threading.Thread(target=self.lane, args=(self.rng.random(),)) for _ in range(AT_ONCE)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        resident = self.daemon_mib()
        print(f"{self.windows} windows in {self.jvms} JVMs, {len(self.failures)} failed; daemon {resident:.0f} MiB")
        assert self.daemon.alive(), self.daemon.output()
        assert resident < DAEMON_MOST_MIB, resident
        return not self.failures

    def daemon_mib(self):
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as f:
            return next(int(l.split()[1]) for l in f if l.startswith("VmHWM:")) / 1024


sys.exit(0 if Soak().run() else 1)
