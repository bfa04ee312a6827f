"""Two windows of one program, one after the other: do their reports lead with the same?

Of Tomcat with its example pages under load, of H2 and of Jython, at the default budget. Of the first five rows of one
window at least four are among the other's first ten: by field, by pair of lines, and by class and field of all accesses
to the heap. Prints the rows, and exits with 1 where they do not agree.

  AGREEMENT_SECONDS   of each window (default 30)       AGREEMENT_ONLY   comma-separated programs
  AGREEMENT_WARM_UP   seconds before the first (default 40)   AGREEMENT_JDK    a release (default 17, else the oldest)
  AGREEMENT_REPORTS   a directory for the reports
"""
import dataclasses
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import Process, jdks  # noqa: E402
from support.profile import BENCH_CLASS_PATH, Daemon  # noqa: E402
from support.tomcat import Tomcat  # noqa: E402

SECONDS = int(os.environ.get("AGREEMENT_SECONDS", "30"))
WARM_UP_S = float(os.environ.get("AGREEMENT_WARM_UP", "40"))
ONLY = [n for n in os.environ.get("AGREEMENT_ONLY", "").split(",") if n]
RELEASE = int(os.environ.get("AGREEMENT_JDK", "17"))
REPORTS = os.environ.get("AGREEMENT_REPORTS")

FIRST = 5
AMONG = 10
SAME_LEAST = 4
# A list that short says nothing.
ROWS_LEAST = 4


# ---------------------------------------------------------------- programs


def _library(name):
    def start(jdk):
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        jvm = Process([jdk.java, "-Xmx512m", "-cp", BENCH_CLASS_PATH, name], env=environment)
        jvm.wait_for("up\n", 60)
        return jvm

    return start


def _tomcat(jdk):
    return Tomcat(jdk, WARM_UP_S + 20 * SECONDS + 600)


PROGRAMS = {"Tomcat": _tomcat, "H2": _library("H2Queries"), "Jython": _library("JythonScript")}


# ---------------------------------------------------------------- rows


@dataclasses.dataclass
class Row:
    key: tuple
    share: float
    low: float
    high: float

    def line(self):
        """For a table."""
        return f"{100 * self.share:5.2f}% [{100 * self.low:.2f}, {100 * self.high:.2f}]  {' '.join(str(k) for k in self.key)}"


def _ranked(rows):
    return sorted(rows, key=lambda row: -row.low)


def _place(location):
    return tuple(str(location[k]) for k in ("class", "field", "kind") if location.get(k))


def _line(access):
    """Of a pair's row, whether it has whole paths or leaves."""
    frame = access["frames"][0] if "frames" in access else access
    return f"{frame['class']}.{frame['method']}:{frame['line']}"


def _is_known(location):
    return location.get("class") and location["kind"] != "unknown"


def by_field(report):
    return _ranked(Row((kind["kind"], *_place(row["location"])), row["cpu_share"], *row["cpu_share_ci95"])
                   for kind in report["inefficiency"] for row in kind["by_location"] if _is_known(row["location"]))


def by_line(report):
    return _ranked(Row((kind["kind"], _line(row["watch"]), _line(row["trap"])), row["cpu_share"], *row["cpu_share_ci95"])
                   for kind in report["inefficiency"] for row in kind["by_lines"])


def by_class(report):
    return _ranked(Row((row["class"], *_place(field)), field["fraction"], *field["fraction_ci95"])
                   for row in report["classes"] for field in row["fields"])


LISTS = {"by field": by_field, "by line": by_line, "fields of classes": by_class}


def compare(first, second):
    """How many of the first rows of one are high in the other."""
    among = {row.key for row in second[:AMONG]}
    return sum(row.key in among for row in first[:FIRST])


def agree(words, reports):
    """Prints the rows of both windows, and whether they agree."""
    lists = [LISTS[words](report) for report in reports]
    counts = [compare(*lists), compare(*reversed(lists))]
    good = min(len(rows) for rows in lists) >= ROWS_LEAST and min(counts) >= min(
        SAME_LEAST, *(len(rows) for rows in lists))
    print(f"  {words}: {counts[0]} and {counts[1]} of the first {FIRST} are in the other's first {AMONG}"
          f"{'' if good else '  DO NOT AGREE'}")
    for number, rows in enumerate(lists, 1):
        for place, row in enumerate(rows[:AMONG], 1):
            print(f"    window {number}, {place:>2}: {row.line()}")
    sys.stdout.flush()
    return good


# ---------------------------------------------------------------- windows


def keep(name, number, report):
    if REPORTS:
        os.makedirs(REPORTS, exist_ok=True)
        with open(os.path.join(REPORTS, f"{name}-{number}.json"), "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)


def windows_of(daemon, name, jdk):
    program = PROGRAMS[name](jdk)
    try:
        time.sleep(WARM_UP_S)
        reports = [daemon.attach(program.pid, duration=f"{SECONDS}s", timeout=SECONDS + 120) for _ in range(2)]
    finally:
        program.stop()
    for number, report in enumerate(reports, 1):
        keep(name, number, report)
        quality = report["quality"]
        print(f"{name}, {jdk}, window {number} of {SECONDS} s: {quality['traps']} pairs, {quality['samples']} samples, "
              f"{quality['target_cpu_s']:.1f} s of CPU time, overhead {quality['overhead_fraction']:.4f}", flush=True)
    return reports


def main():
    found = jdks()
    jdk = next((j for j in found if j.release == RELEASE), found[0])
    daemon = Daemon()
    good = []
    for name in ONLY or PROGRAMS:
        reports = windows_of(daemon, name, jdk)
        good += [agree(words, reports) for words in LISTS]
    print(f"{sum(good)} of {len(good)} lists agree")
    sys.exit(0 if good and all(good) else 1)


main()
