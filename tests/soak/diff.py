"""Does `jxperfctl diff` call noise a difference? Windows of real programs that do not change, compared in pairs that
have no window in common: the first half of a program's windows with the second half, one by one. Then programs with
their repaired twins. Exits with 1 when fewer than 95% of the pairs show no difference, or a twin's first row is not
about what was repaired.

  DIFF_PAIRS     of each program (default 12)         DIFF_SECONDS   of each window (default 4)
  DIFF_WARM_S    before the first one (default 60)    DIFF_TWINS     pairs of windows of each twin (default 3)
  DIFF_ONLY      comma-separated programs             DIFF_JDKS      comma-separated releases, in turn (default: all)
"""
import concurrent.futures
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import jdks  # noqa: E402
from support.differ import TWINS, builds, difference, is_repaired, window  # noqa: E402
from support.profile import Daemon, Workload  # noqa: E402

PAIRS = int(os.environ.get("DIFF_PAIRS", "12"))
SECONDS = int(os.environ.get("DIFF_SECONDS", "4"))
WARM_S = int(os.environ.get("DIFF_WARM_S", "60"))
TWIN_PAIRS = int(os.environ.get("DIFF_TWINS", "3"))
ONLY = [name for name in os.environ.get("DIFF_ONLY", "").split(",") if name]
JDKS = [j for j in jdks() if str(j.release) in os.environ.get("DIFF_JDKS", str(j.release)).split(",")]
BUDGET = "5%"
LEAST = 0.95

PROGRAMS = ["ChartTimeline", "ListSubtract", "MapRebuild", "BagRetain", "StridedFft", "MemoryBloat", "DeadStore",
            "SilentStore", "Repairable"]


def same(daemon, number, program):
    """Pairs of windows of one JVM that called nothing different, all such pairs, and what was called in others."""
    jdk = JDKS[number % len(JDKS)]
    target = Workload(jdk, program)
    try:
        time.sleep(WARM_S)
        windows = [window(daemon, target.pid, SECONDS, BUDGET) for _ in range(2 * PAIRS)]
    finally:
        target.stop()
    found = [difference(daemon, a, b) for a, b in zip(windows[:PAIRS], windows[PAIRS:])]
    every = [difference(daemon, a, b) for i, a in enumerate(windows) for b in windows[i + 1:]]
    print(f"{program:<15} {jdk}  {sum(not d['different'] for d in found):>3} of {len(found)} pairs show no difference; "
          f"of all {len(every)} pairs, {sum(not d['different'] for d in every)}", flush=True)
    for d in found:
        if d["different"]:
            print(f"    {d['a']['id']} and {d['b']['id']}: {d['headline']}", flush=True)
    return found


def repairs(daemon, number, twin):
    """What is said of each pair of windows, and how often what was repaired came first."""
    jdk = JDKS[number % len(JDKS)]
    windows = [[window(daemon, build.pid, SECONDS, BUDGET) for _ in range(TWIN_PAIRS)] for build in builds(jdk, twin)]
    found = [difference(daemon, a, b) for a, b in zip(*windows)]
    first = [d["rows"][0]["shown"] and is_repaired(twin, d["rows"][0]) for d in found]
    print(f"{TWINS[twin][0]:<15} {jdk}  without its {twin}: what was repaired comes first in {sum(first)} of {len(found)}",
          flush=True)
    for d, good in zip(found, first):
        if not good:
            print(f"    {d['headline']}", flush=True)
    return found, sum(first)


def main():
    daemon = Daemon()
    print(f"windows of {SECONDS} s, budget {BUDGET}, {WARM_S} s after the start; load {os.getloadavg()[0]:.1f}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # The programs have one busy thread.
        asked = [pool.submit(same, daemon, i, p) for i, p in enumerate([p for p in PROGRAMS if not ONLY or p in ONLY])]
        asked_twins = [pool.submit(repairs, daemon, i, p) for i, p in enumerate(TWINS)]
        found = [d for a in asked for d in a.result()]
        repaired = [a.result() for a in asked_twins]
    none = sum(not d["different"] for d in found)
    first, of = sum(f for _, f in repaired), sum(len(a) for a, _ in repaired)
    print(f"{none} of {len(found)} pairs show no difference; what was repaired comes first in {first} of {of}; "
          f"load {os.getloadavg()[0]:.1f}")
    sys.exit(0 if none >= LEAST * len(found) and first == of else 1)


main()
