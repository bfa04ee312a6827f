"""Programs as they run: CPU time of an operation, and windows."""
import os
import re
import signal
import subprocess
import time

from sources import BUILD, HERE, compile_files, jar_of, patched
from lib import Process, jdks, make_directory, made_once
from support import profile
from support.profile import BENCH_CLASS_PATH

# Who makes which access is for others to hold against classes (tests/methods).
profile.CHECK_METHODS = False

JDK = next(j for j in jdks() if j.release == 17)
_OPERATIONS = re.compile(r"operations (\d+)\n")
STARTS_S = 120
POLL_S = 0.002
LONGER = 20  # times, on a busy machine


@made_once
def programs():
    """The directory of the classes of programs/, each compiled with the jars of its fix."""
    return make_directory()


def class_path(fix, after):
    """With the patched classes first, where it is after the fix."""
    others = [os.path.join(BUILD, "workloads"), *map(jar_of, fix.jars)] if fix.jars else [BENCH_CLASS_PATH]
    path = ":".join([programs(), *others])
    source = os.path.join(HERE, "programs", f"{fix.program}.java")
    if os.path.exists(source) and not os.path.exists(os.path.join(programs(), f"{fix.program}.class")):
        compile_files(JDK.javac, [source], path, programs())
    return f"{patched(fix.name, fix.package, JDK.javac, path)}:{path}" if after else path


def values(fix, path):
    """What the program computes, the first few times: a fix may not change it."""
    few = os.path.join(make_directory(), "few")
    compile_files(JDK.javac, [os.path.join(HERE, "programs/few/Workload.java")], "", few)
    done = subprocess.run([JDK.java, "-Xmx1g", *fix.options, "-cp", f"{few}:{path}", fix.program], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=STARTS_S, check=False)
    found = re.findall(r"value -?\d+", done.stdout)
    assert found, f"{fix.program} computes nothing: {done.stderr}"
    return found


def cpu_ns(pid):
    """Of a process, by its CPU clock."""
    return time.clock_gettime_ns((~pid << 3) | 2)


class Program(Process):
    """A program that runs, for long enough to be compiled. Times are of its CPU time, whatever else the machine does."""

    def __init__(self, fix, path):
        options = ["-Xmx1g", "-Dprogress=true", "-Djava.awt.headless=true", *fix.options]
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        super().__init__([JDK.java, *options, "-cp", path, fix.program], env=environment)
        self.wait_for("up\n", STARTS_S)
        self._spend(fix.warm_up_s)

    def _spend(self, seconds):
        """Waits until it has used so much more."""
        end, late = cpu_ns(self.pid) + seconds * 1e9, time.monotonic() + STARTS_S + LONGER * seconds
        while cpu_ns(self.pid) < end:
            assert self.alive() and time.monotonic() < late, self.output()
            time.sleep(0.01)

    def _at_next_line(self):
        """Operations and CPU time when the next line is printed."""
        size = os.path.getsize(self.output_path)
        while os.path.getsize(self.output_path) == size:
            assert self.alive(), self.output()
            time.sleep(POLL_S)
        now = cpu_ns(self.pid)
        return int(_OPERATIONS.findall(self.output())[-1]), now

    def cost_ns(self, seconds):
        """CPU time of an operation, over so long."""
        operations, cpu = self._at_next_line()
        self._spend(seconds)
        more, later = self._at_next_line()
        return (later - cpu) / (more - operations)

    def rest(self):
        """So that another one has the machine, until it is to go on."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self):
        os.kill(self.pid, signal.SIGCONT)


def window(daemon, program, seconds, budget):
    """The id and the report of a window."""
    report = daemon.attach(program.pid, "--budget", budget, duration=f"{seconds}s")
    return report["window"]["id"], report


def costs_ns(programs, pairs, seconds):
    """CPU time of an operation of each of some programs, which rest now, one after the other, so many times."""
    for _ in range(pairs):
        costs = []
        for program in programs:
            program.go_on()
            costs.append(program.cost_ns(seconds))
            program.rest()
        yield costs
