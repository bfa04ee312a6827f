#!/usr/bin/python3
"""How often is the method right that is said to make an access? Of sampled accesses in code that was compiled with debug
information everywhere (-XX:+DebugNonSafepoints), which what finds the method does not get to see (score.c), nor, for the second
figure, the null checks. Prints for each program, in per cent of the accesses of which the JVM says a bytecode that can have
made them:

Of fields, elements and lengths:
  method       the innermost one is right             calls   all that lead to it, too           bytecode   that, too
  either       right by the null-check table alone: the compiler has made one access of two. They count as right
  unnamed      the report says that it is not known   unsaid  of all, those that the JVM does not tell
  impossible   accesses whose bytecode cannot have made them, a number
  null         the method, against the null-check table, which was hidden, too
  line         the line, of those whose method has a line table; and within one statement: that of the entry of the line table which the
               bytecode lies in, or of the one before or behind it in the table

Of ticks in compiled code, the same by three rules: the next record, the one before, and the one that is used (attribution_find_tick).
The truth is the dense record of the instruction that the thread waited for, where its bytecode can have become it (score_ticks.c).

  SCORE_ONLY      comma-separated programs       SCORE_SECONDS   of each window (default 10)
  SCORE_JDKS      releases (default 17 and the newest; others: tests/jdks)         SCORE_OPTIONS   more options for the JVMs
  SCORE_WARM_UP_S seconds before the window (default 8)         SCORE_WRONG     how many wrong ones to show (default 0)

Exits with 1 when the mean of the methods is below 97, one of them below 95, or anything is impossible.
"""
import collections
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from lib import BUILD, Process, jdks, make_directory  # noqa: E402
from support import profile  # noqa: E402
from support.tree import all_jdks, command_of  # noqa: E402

profile.DAEMON = os.path.join(BUILD, "tests/score/bin/jxperfd")

PROGRAMS = ("H2Queries", "JythonScript", "BatikPaint", "FopRender", "JavacCompile", "XsltTransform", "ChartTimeline", "MapRebuild",
            "BagRetain", "ListSubtract", "LuceneSearch", "PdfText", "TomcatPages", "RubyScript", "DerbyQueries")
TWIN = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")
WINDOW = ("--kinds", "dead-store,silent-store,silent-load,objects,cpu", "--budget", "20%", "--period", "1ms")
SECONDS = float(os.environ.get("SCORE_SECONDS", "10"))
WARM_UP_S = float(os.environ.get("SCORE_WARM_UP_S", "8"))
WRONG_SHOWN = int(os.environ.get("SCORE_WRONG", "0"))
OPTIONS = os.environ.get("SCORE_OPTIONS", "").split()

GROUPS = ("field", "element", "length", "class", "mark", "other")
# What the JVM's records tell well enough. Listed only: words of headers, which are read where compilers like to, and "other",
# where the record has a call, of which the compiler has code of its own, or an allocation.
TOLD = ("field", "element", "length")
RIGHT = ("bytecode", "calls", "method", "either")
OUTCOMES = ("bytecode", "calls", "method", "either", "wrong", "unnamed", "unsaid")
LINES = ("same", "statement", "wrong", "no table")
TICK_RULES = ("next", "before", "used")
CERTAINTIES = ("none", "unknown", "exact", "checked", "inferred", "method")  # as profile/certainty.h has them
MEAN_LEAST, LEAST = 97, 95


def chosen(variable, default):
    return [name for name in os.environ.get(variable, default).split(",") if name]


class Score:
    """What score.c counted."""

    def __init__(self, path):
        with open(path, "rb") as f:
            take = iter(struct.unpack(f"{Score.bytes() // 8}Q", f.read()))
        self.dense = {g: {o: next(take) for o in OUTCOMES} for g in GROUPS}
        self.null_check = {g: {o: next(take) for o in OUTCOMES} for g in GROUPS}
        self.certainty = {c: {o: next(take) for o in OUTCOMES} for c in CERTAINTIES}
        self.lines = {g: {o: next(take) for o in LINES} for g in GROUPS}
        self.ticks = {r: {o: next(take) for o in OUTCOMES} for r in TICK_RULES}
        self.tick_lines = {r: {o: next(take) for o in LINES} for r in TICK_RULES}
        self.ticks_without_code, self.impossible, self.lost = next(take), next(take), next(take)
        with open(path + ".wrong", encoding="utf-8", errors="replace") as f:
            self.wrong = collections.Counter(f.read().splitlines())

    @staticmethod
    def bytes():
        return 8 * ((2 * len(GROUPS) + len(CERTAINTIES) + len(TICK_RULES)) * len(OUTCOMES) +
                    (len(GROUPS) + len(TICK_RULES)) * len(LINES) + 3)


def share(rows, *outcomes):
    """Of what the JVM tells, in per cent."""
    told = sum(n for row in rows for o, n in row.items() if o != "unsaid")
    return 100 * sum(row[o] for row in rows for o in outcomes) / told if told else float("nan")


def told_of(rows):
    return sum(n for row in rows for o, n in row.items() if o != "unsaid")


def line_shares(rows):
    """The same line, and within one statement, of those with a line table, in per cent."""
    told = sum(row[o] for row in rows for o in ("same", "statement", "wrong"))
    same = sum(row["same"] for row in rows)
    near = same + sum(row["statement"] for row in rows)
    return f"line {100 * same / max(told, 1):5.1f} within one statement {100 * near / max(told, 1):5.1f} of {told:6}"


def measure(jdk, program):
    path = os.path.join(make_directory(), "score")
    with open(path, "wb") as f:
        f.write(bytes(Score.bytes()))
    with open(path + ".wrong", "wb"):
        os.environ["JXPERF_SCORE"], os.environ["JXPERF_SCORE_WRONG"] = path, path + ".wrong"
    daemon = profile.Daemon()
    environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    options = ["-Xmx1g", *TWIN, *OPTIONS, "-Djava.awt.headless=true"]
    jvm = Process(command_of(jdk, profile.BENCH_CLASS_PATH, [*options, program]), env=environment)
    try:
        jvm.wait_for("up\n", 120)
        time.sleep(WARM_UP_S)
        daemon.attach(jvm.pid, *WINDOW, duration=f"{SECONDS}s")
        return Score(path)
    finally:
        jvm.stop()
        daemon.stop()


def show(jdk, program, score):
    rows = [score.dense[g] for g in TOLD]
    nulls = [score.null_check[g] for g in TOLD]
    method = share(rows, *RIGHT)
    unsaid = sum(row["unsaid"] for row in rows)
    print(f"{program:14} {jdk.release:3} method {method:5.1f} calls {share(rows, 'calls', 'bytecode'):5.1f} bytecode "
          f"{share(rows, 'bytecode'):5.1f} either {share(rows, 'either'):4.1f} unnamed {share(rows, 'unnamed'):4.1f} of {told_of(rows):6}, unsaid "
          f"{100 * unsaid / max(unsaid + told_of(rows), 1):4.1f}%, impossible {score.impossible}, null "
          f"{share(nulls, *RIGHT):5.1f} of {told_of(nulls)}, codes lost {score.lost}")
    print("    method by what is accessed: " + ", ".join(
        f"{g} {share([r], *RIGHT):.1f} of {told_of([r])}" for g, r in score.dense.items() if told_of([r])))
    print(f"    {line_shares([score.lines[g] for g in TOLD])}")
    unsaid = score.ticks["used"]["unsaid"]
    print(f"    ticks: {told_of([score.ticks['used']])} and {unsaid} that the JVM does not tell, {score.ticks_without_code} in code that did not come")
    for rule, row in score.ticks.items():
        print(f"        {rule:6} method {share([row], *RIGHT):5.1f} calls {share([row], 'calls', 'bytecode'):5.1f} bytecode "
              f"{share([row], 'bytecode'):5.1f} {line_shares([score.tick_lines[rule]])}")
    print("    by how sure: " + ", ".join(
        f"{c} {share([r], *RIGHT):.1f} of {told_of([r])}" for c, r in score.certainty.items()
        if told_of([r])), flush=True)
    for line, n in score.wrong.most_common(WRONG_SHOWN):
        print(f"    WRONG {n}: {line}")
    return method


def main():
    releases = chosen("SCORE_JDKS", f"17,{jdks()[-1].release}")
    methods, impossible = [], 0
    for jdk in [j for j in all_jdks() if str(j.release) in releases]:
        for program in chosen("SCORE_ONLY", ",".join(PROGRAMS)):
            score = measure(jdk, program)
            methods.append(show(jdk, program, score))
            impossible += score.impossible
    mean = sum(methods) / len(methods)
    print(f"mean {mean:.1f}, least {min(methods):.1f}, impossible {impossible}")
    return 0 if mean >= MEAN_LEAST and min(methods) >= LEAST and not impossible else 1


sys.exit(main())
