"""Where a program of the truth suite spends its time, seen by ptrace and not by jxperf: the code of its busiest compiled methods
with the number of times that its thread was about to run each instruction.

  ticks.py NAME [RELEASE [COMPILER [COUNT]]]      of a JDK (default the newest), C2 (default) or C1, so many looks (default 600)
"""
import collections
import ctypes
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from measure import COMPILERS, Program, compile_programs, jdks
from support.profile import OPTION_OF

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_GETREGS, PTRACE_CONT, PTRACE_DETACH = 0x4206, 0x4207, 12, 7, 17
WALL = 0x40000000
REGISTERS, RIP = 27, 16

# Methods with less of the looks are not shown.
LEAST_PART = 0.05

BLOB = re.compile(r"\d+ (\d) \S+ (\S+)\(.*\[0x\w+, (0x\w+) - (0x\w+)\]")
INSTRUCTION = re.compile(r"\s+([0-9a-f]+):")


def busiest_thread(pid):
    def ticks(tid):
        with open(f"/proc/{pid}/task/{tid}/stat", encoding="ascii", errors="replace") as f:
            return int(f.read().rpartition(")")[2].split()[11])

    before = {int(t): ticks(t) for t in os.listdir(f"/proc/{pid}/task")}
    time.sleep(1)
    return max(before, key=lambda t: ticks(t) - before[t])


def look(tid, count):
    """The addresses that the thread was stopped at, at random times."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    registers = (ctypes.c_ulonglong * REGISTERS)()

    def trace(request, data=None):
        if libc.ptrace(request, tid, None, data):
            raise OSError(ctypes.get_errno(), "ptrace")

    trace(PTRACE_SEIZE)
    seen = collections.Counter()
    for i in range(count):
        time.sleep(random.uniform(0.002, 0.006))
        trace(PTRACE_INTERRUPT)
        os.waitpid(tid, WALL)
        trace(PTRACE_GETREGS, ctypes.cast(registers, ctypes.c_void_p))
        seen[registers[RIP]] += 1
        # One that is still traced when it ends is waited for by nobody.
        trace(PTRACE_CONT if i + 1 < count else PTRACE_DETACH)
    return seen


def listing(pid, start, end, seen):
    """The code, each line with how often it was seen."""
    with open(f"/proc/{pid}/mem", "rb") as memory, tempfile.NamedTemporaryFile() as code:
        memory.seek(start)
        code.write(memory.read(end - start))
        code.flush()
        disassemble = ["objdump", "-D", "-b", "binary", "-mi386:x86-64", "-Mintel", "--no-show-raw-insn", code.name]
        text = subprocess.run(disassemble, capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        match = INSTRUCTION.match(line)
        if match:
            yield f"{seen.get(start + int(match[1], 16), 0) or '':>5} {line}"


def main():
    name, release, compiler, count = (sys.argv[1:] + ["", "", ""][len(sys.argv) - 2:])
    compile_programs()
    jdk = next(j for j in reversed(jdks()) if release in ("", str(j.release)))
    program = Program(jdk, name, OPTION_OF["G1"], *COMPILERS[compiler or "C2"])
    try:
        seen = look(busiest_thread(program.pid), int(count or 600))
        jcmd = os.path.join(os.path.dirname(jdk.java), "jcmd")
        codelist = subprocess.run([jcmd, str(program.pid), "Compiler.codelist"], capture_output=True, text=True, check=True)
        for level, method, *bounds in BLOB.findall(codelist.stdout):
            start, end = (int(b, 16) for b in bounds)
            times = sum(n for at, n in seen.items() if start <= at < end)
            if times > LEAST_PART * seen.total():
                print(f"{method}, level {level}, {times} of {seen.total()} looks:", *listing(program.pid, start, end, seen), sep="\n")
    finally:
        program.stop()


main()
