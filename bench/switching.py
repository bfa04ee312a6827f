"""What a window costs programs that do little but switch threads, wait or serve. Prints one row a figure: name value
unit (median, range).

A thread that waits uses no CPU time, and what wakes it late costs none, so `throughput` is operations for each second
that passes: what else the machine does shows in it, and 'noop' says how much. `by_cpu_time` is operations for each
second of the process's CPU time, as in overhead.py: on a busy machine it still says something. `p99` of services is the
ratio of the time in which 99 of 100 answers came; what asks them runs on the same processors.

`unaccounted` is what the throughput lost and the report did not say, but the report speaks of CPU time: where
processors are idle, a window may take some and the throughput lose nothing. `unaccounted_by_cpu_time` is the same of
`by_cpu_time`.

`after`: the throughput of the last idle slots by that of the first one, which no window came before: what windows leave
behind, and what the JVM and the machine do in the meantime for reasons of their own; BENCH_MODES=noop alone says how
much that is.

How it is measured, and the variables: bench/slots.py.
"""
import queue
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from slots import (BENCH_CLASS_PATH, WARM_UP_S, Program, Rates, Skip, Workload, describe, pinned, process_cpu_s, ratios,
                   row, run, turns)

HEAP = ("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")
DEFAULT_MODES = ["noop", "default", "dead-store", "silent-store", "silent-load", "objects", "cpu", "loops"]
PROCESSORS = {"OneCpu": 1, "TwoCpus": 2}
CONNECTIONS = (4, 16)
# How many idle slots `after` looks at.
LAST = 3
START_S = 60
WARM_UPS = 3


# ---------------------------------------------------------------- what asks


class Load:
    """What asks a service. begin(), and end() gives the answers since then, the seconds, and the seconds in which 99 of
    100 came."""

    def __init__(self, processors, *command):
        self.command, self.child = [*pinned(processors), *command], None

    def _start(self):
        self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _figures(self, said):
        found = re.search(r"answers (\d+) seconds (\S+) p99 (\S+) failed (\d+)", said)
        if not found or int(found[1]) == 0 or int(found[4]):
            raise RuntimeError(f"'{' '.join(self.command)}' says '{said.strip()}'")
        return int(found[1]), float(found[2]), float(found[3])

    def stop(self):
        if self.child:
            self.child.kill()
            self.child.wait()


class Wrk(Load):
    """One for each slot, which is told when to end."""

    SCRIPT = r"""
local n = 0
request = function()
    n = n + 1
    return wrk.format("GET", "/" .. n % 1000)
end
done = function(all, latency)
    local e = all.errors
    io.write(string.format("answers %d seconds %f p99 %f failed %d\n", all.requests, all.duration / 1e6,
        latency:percentile(99) / 1e6, e.connect + e.read + e.write + e.status + e.timeout))
end
"""

    def __init__(self, processors, port, connections):
        if not shutil.which("wrk"):
            raise Skip("it needs wrk")
        self.script = tempfile.NamedTemporaryFile("w", suffix=".lua")
        self.script.write(self.SCRIPT)
        self.script.flush()
        super().__init__(processors, "wrk", "-t1", f"-c{connections}", "-d1h", "-s", self.script.name,
                         f"http://127.0.0.1:{port}")

    def begin(self):
        self._start()

    def end(self):
        self.child.send_signal(signal.SIGINT)
        return self._figures(self.child.communicate()[0])


class Client(Load):
    """One for all slots: it is a JVM, and has to warm up, too. It goes on between slots."""

    def __init__(self, processors, port, connections):
        super().__init__(processors, Program("DatabaseClient").jdk().java, "-Xmx128m", "-cp", BENCH_CLASS_PATH,
                         "DatabaseClient", str(port), str(connections))
        self._start()

    def _ask(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        return self.child.stdout.readline()

    def begin(self):
        self._ask()

    def end(self):
        return self._figures(self._ask())


# ---------------------------------------------------------------- what is asked


class Serving(Workload):
    """A JVM that serves, and what asks it in slots."""

    def __init__(self, program):
        self.port = queue.Queue()
        super().__init__(program)
        self.load = None
        try:
            self.load = program.load(program.processors, self.port.get(timeout=START_S), program.connections)
        except queue.Empty:
            raise self.failure("does not listen") from None
        finally:
            if not self.load:
                super().stop()

    def _read(self):
        for line in self.child.stdout:
            if line.startswith("listening "):
                self.port.put(int(line.split()[1]))

    def warm_up(self):
        # A server and what it uses are more code than the other programs have.
        self.during(lambda: time.sleep(WARM_UPS * WARM_UP_S))

    def during(self, act):
        self.load.begin()
        cpu_s = process_cpu_s(self.pid)
        given = act()
        cpu_s = process_cpu_s(self.pid) - cpu_s
        answers, passed_s, p99_s = self.load.end()
        return given, Rates(answers / passed_s, answers / cpu_s, p99_s)

    def stop(self):
        self.load.stop()
        super().stop()


class Service(Program):
    """A program that serves, what asks it, and over how many connections."""

    def __init__(self, name, load, connections):
        super().__init__(name, *HEAP, label=f"{name}{connections}", processors=2)
        self.load, self.connections = load, connections

    def start(self):
        return Serving(self)


PROGRAMS = [
    *(Program(name, *HEAP, *options, label=f"{name}{what}{suffix}", processors=processors)
      for name, what, options in (
          ("ParkTurns", "", ()),
          ("LoopbackEcho", "", ()),
          ("ShortTasks", "", ()),
          ("QueueTurns", "", ()),
          ("StartThreads", "By1", ("-Dtogether=1",)),
          ("StartThreads", "By8", ("-Dtogether=8",)),
      )
      for suffix, processors in PROCESSORS.items()),
    *(Service(name, load, connections)
      for name, load in (("HttpService", Wrk), ("DatabaseServer", Client)) for connections in CONNECTIONS),
]


def measure(workload, label, daemon, modes):
    """The median ratio of each mode."""
    medians = {}
    taken = turns(workload, daemon, modes)
    first = next(iter(taken.values()))[0][0]
    for mode, (befores, slots, afters) in taken.items():
        name = f"{label}.{mode}"
        throughputs = ratios(befores, slots, afters, "passed")
        medians[mode] = statistics.median(throughputs)
        row(f"{name}.throughput", throughputs)
        by_cpu_time = ratios(befores, slots, afters, "cpu")
        row(f"{name}.by_cpu_time", by_cpu_time)
        if first.rates.p99_s:
            row(f"{name}.p99", ratios(befores, slots, afters, "p99_s"))
        if slots[0].report:
            describe(name, slots, unaccounted=throughputs, unaccounted_by_cpu_time=by_cpu_time)
    idle = [first.rates, *(s.rates for round_of in zip(*(t[2] for t in taken.values())) for s in round_of)]
    row(f"{label}.idle", [r.passed for r in idle], "1/s")
    if first.rates.p99_s:
        row(f"{label}.idle_p99", [r.p99_s * 1000 for r in idle], "ms")
    row(f"{label}.after", [r.passed / idle[0].passed for r in idle[1:][-LAST:]])
    row(f"{label}.after_by_cpu_time", [r.cpu / idle[0].cpu for r in idle[1:][-LAST:]])
    return medians


if __name__ == "__main__":
    run(PROGRAMS, DEFAULT_MODES, measure, "switching")
