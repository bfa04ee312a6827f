"""The agent's interpreter of instructions (attach/agent/path/machine.h) beside the processor: threads of JVMs that run
compiled code are single-stepped, and what it says of the next instructions must come true.

  INTERPRETER_SEQUENCES   how many rows of instructions are followed in all (default: 30,000). `make soak-interpreter`
                          follows a million, in more programs.
"""
import functools
import os
import re
import subprocess

from lib import BUILD, ROOT, Process, add_test, jdks, make_directory, note, run, skip
from support.profile import BENCH_CLASS_PATH, Workload

SEQUENCES = int(os.environ.get("INTERPRETER_SEQUENCES", "30000"))
THOROUGH = SEQUENCES > 200000

# Of one JVM; a thread makes some 20,000 rows a second.
SECONDS = 300 if THOROUGH else 60

PROGRAMS = {"KnownPlaces": (), "ManyMethods": ("1000",), "StridedFft": (), "MapRebuild": ()}
BENCH_PROGRAMS = ("H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract", "BagRetain")
COUNTS = re.compile(r"^sequences (\d+) instructions (\d+) undecided (\d+) accesses (\d+) differences (\d+)$", re.MULTILINE)
NOT_TRACED = 77


@functools.lru_cache(maxsize=None)
def _stepper():
    built = os.path.join(make_directory(), "single_step")
    sources = ["tests/e2e/single_step.c", "attach/agent/path/machine.c",
               *(f"common/code/{name}.c" for name in ("insn", "opcode", "registers", "zydis"))]
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-I.", *sources, "-lZydis", "-o", built], cwd=ROOT, check=True)
    return built


def _start(jdk, program):
    if program in PROGRAMS:
        return Workload(jdk, program, arguments=PROGRAMS[program])
    jvm = Process([jdk.java, "-Xmx512m", "-cp", BENCH_CLASS_PATH, program],
                  env={k: v for k, v in os.environ.items() if "JAVA" not in k})
    jvm.wait_for("up\n", 60)
    return jvm


def _follow(jdk, program, wanted):
    jvm = _start(jdk, program)
    done = subprocess.run([_stepper(), str(jvm.pid), str(wanted), str(SECONDS)], capture_output=True, text=True,
                          check=False)
    if done.returncode == NOT_TRACED:
        skip(done.stdout.strip())
    counts = COUNTS.search(done.stdout)
    assert counts, (done.returncode, done.stdout, done.stderr)
    sequences, instructions, _, accesses, differences = map(int, counts.groups())
    note(f"{sequences} rows, {instructions} instructions, {accesses} accesses, {differences} differences")
    assert differences == 0, done.stdout
    assert sequences >= wanted // 2 and accesses > 0, done.stdout
    jvm.stop()


def _choice():
    """(JDK, program) of what is followed; in short, half of the programs with the oldest JDK and half with the newest."""
    programs, oldest, newest = list(PROGRAMS), jdks()[0], jdks()[-1]
    if not THOROUGH:
        yield from ((oldest, program) for program in programs[::2])
        yield from ((newest, program) for program in programs[1::2])
    else:
        yield from ((jdk, program) for jdk in jdks() for program in programs)
    if not os.path.exists(os.path.join(BUILD, "workloads/H2Queries.class")):
        return
    for jdk in jdks() if THOROUGH else jdks()[-1:]:
        yield from ((jdk, program) for program in (BENCH_PROGRAMS if THOROUGH else BENCH_PROGRAMS[:2]))


def main():
    choice = list(_choice())
    for jdk, program in choice:
        add_test(f"{program} ({jdk})",
                 lambda j=jdk, p=program: _follow(j, p, SEQUENCES // len(choice)))
    run()


main()
