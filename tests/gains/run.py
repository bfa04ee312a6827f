#!/usr/bin/python3
"""Does a gain come true? Programs and their fixes: what the report predicts, beside what the fix brings. A table, and all of it as JSON.

  predicted   what removing the wasteful accesses saves, with its interval, of the window's CPU time before the fix: those that go, where a fix
              removes accesses (marked =); else all that are made by what it rewrites and what that calls
  own, bound  what the methods that are rewritten take; and with all that they call, and the collector: no fix can save more
  measured    1 less CPU time of an operation after the fix by that before: the median of pairs of runs, one after the other; in brackets
              the range. The two JVMs have had the windows and rest in turn; others come after them
  holds       does what was measured overlap with the interval (=), or lie between its lower end and the bound?
  saved       what the report says of the problem itself (`saved_share`), and whether that interval overlaps with what was measured
  rank        of the problem among the report's;   diff: the same, of the entries of diff, and its headline

  GAINS_ONLY      comma-separated fixes       GAINS_PAIRS     of runs of two JVMs (default 3)
  GAINS_JVMS      pairs of them (default 2)   GAINS_RUN_S     CPU time of each run (default 3)
  GAINS_WINDOW_S  of each window (default 20) GAINS_BUDGET    of each window (default 5%)
  GAINS_RESULTS   where the JSON goes (default build/gains/results.json; reports lie beside it)
  GAINS_REREAD    not empty: runs nothing, and reads the reports that lie there anew
  GAINS_AT_ONCE   so many fixes side by side, each on two processors of its own (default 1), and for how
  GAINS_DEADLINE_S   many seconds at most (default 3600)

Exits with 1 where fewer than 11 of 12 predictions hold, by proportion.
"""
import dataclasses
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from sources import PLACE  # noqa: E402
from fixes import FIXES  # noqa: E402
from lib import Skip  # noqa: E402
from measure import Program, class_path, costs_ns, values, window  # noqa: E402
from reading import difference, predicted, problem_of  # noqa: E402
from support.parallel import rows_of  # noqa: E402
from support.profile import Daemon, succeeded  # noqa: E402

ONLY = [n for n in os.environ.get("GAINS_ONLY", "").split(",") if n]
PAIRS = int(os.environ.get("GAINS_PAIRS", "3"))
JVMS = int(os.environ.get("GAINS_JVMS", "2"))
RUN_S = float(os.environ.get("GAINS_RUN_S", "3"))
WINDOW_S = float(os.environ.get("GAINS_WINDOW_S", "20"))
BUDGET = os.environ.get("GAINS_BUDGET", "5%")
RESULTS = os.environ.get("GAINS_RESULTS", os.path.join(PLACE, "results.json"))
REREAD = os.environ.get("GAINS_REREAD")
AT_ONCE = int(os.environ.get("GAINS_AT_ONCE", "1"))
DEADLINE_S = float(os.environ.get("GAINS_DEADLINE_S", "3600"))
HOLD_LEAST = 11 / 12


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def place(fix, what):
    return os.path.join(os.path.dirname(RESULTS), "reports", f"{fix.name}-{what}")


def result_of(daemon, fix):
    paths = [class_path(fix, after) for after in (False, True)]
    before, after = (values(fix, p) for p in paths)
    windows = []
    assert before == after, f"{fix.name} changes what {fix.program} computes: {before}, then {after}"
    gains = []
    for number in range(JVMS):
        programs = []
        try:
            for path in paths:
                programs.append(Program(fix, path))
                if number == 0:
                    windows.append(window(daemon, programs[-1], WINDOW_S, BUDGET))
                programs[-1].rest()
            gains += [1 - after / before for before, after in costs_ns(programs, PAIRS, RUN_S)]
        finally:
            for program in programs:
                program.stop()
    for (name, report), when in zip(windows, ("before", "after")):
        write(place(fix, f"{when}.json"), json.dumps(report, indent=1))
        write(place(fix, f"{when}.txt"), succeeded(daemon.ctl("report", name)))
    write(place(fix, "diff.txt"), daemon.ctl("diff", windows[0][0], windows[1][0]).stdout)
    return judged(fix, gains)


def judged(fix, gains):
    """Of the reports that were written."""
    texts = {}
    for what in ("before.json", "diff.txt"):
        with open(place(fix, what), encoding="utf-8") as f:
            texts[what] = f.read()
    headline, diff_rank = difference(texts["diff.txt"], fix)
    report = json.loads(texts["before.json"])
    prediction, problem = predicted(report, fix), problem_of(report, fix)
    return {"fix": fix.name, "program": fix.program, "prediction": dataclasses.asdict(prediction), "measured": statistics.median(gains),
            "pairs": gains, "holds": prediction.holds(min(gains), max(gains)), "problem": problem and dataclasses.asdict(problem),
            "saved_holds": bool(problem) and problem.holds(min(gains), max(gains)), "diff_rank": diff_rank, "diff": headline}


HEADER = (f"{'fix':<20} {'program':<14} {'predicted':>20} {'own':>6} {'bound':>6} {'measured':>22} {'holds':>5} {'saved':>20} {'holds':>5} {'rank':>4} {'diff':>4}"
          "  headline of diff")


def yes(holds):
    return f"{'yes' if holds else 'NO':>5}"


def line(r):
    p, problem = r["prediction"], r["problem"]
    saved = f"{100 * problem['saved']:.1f} ({100 * problem['low']:.1f} to {100 * problem['high']:.1f})" if problem else "-"
    wanted = f"{'=' if p['named'] else ''}{100 * p['access']:.1f} ({100 * p['low']:.1f} to {100 * p['high']:.1f})"
    found = f"{100 * r['measured']:.1f} ({100 * min(r['pairs']):.1f} to {100 * max(r['pairs']):.1f})"
    return (f"{r['fix']:<20} {r['program']:<14} {wanted:>20} {100 * p['own']:>6.1f} {100 * p['bound']:>6.1f} {found:>22} "
            f"{yes(r['holds'])} {saved:>20} {yes(r['saved_holds'])} {problem['rank'] if problem else '-':>4} {r['diff_rank'] or '-':>4}  {r['diff']}")


def one_by_one(fixes):
    daemon = Daemon()
    for fix in fixes:
        try:
            yield result_of(daemon, fix)
        except Skip as why:
            print(f"SKIP {fix.name}: {why}", flush=True)


def main():
    unknown = set(ONLY) - {f.name for f in FIXES}
    if unknown:
        sys.exit(f"no such fix: {', '.join(sorted(unknown))}; there are {', '.join(f.name for f in FIXES)}")
    fixes = [f for f in FIXES if not ONLY or f.name in ONLY]
    results, start = [], time.monotonic()
    if REREAD:
        with open(RESULTS, encoding="utf-8") as f:
            known = {r["fix"]: r["pairs"] for r in json.load(f)}
        rows = (judged(f, known[f.name]) for f in fixes if f.name in known)
    elif AT_ONCE > 1:
        longest = sorted(fixes, key=lambda f: -f.warm_up_s)
        rows = rows_of("GAINS", [f.name for f in longest], RESULTS, AT_ONCE, DEADLINE_S)
    else:
        rows = one_by_one(fixes)
    print(HEADER, flush=True)
    for row in rows:
        results.append(row)
        print(line(row), flush=True)
        write(RESULTS, json.dumps(results, indent=1))
    holding = sum(r["holds"] for r in results)
    saved = sum(r["saved_holds"] for r in results)
    first = sum(bool(r["problem"]) and r["problem"]["rank"] <= 3 for r in results)
    print(f"{holding} of {len(results)} predictions hold, {saved} of what problems could save, {first} problems among the first three, "
          f"{len(fixes) - len(results)} of {len(fixes)} fixes have none; {time.monotonic() - start:.0f} s, {RESULTS}")
    sys.exit(0 if results and holding >= HOLD_LEAST * len(results) else 1)


main()
