"""Programs whose true fractions are known, measured with default settings: prints a table, and exits with 1 when
fewer than 90% of the intervals hold the truth or an error is over 3 percentage points. Likewise for the shares of CPU time
at wasteful accesses, of the programs of which these are known.

  TRUTH_ONLY      comma-separated programs, or 'shapes' for those of programs.SHAPES
  TRUTH_SECONDS   of each window (default 30)       TRUTH_AT_ONCE   windows at the same time (default 1)
  TRUTH_JDKS      comma-separated releases (default 17 and the newest)
  TRUTH_GCS       comma-separated collectors (default: all programs with G1, some with every collector)
  TRUTH_COMPILERS comma-separated, of C2 and C1 (default: C2, and C1 too for most of the shapes)
  TRUTH_KINDS     'own': windows of the kind a program is about (default); 'all': of all kinds at once
  TRUTH_OPTIONS   more options of jxperfctl attach
  TRUTH_REPORTS   a directory for the reports
"""
import concurrent.futures
import json
import os
import platform
import sys

from measure import COMPILERS, HEADER, compile_programs, has_collector, jdks, line, measure
from programs import C2_ONLY, EVERY_COLLECTOR, PROGRAMS, SHAPES, WITHOUT_STRIPS
from support.profile import OPTION_OF, Daemon

SECONDS = int(os.environ.get("TRUTH_SECONDS", "30"))
AT_ONCE = int(os.environ.get("TRUTH_AT_ONCE", "1"))
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


def chosen_programs():
    only = [n for name in listed("TRUTH_ONLY") for n in (SHAPES if name == "shapes" else [name])]
    unknown = [n for n in only if n not in PROGRAMS]
    if unknown:
        sys.exit(f"no such program: {', '.join(unknown)}")
    return only or list(PROGRAMS)


def compilers_of(name):
    return list(COMPILERS) if name in SHAPES and name not in C2_ONLY else ["C2"]


def wanted(name, compiler, collector):
    """Where neither is chosen: all with C2 and G1, and with others what each compiler or collector does in its own way."""
    if compiler not in (listed("TRUTH_COMPILERS") or compilers_of(name)):
        return False
    if listed("TRUTH_GCS"):
        return collector in listed("TRUTH_GCS")
    if compiler == "C2" and (name in EVERY_COLLECTOR or name in WITHOUT_STRIPS and collector == "Serial"):
        return True
    return collector == "G1"


def plan():
    """JDK, compiler, collector and program of each window."""
    names = chosen_programs()
    for jdk in chosen_jdks():
        for compiler in COMPILERS:
            for collector in OPTION_OF:
                some = [n for n in names if wanted(n, compiler, collector)]
                if some and has_collector(jdk, collector):
                    for name in some:
                        yield jdk, compiler, collector, name


def keep(report, row):
    if REPORTS:
        os.makedirs(REPORTS, exist_ok=True)
        path = os.path.join(REPORTS, f"{row.program}-{row.jdk}-{row.compiler}-{row.collector}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)


def window(daemon, jdk, compiler, collector, name):
    """Its rows."""
    kinds = PROGRAMS[name]
    options = [] if ALL_KINDS else ["--kinds", ",".join(kinds).replace("_", "-")]
    rows, report = measure(daemon, jdk, collector, name, kinds, SECONDS, [*options, *OPTIONS], compiler)
    keep(report, rows[0])
    return rows


def main():
    compile_programs()
    daemon = Daemon()
    print(f"{platform.machine()}, Linux {platform.release()}, {os.cpu_count()} CPUs, windows of {SECONDS} s")
    print(HEADER, flush=True)
    rows = []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for asked in [pool.submit(window, daemon, *planned) for planned in plan()]:
            for row in asked.result():
                print(line(row), flush=True)
                rows.append(row)
    good = [judge(rows, "true fraction"), judge([row.share for row in rows if row.share], "true share of CPU time")]
    sys.exit(0 if all(good) else 1)


def judge(found, of_what):
    """Of rows, or of their shares."""
    inside = sum(f.inside for f in found)
    worst = max((f.error for f in found), default=0)
    print(f"{inside} of {len(found)} intervals hold the {of_what}; the largest error is {worst:.2f} points")
    return found and inside >= INSIDE_LEAST * len(found) and worst <= ERROR_MOST


main()
