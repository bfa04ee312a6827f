"""What a window costs the JVM it runs in. Prints one row a figure: name value unit (median, range).

Seen from outside: operations for each second of the process's CPU time, which holds everything that the JVM
and the agent in it do, and is hardly disturbed by what else the machine does; collections and what they leave,
from the JVM's own log; page faults, from /proc. Our account is only held against it: `unaccounted` is what the
throughput lost and the report did not say. How it is measured, and the variables: bench/slots.py. Programs that
do little but wait and switch threads: bench/switching.py.
"""
import statistics

from slots import Program, describe, ratios, row, run, turns

FIXED_HEAP = ("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch")
PROGRAMS = [
    *(Program(name, *FIXED_HEAP)
      for name in ("H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract", "BagRetain")),
    # What the account once did not see: humongous arrays, a large live heap, threads that end at once,
    # collectors that work beside the program, tasks on virtual threads, files that are read.
    Program("GrowthArrays", "-XX:+UseG1GC"),
    Program("GrowthArrays", "-XX:+UseG1GC", "-Xmx700m", label="GrowthArrays700m"),
    Program("GrowthArrays", "-XX:+UseG1GC", label="GrowthArraysNewest", newest_jdk=True),
    Program("GrowthArrays", "-XX:+UseZGC", "-Xmx2g", label="GrowthArraysZgc", oldest=21, newest_jdk=True),
    Program("GrowthArrays", "-XX:+UseG1GC", "-Xmx700m", label="GrowthArraysHalfCpu", cpus=0.5),
    Program("ArrayCache", "-Xmx2g"),
    Program("FileTable"),
    Program("ShortThreads"),
    Program("VirtualTasks", oldest=21, newest_jdk=True),
]
DEFAULT_MODES = ["noop", "default", "budget_5", "objects", "loops"]


def outside(name, before, during, after):
    """What the JVM did beside its operations, in the slots and in those beside them."""
    row(f"{name}.collections", [s.collections_per_s for s in during], "1/s")
    row(f"{name}.collections_beside", [s.collections_per_s for s in before + after], "1/s")
    for which, slots in (("", during), ("_beside", before + after)):
        left = [s.left_mib for s in slots if s.left_mib is not None]
        if left:
            row(f"{name}.left_by_collections{which}", left, "MiB")
    row(f"{name}.page_faults", [s.faults_per_s for s in during], "1/s")
    row(f"{name}.page_faults_beside", [s.faults_per_s for s in before + after], "1/s")


def measure(workload, label, daemon, modes):
    """The median ratio of each mode."""
    resident = workload.resident_mib()
    medians = {}
    for mode, (befores, slots, afters) in turns(workload, daemon, modes).items():
        name = f"{label}.{mode}"
        throughputs = ratios(befores, slots, afters, "cpu")
        medians[mode] = statistics.median(throughputs)
        row(f"{name}.throughput", throughputs)
        if slots[0].report:
            describe(name, slots, unaccounted=throughputs)
            outside(name, befores, slots, afters)
    row(f"{label}.memory_growth", [workload.resident_mib() - resident], "MiB")
    row(f"{label}.memory_growth_at_most", [workload.resident_mib(most=True) - resident], "MiB")
    return medians


if __name__ == "__main__":
    run(PROGRAMS, DEFAULT_MODES, measure, "all")
