#!/usr/bin/python3
"""Known costs injected: an agent of the tests (injected/) adds wasteful work to a method of a real program. Is the report's CPU time for it what
throughput lost? A table, and all of it as JSON.

  lost     1 less CPU time of an operation without the work by that with it: the median of pairs of runs, in brackets the range. Both are
           of one JVM, which makes the work or not: what two JVMs compile differs by more than some work costs
  turns    of the work in each call, chosen so that it costs a fifth of the CPU time
  pairs    CPU time of the wasteful pairs whose access that could go is of the work, with its interval
  gain     what the rows say that removing these accesses could save, with its interval;   untold   pairs whose gain is not told
  own      CPU time of ticks in the work
  holds    does the gain's interval overlap with the range of what was lost?

  INJECTED_ONLY    comma-separated programs or works       INJECTED_PAIRS    of runs (default 5)
  INJECTED_WINDOWS of each program and work (default 3)    INJECTED_RESULTS  where the JSON goes (default build/gains/injected.json;
                                                          reports lie beside it)
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
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from sources import PLACE, compile_files, jar_of  # noqa: E402
from fixes import Fix  # noqa: E402
from measure import JDK, Program, class_path, window  # noqa: E402
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

# The work costs so much of the CPU time, or as many turns a call as change each element once.
SHARE = 0.2
TURNS_FIRST = 64
TURNS_MOST = 4096
CHOOSES = 2
LEAST_SEEN = 0.01  # of an operation; less is noise
SETTLES_S = 0.1

# The kinds of pairs that the accesses of a work make.
WORKS = {"fill": ("dead_store",), "copy": ("dead_store", "silent_store", "silent_load"), "hit": ("silent_load",), "miss": ("silent_load",)}


@dataclasses.dataclass(frozen=True)
class Target:
    """A program and its method."""

    program: str
    method: str
    warm_up_s: float = 20


TARGETS = (
    Target("H2Queries", "org.h2.table.TableFilter.next"),
    Target("JythonScript", "org.python.core.PyList.pyset"),
    Target("PdfText", "org.apache.pdfbox.text.PDFTextStripper.processTextPosition"),
    Target("DerbyQueries", "org.apache.derby.impl.store.raw.data.StoredPage.restoreRecordFromSlot"),
    Target("LuceneSearch", "org.apache.lucene.util.BytesRefHash.add"),
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


class Injected(Program):
    """A program with a work in its method."""

    def __init__(self, fix, target, work, path):
        self.turns_path = os.path.join(make_directory(), "turns")
        self.set_turns(TURNS_FIRST)
        options = (f"-javaagent:{path}={work}:{target.method}", f"-Dwasted.turns={self.turns_path}")
        super().__init__(dataclasses.replace(fix, options=options), class_path(fix, False))
        assert "injected" in self.output(), self.output()

    def set_turns(self, turns):
        """As a whole: the program may look at any time."""
        with open(f"{self.turns_path}.new", "w", encoding="ascii") as f:
            f.write(str(turns))
        os.rename(f.name, self.turns_path)
        time.sleep(SETTLES_S)

    def costs_ns(self, turns):
        """Of an operation with so many turns, and without."""
        both = []
        for t in (turns, 0):
            self.set_turns(t)
            both.append(self.cost_ns(RUN_S))
        self.set_turns(turns)
        return both

    def choose_turns(self):
        """So many that the work costs what it should: each turn takes the same."""
        turns = TURNS_FIRST
        for _ in range(CHOOSES):
            with_it, without = self.costs_ns(turns)
            turn = max(with_it - without, LEAST_SEEN * without) / turns
            turns = min(max(1, round(SHARE / (1 - SHARE) * without / turn)), TURNS_MOST)
        self.set_turns(turns)
        return turns


def write_report(name, report):
    directory = os.path.join(os.path.dirname(RESULTS), "reports")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{name}.json"), "w", encoding="utf-8") as f:
        json.dump(report, f, indent=1)


def results_of(daemon, target, work, path):
    fix = Fix(f"{target.program}-{work}", target.program, "Wasted", accesses=(r"Wasted\..*",), kinds=WORKS[work], warm_up_s=target.warm_up_s)
    program = Injected(fix, target, work, path)
    try:
        turns = program.choose_turns()
        reports, costs = [], []
        # In turn: what compilers take becomes less.
        for number in range(max(WINDOWS, PAIRS)):
            costs += [program.costs_ns(turns)] if number < PAIRS else []
            reports += [window(daemon, program, WINDOW_S, BUDGET)[1]] if number < WINDOWS else []
        lost = [1 - without / with_it for with_it, without in costs]
    finally:
        program.stop()
    for number, report in enumerate(reports, 1):
        write_report(f"{fix.name}-{number}", report)
        found = predicted(report, fix)
        value, low, high = accesses_of(report, fix)
        yield {"program": target.program, "work": work, "turns": turns, "lost": statistics.median(lost), "runs": lost, "prediction": dataclasses.asdict(found),
               "pairs": value, "pairs_ci95": [low, high], "holds": found.holds(min(lost), max(lost)),
               "pairs_hold": low <= max(lost) and high >= min(lost)}


def interval(value, low, high):
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


HEADER = f"{'program':<14} {'work':<5} {'turns':>5} {'lost':>22} {'pairs':>22} {'gain':>22} {'untold':>6} {'own':>6} {'holds':>5}"


def line(r):
    p = r["prediction"]
    return (f"{r['program']:<14} {r['work']:<5} {r['turns']:>5} {interval(r['lost'], min(r['runs']), max(r['runs'])):>22} "
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
    return rows_of("INJECTED", [f"{target.program},{work}" for target, work in chosen()], RESULTS, AT_ONCE, DEADLINE_S)


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
