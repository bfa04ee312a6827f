#!/usr/bin/env python3
"""What `diff` says of CPU time: of reports in files without a daemon, of windows, of a file and a window; the gate."""
# Starts early: it takes long (windows in pairs).
# Estimates: shares of windows, from samples.
import json
import os
import time

from lib import jdks, make_directory, made_once, note, run, test
from support.differ import builds
from support.profile import Daemon, Workload, cpu_seconds, ctl, duration_for, succeeded

BUDGET = "5%"
CPU_S = 4
ROSE = 5
NO_DAEMON = ("--socket", "/nonexistent/jxperf.sock")


def window_file(target, name, *ask):
    """A report of so much CPU time in a file; of a private daemon unless it is another one that is asked."""
    path = os.path.join(make_directory(), name)
    options = ["--duration", duration_for(target.pid, CPU_S), "--budget", BUDGET, "--format", "json", "-o", path]
    succeeded(ctl(*(ask or NO_DAEMON), "attach", str(target.pid), *options))
    return path


def operations(target):
    """How many it has done so far, as it counts them itself, and when."""
    return int(target.output().split()[-1]), time.monotonic(), cpu_seconds(target.pid)


@made_once
def counted():
    """Of a program and of its build without clears: a report, operations a second, CPU time of an operation."""
    found = []
    for i, build in enumerate(builds(jdks()[0], "clears", "-Dprogress=true")):
        build.wait_for("operations ")
        before = operations(build)
        path = window_file(build, f"{i}.json")
        done, took, cpu_s = (b - a for a, b in zip(before, operations(build)))
        found.append((path, done / took, cpu_s / done))
    return found


def repaired():
    return [path for path, _, _ in counted()]


def difference(*arguments, ask=NO_DAEMON, status=0):
    result = ctl(*ask, "diff", *arguments, "--format", "json")
    assert result.returncode == status, result
    return json.loads(result.stdout)["diff"]["cpu"]


def refused(result, status, *words):
    assert (result.returncode, result.stdout) == (status, ""), result
    assert result.stderr.count("\n") == 1, result
    for w in words:
        assert w in result.stderr, (w, result.stderr)


@test
def two_files_say_that_a_fix_made_cpu_time_fall_and_what_it_was():
    before, after = repaired()
    text = succeeded(ctl(*NO_DAEMON, "diff", before, after))
    note(text.splitlines()[0])
    assert text.startswith("CPU time fell: the same work takes "), text
    found = difference(before, after)
    rows = [(r["what"], r["method"], r["verdict"]) for r in found["rows"]]
    # The method, and the clears that it made in vain, which are as much.
    assert set(rows[:2]) == {("method", "Repairable.clear", "less"), ("waste", "Repairable.clear", "less")}, rows
    assert found["headline"] == text.splitlines()[0] and found["different"], found
    dead = next(k for k in found["kinds"] if k["kind"] == "dead_store")
    assert dead["verdict"] == "less", found["kinds"]
    for row in [*found["rows"], *found["kinds"]]:
        assert row["shown"] == (row["interval"][0] > 0 or row["interval"][1] < 0), row
    assert all(r["verdict"] != "more" for r in found["rows"]), rows


@test
def the_gate_fails_where_cpu_time_rose_and_only_there():
    before, after = repaired()
    good = ctl(*NO_DAEMON, "diff", before, after, "--fail-above", "2%")
    assert (good.returncode, good.stderr) == (0, ""), good
    assert "\nGate: passes" in good.stdout, good.stdout
    bad = ctl(*NO_DAEMON, "diff", after, before, "--fail-above", "2%")
    assert bad.returncode == ROSE and bad.stderr.count("\n") == 1, bad
    assert bad.stdout.startswith("CPU time rose: ") and "\nGate: fails" in bad.stdout, bad.stdout
    assert " rose " in bad.stderr and "--fail-above allows 2%" in bad.stderr, bad.stderr
    assert difference(after, before, "--fail-above", "2%", status=ROSE)["gate"]["fails"]
    assert not difference(after, before, "--fail-above", "100%")["gate"]["fails"]


@test
def what_the_same_work_takes_is_what_operations_take():
    (before, rate, cost), (after, rate_after, cost_after) = counted()
    true = cost_after / cost
    inferred = difference(before, after)["work"]
    found = difference(before, after, "--operations", f"{rate:.3f},{rate_after:.3f}")
    note(f"an operation takes {true:.3f} of before; {inferred['factor']:.3f} by methods, {found['work']['factor']:.3f} by rates")
    assert inferred["basis"] == "methods" and inferred["interval"][0] < true < inferred["interval"][1], (true, inferred)
    assert found["work"]["basis"] == "operations" and abs(found["work"]["factor"] / true - 1) < 0.15, (true, found["work"])
    assert found["headline"].startswith("CPU time fell: an operation takes "), found["headline"]
    assert "Repairable.clear" in found["headline"], found["headline"]


@test
def windows_and_files_of_a_program_that_does_not_change_show_no_difference():
    daemon = Daemon()
    ask = ("--socket", daemon.socket)
    target = Workload(jdks()[-1], "MapRebuild")
    files = [window_file(target, f"{i}.json", *ask) for i in range(2)]
    target.stop()
    for pair in (("w1", "w2"), files, ("w1", files[1]), (files[0], "w2")):
        found = difference(*pair, "--fail-above", "2%", ask=ask)
        assert not found["different"] and not found["gate"]["fails"], (pair, found["headline"], found["rows"][:3])
    # What a file says is what its window says.
    by_windows, by_files = difference("w1", "w2", ask=ask), difference(*files)
    assert [(r["method"], r["interval"]) for r in by_windows["rows"]] == [
        (r["method"], r["interval"]) for r in by_files["rows"]
    ]
    text = succeeded(ctl(*ask, "diff", "w1", "w2"))
    assert "the same windows by checked bytes" in text, text
    # A window with nothing but pairs has no CPU time, and a difference all the same.
    target = Workload(jdks()[-1], "DeadStore")
    for _ in range(2):
        succeeded(ctl(*ask, "attach", str(target.pid), "--duration", "1s", "--kinds", "dead-store"))
    assert difference("w3", "w4", ask=ask) is None
    refused(ctl(*ask, "diff", "w3", "w4", "--fail-above", "2%"), 1, "w3", "no CPU time")
    missing = "2h..1h"
    refused(ctl(*ask, "diff", missing, files[0], "--app", "DeadStore"), 1, "no window of an application")
    found = difference("1h..", files[0], "--app", "MapRebuild", ask=ask)
    assert found["a"]["windows"] == 2 and not found["different"], found["a"]


@test
def files_that_are_no_reports_are_refused_in_one_line():
    directory = make_directory()
    report = repaired()[0]

    def file(name, content):
        path = os.path.join(directory, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    with open(report, "rb") as f:
        whole = f.read()
    other = json.loads(whole)
    other["schema"] = 2
    older = json.loads(whole)
    del older["comparison"]
    cases = [
        (file("empty", b""), "is empty"),
        (file("cut.json", whole[: len(whole) // 2]), "ends in the middle"),
        (file("text", b"What to look at first\n"), "no JSON"),
        (file("list.json", b"[1]"), "no report of jxperf"),
        (file("schema.json", json.dumps(other).encode()), "schema 2"),
        (file("older.json", json.dumps(older).encode()), "older jxperf"),
        (file("binary", bytes(range(256)) * 100), "no JSON"),
        (os.path.join(directory, "absent.json"), "No such file"),
        (directory, "Is a directory"),
        ("/dev/zero", "more than 64 MiB"),
    ]
    for path, words in cases:
        for pair in ((path, report), (report, path)):
            refused(ctl(*NO_DAEMON, "diff", *pair), 1, f"cannot compare '{path}'", words)
    for options, words in [
        (("--fail-above", "2"), "'2'"),
        (("--operations", "5"), "'5'"),
        (("--operations", "5,-1"), "'5,-1'"),
        (("--operations", "5,6x"), "'5,6x'"),
        (("--app", "shop"), "--app is for periods"),
        (("--format", "pprof"), "text or json"),
    ]:
        refused(ctl(*NO_DAEMON, "diff", report, report, *options), 2, words)


run(at_once=2)
