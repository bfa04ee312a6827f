"""What `jxperfctl diff` says of windows of one program, and of a program and its repaired twin."""
import json
import os

from lib import ROOT, compile_java, made_once
from support.profile import Workload, duration_for, report_of, succeeded

# The repaired builds: of which program, from whose source, what of its text is another there, and the method that
# does less.
TWINS = {
    "silent stores": ("SilentStore", "SilentStoreClean", ("SilentStoreClean", "SilentStore"),
                      "rounds"),
    "silent loads": ("SilentLoad", "SilentLoadClean", ("SilentLoadClean", "SilentLoad"),
                     "rounds"),
    "clears": ("Repairable", "Repairable", ("CLEARS = true", "CLEARS = false"), "clear"),
    "sums": ("Repairable", "Repairable", ("SUMS = true", "SUMS = false"), "sum"),
    "marks": ("Repairable", "Repairable", ("MARKS = true", "MARKS = false"), "mark"),
}


def source(name):
    with open(os.path.join(ROOT, f"tests/workloads/{name}.java"), encoding="utf-8") as f:
        return f.read()


@made_once
def repaired_classes(twin):
    """A directory with the repaired build: the same classes and methods."""
    program, origin, (old, new), _ = TWINS[twin]
    text = source(origin)
    assert old in text, (origin, old)
    return compile_java({f"{program}.java": text.replace(old, new), "Workload.java": source("Workload")})


def builds(jdk, twin, *options):
    """A JVM with the program as it is, and one with its repaired build, in turn; each ends when the next is asked for."""
    program = TWINS[twin][0]
    for before in ([], [repaired_classes(twin)]):
        target = Workload(jdk, program, *options, before=before)
        try:
            yield target
        finally:
            target.stop()


def window(daemon, pid, cpu_s, budget):
    """The id of a window of so much CPU time."""
    report = report_of(daemon.ctl("attach", str(pid), "--duration", duration_for(pid, cpu_s), "--budget", budget,
                                  "--pairs", "1", "--format", "json"))
    return report["window"]["id"]


def difference(daemon, a, b):
    """What is said of the CPU time of two windows."""
    return json.loads(succeeded(daemon.ctl("diff", a, b, "--format", "json")))["diff"]["cpu"]


def is_repaired(twin, row):
    """Is a row about what its build does less of: the method, or its waste?"""
    program, _, _, method = TWINS[twin]
    return row["method"] == f"{program}.{method}" and not row.get("spill")
