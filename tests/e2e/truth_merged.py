"""Five windows of a program as one, beside one of five times the length, for two programs of the truth suite.
`make truth-merged` has more of them, in longer windows."""
# Takes two places: its windows keep both processors busy.
# Estimates: fractions, from samples.
import os
import sys

from lib import ROOT, add_test, jdks, note, run
from support.profile import Windows

sys.path.insert(0, os.path.join(ROOT, "tests/truth"))
from measure import compile_programs, measure_merged  # noqa: E402  pylint: disable=wrong-import-position
from programs import PROGRAMS  # noqa: E402  pylint: disable=wrong-import-position

# Pairs that take longer than a window are in none of them, merged or not: the programs are others than those.
SECONDS = 2
# The reported half interval is 1.96 standard deviations; 3.3 of them are exceeded once in a thousand.
HALF_INTERVALS_MOST = 3.3 / 1.96
SUBSET = ["IntMasked", "InStep"]


def judge(result):
    found = result.result()
    note(found.line())
    merged = found.merged
    assert abs(merged.measured - merged.true) <= HALF_INTERVALS_MOST * (merged.high - merged.low) / 2, merged
    assert abs(merged.measured - found.long.measured) <= HALF_INTERVALS_MOST * (
        (merged.high - merged.low) / 2 + (found.long.high - found.long.low) / 2), found
    # Five windows know more than one of them.
    assert merged.high - merged.low < max(r.high - r.low for r in found.short), found


def main():
    compile_programs()
    windows = Windows(lambda daemon, jdk, name: measure_merged(daemon, jdk, name, PROGRAMS[name][0], SECONDS,
                                                               ["--budget", "10%"]))
    jdk = jdks()[-1]
    for name in SUBSET:
        result = windows.ask(jdk, name)
        add_test(f"five windows merged are as good as one that is as long ({name}, {jdk})", lambda r=result: judge(r))
    run()


main()
