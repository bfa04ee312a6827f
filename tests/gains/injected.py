#!/usr/bin/python3
"""Known costs injected: an agent of the tests (injected/) adds wasteful work to a method of a real program. Is the report's CPU time for it what
throughput lost? A table, and all of it as JSON.

  lost     1 less CPU time of an operation without the work by that with it: the median of pairs of runs, in brackets the range
  pairs    CPU time of the wasteful pairs whose access that could go is of the work, with its interval
  gain     what the rows say that removing these accesses could save, with its interval;   untold   pairs whose gain is not told
  own      CPU time of ticks in the work
  holds    does the gain's interval overlap with the range of what was lost?

  INJECTED_ONLY    comma-separated programs or works       INJECTED_PAIRS    of runs (default 5)
  INJECTED_WINDOWS of each program and work (default 3)    INJECTED_RESULTS  where the JSON goes (default build/gains/injected.json)
  INJECTED_AT_ONCE, INJECTED_DEADLINE_S                   programs with a work side by side, as in run.py
  GAINS_RUN_S, GAINS_WINDOW_S, GAINS_BUDGET               as in run.py

Exits with 1 where fewer than 90% of the windows hold.
"""
import dataclasses
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from sources import PLACE, compile_files, jar_of  # noqa: E402
from fixes import Fix  # noqa: E402
from measure import JDK, Program, class_path, costs_ns, window  # noqa: E402
from reading import accesses_of, predicted  # noqa: E402
from lib import make_directory  # noqa: E402
from support.parallel import rows_of  # noqa: E402
from support.profile import Daemon  # noqa: E402

ONLY = [n for n in os.environ.get("INJECTED_ONLY", "").split(",") if n]
PAIRS = int(os.environ.get("INJECTED_PAIRS", "5"))
WINDOWS = int(os.environ.get("INJECTED_WINDOWS", "3"))
RUN_S = float(os.environ.get("GAINS_RUN_S", "3"))
WINDOW_S = float(os.environ.get("GAINS_WINDOW_S", "20"))
BUDGET = os.environ.get("GAINS_BUDGET", "5%")
RESULTS = os.environ.get("INJECTED_RESULTS", os.path.join(PLACE, "injected.json"))
AT_ONCE = int(os.environ.get("INJECTED_AT_ONCE", "1"))
DEADLINE_S = float(os.environ.get("INJECTED_DEADLINE_S", "3600"))
HOLD_LEAST = 0.9

# The kinds of pairs that the accesses of a work make.
WORKS = {"fill": ("dead_store",), "copy": ("dead_store", "silent_store", "silent_load"), "hit": ("silent_load",), "miss": ("silent_load",)}


@dataclasses.dataclass(frozen=True)
class Target:
    """A program and its method; turns of the work in each call."""

    program: str
    method: str
    turns: int
    warm_up_s: float = 8


TARGETS = (
    Target("H2Queries", "org.h2.table.TableFilter.next", 30),
    Target("JythonScript", "org.python.core.PyList.pyset", 8, 10),
    Target("PdfText", "org.apache.pdfbox.text.PDFTextStripper.processTextPosition", 60, 15),
    Target("DerbyQueries", "org.apache.derby.impl.store.raw.data.StoredPage.restoreRecordFromSlot", 60),
    Target("LuceneSearch", "org.apache.lucene.util.BytesRefHash.add", 600),
)


def agent():
    """The agent's jar."""
    place = make_directory()
    classes, path, manifest = (os.path.join(place, n) for n in ("classes", "agent.jar", "manifest"))
    sources = [os.path.join(HERE, "injected", n) for n in ("Injector.java", "Wasted.java")]
    compile_files(JDK.javac, sources, jar_of("asm"), classes)
    with open(manifest, "w", encoding="ascii") as f:
        f.write(f"Premain-Class: Injector\nClass-Path: file://{jar_of('asm')}\n")
    subprocess.run([os.path.join(JDK.home, "bin/jar"), "cfm", path, manifest, "-C", classes, "."], check=True)
    return path


def with_work(target, work, path):
    """As a fix to be run: of the program with this work, or with none."""
    argument = f"={work}:{target.method}" if work else ""
    options = (f"-javaagent:{path}{argument}", f"-Dwasted.turns={target.turns}")
    name = f"{target.program}-{work}"
    return Fix(name, target.program, "Wasted", accesses=(r"Wasted\..*",), kinds=WORKS.get(work, ()), options=options, warm_up_s=target.warm_up_s)


def results_of(daemon, target, work, path):
    without, fix = with_work(target, None, path), with_work(target, work, path)
    classes = class_path(fix, False)
    programs = [Program(without, classes)]
    try:
        programs[0].rest()
        programs.append(Program(fix, classes))
        assert ["injected" in p.output() for p in programs] == [False, True], programs[1].output()
        reports = [window(daemon, programs[1], WINDOW_S, BUDGET)[1] for _ in range(WINDOWS)]
        programs[1].rest()
        lost = [1 - before / after for before, after in costs_ns(programs, PAIRS, RUN_S)]
    finally:
        for program in programs:
            program.stop()
    for report in reports:
        found = predicted(report, fix)
        value, low, high = accesses_of(report, fix)
        yield {"program": target.program, "work": work, "lost": statistics.median(lost), "runs": lost, "prediction": dataclasses.asdict(found),
               "pairs": value, "pairs_ci95": [low, high], "holds": found.holds(min(lost), max(lost)),
               "pairs_hold": low <= max(lost) and high >= min(lost)}


def interval(value, low, high):
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


HEADER = f"{'program':<14} {'work':<5} {'lost':>22} {'pairs':>22} {'gain':>22} {'untold':>6} {'own':>6} {'holds':>5}"


def line(r):
    p = r["prediction"]
    return (f"{r['program']:<14} {r['work']:<5} {interval(r['lost'], min(r['runs']), max(r['runs'])):>22} "
            f"{interval(r['pairs'], *r['pairs_ci95']):>22} {interval(p['access'], p['low'], p['high']):>22} "
            f"{100 * p['untold']:>6.1f} {100 * p['own']:>6.1f} {'yes' if r['holds'] else 'NO':>5}")


def chosen():
    """Programs with a work."""
    for target in TARGETS:
        for work in WORKS:
            if not ONLY or {target.program, work} <= set(ONLY) or target.program in ONLY and not set(ONLY) & set(WORKS):
                yield target, work


def one_by_one():
    path, daemon = agent(), Daemon()
    for target, work in chosen():
        yield from results_of(daemon, target, work, path)


def side_by_side():
    longest = sorted(chosen(), key=lambda c: -c[0].warm_up_s)
    return rows_of("INJECTED", [f"{target.program},{work}" for target, work in longest], RESULTS, AT_ONCE, DEADLINE_S)


def main():
    results = []
    print(HEADER, flush=True)
    for result in side_by_side() if AT_ONCE > 1 else one_by_one():
        results.append(result)
        print(line(result), flush=True)
        os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
        with open(RESULTS, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    holding = sum(r["holds"] for r in results)
    print(f"{holding} of {len(results)} windows hold what was lost by their gain, {sum(r['pairs_hold'] for r in results)} by the CPU time of "
          f"their pairs; {RESULTS}")
    sys.exit(0 if results and holding >= HOLD_LEAST * len(results) else 1)


main()
