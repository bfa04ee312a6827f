"""What a window costs programs that do little but switch threads, wait or serve. Prints one row a figure: name value
unit (median, range).

A thread that waits uses no CPU time, and what wakes it late costs none, so operations are counted for each second that
passes: what else the machine does shows in these rows, and 'noop' says how much. `unaccounted` is what the throughput
lost and the report did not say, as in overhead.py, but the report speaks of CPU time: where processors are idle, a
window may take some and the throughput lose nothing.

`after`: the operations of the last idle slots by those of the first one, which no window came before: what windows
leave behind, and what the JVM and the machine do in the meantime for reasons of their own; BENCH_MODES=noop alone says
how much that is.

How it is measured, and the variables: bench/slots.py.
"""
import statistics

from slots import Program, Skip, Workload, describe, ratios, row, run, turns

HEAP = ("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")
PROCESSORS = {"OneCpu": 1, "TwoCpus": 2}
DEFAULT_MODES = ["noop", "default", "dead-store", "silent-store", "silent-load", "objects", "cpu", "loops"]
# How many idle slots `after` looks at.
LAST = 3


class Waiting(Workload):
    """A program whose threads wait for each other."""
    PER = 0


class Switching(Program):
    """Such a program, on so many processors."""

    def __init__(self, name, *options, label, processors):
        super().__init__(name, *HEAP, *options, label=label, processors=processors)

    def start(self):
        return Waiting(self)


PROGRAMS = [
    Switching(name, *options, label=f"{name}{what}{suffix}", processors=processors)
    for name, what, options in (
        ("ParkTurns", "", ()),
        ("LoopbackEcho", "", ()),
        ("ShortTasks", "", ()),
        ("QueueTurns", "", ()),
        ("StartThreads", "By1", ("-Dtogether=1",)),
        ("StartThreads", "By8", ("-Dtogether=8",)),
    )
    for suffix, processors in PROCESSORS.items()
]


def measure(workload, label, daemon, modes):
    """The median ratio of each mode."""
    medians = {}
    taken = turns(workload, daemon, modes)
    for mode, (befores, slots, afters) in taken.items():
        name = f"{label}.{mode}"
        throughputs = ratios(befores, slots, afters, lambda s: s.rate)
        medians[mode] = statistics.median(throughputs)
        row(f"{name}.throughput", throughputs)
        if slots[0].report:
            describe(name, slots, throughputs)
    idle = [taken[modes[0]][0][0], *(slots[2][at] for at in range(len(taken[modes[0]][0])) for slots in taken.values())]
    row(f"{label}.rate", [s.rate for s in idle], "1/s")
    row(f"{label}.after", [s.rate / idle[0].rate for s in idle[1:][-LAST:]])
    return medians


if __name__ == "__main__":
    run(PROGRAMS, DEFAULT_MODES, measure, "switching")
