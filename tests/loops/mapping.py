"""Which loop do ticks belong to, in code that was compiled before the attach? Compared with what the JVM says itself in a twin that
has debug information everywhere (-XX:+DebugNonSafepoints): prints for each program the share of the ticks in loops that a report
has in a loop, and the share that it has in another loop than the twin. Exits with 1 when in all fewer than 95% are mapped or
more than 1% wrong.

  MAPPING_ONLY      comma-separated programs (default: those of PROGRAMS below)
  MAPPING_SECONDS   of each window (default 10)      MAPPING_AT_ONCE   windows at the same time (default 2)
  MAPPING_JDKS      comma-separated releases (default 17 and the newest)
  MAPPING_GCS       comma-separated collectors (default G1 and Parallel)
"""
import collections
import concurrent.futures
import math
import os
import sys

import programs
from bytecode import Bytecode
from measure import CLASS_PATH, Running, collector_options, compile_programs, javap_of, rows_of
from support.profile import Daemon
from support.tree import all_jdks

SECONDS = float(os.environ.get("MAPPING_SECONDS", "10"))
AT_ONCE = int(os.environ.get("MAPPING_AT_ONCE", "2"))
TWIN = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")

# Of many sorts. Not those in which another thread takes a share that changes.
PROGRAMS = ("walk", "array", "iterator", "map", "nested", "rate1/4096", "rate1/4", "local", "sum", "fill", "pure", "queue", "half",
            "different", "siblings", "retain", "timeline", "series", "copyOnWrite", "getEdge", "linkedList",
            "compression", "regex", "matrix", "fft")

MAPPED_LEAST = 0.95
WRONG_MOST = 0.01
# Loops with less of the time are not looked at, here or there.
MINOR = 0.03
# Two windows' shares of one loop differ by chance, too.
DEVIATIONS = 3


def chosen(variable, default):
    return [name for name in os.environ.get(variable, default).split(",") if name]


def chosen_jdks():
    found = all_jdks()
    releases = chosen("MAPPING_JDKS", f"17,{found[-1].release}")
    return [j for j in found if str(j.release) in releases]


def window(daemon, jdk, collector, program, kinds, *jvm_options):
    running = Running(jdk, program, *collector_options(jdk, collector), *jvm_options)
    try:
        return daemon.attach(running.pid, "--kinds", kinds, "--budget", "5%", duration=f"{SECONDS}s")
    finally:
        running.stop()


def as_mapped(report):
    """Loop → share of the CPU time, as the report says."""
    shares = collections.Counter()
    for row in filter(lambda r: r["mapped"], rows_of(report)):
        shares[row["class"], row["method"], row["bci"][0]] += row["time_fraction"]
    return shares


def as_the_jvm_says(report, bytecode):
    shares = collections.Counter()
    for context in report["cpu"]["contexts"]:
        loop = bytecode.loop_of(context["frames"])
        if loop:
            shares[loop[:3]] += context["fraction"]
    return shares


def looked_at(report):
    """Share of the ticks in code that was taken apart: code that was replaced meanwhile, or is new, was not."""
    summary = report.get("loops_summary", {})
    return (summary.get("compiled_fraction") or 0) * (summary.get("looked_at_fraction_of_compiled") or 0)


def compare(found, true, ticks, looked):
    """Shares of all ticks: in major loops, as far as code was looked at, mapped to any of them, and mapped to another than they are
    in."""
    major = {loop for loop, share in true.items() if share >= MINOR}
    in_loops = looked * sum(true[loop] for loop in major)
    mapped = sum(found.values())
    wrong = 0
    for loop, share in found.items():
        p = min(1, max(true[loop], share))  # Ticks of one loop may be in the other's, too.
        by_chance = DEVIATIONS * math.sqrt(2 * p * (1 - p) / ticks)
        # What is minor in one of the two may be left out by the other.
        wrong += max(0.0, share - true[loop] - by_chance - (MINOR if loop not in major else 0))
    return in_loops, min(mapped, in_loops), wrong


def measure_one(daemon, jdk, collector, program):
    bytecode = Bytecode(javap_of(jdk), CLASS_PATH)
    report = window(daemon, jdk, collector, program, "loops")
    twin = window(daemon, jdk, collector, program, "cpu", *TWIN)
    ticks = min(report["cpu"]["samples"] if report.get("cpu") else twin["cpu"]["samples"], twin["cpu"]["samples"])
    found, true = as_mapped(report), as_the_jvm_says(twin, bytecode)
    return *compare(found, true, max(ticks, 1), looked_at(report)), found, true, ticks


def name_of(loop):
    return f"{loop[0]}.{loop[1]}@{loop[2]}"


def line(jdk, collector, program, result):
    shares, ticks = result[:3], result[-1]
    in_loops, mapped, wrong = shares
    return (f"{program.name:16} JDK {jdk.release} {collector:8} {ticks:6} ticks, in loops {in_loops:.3f}, mapped "
            f"{mapped / in_loops if in_loops else 1:.3f}, wrong {wrong:.3f}")


def differences(found, true):
    for loop in sorted({*found, *true}, key=lambda l: -max(found[l], true[l])):
        if max(found[loop], true[loop]) >= MINOR:
            yield f"    {name_of(loop)}: {found[loop]:.3f}, the JVM says {true[loop]:.3f}"


def summary(measured):
    """By release and collector, of the ticks in loops: which share is mapped, and which to a wrong one. The last row is of all."""
    sums = collections.defaultdict(lambda: [0.0, 0.0, 0.0, 0])
    for (jdk, collector, _), (in_loops, mapped, wrong, _, _, ticks) in measured:
        for place in ((jdk.release, collector), ("all", "")):
            sums[place] = [a + b for a, b in zip(sums[place], (in_loops, mapped, wrong, ticks))]
    for (release, collector), (in_loops, mapped, wrong, ticks) in sums.items():
        yield release, collector, mapped / in_loops if in_loops else 1.0, wrong / in_loops if in_loops else 0.0, ticks


def main():
    compile_programs()
    daemon = Daemon()
    planned = [(jdk, collector, programs.PROGRAMS[name]) for jdk in chosen_jdks()
               for collector in chosen("MAPPING_GCS", "G1,Parallel")
               for name in chosen("MAPPING_ONLY", ",".join(PROGRAMS))]
    measured, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for plan, asked in zip(planned, [pool.submit(measure_one, daemon, *p) for p in planned]):
            try:
                result = asked.result()
            except AssertionError as e:
                print(f"{plan[2].name} JDK {plan[0].release} {plan[1]}: {e}", flush=True)
                failed += 1
                continue
            in_loops, mapped, wrong, found, true, _ = result
            measured.append((plan, result))
            print(line(*plan, result), flush=True)
            if in_loops and (mapped < MAPPED_LEAST * in_loops or wrong > WRONG_MOST):
                print("\n".join(differences(found, true)), flush=True)
    print()
    mapped, wrong = 1.0, 0.0
    for release, collector, mapped, wrong, ticks in sorted(summary(measured), key=str):
        print(f"JDK {release:3} {collector:8} {mapped:6.1%} of the ticks in loops are mapped, {wrong:6.2%} to a wrong loop, {ticks} ticks")
    sys.exit(0 if mapped >= MAPPED_LEAST and wrong <= WRONG_MOST and not failed else 1)


main()
