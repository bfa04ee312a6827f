#!/usr/bin/python3
"""Which rows of a report name a method that cannot have made the access, by its bytecodes. Exit status 1 if any does.

  possible.py REPORT.json --java JDK --classpath CP [--rows N]
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
from support import possible  # noqa: E402
from support.bytecodes import Bytecodes  # noqa: E402
from support.profile import BENCH_CLASS_PATH  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report")
    parser.add_argument("--java", required=True, help="home of the JDK that ran the program")
    parser.add_argument("--classpath", default=BENCH_CLASS_PATH, help="default: that of bench/workloads")
    parser.add_argument("--rows", type=int, default=20, help="impossible ones shown")
    asked = parser.parse_args()
    with open(asked.report, encoding="utf-8") as f:
        report = json.load(f)
    bytecodes = Bytecodes(os.path.realpath(asked.java), asked.classpath)
    wrong = 0
    for title, rows in (("pairs", [a for a in possible.accesses(report) if a.where not in ("objects", "classes")]),
                        ("objects", [a for a in possible.accesses(report) if a.where == "objects"]),
                        ("classes", [a for a in possible.accesses(report) if a.where == "classes"]),
                        ("by line", possible.line_accesses(report))):
        tally = possible.tally_of(bytecodes, rows)
        print(f"{title}:")
        for line in tally.lines():
            print(f"  {line}")
        for access, count in tally.impossible.most_common(asked.rows):
            print(f"  {count:5} {access.words()}")
        wrong += tally.counts[possible.IMPOSSIBLE]
    return 1 if wrong else 0


sys.exit(main())
