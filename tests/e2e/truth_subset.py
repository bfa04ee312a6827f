"""A few programs of the truth suite (tests/truth), each for what made reports wrong once. `make truth` runs all of
them, with default settings and a narrower criterion.

A busy machine gives few pairs, so an error counts beyond 6 points and beyond what one report in a thousand is off by.
"""
# Takes two places: its windows keep both processors busy.
# Estimates: fractions, from samples.
import os
import sys

from lib import ROOT, add_test, jdks, note, run
from support.profile import Windows, assert_quality

sys.path.insert(0, os.path.join(ROOT, "tests/truth"))
from measure import compile_programs, line, measure  # noqa: E402  pylint: disable=wrong-import-position
from programs import PROGRAMS  # noqa: E402  pylint: disable=wrong-import-position

SECONDS = 8
BUDGET = "10%"
LEAST_TRAPS = 10

ERROR_MOST = 6.0
# The reported half interval is 1.96 standard deviations; 3.3 of them are exceeded once in a thousand.
HALF_INTERVALS_MOST = 3.3 / 1.96

SUBSET = {
    "RowHeaders": "a loop's time counts for its own accesses, also what it computes between them, and not for those around it",
    "NearAndFar": "pairs of long distance count as much as those of short distance",
    "InStep": "programs in step with the sampling period are seen everywhere",
    "DoubleFills": "an array's class says that its elements are doubles, where a stub fills it",
    "FloatCopies": "an array's class says that its elements are floats, where a stub copies it",
    "MostlyElsewhere": "time in native code and in loops without accesses is nobody's waste",
    "PartOfTime": "a kind's share of CPU time is of all of it, also of the time of other kinds",
}


def measure_program(daemon, jdk, name):
    kinds = PROGRAMS[name]
    options = ["--kinds", ",".join(kinds).replace("_", "-"), "--budget", BUDGET]
    return measure(daemon, jdk, "G1", name, kinds, SECONDS, options)


def judge(result):
    rows, report = result.result()
    assert_quality(report, LEAST_TRAPS)
    for row in rows:
        note(line(row))
        for found in (row, row.share) if row.share else (row,):
            half = 100 * (found.high - found.low) / 2
            assert found.error <= max(ERROR_MOST, HALF_INTERVALS_MOST * half), found


def main():
    compile_programs()
    windows = Windows(measure_program)
    jdk = jdks()[-1]
    for name, sentence in SUBSET.items():
        result = windows.ask(jdk, name)
        add_test(f"{sentence} ({name}, {jdk})", lambda r=result: judge(r))
    run()


main()
