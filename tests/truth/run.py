"""Programs whose true fractions are known, measured with default settings: prints a table, and exits with 1 when
fewer than 90% of the intervals hold the truth or an error is over 3 percentage points. Likewise for the shares of CPU time
at wasteful accesses, of the programs of which these are known.

  TRUTH_ONLY      comma-separated programs          TRUTH_SECONDS   of each window (default 30)
  TRUTH_JDKS      comma-separated releases (default 17 and the newest)
  TRUTH_GCS       comma-separated collectors (default: all programs with G1, some with every collector)
  TRUTH_KINDS     'own': windows of the kind a program is about (default); 'all': of all kinds at once
  TRUTH_OPTIONS   more options of jxperfctl attach
  TRUTH_REPORTS   a directory for the reports
"""
import json
import os
import platform
import sys

from measure import HEADER, compile_programs, has_collector, jdks, line, measure
from programs import EVERY_COLLECTOR, PROGRAMS
from support.profile import OPTION_OF, Daemon

SECONDS = int(os.environ.get("TRUTH_SECONDS", "30"))
ALL_KINDS = os.environ.get("TRUTH_KINDS", "own") == "all"
OPTIONS = os.environ.get("TRUTH_OPTIONS", "").split()
REPORTS = os.environ.get("TRUTH_REPORTS")

ERROR_MOST = 3.0
INSIDE_LEAST = 0.9



def listed(variable):
    return [name for name in os.environ.get(variable, "").split(",") if name]


def chosen_jdks():
    found = jdks()
    releases = listed("TRUTH_JDKS")
    if releases:
        return [j for j in found if str(j.release) in releases]
    return sorted({j.release: j for j in found if j.release == 17 or j is found[-1]}.values(), key=lambda j: j.release)


def plan():
    """JDK, collector and program of each window."""
    only = listed("TRUTH_ONLY")
    unknown = [n for n in only if n not in PROGRAMS]
    if unknown:
        sys.exit(f"no such program: {', '.join(unknown)}")
    names = only or list(PROGRAMS)
    collectors = listed("TRUTH_GCS")
    for jdk in chosen_jdks():
        for collector in collectors or OPTION_OF:
            few = [n for n in names if n in EVERY_COLLECTOR]
            wanted = names if collectors or collector == "G1" else few
            if wanted and has_collector(jdk, collector):
                for name in wanted:
                    yield jdk, collector, name


def keep(report, row):
    if REPORTS:
        os.makedirs(REPORTS, exist_ok=True)
        path = os.path.join(REPORTS, f"{row.program}-{row.jdk}-{row.collector}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)


def main():
    compile_programs()
    daemon = Daemon()
    print(f"{platform.machine()}, Linux {platform.release()}, {os.cpu_count()} CPUs, windows of {SECONDS} s")
    print(HEADER, flush=True)
    rows = []
    for jdk, collector, name in plan():
        kinds = PROGRAMS[name]
        options = [] if ALL_KINDS else ["--kinds", ",".join(kinds).replace("_", "-")]
        new, report = measure(daemon, jdk, collector, name, kinds, SECONDS, [*options, *OPTIONS])
        for row in new:
            print(line(row), flush=True)
        keep(report, new[0])
        rows += new
    good = [judge(rows, "true fraction"), judge([row.share for row in rows if row.share], "true share of CPU time")]
    sys.exit(0 if all(good) else 1)


def judge(found, of_what):
    """Of rows, or of their shares."""
    inside = sum(f.inside for f in found)
    worst = max((f.error for f in found), default=0)
    print(f"{inside} of {len(found)} intervals hold the {of_what}; the largest error is {worst:.2f} points")
    return found and inside >= INSIDE_LEAST * len(found) and worst <= ERROR_MOST


main()
