"""Five windows of a program merged against one of five times the length: do their fractions agree, and do their
intervals hold the truth as often? The windows of a program follow each other in one JVM, the long one last.

Prints a table, and exits with 1 when fewer than 80% of the merged intervals hold the truth, or of as many programs the
two fractions differ by no more than both intervals allow.

  TRUTH_ONLY      comma-separated programs (default: those below)      TRUTH_SECONDS   of each short window (default 6)
  TRUTH_JDKS      comma-separated releases (default 17 and the newest)
"""
import concurrent.futures
import os
import sys

from measure import compile_programs, jdks, measure_merged
from programs import PROGRAMS
from support.profile import Daemon

SECONDS = int(os.environ.get("TRUTH_SECONDS", "6"))
NAMES = [n for n in os.environ.get("TRUTH_ONLY", "").split(",") if n] or [
    "IntMasked", "NearAndFar", "CostlyPhases", "InStep", "FewDead", "FloatPartial", "Strided", "Counters"]
RELEASES = os.environ.get("TRUTH_JDKS", "").split(",") if os.environ.get("TRUTH_JDKS") else None
# Of 16 intervals of 95%, fewer than so many hold the truth once in a hundred times.
INSIDE_LEAST = 0.8


def chosen_jdks():
    found = jdks()
    if RELEASES:
        return [j for j in found if str(j.release) in RELEASES]
    return sorted({j.release: j for j in found if j.release == 17 or j is found[-1]}.values(), key=lambda j: j.release)


def main():
    compile_programs()
    daemon = Daemon()
    print(f"five windows of {SECONDS} s merged, one of {5 * SECONDS} s, and the five by themselves; "
          f"load {os.getloadavg()[0]:.1f}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # The programs have one busy thread.
        asked = [pool.submit(measure_merged, daemon, jdk, name, PROGRAMS[name][0], SECONDS)
                 for jdk in chosen_jdks() for name in NAMES]
        found = []
        for a in asked:
            found.append(a.result())
            print(found[-1].line(), flush=True)
    merged, long = sum(m.merged.inside for m in found), sum(m.long.inside for m in found)
    short = sum(r.inside for m in found for r in m.short)
    agree = sum(m.agree for m in found)
    print(f"intervals that hold the truth: {merged} of {len(found)} merged, {long} of {len(found)} of the long windows, "
          f"{short} of {5 * len(found)} of the short ones; merged and long agree in {agree} of {len(found)}; "
          f"load {os.getloadavg()[0]:.1f}")
    sys.exit(0 if merged >= INSIDE_LEAST * len(found) and agree >= INSIDE_LEAST * len(found) else 1)


if __name__ == "__main__":
    main()
