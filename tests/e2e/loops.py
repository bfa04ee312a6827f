"""Kind loops: a few programs whose loops are known (tests/loops), each for another type. `make loops-truth` runs all of them, with
default settings.

A busy machine gives few bursts and traces, so a loop may stay undecided, and a number counts as wrong only where its interval is far off:
that of one window in twenty does not hold the truth.
"""
# Takes two places: its windows keep both processors busy.
# Estimates: shares and fractions, from samples.
import os
import sys

from lib import ROOT, add_test, jdks, note, run
from support.profile import Windows

sys.path.insert(0, os.path.join(ROOT, "tests/loops"))
from measure import Running, compile_programs, judge  # noqa: E402  pylint: disable=wrong-import-position
from programs import PROGRAMS, UNDECIDED  # noqa: E402  pylint: disable=wrong-import-position

CPU_S = 3
BUDGET = "5%"

# A bound that is off by more is no chance.
FACTOR = 2.5
LEAST_SHARE = 0.05

SUBSET = {
    "walk": "a walk for nothing",
    "array": "a long search has a result in its last turn",
    "few": "a short search is as it should be",
    "rate1/4096": "few turns store something",
    "rate1/64": "many turns store something",
    "local": "few turns set a variable",
    "fill": "each turn stores something",
}
# What is done again, on the newest JDK.
AGAIN = {
    "same": "the same array is scanned again",
    "different": "another array is scanned each time",
    "queue": "few different keys come from a queue",
    "fib": "a method calls itself for the same numbers",
    "write": "bytes are written one by one",
}


def measure_program(daemon, jdk, name):
    running = Running(jdk, PROGRAMS[name])
    try:
        return daemon.attach(running.pid, "--kinds", "loops", "--budget", BUDGET, cpu_s=CPU_S)
    finally:
        running.stop()


def check(name, asked):
    program, report = PROGRAMS[name], asked.result()
    finding = judge(program, report)
    row = finding.row
    assert row, [(r.get("class"), r.get("method"), r.get("line")) for r in report["loops"]]
    again = ", ".join(f"{found.found:.2f} again" for found in (finding.instances, finding.iterations) if found)
    note(f"{again} {row.get('type')} {row.get('verdict')}, {row['time_fraction']:.0%} of the time, results {finding.rate}, "
         f"turns {finding.turns}, {row['iterations']:.0f} turns in {row['bursts']} bursts")
    assert report["quality"]["dropped"] == 0, report["quality"]
    assert row["inclusive_fraction" if program.calls else "time_fraction"] > LEAST_SHARE, row
    assert not program.types or row["type"] == program.types[0], row
    # What is known of each turn by the code alone needs no evidence.
    assert row["verdict"] in program.verdicts or row["verdict"] == UNDECIDED and name != "fill", row
    assert finding.advice_right in (None, True), row["advice"]
    for found in filter(None, (finding.rate, finding.turns)):
        assert found.holds(FACTOR), found
    for found in filter(None, (finding.instances, finding.iterations)):
        assert found.holds(), found
    assert not finding.wrong, finding.wrong


def main():
    compile_programs(libraries=False)
    windows = Windows(measure_program)
    found = jdks()
    baseline = next((j for j in found if j.release == 17), found[0])
    for jdk, programs in ((baseline, SUBSET), (found[-1], AGAIN)):
        for name, sentence in programs.items():
            asked = windows.ask(jdk, name)
            add_test(f"{sentence} ({name}, {jdk})", lambda n=name, a=asked: check(n, a))
    run()


main()
