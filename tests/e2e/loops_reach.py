"""Kind loops beside other things: loops that call what takes the time, pairs that are said to be in their loop, and loops compared with
a window of before.
"""
# Takes two places: its windows keep both processors busy.
# Estimates: shares and fractions, from samples.
import os
import sys

from lib import ROOT, add_test, jdks, note, run
from support.profile import Daemon, succeeded

sys.path.insert(0, os.path.join(ROOT, "tests/loops"))
from measure import Running, compile_programs, row_of  # noqa: E402  pylint: disable=wrong-import-position
from programs import PROGRAMS  # noqa: E402  pylint: disable=wrong-import-position

CPU_S = 3
BUDGET = "5%"


class Case:
    """A program that runs, and a daemon that keeps its windows."""

    def __init__(self, jdk, name, daemon=None):
        self.program = PROGRAMS[name]
        self.own = None if daemon else Daemon()
        self.daemon = daemon or self.own
        self.running = Running(jdk, self.program)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.running.stop()
        if self.own:
            self.own.stop()

    def report(self, *options, kinds="loops"):
        return self.daemon.attach(self.running.pid, "--kinds", kinds, "--budget", BUDGET, *options, cpu_s=CPU_S)

    def row(self, report):
        row = row_of(self.program, report)
        assert row, [(r.get("class"), r.get("method"), r.get("line")) for r in report["loops"]]
        return row


def calling_loop_is_seen(jdk, name, least):
    """All of the time is in what the loop calls, but for a collector's and what else a JVM does."""
    with Case(jdk, name) as case:
        report = case.report()
        row = case.row(report)
    note(f"{row['time_fraction']:.1%} of the time, {row['inclusive_fraction']:.0%} with what it calls, {row.get('type')}")
    assert report["quality"]["dropped"] == 0, report["quality"]
    assert row["time_fraction"] < 0.3, row
    assert row["inclusive_fraction"] > least, row
    assert row["inclusive_fraction"] >= row["time_fraction_with_inner"] >= row["time_fraction"], row
    assert row["type"] in case.program.types, row
    assert row.get("verdict") in (*case.program.verdicts, "undecided"), row


def pairs_are_in_their_loop(jdk):
    with Case(jdk, "same") as case:
        report = case.report(kinds="silent-load,loops")
        row = case.row(report)
    kind = next(k for k in report["inefficiency"] if k["kind"] == "silent_load")
    inside = sum(p["wasteful_count"] for p in kind["pairs"] if p["watch"].get("loop", {}).get("line") == row["line"])
    every = sum(p["wasteful_count"] for p in kind["pairs"])
    note(f"{inside} of {every} wasteful pairs are in the loop; {row.get('pairs')}")
    assert every > 0 and inside / every > 0.9, kind["pairs"][:2]
    assert kind["by_lines"][0]["watch"]["loop"]["rank"] == report["loops"].index(row) + 1, kind["by_lines"][0]
    waste = row["pairs"][0]
    assert waste["kind"] == "silent_load" and waste["fraction"] > 0.9, waste


def grown_loop_comes_first(jdk):
    daemon = Daemon()
    try:
        with Case(jdk, "sum", daemon) as case:
            before = case.report()["window"]["id"]
            again = case.report("--baseline", before)
            row = case.row(again)
            assert abs(row["growth"]) < 0.15 and row["growth_ci95"][0] < 0 < row["growth_ci95"][1], row
            assert again["loops_summary"]["baseline"] == before, again["loops_summary"]
        with Case(jdk, "walk", daemon) as case:
            after = case.report("--baseline", before)
            row = case.row(after)
            assert after["loops"][0] == row and row["growth_significant"] and row["growth"] > 0.5, row
            assert row["baseline_fraction"] < 0.02, row
            note(f"{row['baseline_fraction']:.1%} in {before}, growth {row['growth']:.0%} {row['growth_ci95']}")
        text = succeeded(daemon.ctl("report", after["window"]["id"], "--baseline", before, "--view", "loops"))
        assert "come first\n#1 " in text and f"in {before} " in text, text
    finally:
        daemon.stop()


def wrong_baselines_are_refused_before_the_attach(jdk):
    daemon = Daemon()
    try:
        with Case(jdk, "sum", daemon) as case:
            ticks = case.report(kinds="cpu")["window"]["id"]
            loops = case.report()["window"]["id"]
            windows = succeeded(daemon.ctl("windows"))
            target = str(case.running.pid)
            for options, message in (
                    (("--kinds", "loops", "--baseline", "w99"), "w99"),
                    (("--kinds", "loops", "--baseline", ticks), "knows no loops"),
                    (("--kinds", "cpu", "--baseline", loops), "--kinds loops"),
                    (("--baseline", loops, "--background", "--kinds", "loops"), "--background")):
                refused(daemon, message, "attach", target, *options)
            refused(daemon, "knows no loops", "report", ticks, "--baseline", loops)
            refused(daemon, "as text or JSON", "report", loops, "--baseline", loops, "--format", "collapsed")
        with Case(jdk, "same", daemon) as case:
            refused(daemon, "same application", "attach", str(case.running.pid), "--kinds", "loops", "--baseline", loops)
        assert succeeded(daemon.ctl("windows")) == windows
    finally:
        daemon.stop()


def refused(daemon, message, *command):
    result = daemon.ctl(*command)
    assert result.returncode in (1, 2), result
    assert message in result.stderr and result.stderr.count("\n") == 1, result.stderr


def main():
    compile_programs(libraries=False)
    found = jdks()
    baseline = next((j for j in found if j.release == 17), found[0])
    for jdk in {baseline.release: baseline, found[-1].release: found[-1]}.values():
        for name, least in (("write", 0.8), ("effect", 0.4)):
            add_test(f"a loop whose time is in what it calls is seen ({name}, {jdk})",
                     lambda j=jdk, n=name, share=least: calling_loop_is_seen(j, n, share))
    add_test("silent loads are said to be in their loop", lambda: pairs_are_in_their_loop(baseline))
    add_test("a loop that takes more than in the baseline comes first", lambda: grown_loop_comes_first(baseline))
    add_test("a baseline that is none is refused before the attach", lambda: wrong_baselines_are_refused_before_the_attach(baseline))
    run(at_once=2)


main()
