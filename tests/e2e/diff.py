#!/usr/bin/env python3
"""What `report --app` and `diff` say of windows of real JVMs, of reports in files without a daemon, and of both; the
gate. `make soak-diff` has a hundred pairs of windows."""
# Starts early: it takes long (windows in pairs).
# Estimates: shares of windows, from samples.
import json
import os
import subprocess
import time

from lib import HANG_S, jdks, make_directory, made_once, need_root, note, run, test
from support.attach import NOBODY, as_nobody
from support.differ import builds, is_repaired
from support.profile import CLIENT, EARLY, Daemon, Workload, cpu_seconds, ctl, duration_for, report_of, succeeded

BUDGET = "5%"
CPU_S = 4
ROSE = 5
NO_DAEMON = ("--private",)


def asks(daemon):
    return ("--socket", daemon.socket)


def attach(daemon, target, duration="1s", *options):
    return report_of(daemon.ctl("attach", str(target.pid), "--duration", duration, "--format", "json", *options))


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


def difference(*arguments, ask=NO_DAEMON, status=0, unit="cpu"):
    result = ctl(*ask, "diff", *arguments, "--format", "json")
    assert result.returncode == status, result
    document = json.loads(result.stdout)
    assert (document["schema"], document["diff"]["unit"]) == (2, unit), document
    return document["diff"][unit]


def refused(result, status, *words):
    assert (result.returncode, result.stdout) == (status, ""), result
    assert result.stderr.count("\n") == 1, result
    for w in words:
        assert w in result.stderr, (w, result.stderr)


def begins_with_work(found, line, direction):
    """What the same work takes is not always shown of few ticks; what changed, in any case."""
    said = line.startswith(f"CPU time {direction}: the same work takes ")
    return said == found["work"]["shown"] and f"Repairable.clear {direction} from " in line


@test
def two_files_say_that_a_fix_made_cpu_time_fall_and_what_it_was():
    before, after = repaired()
    text = succeeded(ctl(*NO_DAEMON, "diff", before, after))
    note(text.splitlines()[0])
    found = difference(before, after)
    assert begins_with_work(found, found["headline"], "fell"), text
    # The method, and the clears that it made in vain, which are as much.
    rows = found["rows"]
    assert is_repaired("clears", rows[0]) and is_repaired("clears", rows[1]), rows[:3]
    assert {r["what"] for r in rows[:2]} == {"method", "waste"} and {r["verdict"] for r in rows[:2]} == {"less"}, rows[:2]
    assert found["headline"] == text.splitlines()[0] and found["different"], found
    for row in [*rows, *found["kinds"]]:
        assert row["shown"] == (row["interval"][0] > 0 or row["interval"][1] < 0), row


@test
def the_gate_fails_where_cpu_time_rose_and_only_there():
    before, after = repaired()
    bad = ctl(*NO_DAEMON, "diff", after, before, "--fail-above", "2%")
    assert bad.returncode == ROSE and bad.stderr.count("\n") == 1, bad
    found = difference(after, before, "--fail-above", "2%", status=ROSE)
    assert found["gate"]["fails"] and begins_with_work(found, found["headline"], "rose") and "\nGate: fails" in bad.stdout, bad.stdout
    assert " rose " in bad.stderr and "--fail-above allows 2%" in bad.stderr, bad.stderr
    assert not difference(after, before, "--fail-above", "100%")["gate"]["fails"]
    if found["work"]["shown"]:  # Of shares alone, those of the rest rose where this one fell.
        good = ctl(*NO_DAEMON, "diff", before, after, "--fail-above", "2%")
        assert (good.returncode, good.stderr) == (0, "") and "\nGate: passes" in good.stdout, good


@test
def what_the_same_work_takes_is_what_operations_take():
    (before, rate, cost), (after, rate_after, cost_after) = counted()
    true = cost_after / cost
    inferred = difference(before, after)["work"]
    found = difference(before, after, "--operations", f"{rate:.3f},{rate_after:.3f}")
    note(f"an operation takes {true:.3f} of before; {inferred} by methods, {found['work']['factor']:.3f} by rates")
    assert inferred["basis"] == "shares" or inferred["interval"][0] < true < inferred["interval"][1], (true, inferred)
    work = found["work"]
    assert work["basis"] == "operations" and work["interval"][0] < true < work["interval"][1], (true, work)
    assert found["headline"].startswith("CPU time fell: an operation takes ") == work["shown"], (found["headline"], work)
    assert "Repairable.clear" in found["headline"], found["headline"]


@test
def windows_periods_and_files_of_a_program_that_does_not_change_show_no_difference():
    daemon = Daemon()
    ask = asks(daemon)
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
    of_app = ("--app", "MapRebuild")
    for other in (files[0], "w2", "1h.."):
        found = difference("1h..", other, *of_app, ask=ask)
        assert (found["a"]["windows"], found["a"]["skipped"]) == (2, 0) and not found["different"], found["a"]

    def wrong(status, words, *arguments):
        refused(ctl(*ask, "diff", *arguments), status, words)

    wrong(1, "no window of an application", "2h..1h", "1h..", *of_app)
    wrong(1, "no window of an application", "2h..1h", files[0], *of_app)
    wrong(2, "--app", "1h..", "w2")
    wrong(2, "ends before it begins", "1h..2h", "w2", *of_app)
    wrong(2, "not a time", "soon..", "w2", *of_app)
    wrong(2, "needs two windows", "w1")
    wrong(2, "unexpected argument 'w3'", "w1", "w2", "w3")
    wrong(1, "no window 'w9'", "w1", "w9")
    wrong(1, "no window 'shop'", "w1", "shop")
    wrong(2, "--app is for periods", "w1", "w2", *of_app)


@test
def windows_without_kind_cpu_are_compared_by_checked_bytes():
    daemon = Daemon()
    ask = asks(daemon)
    target = Workload(jdks()[-1], "DeadStore")
    options = (duration_for(target.pid, 2), "--budget", BUDGET, "--kinds", "dead-store,silent-load")
    reports = [attach(daemon, target, *options) for _ in range(2)]
    found = difference("w1", "w2", "--fail-above", "5%", ask=ask, unit="bytes")
    assert not found["different"] and not found["gate"]["fails"], found["headline"]
    for kind in found["kinds"]:
        said = [next(k["fraction"] for k in r["inefficiency"] if k["kind"] == kind["kind"]) for r in reports]
        assert all(abs(a - b) < 1e-6 for a, b in zip(kind["share"], said)), (kind, said)
    assert ("dead_store", "DeadStore.rounds") in [(r["kind"], r["method"]) for r in found["rows"]], found["rows"]
    assert "no CPU time is known" in succeeded(ctl(*ask, "diff", "w1", "w2")).splitlines()[0]
    refused(ctl(*ask, "diff", "w1", "w2", "--operations", "5,6"), 2, "profile with kind cpu")
    attach(daemon, target)
    refused(ctl(*ask, "diff", "w1", "w3"), 1, "'w3' has CPU time and 'w1' has none")
    # The period has a window that knows its CPU time.
    refused(ctl(*ask, "diff", "1h..", "w1", "--app", "DeadStore"), 1, "'1h..' has CPU time and 'w1' has none")


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
        (file("many.json", b'{"schema":1,"window":{},"comparison":[' + b"{}," * (20 << 20) + b"{}]}"), "values"),
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
        (("--format", "pprof"), "text, json or html"),
    ]:
        refused(ctl(*NO_DAEMON, "diff", report, report, *options), 2, words)


@test
def windows_of_an_application_are_one_report():
    daemon, target = Daemon(), Workload(jdks()[0], "DeadStore")
    alone = [attach(daemon, target) for _ in range(3)]
    merged = report_of(daemon.ctl("report", "--app", "DeadStore", "--format", "json"))
    about = merged["window"]["merged"]
    assert about["windows"] == 3 and (about["first"], about["last"]) == ("w1", "w3"), about
    samples = [r["quality"]["samples"] for r in alone]
    assert merged["quality"]["samples"] == sum(samples), (merged["quality"], samples)
    assert "\nmerged from 3 windows (w1 to w3)" in succeeded(daemon.ctl("report", "--app", "DeadStore"))
    assert "DeadStore.rounds" in succeeded(daemon.ctl("report", "--app", "DeadStore", "--format", "collapsed"))
    refused(daemon.ctl("report", "--app", "Other"), 1, "no window of an application 'Other'")
    refused(daemon.ctl("report", "--app", "DeadStore", "--until", "1h"), 1, "no window")
    refused(daemon.ctl("report"), 2, "--app")
    refused(daemon.ctl("report", "w1", "--app", "DeadStore"), 2, "in place of a window")


@test
def a_window_that_runs_is_in_the_merge_as_it_was_kept_last():
    daemon, target = Daemon(), Workload(jdks()[0], "DeadStore")
    attach(daemon, target)
    client = daemon.start_attach(target.pid)
    (running,) = daemon.running()
    single = json.loads(succeeded(daemon.ctl("report", running["id"], "--format", "json")))
    assert single["window"]["state"] == "running", single["window"]

    def of_the_running():
        about = report_of(daemon.ctl("report", "--app", "DeadStore", "--format", "json"))["window"]["merged"]
        return [n for n in about["notes"] if n["note"] == "running"], about["windows"]

    notes, windows = of_the_running()
    if windows == 2:  # Else it was not flushed yet.
        assert notes[0]["first"] == running["id"] and not notes[0]["skipped"], notes
    assert difference("w1", running["id"], ask=asks(daemon))["b"]["id"] == running["id"]
    succeeded(daemon.ctl("detach", str(target.pid)))
    client.finish()
    assert of_the_running() == ([], 2)


@test
def waiting_for_a_window_of_an_earlier_daemon_tells_its_end():
    target = Workload(jdks()[0], "DeadStore")
    first = Daemon()
    attach(first, target)
    client = first.start_attach(target.pid)
    succeeded(first.ctl("detach", str(target.pid)))
    assert client.finish().returncode == EARLY
    assert first.ctl("attach", "999999", "--duration", "1s").returncode == 1
    before = [first.ctl("wait", w) for w in ("w1", "w2", "w3", "w4")]
    first.stop()
    second = Daemon(state=first.state)
    after = [second.ctl("wait", w) for w in ("w1", "w2", "w3", "w4")]
    assert [r.returncode for r in after] == [0, EARLY, 1, 1], after
    assert [(r.returncode, r.stderr) for r in after] == [(r.returncode, r.stderr) for r in before], (before, after)


@test
def windows_of_others_are_in_no_merge_and_no_difference():
    need_root()
    daemon = Daemon()
    os.chmod(daemon.socket, 0o666)
    theirs = Workload(jdks()[0], "SilentStore")
    own = Workload(jdks()[0], "SilentStore", prefix=as_nobody())
    attach(daemon, theirs)
    attach(daemon, own)

    def ask(*arguments):
        command = as_nobody(CLIENT, "--socket", daemon.socket, *arguments)
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)

    for again in (False, True):
        about = report_of(ask("report", "--app", "SilentStore", "--format", "json"))["window"]["merged"]
        assert (about["windows"], about["skipped"], about["first"]) == (1, 0, "w2"), about
        for arguments in (("w1", "w2"), ("w2", "w1"), ("w1", "w1")):
            refused(ask("diff", *arguments), 1, "no window 'w1': see 'jxperfctl windows'")
        succeeded(ask("diff", "w2", "1h..", "--app", "SilentStore"))
        assert f"audit: action=report uid={NOBODY}" in daemon.output(), daemon.output()
        if not again:
            daemon.stop()
            daemon = Daemon(state=daemon.state)
            os.chmod(daemon.socket, 0o666)


run(at_once=2)
